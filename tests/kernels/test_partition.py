"""Partition: each record goes to the side that its code says."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from hedgerow.kernels.jit import kernel
from hedgerow.kernels.partition import partition
from hedgerow.kernels.split import SPLIT
from tests.strategies import coded_columns, codes_of

N_BINS = st.sampled_from([2, 63, 64, 70, 255, 256, 1000])


@kernel
def parted(codes, splits, words, source, target):
    return partition(codes, splits[0], words, source, target)


def split_at(cut, missing_left):
    splits = np.zeros(1, SPLIT).view(np.recarray)
    splits[0].cut, splits[0].missing_left = cut, missing_left
    return splits


def assert_parted(column, splits, words, goes_left):
    records = np.arange(len(column.codes)) | (5 << 32)  # what else a record carries stays with it
    target = np.full(len(records), -1)
    n_left = parted(codes_of([column]), splits, words, records, target)
    on_left = [int(record) for record, left in zip(records, goes_left, strict=True) if left]
    assert sorted(target[:n_left]) == on_left
    assert sorted(target) == records.tolist()


@given(coded_columns(60, N_BINS), st.integers(0, 999), st.booleans())
def test_values_go_left_up_to_the_cut_and_missing_ones_where_they_are_told(
    column, cut, missing_left
):
    cut = min(cut, column.n_bins - 1)
    goes_left = [missing_left if code is None else code <= cut for code in column.codes]
    assert_parted(column, split_at(cut, missing_left), np.zeros(1, np.int64), goes_left)


@given(coded_columns(60, N_BINS, categorical=True), st.sets(st.integers(0, 999)), st.booleans())
def test_categories_go_left_if_they_are_in_the_set(column, members, missing_left):
    words = np.zeros(column.n_bins // 64 + 1, np.uint64)
    for code in members | {63}:
        if code < column.n_bins:
            words[code // 64] |= np.uint64(1) << np.uint64(code % 64)
    goes_left = [missing_left if code is None else code in members | {63} for code in column.codes]
    assert_parted(column, split_at(0, missing_left), words.view(np.int64), goes_left)
