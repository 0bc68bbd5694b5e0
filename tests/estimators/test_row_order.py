"""The order of rows in memory changes no model, and what is told of rows is of the user's rows."""

from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from hedgerow import GradientBoostingClassifier, GradientBoostingRanker, GradientBoostingRegressor
from hedgerow.estimators import row_order
from hedgerow.estimators.ground import Ground
from hedgerow.evaluation import cross_validate

N_ROWS = 3000
random = np.random.default_rng(0)
X = random.normal(size=(N_ROWS, 4))
X[random.random(X.shape) < 0.1] = np.nan
f = np.sin(2 * np.nan_to_num(X[:, 0])) + np.nan_to_num(X[:, 1]) + 0.3 * random.normal(size=N_ROWS)
labels, classes = (f > 0).astype(int), np.digitize(f, [-1.0, 0.0, 1.0])
weights = random.integers(0, 4, N_ROWS)
frame = pd.DataFrame(X, columns=list("abcd")).assign(
    few=pd.Categorical(random.choice(["x", "y", None], N_ROWS)),
    many=[f"id {i}" for i in random.integers(0, 300, N_ROWS)],
)


@pytest.fixture
def moves(monkeypatch):
    """Put rows of any table into order; list how many of them were."""
    monkeypatch.setattr(row_order, "_MANY_BYTES", 0)
    monkeypatch.setattr(row_order, "_MANY_ROWS", 1000)
    monkeypatch.setattr(row_order, "_LEAST_WORK", 0)
    monkeypatch.setattr(row_order, "_SOME", 500)
    monkeypatch.setattr(row_order, "_STRIPE", 64)
    moved, seen = Ground.moved, []

    def noted(self, order):
        assert_array_equal(np.sort(order), np.arange(len(self.y)))
        seen.append(int(np.count_nonzero(np.diff(order) != 1)))
        return moved(self, order)

    monkeypatch.setattr(Ground, "moved", noted)
    return seen


def fingerprint(model):
    return model._model.fingerprint()


FITS = {
    "two classes": (GradientBoostingClassifier(), X, labels, {}),
    "several classes": (GradientBoostingClassifier(n_estimators=4), X, classes, {}),
    "vector leaves": (
        GradientBoostingClassifier(multi_output="vector", n_estimators=4),
        X,
        classes,
        {},
    ),
    "numbers": (GradientBoostingRegressor(), X, f, {}),
    "several outputs": (GradientBoostingRegressor(n_estimators=5), X, np.c_[f, -f], {}),
    "median": (GradientBoostingRegressor(loss="absolute_error", n_estimators=9), X, f, {}),
    "huber": (GradientBoostingRegressor(loss="huber", n_estimators=9), X, f, {}),
    "quantiles": (
        GradientBoostingRegressor(loss="quantile", alpha=[0.1, 0.9], n_estimators=5),
        X,
        f,
        {},
    ),
    "weights": (GradientBoostingRegressor(), X, f, {"sample_weight": weights}),
    "class weights": (GradientBoostingClassifier(class_weight="balanced"), X, labels, {}),
    "offset": (GradientBoostingRegressor(), X, f, {"offset": np.arange(N_ROWS) / N_ROWS}),
    "weights and offset": (
        GradientBoostingRegressor(),
        X,
        f,
        {"offset": np.arange(N_ROWS) / N_ROWS, "sample_weight": weights},
    ),
    "rows held out": (GradientBoostingClassifier(early_stopping=True), X, labels, {}),
    "rows watched": (
        GradientBoostingRegressor(early_stopping=True),
        X,
        f,
        {"eval_set": (X[:500], f[:500])},
    ),
    "categories": (GradientBoostingRegressor(max_bins=64), frame, f, {}),
    "exact": (GradientBoostingRegressor(split_finding="exact", n_estimators=5), X, f, {}),
    "constraints": (GradientBoostingRegressor(monotonic_cst=[1, 0, 0, -1]), X, f, {}),
    "columns drawn": (GradientBoostingRegressor(max_features=0.5), X, f, {}),
    "dropout": (GradientBoostingRegressor(dropout=0.2, n_estimators=9), X, f, {}),
    "line search": (GradientBoostingRegressor(learning_rate="line_search"), X, f, {}),
    "gradient": (GradientBoostingRegressor(method="gradient"), X, f, {}),
}


