"""Prediction: which leaf a row reaches, and the mean over both branches for unseen categories."""

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from hedgerow.kernels.predict import UNSEEN, Paths, average_unseen, leaf_indices
from hedgerow.kernels.team import hired

N_CATEGORIES = 70  # two words of bits
NUMERIC, CATEGORICAL = 0, 1  # the two features


@st.composite
def trees(draw):
    """Draw a tree in preorder over a numeric and a categorical feature, as a list of nodes."""
    nodes = []

    def grow(depth):
        node = {"left": -1, "right": -1, "feature": -1, "threshold": math.nan, "missing_left": False}
        node |= {"members": None, "weight": float(draw(st.integers(1, 4)))}
        nodes.append(node)
        if depth < 3 and draw(st.booleans()):
            node["feature"] = draw(st.integers(0, 1))
            node["missing_left"] = draw(st.booleans())
            if node["feature"] == NUMERIC:
                node["threshold"] = draw(st.sampled_from([-math.inf, -1.0, 0.5, 2.0, math.inf]))
            else:
                node["members"] = draw(st.sets(st.integers(0, N_CATEGORIES - 1), max_size=5)) | {0}
            node["left"] = grow(depth + 1)
            node["right"] = grow(depth + 1)
            node["weight"] = nodes[node["left"]]["weight"] + nodes[node["right"]]["weight"]
        return nodes.index(node)

    nodes_by_identity(grow, nodes)
    return nodes


def nodes_by_identity(grow, nodes):
    grow(0)
