"""Drawing features: which of those on offer a node tries, by bits named by the node.

Each set of n_wanted features is as likely as any other (Floyd; Bentley and Floyd 1987).
"""

import numpy as np

from hedgerow.kernels.jit import part
from hedgerow.kernels.random import mixed, uniform

# Names of the draws of features, beside the numbers of features themselves.
_DRAWN, FURTHER = -1, -2


@part
def draw_features(desk, bits, offered, n_wanted):
    """Set desk.drawn to n_wanted of the features on offer, and mark them. Cost: n_wanted draws.

    offered  int64 [n]   read   ascending
    """
    state, marks, drawn = mixed(bits, _DRAWN), desk.marks, desk.drawn
    before = offered.shape[0] - n_wanted
    for i in range(n_wanted):  # without a branch, several at once
        drawn[i] = np.int64(uniform(mixed(state, before + i)) * (before + i + 1))
    for i in range(n_wanted):
        feature, last = offered[np.uint64(drawn[i])], offered[np.uint64(before + i)]
        feature = last if marks[np.uint64(feature)] else feature
        marks[np.uint64(feature)] = 1
        drawn[i] = feature
