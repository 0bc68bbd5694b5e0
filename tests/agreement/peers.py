"""Boosted trees of other libraries in one form, with hedgerow's parameters put in their words.

Gains: hedgerow's carries the notes' 1/2, that of XGBoost and LightGBM does not, so their gamma
is twice ours. Hessians: see `hessian_factor`.
"""

import json
from typing import NamedTuple

import numpy as np
from sklearn import ensemble
from threadpoolctl import threadpool_limits

from hedgerow import GradientBoostingClassifier, GradientBoostingRegressor


class Split(NamedTuple):
    """A row goes left if its value is at most the threshold, or missing and missing_left."""

    feature: int
    threshold: float
    missing_left: bool
    left: "Split | float"
    right: "Split | float"


class Boosted(NamedTuple):
    """A fitted model: leaves are multiplied by the learning rate, trees in order of rounds."""

    trees: list
    raw: np.ndarray  # scores of the training rows, [n_rows, n_outputs]


class Problem(NamedTuple):
    X: np.ndarray
    y: np.ndarray
    loss: str
    weights: np.ndarray | None = None

    @property
    def n_classes(self):
        return int(self.y.max()) + 1 if self.loss == "log_loss" else 0

    @property
    def n_outputs(self):
        return self.n_classes if self.n_classes > 2 else 1


def hessian_factor(problem, of_peer):
    """Our multinomial Hessian, K / (K - 1) p (1 - p), over a peer's, of_peer * p (1 - p).

    With c times the Hessian, c l2 and c min_child_weight the same splits are best, gains and
    leaf values are 1 / c as large: c learning_rate and gamma / c make up for that.
    """
    K = problem.n_classes
    return K / (K - 1) / of_peer if K > 2 else 1.0


def scaled(parameters, c):
    """Return the parameters of a model of ours whose Hessians are c times those of a peer."""
    factors = {"l2": c, "min_child_weight": c, "learning_rate": c, "gamma": 1 / c}
    return {name: p * factors[name] if name in factors else p for name, p in parameters.items()}


# ------------------------------------------------------------------ hedgerow


def fitted(problem, **parameters):
    kind = GradientBoostingClassifier if problem.n_classes else GradientBoostingRegressor
    model = kind(loss=problem.loss, early_stopping=False, n_jobs=1, **parameters)
    return model.fit(problem.X, problem.y, sample_weight=problem.weights)


def start_of(problem):
    """Return the scores before the first tree, for peers that start elsewhere."""
    return fitted(problem, n_estimators=1)._model.start


def of_hedgerow(problem, **parameters):
    model = fitted(problem, **parameters)
    grove = model._model.grove
    trees = []
    for first, end in zip(grove.offset[:-1], grove.offset[1:], strict=True):
        names = ("left", "right", "feature", "threshold", "missing_left", "value")
        trees.append(from_arrays(*(getattr(grove, name)[first:end] for name in names)))
    return Boosted(trees, model._raw(problem.X))


def from_arrays(left, right, feature, threshold, missing_left, value, node=0):
    if left[node] < 0:
        return float(value[node])
    arrays = left, right, feature, threshold, missing_left, value
    below, above = from_arrays(*arrays, left[node]), from_arrays(*arrays, right[node])
    return Split(int(feature[node]), float(threshold[node]), bool(missing_left[node]), below, above)


# ------------------------------------------------------------------ XGBoost

XGBOOST_NAMES = {
    "learning_rate": "eta",
    "max_leaf_nodes": "max_leaves",
    "max_depth": "max_depth",
    "min_child_weight": "min_child_weight",
    "l1": "alpha",
    "l2": "lambda",
}
XGBOOST_LOSSES = {
    "squared_error": "reg:squarederror",
    "poisson": "count:poisson",
    "gamma": "reg:gamma",
}


def of_xgboost(problem, start, tree_method, n_estimators, gamma=0.0, **parameters):
    import xgboost  # noqa: PLC0415

    given = {XGBOOST_NAMES[name]: value for name, value in parameters.items() if value is not None}
    given |= {"gamma": 2 * gamma, "tree_method": tree_method, "max_delta_step": 0, "nthread": 1}
    if problem.loss == "log_loss":
        given["objective"] = "binary:logistic" if problem.n_classes == 2 else "multi:softprob"
        if problem.n_classes > 2:
            given["num_class"] = problem.n_classes
    else:
        given["objective"] = XGBOOST_LOSSES[problem.loss]
    if "max_leaves" in given:
        given |= {"grow_policy": "lossguide", "max_depth": given.get("max_depth", 0)}
    margin = np.tile(start, (len(problem.X), 1))
    margin = margin[:, 0] if problem.n_outputs == 1 else margin
    rows = xgboost.DMatrix(problem.X, problem.y, weight=problem.weights, base_margin=margin)
    booster = xgboost.train(given, rows, n_estimators)
    trees = [xgboost_tree(json.loads(text)) for text in booster.get_dump(dump_format="json")]
    raw = booster.predict(rows, output_margin=True).reshape(len(problem.X), -1)
    return Boosted(trees, raw.astype(np.float64))


