"""Importance: what each feature's splits have gained."""

import numpy as np
from numpy.typing import NDArray

from hedgerow.trees.tree import Tree


def impurity_importances(tree: Tree, n_features: int) -> NDArray[np.float64]:
    """Return the share of the total impurity decrease that is due to each feature.

        importance(j) = sum over splits t on j of  W_t Q_t - W_L Q_L - W_R Q_R,  scaled to sum 1

    Breiman, Friedman, Olshen and Stone (1984), section 5.3. All 0 for a tree of one leaf.
    """
    splits = np.flatnonzero(~tree.is_leaf)
    burden = tree.weight * tree.impurity
    gains = burden[splits] - burden[tree.left[splits]] - burden[tree.right[splits]]
    totals = np.zeros(n_features)
    np.add.at(totals, tree.feature[splits], np.maximum(gains, 0.0))
    whole = totals.sum()
    return totals / whole if whole > 0 else totals
