"""Boosted weights grow the trees that class weights grow."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from hedgerow.data.binned import Recipe, bin_table
from hedgerow.data.table import read_table
from hedgerow.kernels.boosted_weights import BoostedWeights
from hedgerow.kernels.class_weights import ClassWeights
from hedgerow.kernels.team import hired
from hedgerow.trees.classification import CRITERIA
from hedgerow.trees.grower import Judge, grow
from hedgerow.trees.rules import GrowthRules
from tests.estimators.tables import census

RULES = {
    "stump": GrowthRules(max_depth=1, max_leaves=2, min_gain=-np.inf),
    "three levels": GrowthRules(max_depth=3, min_gain=-np.inf),
    "best first": GrowthRules(max_leaves=7, min_gain=-np.inf),
    "random cuts": GrowthRules(max_depth=3, random_cut=True, n_candidates=2, min_gain=-np.inf),
}


@pytest.mark.parametrize("rules", RULES)
@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("max_bins", [None, 20])
@pytest.mark.parametrize("seed", range(4))
def test_trees_are_those_of_class_weights(rules, n_classes, max_bins, seed):
    rng, people = np.random.default_rng(seed), census(700, seed)
    labels = rng.integers(0, n_classes, 700) * (rng.random(700) < 0.9)
    steps = np.maximum(rng.integers(1, 2**40, 700) >> rng.integers(0, 30, 700), 1)
    place, records = np.arange(n_classes), np.arange(700) | (labels << 32)
    ways = ClassWeights(n_classes, 0, place, steps), BoostedWeights(n_classes, place, steps)
    with hired(1, 0.0) as team:
        table = bin_table(read_table(people.X), Recipe(max_bins), team)
        counted, uncounted = (
            grow(
                table,
                Judge(way, CRITERIA["gini"](n_classes), records, 1.0, 1.0),
                RULES[rules],
                team,
            )
            for way in ways
        )
    assert_array_equal(counted.sums[:, :n_classes], uncounted.sums)
    for name in ("left", "feature", "threshold", "missing_left", "n_rows", "leaf_of_row"):
        assert_array_equal(getattr(counted, name), getattr(uncounted, name))
    assert_array_equal(counted.category_words, uncounted.category_words)
