"""Where Shapley values are summed: by features, or by pairs of them.

`note(thread, level, column, flow, trees, node, slate)` adds the part of the step to a node: flow,
float64 [n_points, LANES], is that of the leaves below it, for one output. `settle(thread, out)`
adds the sums of a block of rows to what is returned, and sets them to 0. See kernels.shap.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

LANES = 16  # rows that are worked on together


class Singles(NamedTuple):
    """Values of features: sums float64 [n_threads, n_features, n_outputs, LANES]."""

    sums: NDArray[np.float64]

    def note(self, thread, level, column, flow, trees, node, slate):
        """Add flow * slope of the step to a node."""
        feature = trees.paths.feature[trees.ways.parent[node]]
        own, slopes = self.sums[thread, feature, column], slate.slopes[thread, level]
        for point in range(flow.shape[0]):
            for lane in range(flow.shape[1]):
                own[lane] += flow[point, lane] * slopes[point, lane]

    def settle(self, thread, out):
        """Add the sums to out, float64 [n_features, n_outputs, n_lanes], and set them to 0."""
        own = self.sums[thread]
        for feature in range(out.shape[0]):
            for column in range(out.shape[1]):
                for lane in range(out.shape[2]):
                    out[feature, column, lane] += own[feature, column, lane]
                for lane in range(LANES):
                    own[feature, column, lane] = 0.0


class Pairs(NamedTuple):
    """Values of pairs: sums float64 [n_threads, n_features, n_features, n_outputs, LANES]."""

    sums: NDArray[np.float64]

    def note(self, thread, level, column, flow, trees, node, slate):
        """Add a step's phi_i to sums[i, i], and its half phi_ij with each step before."""
        feature, parent, slopes = trees.paths.feature, trees.ways.parent, slate.slopes[thread]
        own, alone = self.sums[thread, feature[parent[node]]], feature[parent[node]]
        here, before = slopes[level], parent[node]
        for point in range(flow.shape[0]):
            for lane in range(flow.shape[1]):
                own[alone, column, lane] += flow[point, lane] * here[point, lane]
        for there in range(level - 1, 0, -1):
            other, before = feature[parent[before]], parent[before]
            if other == alone or slate.busy[thread, there] == 0:
                continue
            pair, earlier = own[other, column], slopes[there]
            for point in range(flow.shape[0]):
                for lane in range(flow.shape[1]):
                    both = here[point, lane] * earlier[point, lane]
                    pair[lane] += 0.5 * flow[point, lane] * both

    def settle(self, thread, out):
        """Add to out, float64 [n_features, n_features, n_outputs, n_lanes]; see Singles.

        A pair has what was noted in either order, and i alone what pairs leave of phi_i.
        """
        own, n_features = self.sums[thread], out.shape[0]
        for i in range(n_features):
            for j in range(i + 1):
                for column in range(out.shape[2]):
                    for lane in range(out.shape[3]):
                        found = own[i, j, column, lane]
                        if i != j:
                            found += own[j, i, column, lane]
                            out[i, i, column, lane] -= found
                            out[j, j, column, lane] -= found
                            out[j, i, column, lane] += found
                        out[i, j, column, lane] += found
                    for lane in range(LANES):
                        own[i, j, column, lane] = own[j, i, column, lane] = 0.0
