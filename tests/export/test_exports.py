"""Exported models say what the library says: classes exactly, numbers to rounding."""

import warnings
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest

import hedgerow as hr
from hedgerow.export.reading import outline_of
from tests.export.runners import COMPILER, said_by, said_by_export
from tests.storage import zoo

TREE, MEANS = hr.DecisionTreeClassifier, hr.DecisionTreeRegressor
NO_COMPILER = pytest.mark.skipif(COMPILER is None, reason="there is no C compiler")
FORMATS = ["onnx", pytest.param("c", marks=NO_COMPILER), "python"]
ROUNDING = 1e-12  # other exponentials differ in the last bits; everything else is the same

CLASSIFIERS = {
    "tree": lambda: TREE(max_depth=5),
    "forest": lambda: hr.RandomForestClassifier(5),
    "votes": lambda: hr.RandomForestClassifier(5, voting="hard"),
    "extra": lambda: hr.ExtraTreesClassifier(5),
    "bagging": lambda: hr.BaggingClassifier(TREE(max_depth=4), 5, max_features=3),
    "bagging, fitted apart": lambda: hr.BaggingClassifier(
        TREE(max_depth=4, class_weight={"left": 2.0}), 5, max_features=3
    ),
    "boosting": lambda: hr.GradientBoostingClassifier(n_estimators=6, max_leaf_nodes=5),
    "boosting, vectors": lambda: hr.GradientBoostingClassifier(
        n_estimators=4, max_leaf_nodes=5, multi_output="vector"
    ),
    "samme": lambda: hr.AdaBoostClassifier(TREE(max_depth=2), n_estimators=5),
    "real": lambda: hr.AdaBoostClassifier(TREE(max_depth=2), n_estimators=5, algorithm="real"),
    "stagewise": lambda: hr.StagewiseClassifier(n_estimators=4),
    "stagewise, deeper": lambda: hr.StagewiseClassifier(MEANS(max_depth=4), n_estimators=4),
    "resampled": lambda: hr.AdaBoostClassifier(
        TREE(max_depth=2), n_estimators=5, resample=True, algorithm="real"
    ),
}
TWO_CLASSES = {
    "stumps": lambda: hr.L1BoostClassifier(radius=3.0),
    "stumps, logistic": lambda: hr.L1BoostClassifier(loss="logistic", radius=20.0),
    "exponential": lambda: hr.StagewiseClassifier(n_estimators=6, loss="exponential"),
    "signs": lambda: hr.StagewiseClassifier(TREE(max_depth=2), n_estimators=6),
    "signs, exact": lambda: hr.StagewiseClassifier(
        TREE(max_depth=2), n_estimators=6, loss="exponential", step="exact"
    ),
}
REGRESSORS = {
    "tree": lambda: MEANS(max_depth=5),
    "medians": lambda: MEANS(max_depth=5, criterion="absolute_error"),
    "forest": lambda: hr.RandomForestRegressor(5),
    "extra": lambda: hr.ExtraTreesRegressor(5),
    "bagging": lambda: hr.BaggingRegressor(MEANS(max_depth=4), 5, max_features=2),
    "bagging, fitted apart": lambda: hr.BaggingRegressor(
        MEANS(max_depth=4, criterion="absolute_error"), 5
    ),
    "adaboost": lambda: hr.AdaBoostRegressor(n_estimators=6),
    "adaboost, fitted apart": lambda: hr.AdaBoostRegressor(
        MEANS(max_depth=3, criterion="absolute_error"), n_estimators=5
    ),
    **{
        f"stagewise, {loss}": lambda loss=loss: hr.StagewiseRegressor(
            MEANS(max_depth=3), loss=loss, n_estimators=5
        )
        for loss in ("squared_error", "absolute_error", "huber", "quantile", "poisson", "tweedie")
    },
    **{
        loss: lambda loss=loss: hr.GradientBoostingRegressor(
            loss=loss, n_estimators=5, max_leaf_nodes=5
        )
        for loss in (
            *("squared_error", "absolute_error", "huber", "quantile", "poisson", "gamma"),
            "tweedie",
        )
    },
    "quantiles": lambda: hr.GradientBoostingRegressor(
        loss="quantile", alpha=[0.1, 0.5, 0.9], n_estimators=5, max_leaf_nodes=5
    ),
}


def fitted(model, y):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(zoo.mixed(), y)


def assert_same(model, X, to, folder):
    told, expected = said_by_export(model, X, to, folder), said_by(model, X)
    if expected.labels is not None:
        assert told.labels.tolist() == expected.labels.tolist()
    assert told.numbers.shape == expected.numbers.shape
    np.testing.assert_allclose(told.numbers, expected.numbers, rtol=ROUNDING, atol=ROUNDING)


@pytest.mark.parametrize("to", FORMATS)
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("name", CLASSIFIERS)
def test_a_classifier_says_the_same(name, n_classes, to, tmp_path):
    model = fitted(CLASSIFIERS[name](), zoo.labels(n_classes=n_classes))
    assert_same(model, zoo.rows_for(model), to, tmp_path)


