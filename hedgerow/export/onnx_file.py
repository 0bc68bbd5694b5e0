"""Outlines as ONNX models.

The tree operator finds leaves; what leaves say is looked up and added one after another, so that
sums have the bits of `predict` whatever the threads of the runtime:

    numbers, texts -> codes -> TreeEnsemble -> number of the leaf in each tree
        -> Gather from a table of leaves -> CumSum, the last -> scores -> link

All numbers are float64, thresholds too: `TreeEnsemble` of ai.onnx.ml 5 compares doubles.
"""

import json
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.export.kinds import demand_one_kind, is_text
from hedgerow.export.onnx_graph import Graph
from hedgerow.export.onnx_speech import add_speech
from hedgerow.export.outline import Outline, Trees
from hedgerow.version import __version__

_LEQ, _MEMBER = 0, 6  # modes of a node
_BEFORE_ALL = -1.0  # no code is so low


def onnx_bytes(outline: Outline) -> bytes:
    """Return the file of a model."""
    demand_one_kind(outline, "ONNX")
    graph = Graph()
    places, inputs = _add_inputs(graph, outline)
    leaves = _add_trees(graph, outline, places)
    add_speech(graph, outline, leaves)
    about = {
        "library": f"hedgerow {__version__}",
        "class": outline.kind,
        "columns": json.dumps(inputs),
    }
    return graph.file(f"{outline.kind} of hedgerow", about)


def _add_inputs(graph: Graph, outline: Outline) -> tuple[NDArray[np.int64], dict[str, list[str]]]:
    """Add inputs, and put categories in as codes.

    Returns where the operator finds each feature, and the names of the columns of each input.
    """
    kinds = [is_text(each) for each in outline.features]
    n_numbers = kinds.count(False)
    parts, places = [], np.zeros(len(kinds), np.int64)
    inputs: dict[str, list[str]] = {}
    for name, texts in (("numbers", False), ("texts", True)):
        own = [feature for feature, each in enumerate(kinds) if each == texts]
        if not own:
            continue
        inputs[name] = [outline.features[feature].name for feature in own]
        graph.add_input(name, len(own), texts)
        if not texts:
            parts.append(name)
        places[own] = np.arange(len(own))
        for place, feature in enumerate(own):
            categories = outline.features[feature].categories
            if categories:
                column = graph.add("Gather", [name, graph.constant([place])], axis=1)
                places[feature] = n_numbers + len(parts) - (n_numbers > 0)
                parts.append(graph.add_codes(column, categories, texts))
    graph.alias(graph.add("Concat", parts, axis=1) if len(parts) > 1 else parts[0], "cells")
    return places, inputs


def _add_trees(graph: Graph, outline: Outline, places: NDArray[np.int64]) -> str:
    """Add the operator of trees; return the name of leaves, int64 [n_rows, n_trees]."""
    trees, is_leaf = outline.trees, outline.trees.is_leaf
    inner = np.flatnonzero(~is_leaf)
    number = np.where(is_leaf, trees.leaf_number, np.cumsum(~is_leaf) - 1)
    roots = trees.offset[:-1]
    alone = roots[is_leaf[roots]]  # trees of one leaf: a node whose two ways lead there
    tree_roots = number[roots]
    tree_roots[is_leaf[roots]] = len(inner) + np.arange(len(alone))
    true, false = np.append(inner + 1, alone), np.append(trees.right[inner], alone)
    modes, splits, members = _tests(outline, inner)
    tree_of_leaf, leaves = _tree_of_node(trees)[is_leaf], np.arange(len(trees.values))
    first_leaf = trees.leaf_number[roots]
    padding = np.zeros(len(alone))
    ways: dict[str, Any] = {
        "n_targets": trees.n_trees,
        "aggregate_function": 1,
        "post_transform": 0,
        "tree_roots": tree_roots.tolist(),
        "nodes_modes": np.append(modes, padding).astype(np.uint8),
        "nodes_splits": np.append(splits, padding),
        "nodes_featureids": np.append(places[trees.feature[inner]], padding).astype(int).tolist(),
        "nodes_missing_value_tracks_true": np.append(trees.missing_left[inner], padding)
        .astype(int)
        .tolist(),
        "nodes_truenodeids": number[true].tolist(),
        "nodes_falsenodeids": number[false].tolist(),
        "nodes_trueleafs": is_leaf[true].astype(int).tolist(),
        "nodes_falseleafs": is_leaf[false].astype(int).tolist(),
        "leaf_targetids": tree_of_leaf.tolist(),
        "leaf_weights": (leaves - first_leaf[tree_of_leaf]).astype(np.float64),
    }
    if len(members):
        ways["membership_values"] = members
    return graph.add_trees("cells", ways, first_leaf)


def _tests(
    outline: Outline, inner: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]:
    """Return modes and thresholds of splits, and the sets of categories, each ended by NaN."""
    trees = outline.trees
    modes, splits = np.full(len(inner), _LEQ), trees.threshold[inner].copy()
    sets: list[NDArray[np.float64]] = []
    for place in np.flatnonzero(trees.category_start[inner] >= 0):
        categories = outline.features[trees.feature[inner[place]]].categories
        codes = trees.left_codes(inner[place], len(categories or ()))
        splits[place] = _BEFORE_ALL
        if len(codes):
            modes[place] = _MEMBER
            sets.append(np.append(codes, np.nan))
    return modes, splits, np.concatenate([np.zeros(0), *sets])


def _tree_of_node(trees: Trees) -> NDArray[np.int64]:
    return np.repeat(np.arange(trees.n_trees), np.diff(trees.offset))
