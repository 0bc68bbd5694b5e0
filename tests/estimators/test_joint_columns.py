"""Features that share a column of the histogram: the models are those of features alone."""

import numpy as np
import pytest
from sklearn.base import clone

from hedgerow import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from hedgerow.estimators import tables
from tests.estimators.tables import Problem

pytestmark = pytest.mark.usefixtures("many_hands")

SHORT = {"n_estimators": 5, "early_stopping": False}
MODELS = [
    GradientBoostingClassifier(**SHORT),
    GradientBoostingClassifier(**SHORT, max_features=0.5, random_state=3),
    GradientBoostingRegressor(**SHORT, max_leaf_nodes=60),
    GradientBoostingRegressor(**SHORT, subsample=0.5, random_state=3),
    DecisionTreeClassifier(split_finding="histogram"),
    DecisionTreeClassifier(split_finding="histogram", max_leaf_nodes=40),
    DecisionTreeRegressor(split_finding="histogram"),
    DecisionTreeRegressor(
        split_finding="histogram", max_leaf_nodes=40, max_features=0.6, random_state=3
    ),
    RandomForestClassifier(3, random_state=3),
    RandomForestRegressor(3, max_features=0.3, random_state=3),
    ExtraTreesClassifier(3, random_state=3),
]


def questionnaire(n_rows):
    """Flags (no row has two kinds), tags and categories of few values, some missing; numbers."""
    rng = np.random.default_rng(0)
    columns = {}
    for k in range(10):
        columns[f"flag {k}"] = (rng.random(n_rows) < 0.1 + 0.08 * k).astype(float)
    for k in range(6):
        columns[f"tag {k}"] = rng.integers(0, 3 + k % 2, n_rows).astype(float)
    kind = rng.integers(0, 14, n_rows)
    for k in range(12):
        columns[f"kind {k}"] = (kind == k).astype(float)
    for k in range(3):
        columns[f"word {k}"] = rng.choice(["no", "yes", "both"][: 2 + k % 2], n_rows).astype(object)
    for k in range(3):
        columns[f"number {k}"] = np.round(rng.normal(size=n_rows), 2)
    score = columns["number 0"] + columns["flag 3"] * columns["tag 2"] - columns["tag 5"]
    score = score + (columns["word 1"] == "yes") + rng.normal(size=n_rows) + 0.2 * kind
    for name in ("flag 3", "tag 2", "number 0"):
        columns[name][rng.random(n_rows) < 0.1] = np.nan
    columns["word 1"][rng.random(n_rows) < 0.1] = None
    columns["constant"] = np.ones(n_rows)
    classes = np.array(["low", "middle", "high"])[np.digitize(score, [-1.0, 1.0])]
    return Problem(columns, classes, np.round(score, 3))


@pytest.fixture(scope="module", name="problem")
def _problem():
    return questionnaire(20_000)  # nodes of 8,192 rows and more are shared by the threads


@pytest.fixture(name="n_columns")
def _n_columns(monkeypatch):
    """Return the numbers of columns of the histograms that fits in this test have had."""
    seen = []

    def bin_table(*arguments):
        binned = tables_bin_table(*arguments)
        columns = binned.codes.features.column  # those behind a bundle begin a block
        seen.append(len(np.unique(columns[columns >= 0])))
        return binned

    tables_bin_table = tables.bin_table
    monkeypatch.setattr(tables, "bin_table", bin_table)
    return seen


def fingerprint(model, problem, **parameters):
    fitted = clone(model).set_params(**parameters).fit(problem.X, problem.target(model))
    return fitted.fingerprint_


def alone(monkeypatch):
    """Let no features share a column."""
    shared = tables.bin_table

    def bin_table(table, recipe, *others):
        return shared(table, recipe._replace(most_codes=0), *others)

    monkeypatch.setattr(tables, "bin_table", bin_table)


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_a_model_is_that_of_features_alone_for_any_threads_and_order(
    model, problem, n_columns, monkeypatch
):
    shuffled = problem.rows(np.random.default_rng(1).permutation(20_000))
    found = {fingerprint(model, problem, n_jobs=n_jobs) for n_jobs in (1, 2, 3)}
    found.add(fingerprint(model, shuffled, n_jobs=2))
    alone(monkeypatch)
    found.add(fingerprint(model, problem, n_jobs=1))
    assert len(found) == 1
    assert n_columns == [8, 8, 8, 8, 35]


@pytest.mark.parametrize("n_rows", [511, 512, 513])
def test_nodes_as_long_as_a_line_are_those_of_features_alone(n_rows, monkeypatch):
    """The first split by `part`, wherever that is drawn, leaves two nodes of n_rows rows."""
    rng = np.random.default_rng(0)
    tags, part = rng.integers(0, 3, (8, 2 * n_rows)), np.repeat([0.0, 1.0], n_rows)
    columns = {f"word {k}": np.array(["no", "yes", "both"], object)[tags[k]] for k in range(8)}
    columns["part"], y = part, 2 * part + (tags[0] + tags[1] * (1 - part) == 2)
    problem = Problem(columns, y.astype(int), y)
    forest = RandomForestClassifier(6, max_features=3, bootstrap=False, n_jobs=1)
    shared = fingerprint(forest, problem)
    alone(monkeypatch)
    assert fingerprint(forest, problem) == shared


@pytest.mark.parametrize("light", [0.0, 1.0])
@pytest.mark.parametrize("n_light", [19, 20])
@pytest.mark.parametrize("together", [True, False])
def test_a_flag_is_cut_if_both_of_its_sides_weigh_enough(light, n_light, together, n_columns):
    X = (np.random.default_rng(0).random((300, 9)) < 0.5).astype(float)
    X[:, 4] = 1.0 - light
    X[7 : 7 + n_light, 4] = light
    if together:  # no row has two flags: they share a digit
        X[:, 5:] = 0.0
        X[np.flatnonzero(X[:, 4] == 0.0)[:4], np.arange(5, 9)] = 1.0
    given = {"n_estimators": 1, "early_stopping": False, "max_features": None}
    model = GradientBoostingRegressor(**given, min_child_weight=20.0).fit(X, X[:, 4])
    assert n_columns[0] <= 2
    assert (model.feature_importances_[4] > 0.0) == (n_light == 20)
