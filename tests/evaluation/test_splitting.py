"""Rows for training, validation and test."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from hedgerow.evaluation import train_validation_test_split

ROWS = np.arange(100)


def test_sixty_twenty_twenty_and_every_row_once():
    parts = train_validation_test_split(ROWS, random_state=0)
    assert [len(part) for part in parts] == [60, 20, 20]
    assert_array_equal(np.sort(np.concatenate(parts)), ROWS)


def test_arrays_are_divided_alike_and_keep_their_kind():
    X = pd.DataFrame({"x": ROWS})
    split = train_validation_test_split(X, -ROWS, random_state=1)
    assert len(split) == 6
    for table, numbers in zip(split[:3], split[3:], strict=True):
        assert isinstance(table, pd.DataFrame)
        assert_array_equal(table["x"], -numbers)


def test_the_same_seed_is_the_same_division_and_another_is_not():
    one, two, three = (train_validation_test_split(ROWS, random_state=n)[0] for n in (0, 0, 1))
    assert_array_equal(one, two)
    assert (one != three).any()


def test_classes_have_the_same_shares():
    y = np.repeat([0, 1], [80, 20])
    for part in train_validation_test_split(y, stratify=y, random_state=0):
        assert part.mean() == 0.2


def test_groups_stay_together():
    groups = ROWS // 5
    parts = train_validation_test_split(groups, groups=groups, random_state=0)
    assert [len(set(part.tolist())) for part in parts] == [12, 4, 4]
    assert len(set().union(*(set(part.tolist()) for part in parts))) == 20


def test_time_goes_on_and_equal_times_stay_together():
    time = np.random.default_rng(0).permutation(np.repeat(np.arange(25), 4))
    early, middle, late = train_validation_test_split(time, time=time, sizes=(0.55, 0.25, 0.2))
    assert early.max() < middle.min()
    assert middle.max() < late.min()
    assert len(early) == 56  # 55 and the last of that time


def test_two_sets_and_numbers_of_rows():
    assert [len(p) for p in train_validation_test_split(ROWS, sizes=(0.8, 0.2))] == [80, 20]
    assert [len(p) for p in train_validation_test_split(ROWS, sizes=(70, 20, 10))] == [70, 20, 10]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"sizes": (0.6, 0.6)}, "add up to 1.2, neither 1 nor the 100 rows"),
        ({"sizes": (0.5, 0.5, 0.0)}, "not two or three numbers above 0"),
        ({"sizes": (1.0,)}, "not two or three numbers above 0"),
        ({"groups": ROWS // 50}, "There are 2 groups for 3 sets"),
        ({"time": np.zeros(100)}, "too many have the same time"),
        ({"groups": ROWS, "time": ROWS}, "groups and time are given"),
        ({"groups": ROWS[:5]}, "groups has 5 entries, but there are 100 rows"),
    ],
)
def test_what_cannot_be_done_is_said(given, message):
    with pytest.raises(ValueError, match=message):
        train_validation_test_split(ROWS, **given)
