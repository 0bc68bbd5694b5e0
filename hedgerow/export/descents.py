"""Outlines of descents in function space: trees times their coefficients, and stumps."""

from typing import Any

import numpy as np

from hedgerow.ensembles.dictionary import Stumps
from hedgerow.estimators.tree_classifier import DecisionTreeClassifier
from hedgerow.estimators.tree_regressor import DecisionTreeRegressor
from hedgerow.export.boosted import speech_of
from hedgerow.export.members import Member, demand_no_errors, together
from hedgerow.export.outline import Floats, Outline, Speech, Trees
from hedgerow.export.packed_trees import constants, features_of, joined

_TREES = DecisionTreeClassifier, DecisionTreeRegressor


def stagewise_outline(model: Any) -> Outline:
    """Return the outline of a stagewise model of trees: each round adds a coefficient times them.

    f_m = f_(m-1) + c_m h_m, added in this order; a leaf of h_m says the product.
    """
    if model.dictionary is not None:
        raise _own_functions(model)
    kind = type(model).__name__
    terms = [
        (learner, coefficient)
        for each in model._rounds
        for learner, coefficient in zip(each.elements, each.coefficients.tolist(), strict=True)
    ]
    strange = next((each for each, _ in terms if not isinstance(each, _TREES)), None)
    if strange is not None:
        raise TypeError(
            f"{kind} of {type(strange).__name__} cannot be exported: only trees of the library "
            "can be written in another language. Fit with a DecisionTreeRegressor or a "
            "DecisionTreeClassifier, or keep the model with joblib."
        )
    if not terms:
        raise ValueError(
            f"This {kind} has no rounds: it predicts a constant, and knows nothing of its columns. "
            "Fit it to more rows, or with another loss, learner or early_stopping=False."
        )
    members = [Member(tree, None, _said(tree) * factor) for tree, factor in terms]
    names = getattr(model, "feature_names_in_", None)
    features, trees = together(
        members, None if names is None else list(names), model.n_features_in_
    )
    classes = tuple(model.classes_.tolist()) if hasattr(model, "classes_") else None
    speech, unseen = speech_of(model, model._shown), terms[0][0].unseen
    start = np.asarray(model._start, np.float64)
    outline = Outline(kind, features, trees, start, speech, classes, unseen)
    demand_no_errors(outline)
    return outline


def _said(tree: Any) -> Floats:
    """Return what the leaves of a tree say, float64 [n_leaves, 1]; of classes, -1 or 1."""
    value = tree._tree.value[tree._tree.is_leaf]
    if isinstance(tree, DecisionTreeClassifier):
        value = np.asarray(tree.classes_, np.float64)[tree._labels_of(value), None]
    return np.asarray(value)


def stumps_outline(model: Any) -> Outline:
    """Return the outline of a combination of stumps: a score, above 0 of the second class."""
    stumps = model.dictionary_
    if not isinstance(stumps, Stumps):
        raise _own_functions(model)
    features, classes = features_of(model._schema), tuple(model.classes_.tolist())
    used = np.flatnonzero(model.coef_)
    grown = [_stump(stumps, int(k), float(model.coef_[k]), model._schema.categories) for k in used]
    trees = joined(grown) if grown else constants(1)
    # A single class is that of every row, whatever its score.
    boundary = 0.0 if len(classes) == 2 else np.inf
    speech = Speech(link="score", label="boundary", boundary=boundary)
    kind = type(model).__name__
    return Outline(kind, features, trees, np.zeros(1), speech, classes, model.unseen)


def _stump(stumps: Stumps, k: int, coefficient: float, categories: Any) -> Trees:
    r"""Return a stump as a tree.

    A row that goes right, by its value or because it has none, is asked the same once more, and
    now those that have none go left:

                     x <= t                      x is the category
                    /      \                    /       \
                  -c     (missing)             c      (missing)
                          /     \                     /     \
                         0       c                   0      -c
    """
    feature = int(stumps.feature[k])
    if feature < 0:
        return constants(1)._replace(values=np.full((1, 1), coefficient))
    words, start = np.zeros(0, np.uint64), -1
    sides = -coefficient, coefficient
    if stumps.is_equal[k]:
        code, start, sides = int(stumps.threshold[k]), 0, (coefficient, -coefficient)
        words = np.zeros(len(categories[feature]) // 64 + 1, np.uint64)
        words[code // 64] = np.uint64(1) << np.uint64(code % 64)
    threshold = np.nan if stumps.is_equal[k] else float(stumps.threshold[k])
    is_split = np.array([True, False, True, False, False])
    return Trees(
        np.array([0, 5]),
        np.array([2, 0, 4, 0, 0]),
        np.where(is_split, feature, -1),
        np.where(is_split, threshold, np.nan),
        np.array([False, False, True, False, False]),
        np.where(is_split, start, -1),
        words,
        np.array([[sides[0]], [0.0], [sides[1]]]),
    )


def _own_functions(model: Any) -> TypeError:
    return TypeError(
        f"This {type(model).__name__} has a dictionary of your own functions, which cannot be "
        "written in another language. Fit it with trees or stumps of the library to export it."
    )