@pytest.mark.parametrize("to", FORMATS)
@pytest.mark.parametrize("name", TWO_CLASSES)
def test_a_classifier_of_two_classes_says_the_same(name, to, tmp_path):
    model = fitted(TWO_CLASSES[name](), zoo.labels(n_classes=2))
    assert_same(model, zoo.rows_for(model), to, tmp_path)


@pytest.mark.parametrize("to", FORMATS)
def test_stumps_know_missing_values_and_rows_on_their_thresholds(to, tmp_path):
    X = zoo.numbers()
    model = hr.L1BoostClassifier(loss="logistic", radius=20.0).fit(X, zoo.labels(n_classes=2))
    stumps = model.dictionary_
    used = [k for k in np.flatnonzero(model.coef_) if stumps.feature[k] >= 0]
    assert used
    rows = np.repeat(X[:1], 3 * len(used), axis=0)
    for place, k in enumerate(used):
        cut = stumps.threshold[k]
        near = [cut, np.nextafter(cut, np.inf), np.nan]
        rows[3 * place : 3 * place + 3, stumps.feature[k]] = near
    assert_same(model, rows, to, tmp_path)


@pytest.mark.parametrize("to", FORMATS)
@pytest.mark.parametrize("label", ["a", "b"])
def test_stumps_of_one_class_say_that_class(label, to, tmp_path):
    model = hr.L1BoostClassifier().fit(zoo.numbers(), [label] * 60)
    assert_same(model, zoo.numbers(90), to, tmp_path)


@pytest.mark.parametrize("to", FORMATS)
@pytest.mark.parametrize("name", REGRESSORS)
def test_a_regressor_says_the_same(name, to, tmp_path):
    model = fitted(REGRESSORS[name](), zoo.targets() + 1.0)
    assert_same(model, zoo.rows_for(model), to, tmp_path)


@pytest.mark.parametrize("to", FORMATS)
@pytest.mark.parametrize(
    "name",
    [
        *("tree-costs", "tree-outputs", "forest-outputs", "boosting-outputs"),
        *("boosting-ranks", "boosting-two", "boosting-tweedie"),
    ],
)
def test_models_of_costs_outputs_ranks_and_other_losses_say_the_same(name, to, tmp_path):
    model = zoo.made(name)
    assert_same(model, zoo.rows_for(model), to, tmp_path)


@pytest.mark.parametrize("to", FORMATS)
def test_cells_next_to_a_threshold_go_their_way(to, tmp_path):
    # The thresholds are no float32: rounded, they would send half of these cells elsewhere.
    X = np.random.default_rng(0).random((200, 2))
    model = hr.RandomForestRegressor(5).fit(X, np.arange(200.0))
    trees = outline_of(model).trees
    cuts = trees.threshold[trees.feature == 0]
    near = [cuts, np.nextafter(cuts, 2), np.nextafter(cuts, -2), cuts.astype(np.float32)]
    cells = np.concatenate(near)[:, None]
    assert_same(model, np.hstack([cells, np.full_like(cells, 0.5)]), to, tmp_path)


@pytest.mark.parametrize("to", FORMATS)
def test_tables_of_float32_go_their_way(to, tmp_path):
    X = np.random.default_rng(1).random((150, 3)).astype(np.float32)
    model = TREE().fit(X, (X[:, 0] * 7).astype(int))
    assert_same(model, X, to, tmp_path)


@pytest.mark.parametrize("to", FORMATS)
def test_infinite_cells_and_missing_ones_that_no_fit_has_seen_go_their_way(to, tmp_path):
    X = np.random.default_rng(2).random((100, 2))
    model = hr.GradientBoostingRegressor(n_estimators=5, max_leaf_nodes=5).fit(X, X[:, 0])
    strange = [np.inf, -np.inf, np.nan, 0.5, -0.0]
    rows = np.array([[one, other] for one in strange for other in strange])
    assert_same(model, rows, to, tmp_path)


@pytest.mark.parametrize("to", FORMATS)
@pytest.mark.parametrize(
    "categories", [range(300), np.arange(300) / 4, [f'ü{k}?"\\\\' for k in range(300)]]
)
def test_columns_of_many_categories_go_their_way(to, categories, tmp_path):
    place = np.arange(900)
    X = pd.DataFrame(
        {"a": pd.Categorical([categories[k * 7 % 300] for k in place]), "b": place % 9}
    )
    model = hr.RandomForestClassifier(4).fit(X[:700], place[:700] * 7 % 300 % 5 % 3)
    assert_same(model, X, to, tmp_path)


@pytest.mark.parametrize("to", FORMATS)
@pytest.mark.parametrize("names", [[False, True], [3, 8], [1.0, 2.0], ["ja", "né"]])
def test_classes_keep_their_names(to, names, tmp_path):
    X = np.arange(20.0)[:, None]
    model = TREE().fit(X, np.array(names)[(X[:, 0] > 7).astype(int)])
    assert_same(model, X, to, tmp_path)


