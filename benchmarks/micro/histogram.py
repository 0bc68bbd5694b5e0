"""Histograms: nanoseconds for a row and a column, of a root and of a node of scattered rows."""

from typing import Any

import numpy as np
from numpy.testing import assert_array_equal

from benchmarks.micro.kernel import Kernel, binned, pairs, scattered
from hedgerow.kernels.codes import N_BINS
from hedgerow.kernels.histogram import build, subtract
from hedgerow.kernels.jit import kernel


@kernel
def built(codes, records, moments, hist):
    build(codes, records, moments, hist, hist[:0])


@kernel
def subtracted(hist, features, smaller):
    for feature in range(features.shape[0]):
        subtract(hist, features[feature], 1, smaller)


def kernels(n_rows: int) -> list[Kernel]:
    table = binned(n_rows)
    steps, records, moments = pairs(n_rows)
    found = []
    for name, own in (("in order", records), ("scattered", scattered(records))):
        hist = np.empty(len(table.codes.columns) * N_BINS, np.int64)
        built(table.codes, own, moments, hist)
        assert_array_equal(hist.reshape(-1, N_BINS), defined(table.codes.columns, own, steps))
        call = lambda own=own, hist=hist: built(table.codes, own, moments, hist)  # noqa: E731
        n_updates = len(own) * len(table.codes.columns)
        found.append(Kernel(f"histogram, {name}", call, n_updates, "row and column"))
    rest, none = hist.copy(), np.zeros_like(hist)
    features = table.codes.features
    subtracted(rest, features, hist)
    assert not rest.any()
    call = lambda: subtracted(rest, features, none)  # noqa: E731
    found.append(Kernel("histogram, taken off", call, len(rest), "bin"))
    return found


def defined(columns: Any, records: Any, steps: Any) -> Any:
    """Sum the steps of each code by the definition: cell = 2^32 sum g + sum h."""
    rows = records & 0xFFFFFFFF
    cells = (steps[0] << 32) + steps[1]
    hist = np.zeros((len(columns), N_BINS), np.int64)
    for own, column in zip(hist, columns, strict=True):
        np.add.at(own, column[rows], cells[rows])
    return hist
