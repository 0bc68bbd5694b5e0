"""Rungs: as many thresholds are found below a number as a search among all of them finds."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from hedgerow.ensembles.ranking import rungs_of
from hedgerow.kernels.jit import kernel
from hedgerow.kernels.rungs import rank

RNG = np.random.default_rng(0)
CUTS = {
    "none": np.zeros(0),
    "one": np.array([0.5]),
    "even": np.arange(1000) / 8.0,
    "normal": RNG.normal(size=3000),
    "skewed": np.exp(RNG.normal(size=3000) * 3.0),
    "far apart": np.sinh(RNG.normal(size=3000) * 20.0),
    "all but one together": np.append(1.0 + np.arange(2000) * 2.0**-52, 1e300),
    "infinite": np.array([-np.inf, -1e308, -1.0, 1e-310, 2.0, 1e308, np.inf]),
    "as many as there are keys": np.arange(65_533) * 0.1,
}


@kernel
def rank_all(rungs, column, numbers, ranks):
    rank(rungs, column, numbers, ranks)


@pytest.mark.parametrize("name", CUTS)
def test_ranks_are_those_of_a_search_among_all_thresholds(name):
    columns = [np.unique(each) for each in (CUTS["normal"], CUTS[name], CUTS["even"])]
    cuts = columns[1]
    some = RNG.permutation(cuts)[:300]
    near = np.concatenate([some, np.nextafter(some, np.inf), np.nextafter(some, -np.inf)])
    numbers = np.concatenate([near, RNG.normal(size=100), [-np.inf, -0.0, 0.0, np.inf]])
    ranks = np.empty(len(numbers), np.int64)
    rank_all(rungs_of(columns), 1, numbers, ranks)
    assert_array_equal(ranks, np.searchsorted(cuts, numbers, side="left"))


def test_few_looks_are_needed_wherever_thresholds_lie():
    even, skewed = (np.unique(CUTS[name]) for name in ("even", "skewed"))
    n_levels = rungs_of([even, skewed]).marks[:, 2]
    assert n_levels[0] <= 2
    assert n_levels[1] <= 5
