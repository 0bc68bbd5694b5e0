"""Prediction: nanoseconds for a row and a tree, by all splits at once and along trails."""

from typing import Any

import numpy as np
from numpy.testing import assert_array_equal

import hedgerow
from benchmarks.macro.boosting import collisions, model_of
from benchmarks.micro.kernel import N_FEATURES, Kernel, alone

N_CHECKED = 50


def kernels(n_rows: int) -> list[Kernel]:
    X, y = collisions(n_rows, N_FEATURES, 2)
    boosted = model_of("hedgerow", 2, 1).estimator.fit(X[:5000], y[:5000])._model
    forest = hedgerow.RandomForestClassifier(10, random_state=0, n_jobs=1).fit(X[:5000], y[:5000])
    values, team = np.ascontiguousarray(X), alone()
    walked = [walk(boosted, row) for row in X[:N_CHECKED]]
    assert_array_equal(boosted.raw(values, team)[:N_CHECKED, 0], walked)
    shares = [np.mean([leaf(each._tree, row) for each in forest.estimators_]) for row in X[:50]]
    np.testing.assert_allclose(forest.predict_proba(X[:N_CHECKED])[:, 1], shares, rtol=1e-12)
    n_trees = len(boosted.grove.output)
    return [
        Kernel("prediction, boosting", lambda: boosted.raw(values, team), n_rows * n_trees, TREE),
        Kernel("prediction, forest", lambda: forest.predict_proba(values), n_rows * 10, TREE),
    ]


TREE = "row and tree"


def walk(model: Any, row: Any) -> float:
    """Add the leaves that a row reaches, tree by tree."""
    grove, total = model.grove, float(model.start[0])
    for first in grove.offset[:-1]:
        node = 0
        while grove.left[first + node] >= 0:
            at = first + node
            goes_left = row[grove.feature[at]] <= grove.threshold[at]
            node = grove.left[at] if goes_left else grove.right[at]
        total += float(grove.value[first + node])
    return total


def leaf(tree: Any, row: Any) -> float:
    """Return the share of the second class in the leaf that a row reaches."""
    node = 0
    while tree.left[node] >= 0:
        goes_left = row[tree.feature[node]] <= tree.threshold[node]
        node = tree.left[node] if goes_left else tree.right[node]
    return float(tree.value[node, 1])
