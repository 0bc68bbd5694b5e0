"""Our trees as the shap package takes them: what explains is its, what is explained is ours."""

from importlib import import_module

import numpy as np


def explainer(model, **options):
    """Return the explainer of a forest or a boosted model."""
    shap = import_module("shap")
    is_forest = hasattr(model, "estimators_")
    trees = list((trees_of_forest if is_forest else trees_of)(model))
    described = {
        "trees": trees,
        "base_offset": np.zeros(trees[0]["values"].shape[1]) if is_forest else model._model.start,
        "input_dtype": np.float64,
        "internal_dtype": np.float64,
    }
    return shap.TreeExplainer(described, **options)


def trees_of(model):
    """Return a model's trees as shap takes them."""
    grove, n_outputs = model._model.grove, model._model.n_outputs
    for tree, output in enumerate(grove.output):
        own = slice(grove.offset[tree], grove.offset[tree + 1])
        left, right = grove.left[own], grove.right[own]
        values = np.zeros((len(left), n_outputs))
        values[:, output] = grove.value[own]
        yield {
            "children_left": left,
            "children_right": right,
            "children_default": np.where(grove.missing_left[own], left, right),
            "features": grove.feature[own],
            "thresholds": np.nan_to_num(grove.threshold[own]),
            "values": values,
            "node_sample_weight": grove.weight[own],
        }


def trees_of_forest(forest):
    """Return a forest's trees as shap takes them; it writes on the weights."""
    for tree in (each._tree for each in forest.estimators_):
        yield {
            "children_left": tree.left,
            "children_right": tree.right,
            "children_default": np.where(tree.missing_left, tree.left, tree.right),
            "features": tree.feature,
            "thresholds": np.nan_to_num(tree.threshold),
            "values": tree.value / len(forest.estimators_),
            "node_sample_weight": tree.weight.copy(),
        }
