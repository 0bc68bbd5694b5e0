"""Joint columns: which features share a column of the histogram, and that none is confused."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hedgerow.data.joint_columns import MOST_CODES, lay_out
from hedgerow.kernels.codes import FEATURE


def laid_out(n_bins, has_missing=False, most_codes=MOST_CODES):
    """Lay out features of these numbers of bins; 0 stands for a wide one."""
    n_bins = np.array(n_bins)
    features = np.zeros(len(n_bins), FEATURE).view(np.recarray)
    features.n_bins = np.where(n_bins > 0, n_bins, 1000)
    features.place = np.where(n_bins > 0, np.cumsum(n_bins > 0) - 1, -1)
    return features, lay_out(features, np.broadcast_to(has_missing, len(n_bins)), most_codes)


def n_pairs(n_columns):
    return -(-n_columns // 2)


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
def test_columns_are_shared_only_where_that_saves_a_pair(table):
    features, n_columns = laid_out(*table)
    n_narrow = int((features.place >= 0).sum())
    for column in range(n_columns):
        n_more = int((features.column == column).sum()) - 1
        assert not n_more or n_pairs(n_columns + n_more) > n_pairs(n_columns)
    assert n_columns <= n_narrow


@pytest.mark.parametrize(
    ("n_bins", "n_columns"),
    [
        ([255] * 10 + [2] * 44, 16),
        ([3] * 42, 10),  # the last two gain nothing
        ([255] * 15 + [3] * 5, 16),
        ([255] * 21 + [3] * 7, 24),
        ([255] * 2 + [2] * 2, 4),
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