@pytest.mark.parametrize("n_jobs", [1, 2, 3])
@pytest.mark.parametrize("name", FITS)
def test_the_order_of_rows_changes_no_model(name, n_jobs, moves, monkeypatch):
    model, table, y, others = FITS[name]
    if model.n_estimators == "auto":
        model.set_params(n_estimators=12)
    model.set_params(n_jobs=n_jobs)
    moved = fingerprint(model.fit(table, y, **others))
    assert len(moves) == 1
    assert moves[0] > 100
    monkeypatch.setattr(row_order, "_MANY_BYTES", np.inf)
    assert fingerprint(model.fit(table, y, **others)) == moved
    assert len(moves) == 1


def test_rows_are_ordered_by_the_leaves_of_few_trees_and_dealt_out_to_threads(moves, monkeypatch):
    orders = []
    monkeypatch.setattr(Ground, "moved", lambda self, order: orders.append(order) or self)
    GradientBoostingRegressor(n_estimators=1, n_jobs=1).fit(X, f)
    few = GradientBoostingRegressor(n_estimators=4, learning_rate=0.1, max_leaf_nodes=31)
    assert len(orders) == 1
    # The first tree of all rows, whose leaves the others part much alike, is in few pieces.
    leaves = few.fit(X, f).apply(X)[:, 0]
    assert np.count_nonzero(np.diff(leaves[orders[0]])) < np.count_nonzero(np.diff(leaves)) / 2
    assert not moves


def test_a_fit_that_goes_on_has_the_bits_of_one_fit(moves):
    whole = fingerprint(GradientBoostingRegressor(n_estimators=20, random_state=0).fit(X, f))
    model = GradientBoostingRegressor(n_estimators=8, random_state=0, warm_start=True).fit(X, f)
    assert fingerprint(model.set_params(n_estimators=20).fit(X, f)) == whole
    assert len(moves) == 3


def test_what_others_made_of_a_table_stays_in_its_order(moves, monkeypatch):
    model = GradientBoostingRegressor(n_estimators=5)
    found = cross_validate(model, X, f, cv=3)
    assert moves
    monkeypatch.setattr(row_order, "_MANY_BYTES", np.inf)
    expected = cross_validate(model, X, f, cv=3)
    assert_array_equal(found["test_score"], expected["test_score"])


class Wrong(NamedTuple):
    n_outputs: int = 1

    def loss(self, y, f):
        return (y - f) ** 2

    def gradient(self, y, f):
        return f - y if y != 7.0 else np.nan

    def hessian(self, y, f):  # noqa: ARG002
        return 1.0

    def start(self, y, w):  # noqa: ARG002
        return 0.0

    def link(self, raw):
        return raw

    def check(self, y):
        pass


def squares(y, raw):
    return raw - y, np.ones_like(y)


def test_an_error_names_the_row_as_given(moves):
    y = np.zeros(N_ROWS)
    y[1234] = 7.0
    with pytest.raises(FloatingPointError, match="for row 1234 "):
        GradientBoostingRegressor(loss=Wrong(), n_estimators=5, early_stopping=False).fit(X, y)
    assert len(moves) <= 1


@pytest.mark.parametrize(
    ("model", "y", "others"),
    [
        (GradientBoostingRegressor(subsample=0.5, n_estimators=5), f, {}),
        (GradientBoostingClassifier(sampling="goss", n_estimators=5), labels, {}),
        (GradientBoostingRegressor(n_estimators="cv", max_estimators=5), f, {}),
        (GradientBoostingRanker(n_estimators=5), classes, {"qid": np.arange(N_ROWS) // 10}),
        (GradientBoostingRegressor(loss=squares, n_estimators=5), f, {}),
    ],
)
def test_rows_stay_where_their_order_is_known_to_others(model, y, others, moves):
    model.fit(X, y, **others)
    assert not moves


def test_few_rows_stay(monkeypatch):
    monkeypatch.setattr(Ground, "moved", lambda *_: pytest.fail("they were moved"))
    GradientBoostingRegressor(n_estimators=30).fit(X, f)
