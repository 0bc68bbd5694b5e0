"""Which fits, all of them tiny, make Numba compile every kernel there is.

A kernel is compiled once for each combination of types. The types depend on the criterion
or the loss and, in prediction, on whether the table may be written to. They do not depend
on the kind of table, the number of threads or the other parameters, and on its size only in
binning, which deals out many values.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    GradientBoostingClassifier,
    GradientBoostingRanker,
    GradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
    StagewiseClassifier,
    StagewiseRegressor,
)
from hedgerow.data.binned import MAX_BINS, Recipe, bin_table
from hedgerow.data.dealt import LEAST_DEALT
from hedgerow.data.table import read_table
from hedgerow.estimators.gb_ranker import RANKING_LOSSES
from hedgerow.estimators.losses import REGRESSION_LOSSES
from hedgerow.kernels.stairs import REGISTER
from hedgerow.kernels.team import hired

_N_ROWS = 900
_COST = [[0.0, 1.0], [5.0, 0.0]]


def steps() -> dict[str, Callable[[], None]]:
    """Return what to run, by the name to show."""
    X, labels, targets = _problem()
    classifier, regressor = DecisionTreeClassifier, DecisionTreeRegressor
    models: dict[str, tuple[Any, NDArray[Any]]] = {
        "gini": (classifier(), labels),
        "entropy": (classifier(criterion="entropy"), labels),
        "misclassification": (classifier(criterion="misclassification"), labels),
        "exponential": (classifier(criterion="exponential"), labels),
        "misclassification cost": (
            classifier(criterion="misclassification", misclassification_cost=_COST),
            labels,
        ),
        "squared error": (regressor(), targets[:, 0]),
        "squared error, several outputs": (regressor(), targets),
        "absolute error": (regressor(criterion="absolute_error"), targets[:, 0]),
    }
    work: dict[str, Callable[[], None]]
    work = {name: partial(_use, model, X, y) for name, (model, y) in models.items()}
    work["read-only tables"] = partial(_use_fixed, targets)
    # The longest first: of what comes last one core would be left to wait for another.
    for criterion in ("gini", "entropy", "misclassification", "exponential"):
        work[f"AdaBoost, {criterion}"] = partial(_reweigh, criterion, X, labels, targets)
    counts = targets[:, 0] + 1.0
    for loss in REGRESSION_LOSSES:
        model = GradientBoostingRegressor(loss=loss)
        work[f"boosting, {loss}"] = partial(_boost, model, X, counts)
    boosted, up = GradientBoostingRegressor, [1, 0, 0, 0]
    ways = {
        "monotone": boosted(monotonic_cst=up),
        "counted rows": boosted(min_samples_leaf=2),
        "monotone, counted rows": boosted(monotonic_cst=up, min_samples_leaf=2),
        "post-pruned": boosted(prune="post"),
        "median, monotone": boosted(loss="absolute_error", monotonic_cst=up),
    }
    for name, model in ways.items():
        work[f"boosting, {name}"] = partial(_boost, model, X, counts)
    classes = np.digitize(counts, [3.0, 6.0])
    work["boosting, log_loss"] = partial(_boost, GradientBoostingClassifier(), X, labels)
    work["boosting, several classes"] = partial(_boost, GradientBoostingClassifier(), X, classes)
    goss = GradientBoostingClassifier(sampling="goss", learning_rate="line_search")
    work["boosting, samples and line search"] = partial(_boost, goss, X, labels)
    together = GradientBoostingClassifier(multi_output="vector")
    work["boosting, vector leaves"] = partial(_boost, together, X, classes)
    exponential = GradientBoostingClassifier(loss="exponential")
    work["boosting, exponential"] = partial(_boost, exponential, X, labels)
    for loss in REGRESSION_LOSSES:
        descent = StagewiseRegressor(dictionary=_counted, loss=loss)
        work[f"stagewise, {loss}"] = partial(_descend, descent, X, counts)
    descent = StagewiseClassifier(dictionary=_counted)
    work["stagewise, log_loss"] = partial(_descend, descent, X, labels)
    for loss in RANKING_LOSSES:
        ranker = GradientBoostingRanker(loss=loss)
        work[f"boosting, {loss}"] = partial(_boost, ranker, X, classes, qid=np.arange(_N_ROWS) // 9)
    forests = {
        "gini": (RandomForestClassifier(), labels),
        "entropy": (RandomForestClassifier(criterion="entropy"), labels),
        "misclassification": (RandomForestClassifier(criterion="misclassification"), labels),
        "squared error": (RandomForestRegressor(), targets[:, 0]),
        "squared error, several outputs": (RandomForestRegressor(), targets),
        "gini, monotone": (RandomForestClassifier(monotonic_cst=up), labels),
        "squared error, monotone": (RandomForestRegressor(monotonic_cst=up), targets[:, 0]),
    }
    for name, (forest, y) in forests.items():
        work[f"forest, {name}"] = partial(_bag, forest, X, y)
    work["forests, many rows"] = partial(_follow, labels, targets)
    work["binning, many rows"] = partial(_bin_many)
    work["explaining"] = partial(_explain, targets)
    return work


def _bin_many() -> None:
    """Bin as many values as are dealt out, each unlike the others."""
    n_rows = LEAST_DEALT
    with hired(1, 0.0) as team:
        bin_table(read_table(np.arange(float(n_rows))[:, None]), Recipe(MAX_BINS), team)


def _explain(table: NDArray[np.float64]) -> None:
    """Ask a boosted model for all that it explains, of tables that may be written to or not."""
    fixed = table.copy()
    fixed.flags.writeable = False
    model = GradientBoostingRegressor(n_estimators=4, n_jobs=1).fit(table, table[:, 0])
    for X in (table, fixed):
        model.apply(X)
        model.shap_values(X)
        model.shap_values(X, background=X)
        model.shap_interaction_values(X)


def _boost(model: Any, X: NDArray[Any], y: NDArray[Any], **queries: Any) -> None:
    """Do with a boosted model what users do: fit, stop early, predict."""
    model.set_params(n_estimators=2, early_stopping=True, n_jobs=1).fit(X, y, **queries)
    model.predict(X)
    fixed = model._schema.matrix(read_table(X), "missing")
    fixed.flags.writeable = False
    with hired(1, 0.0) as team:
        model._model.raw(fixed, team)


def _counted(X: NDArray[Any]) -> NDArray[np.float64]:
    """Say something of each row, as a dictionary of one function."""
    return np.asarray(np.arange(len(X)) % 3, np.float64)


def _descend(model: Any, X: NDArray[Any], y: NDArray[Any]) -> None:
    """Do with a stagewise model what users do: fit, stop early, predict."""
    model.set_params(n_estimators=2, early_stopping=True, n_jobs=1).fit(X, y).predict(X)


def _bag(model: Any, X: NDArray[Any], y: NDArray[Any]) -> None:
    """Do with a forest what users do: fit, judge rows out of the bag, look at trees."""
    ways = [{"voting": way} for way in ("hard", "soft")] if hasattr(model, "voting") else [{}]
    for way in ways:
        model.set_params(n_estimators=3, oob_score=True, n_jobs=1, **way).fit(X, y)
        model.apply(X)
    model.set_params(min_samples_leaf=5).fit(X, y, sample_weight=np.arange(len(y)) % 3 + 0.5)
    fixed = model._schema.matrix(read_table(X), "missing")
    fixed.flags.writeable = False
    with hired(1, 0.0) as team:
        out = np.zeros((len(fixed), model._n_values))
        model._model.add(fixed, np.arange(len(fixed)), model._ballot(), team, out)
        model._model.leaves(fixed, team)
    assert model.feature_importances_.size == X.shape[1]


def _follow(labels: NDArray[Any], targets: NDArray[np.float64]) -> None:
    """Predict by trees enough that rows are arranged and follow trails, by keys of all kinds.

    Of many columns no registers hold all keys, so that rows take one step at a time.
    """
    table, short = np.round(targets), targets.astype(np.float32).astype(np.float64)
    many = np.tile(table, 2 * REGISTER)
    fixed, fixed_short, fixed_many = table.copy(), short.copy(), many.copy()
    for each in (fixed, fixed_short, fixed_many):
        each.flags.writeable = False
    hard = RandomForestClassifier(voting="hard")
    models = (hard, labels), (RandomForestClassifier(), labels), (RandomForestRegressor(), targets)
    for model, y in models:
        model.set_params(n_estimators=24, max_depth=3, n_jobs=1).fit(table, y)
        for X in (table, fixed, short, fixed_short, targets):
            model.predict(X)
        model.fit(many, y)
        for X in (many, fixed_many):
            model.predict(X)


def _reweigh(
    criterion: str, X: NDArray[Any], labels: NDArray[Any], targets: NDArray[np.float64]
) -> None:
    """Do with AdaBoost what users do: small trees and deep ones, of numbers too; then predict."""
    for limits in ({"max_depth": 1}, {"max_depth": None}):
        tree = DecisionTreeClassifier(criterion=criterion, **limits)
        model = AdaBoostClassifier(tree, n_estimators=2, algorithm="real", n_jobs=1)
        model.fit(X, labels).predict(X)
    numbers = AdaBoostRegressor(n_estimators=2, n_jobs=1).fit(X, targets[:, 0])
    numbers.predict(X)
    fixed = numbers._schema.matrix(read_table(X), "missing")
    fixed.flags.writeable = False
    with hired(1, 0.0) as team:
        numbers._model.says(fixed, team)
        model._model.add(fixed, team, (0, 1), np.zeros((len(fixed), 1)))


def _use(model: Any, X: NDArray[Any], y: NDArray[Any]) -> None:
    """Do with a model what users do: fit, prune, predict."""
    model.set_params(ccp_alpha="cv", unseen="average", n_jobs=1).fit(X, y)
    model.set_params(ccp_alpha=0.0, split_finding="exact").fit(X, y)
    unseen = X.copy()
    unseen[:, 2:] = "a category that was not there"
    model.predict(X)
    model.predict(unseen)


def _use_fixed(table: NDArray[np.float64]) -> None:
    fixed = table.copy()
    fixed.flags.writeable = False
    model = DecisionTreeRegressor(n_jobs=1).fit(fixed, fixed[:, 0])
    for X in (fixed, fixed[:9], table):  # many rows and few
        model.predict(X)


def _problem() -> tuple[NDArray[Any], NDArray[np.int64], NDArray[np.float64]]:
    """Make a table with columns of few and of many values, numeric and categorical, with gaps."""
    row = np.arange(_N_ROWS)
    X = np.empty((_N_ROWS, 4), object)
    X[:, 0] = (row % 7).astype(float)
    X[:, 1] = (row * 37 % _N_ROWS).astype(float)
    X[:, 2] = [f"few {value}" for value in row % 5]
    X[:, 3] = [f"many {value}" for value in row % 300]
    X[row % 11 == 0, :2] = np.nan
    X[row % 13 == 0, 2:] = None
    noise = row * 7919 % 101 / 101.0
    targets = np.column_stack([row % 7 + noise, row % 5 - noise])
    return X, (targets[:, 0] > 3.5).astype(np.int64), targets
