"""Partition: nanoseconds for a row that goes to its side."""

import numpy as np
from numpy.testing import assert_array_equal

from benchmarks.micro.kernel import Kernel, binned, pairs, scattered
from hedgerow.kernels.jit import kernel
from hedgerow.kernels.partition import partition
from hedgerow.kernels.split import SPLIT


@kernel
def parted(codes, splits, words, source, target):
    return partition(codes, splits[0], words, source, target)


def kernels(n_rows: int) -> list[Kernel]:
    codes, (_, records, _) = binned(n_rows).codes, pairs(n_rows)
    splits = np.zeros(1, SPLIT).view(np.recarray)
    splits[0].cut = cut = int(codes.features[0].n_bins) // 2
    words, found = np.zeros(1, np.int64), []
    for name, own in (("in order", records), ("scattered", scattered(records))):
        target = np.empty_like(own)
        n_left = parted(codes, splits, words, own, target)
        goes_left = codes.columns[0][own & 0xFFFFFFFF] <= cut
        assert_array_equal(np.sort(target[:n_left]), np.sort(own[goes_left]))
        assert_array_equal(np.sort(target[n_left:]), np.sort(own[~goes_left]))
        given = codes, splits, words, own, target
        call = lambda given=given: parted(*given)  # noqa: E731
        found.append(Kernel(f"partition, {name}", call, len(own), "row"))
    return found