@pytest.mark.parametrize("to", FORMATS)
@pytest.mark.parametrize("make", [TREE, hr.GradientBoostingClassifier, hr.RandomForestClassifier])
def test_a_single_class_is_certain(to, make, tmp_path):
    X = np.arange(12.0)[:, None]
    model = make().fit(X, ["only"] * 12)
    assert_same(model, X, to, tmp_path)


@pytest.mark.parametrize("to", FORMATS)
def test_scores_near_even_odds_are_of_the_class_that_predict_names(to, tmp_path):
    # Probabilities of scores up to 2^-54 or so are rounded to one half each: the first class.
    X = np.arange(40.0)[:, None]
    model = hr.GradientBoostingClassifier(n_estimators=1).fit(X, X[:, 0] > 19)
    model._model.start[:] = 0.0
    is_leaf = model._model.grove.left < 0
    tiny = [0.0, 5e-17, 1.2e-16, 2.3e-16, 1e-15, -1e-17, -1e-15]
    model._model.grove.value[is_leaf] = np.resize(tiny, is_leaf.sum())
    for scale in (1.0, 2.0, 1.5):
        model._model.grove.value[is_leaf] *= scale
        vars(model._model).pop("_scorer", None)
        assert_same(model, X, to, tmp_path)


def test_a_model_without_rounds_can_be_exported(tmp_path):
    X = np.arange(30.0)[:, None]
    model = hr.GradientBoostingClassifier(n_estimators=3).fit(X, X[:, 0].astype(int) % 3)
    model._model = model._model.first(0)
    assert_same(model, X, "python", tmp_path)
    assert_same(model, X, "onnx", tmp_path)


@pytest.mark.parametrize("to", FORMATS)
def test_a_tree_of_ten_thousand_levels_can_be_exported(to, tmp_path):
    # Each split sends one row to the right, so that no writer or runtime may call itself.
    n, model = 10_000, MEANS(max_depth=1).fit([[0.0], [1.0]], [0.0, 1.0])
    place = np.arange(2 * n + 1)
    is_leaf = place >= n
    model._tree = replace(
        model._tree,
        left=np.where(is_leaf, -1, place + 1).astype(np.int32),
        right=np.where(is_leaf, -1, 2 * n - place).astype(np.int32),
        feature=np.where(is_leaf, -1, 0).astype(np.int32),
        threshold=np.where(is_leaf, np.nan, n - place - 0.5),
        missing_left=place < 0,
        category_start=np.full(2 * n + 1, -1),
        value=place[:, None] * 1.0,
        impurity=place * 0.0,
        n_rows=place,
        weight=place * 1.0,
    )
    assert_same(model, np.arange(0.0, n + 9, 97)[:, None], to, tmp_path)


@pytest.mark.parametrize("to", FORMATS)
def test_scores_that_are_rounded_to_equal_probabilities_are_of_the_first_class(to, tmp_path):
    X = np.arange(30.0)[:, None]
    model = hr.GradientBoostingClassifier(n_estimators=1).fit(X, X[:, 0].astype(int) % 3)
    model._model.start[:] = [0.0, 4e-17, 2e-17]
    model._model.grove.value[:] = 0.0
    assert model.predict(X).tolist() == [0] * 30  # though the second score is the highest
    assert_same(model, X, to, tmp_path)


@pytest.mark.parametrize("to", FORMATS)
@pytest.mark.parametrize("name", ["bagging", "adaboost"])
def test_a_category_that_one_tree_has_not_seen_goes_its_way_of_missing_values(name, to, tmp_path):
    place = np.arange(120)
    town = np.array([f"town {k * 37 % 60}" for k in place], object)
    town[::11] = None
    X = pd.DataFrame({"town": town, "age": place * 7 % 13})
    y = place * 37 % 60 % 7 - (place % 11 == 0) * 30.0
    learner = MEANS(max_depth=4, criterion="absolute_error")
    make = {"bagging": hr.BaggingRegressor, "adaboost": hr.AdaBoostRegressor}[name]
    model = make(learner, n_estimators=6).fit(X, y)
    seen = [set(tree._schema.categories[0]) for tree in model.estimators_]
    assert any(one != other for one in seen for other in seen)
    assert any(tree._tree.missing_left.any() for tree in model.estimators_)
    assert_same(model, X, to, tmp_path)


class _Quartic(NamedTuple):
    scale: float = 3.0

    def loss(self, y, f):
        return ((y - f) / self.scale) ** 4


@pytest.mark.parametrize("to", FORMATS)
def test_losses_of_the_users_own_show_scores_of_numbers_and_log_odds_of_classes(to, tmp_path):
    numbers = hr.GradientBoostingRegressor(loss=_Quartic(), n_estimators=4, max_leaf_nodes=4)
    model = numbers.fit(zoo.numbers(), zoo.targets())
    assert_same(model, zoo.numbers(90), to, tmp_path)

    def derivatives(y, raw):
        p = 1 / (1 + np.exp(-raw))
        return p - y, p * (1 - p)

    classes = hr.GradientBoostingClassifier(loss=derivatives, n_estimators=4, max_leaf_nodes=4)
    model = classes.fit(zoo.numbers(), zoo.labels(n_classes=2))
    assert_same(model, zoo.numbers(90), to, tmp_path)
