"""Binning: nanoseconds for a value, to choose the bins of a column and to find its codes."""

import numpy as np
from numpy.testing import assert_array_equal

from benchmarks.macro.boosting import collisions
from benchmarks.micro.kernel import N_FEATURES, Kernel
from hedgerow.data.edges import ascending, choose_bins, summarise
from hedgerow.kernels.binning import N_BUCKETS, bin_narrow
from hedgerow.kernels.codes import MISSING


def kernels(n_rows: int) -> list[Kernel]:
    values = np.ascontiguousarray(collisions(n_rows, N_FEATURES, 0)[0][:, 0])
    assert_array_equal(ascending(values), np.sort(values))
    bins = choose_bins(summarise(values), 255)
    high = np.full(MISSING + 1, np.inf)
    high[: len(bins.high) - 1] = bins.high[:-1]
    given = values, high, np.empty(N_BUCKETS, np.uint8), np.empty(n_rows, np.uint8)
    bin_narrow(*given)
    assert_array_equal(given[-1], np.searchsorted(bins.high[:-1], values, side="left"))
    counts = np.bincount(given[-1])
    assert counts.max() <= 1.5 * n_rows / 255, "bins of one size"
    return [
        Kernel("binning, codes", lambda: bin_narrow(*given), n_rows, "value"),
        Kernel("binning, choice", lambda: choose_bins(summarise(values), 255), n_rows, "value"),
    ]
