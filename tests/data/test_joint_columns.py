"""Joint columns: which features share a column of the histogram, and that none is confused."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hedgerow.data.joint_columns import MOST_CODES, lay_out
from hedgerow.kernels.codes import FEATURE


def laid_out(n_bins, has_missing=False, most_codes=MOST_CODES, columns=None):
    """Lay out features of these numbers of bins; 0 stands for a wide one.

    columns: their codes; None: one row, in which all flags are set.
    """
    n_bins = np.array(n_bins)
    if columns is None:
        columns = np.ones((np.count_nonzero(n_bins), 1), np.uint8)
    features = np.zeros(len(n_bins), FEATURE).view(np.recarray)
    features.n_bins = np.where(n_bins > 0, n_bins, 1000)
    features.place = np.where(n_bins > 0, np.cumsum(n_bins > 0) - 1, -1)
    has_missing = np.broadcast_to(has_missing, len(n_bins))
    return features, lay_out(features, has_missing, most_codes, columns)


@st.composite
def tables(draw):
    sizes = st.sampled_from([0, 1, 2, 2, 2, 3, 3, 4, 7, 15, 16, 200, 255])
    n_bins = draw(st.lists(sizes, min_size=1, max_size=40))
    has_missing = draw(st.lists(st.booleans(), min_size=len(n_bins), max_size=len(n_bins)))
    return n_bins, np.array(has_missing)


@given(tables(), st.sampled_from([0, 2, MOST_CODES, 256]))
def test_every_row_of_digits_has_a_joint_code_of_its_own_below_256(table, most_codes):
    features, n_columns = laid_out(*table, most_codes)
    assert {*features.column[features.column >= 0]} == set(range(n_columns))
    for column in range(n_columns):
        own = np.sort(features[features.column == column], order="stride")
        size = 1
        for about in own:
            assert about.stride == size
            size *= int(about.n_codes)
        assert [size // end for end in own["stride"] * own["n_codes"]] == own["n_high"].tolist()
        assert size <= 256


@given(tables(), st.sampled_from([0, 2, MOST_CODES, 256]))
def test_a_digit_for_each_bin_one_for_missing_and_wide_features_have_no_column(table, most_codes):
    n_bins, has_missing = table
    features, _ = laid_out(n_bins, has_missing, most_codes)
    for about, n, missing in zip(features, n_bins, has_missing, strict=True):
        if n == 0:
            assert (about.column, about.stride) == (-1, 0)
        elif about.n_codes == 256:
            assert (about.stride, about.n_high) == (1, 1)
        else:
            assert about.n_codes == max(n + missing, 2) <= most_codes


@given(tables())
def test_two_features_of_the_fewest_codes_share_a_column_if_their_joint_code_fits(table):
    n_bins, has_missing = table
    features, n_columns = laid_out(n_bins, has_missing)
    n_codes = [max(n + missing, 2) for n, missing in zip(n_bins, has_missing, strict=True) if n]
    fewest = sorted(n for n in n_codes if n <= MOST_CODES)[:2]
    n_narrow = int((features.place >= 0).sum())
    assert (n_columns < n_narrow) == (len(fewest) == 2 and fewest[0] * fewest[1] <= 256)


@pytest.mark.parametrize(
    ("n_bins", "n_columns"),
    [
        ([255] * 10 + [2] * 44, 16),
        ([3] * 42, 9),
        ([255] * 15 + [3] * 5, 16),
        ([255] * 21 + [3] * 7, 23),
        ([255] * 2 + [2] * 2, 3),
        ([2] * 8, 1),
        ([2] * 9, 2),
        ([17] * 40, 40),
    ],
)
def test_examples_of_tables(n_bins, n_columns):
    assert laid_out(n_bins)[1] == n_columns


def test_a_missing_value_takes_room_only_where_there_is_one():
    assert laid_out([2] * 8)[1] == 1
    assert laid_out([2] * 8, [True] + [False] * 7)[1] == 2


def test_wide_features_alone_make_no_columns():
    assert laid_out([0, 0])[1] == 0


def one_hot(codes, n_codes):
    """Return a flag for each code."""
    return (codes == np.arange(n_codes)[:, None]).astype(np.uint8)


def test_flags_of_which_no_row_has_two_share_a_digit():
    rng = np.random.default_rng(0)
    soil, area = rng.integers(40, size=5000), rng.integers(4, size=5000)
    columns = np.concatenate([one_hot(area, 4), one_hot(soil, 40)])
    features, n_columns = laid_out([2] * 44, columns=columns)
    assert n_columns == 1
    assert features.n_codes.tolist() == [5] * 4 + [41] * 40
    assert features.flag.tolist() == [*range(1, 5), *range(1, 41)]
    assert features.stride.tolist() == [1] * 4 + [5] * 40
    assert features.n_high.tolist() == [41] * 4 + [1] * 40
    assert (features.shared == 0).all()


def test_flags_that_meet_in_one_row_late_in_the_table_do_not_share_a_digit():
    columns = np.zeros((3, 5000), np.uint8)
    columns[0, :100] = columns[1, 4999] = columns[2, 4999] = 1
    features, n_columns = laid_out([2] * 3, columns=columns)
    assert n_columns == 1
    assert features.n_codes.tolist() == [3, 3, 2]  # the first two do not meet


def test_no_digit_has_more_than_255_codes():
    columns = one_hot(np.arange(600) % 300, 300)
    features, n_columns = laid_out([2] * 300, columns=columns)
    assert n_columns == 2
    assert sorted({*features.n_codes}) == [47, 255]


def test_flags_with_missing_values_share_no_digit():
    features, _ = laid_out([2] * 8, has_missing=True, columns=np.zeros((8, 9), np.uint8))
    assert (features.flag == 0).all()


@given(st.integers(0, 2**32 - 1), st.integers(2, 40), st.integers(1, 12))
def test_a_joint_code_tells_every_feature_of_its_column(seed, n_flags, n_sets):
    rng = np.random.default_rng(seed)
    columns = (rng.random((n_flags, 60)) < 1 / n_sets).astype(np.uint8)
    features, n_columns = laid_out([2] * n_flags, columns=columns)
    joint = np.zeros((n_columns, 60), int)
    for about, column in zip(features, columns, strict=True):
        joint[about.column] += column.astype(int) * max(about.flag, 1) * about.stride
    assert joint.max() < 256
    for about, column in zip(features, columns, strict=True):
        digit = joint[about.column] // about.stride % about.n_codes
        assert (column == (digit == max(about.flag, 1))).all()