def xgboost_tree(node):
    if "leaf" in node:
        return float(node["leaf"])
    child = {each["nodeid"]: xgboost_tree(each) for each in node["children"]}
    # XGBoost sends left what is below the threshold, in float32.
    below = float(np.nextafter(np.float32(node["split_condition"]), np.float32(-np.inf)))
    yes, no = child[node["yes"]], child[node["no"]]
    return Split(int(node["split"][1:]), below, node["missing"] == node["yes"], yes, no)


# ------------------------------------------------------------------ LightGBM

LIGHTGBM_NAMES = {
    "learning_rate": "learning_rate",
    "max_leaf_nodes": "num_leaves",
    "max_depth": "max_depth",
    "min_child_weight": "min_sum_hessian_in_leaf",
    "l1": "lambda_l1",
    "l2": "lambda_l2",
}
LIGHTGBM_LOSSES = {"squared_error": "regression", "poisson": "poisson", "gamma": "gamma"}


def of_lightgbm(problem, start, n_estimators, gamma=0.0, **parameters):
    import lightgbm  # noqa: PLC0415

    given = {LIGHTGBM_NAMES[name]: p for name, p in parameters.items() if p is not None}
    given.setdefault("num_leaves", 2 ** given.get("max_depth", 0))
    given |= {"min_gain_to_split": 2 * gamma, "min_data_in_leaf": 1, "min_data_in_bin": 1}
    given |= {"boost_from_average": False, "poisson_max_delta_step": 1e-12, "verbosity": -1}
    given |= {"feature_pre_filter": False, "num_threads": 1, "deterministic": True}
    if problem.loss == "log_loss":
        given["objective"] = "binary" if problem.n_classes == 2 else "multiclass"
        given["num_class"] = problem.n_outputs
    else:
        given["objective"] = LIGHTGBM_LOSSES[problem.loss]
    margin = np.tile(start, (len(problem.X), 1))
    rows = lightgbm.Dataset(
        problem.X, problem.y, weight=problem.weights, init_score=margin.ravel(order="F")
    )
    booster = lightgbm.train(given, rows, n_estimators)
    dumped = booster.dump_model()["tree_info"]
    trees = [lightgbm_tree(tree["tree_structure"]) for tree in dumped]
    raw = booster.predict(problem.X, raw_score=True).reshape(len(problem.X), -1)
    return Boosted(trees, raw + margin)


def lightgbm_tree(node):
    if "leaf_value" in node:
        return float(node["leaf_value"])
    left, right = lightgbm_tree(node["left_child"]), lightgbm_tree(node["right_child"])
    feature, threshold = node["split_feature"], node["threshold"]
    return Split(feature, threshold, node["default_left"], left, right)


# ------------------------------------------------------------------ scikit-learn

HIST_NAMES = {
    "n_estimators": "max_iter",
    "learning_rate": "learning_rate",
    "max_leaf_nodes": "max_leaf_nodes",
    "max_depth": "max_depth",
    "l2": "l2_regularization",
    "min_samples_leaf": "min_samples_leaf",
}


def of_hist(problem, **parameters):
    kind = "Classifier" if problem.n_classes else "Regressor"
    given = {HIST_NAMES[name]: p for name, p in parameters.items()}
    model = getattr(ensemble, f"HistGradientBoosting{kind}")(
        loss=problem.loss, early_stopping=False, **({"max_leaf_nodes": None} | given)
    )
    with threadpool_limits(1):
        model.fit(problem.X, problem.y, sample_weight=problem.weights)
    trees = []
    for predictor in (each for of_round in model._predictors for each in of_round):
        nodes = predictor.nodes
        left = np.where(nodes["is_leaf"], -1, nodes["left"].astype(int))
        names = ("right", "feature_idx", "num_threshold", "missing_go_to_left", "value")
        trees.append(from_arrays(left, *(nodes[name] for name in names)))
    return Boosted(trees, model._raw_predict(problem.X).reshape(len(problem.X), -1))


def of_classic(problem, **parameters):
    """scikit-learn's GradientBoosting: least squares to the gradients, a step per leaf."""
    kind = "Classifier" if problem.n_classes else "Regressor"
    rate = parameters["learning_rate"]
    model = getattr(ensemble, f"GradientBoosting{kind}")(
        loss=problem.loss, random_state=0, **parameters
    )
    model.fit(problem.X, problem.y, sample_weight=problem.weights)
    trees = []
    for tree in (each.tree_ for each in model.estimators_.ravel()):
        missing_left = np.zeros(tree.node_count, bool)
        arrays = tree.children_left, tree.children_right, tree.feature, tree.threshold
        trees.append(from_arrays(*arrays, missing_left, rate * tree.value[:, 0, 0]))
    raw = model.decision_function if problem.n_classes else model.predict
    return Boosted(trees, raw(problem.X).reshape(len(problem.X), -1))
