"""Pictures of boosting show the numbers that they are of."""

import sys

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib import pyplot as plt
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_iris, make_moons
from sklearn.tree import DecisionTreeClassifier

from hedgerow import (
    L1BoostClassifier,
    StagewiseClassifier,
    plot_margins,
    plot_regions,
    plot_row_weights,
    plot_training_error,
    theory,
)
from hedgerow.plot import draw_row_weights, draw_training_error

ADABOOST = {"loss": "exponential", "init": "zero", "step": "exact", "learning_rate": 1.0}
X, Y = make_moons(80, noise=0.25, random_state=0)


@pytest.fixture(autouse=True)
def _agg():
    with mpl.rc_context({"backend": "Agg"}):
        yield
        plt.close("all")


@pytest.fixture(scope="module", name="model")
def _model():
    stump = DecisionTreeClassifier(max_depth=1)
    return StagewiseClassifier(stump, n_estimators=12, **ADABOOST).fit(X, Y)


def curves(ax):
    return {line.get_label(): line.get_xydata().T for line in ax.lines}


def test_the_training_error_is_drawn_beside_its_bounds(model):
    found = curves(plot_training_error(model, X, Y))
    rounds, errors = found["training error"]
    assert_array_equal(rounds, np.arange(1, 13))
    assert_allclose(errors, [np.mean(said != Y) for said in model.staged_predict(X)])
    product, exponential = theory.training_error_bounds(model.estimator_errors_)
    assert_allclose(found["product bound"][1], product)
    assert_allclose(found["exponential bound"][1], exponential)
    assert (errors <= product).all()


def test_a_learning_rate_has_the_product_of_its_own_steps_and_no_other_bound(model):
    slow = StagewiseClassifier(model.estimator, n_estimators=12, **ADABOOST)
    slow.set_params(learning_rate=0.5).fit(X, Y)
    found = curves(plot_training_error(slow, X, Y))
    assert "exponential bound" not in found
    losses = [np.exp(-(2 * Y - 1) * f).mean() for f in slow.staged_decision_function(X)]
    assert_allclose(found["product bound"][1], losses)


def test_a_model_without_errors_of_learners_has_no_bounds():
    model = StagewiseClassifier(n_estimators=3).fit(X, Y)
    assert list(curves(plot_training_error(model, X, Y))) == ["training error"]


def test_margins_are_drawn_after_the_rounds_that_are_asked_for(model):
    found = curves(plot_margins(model, X, Y, rounds=[1, 12]))
    assert [label for label in found if "round" in label] == ["1 round", "12 rounds"]
    scores = model.decision_function(X) / model.estimator_weights_.sum()
    expected = theory.margin_distribution(theory.margins(scores, Y))
    assert_allclose(found["12 rounds"][:, 1:-1], expected)
    assert_allclose(np.abs(found["1 round"][0, 1:-1]), 1.0)


def test_margins_of_a_model_without_rounds_are_drawn_too():
    model = L1BoostClassifier(loss="logistic", radius=2.0).fit(X, Y)
    found = curves(plot_margins(model, X, Y))["L1BoostClassifier"]
    own = theory.margins(model.decision_function(X), Y, total=np.abs(model.coef_).sum())
    assert_allclose(found[:, 1:-1], theory.margin_distribution(own))


def test_weights_of_the_hardest_rows_are_those_of_adaboost(model):
    found = curves(plot_row_weights(model, X, Y, n_hardest=3))
    w = np.full(80, 1 / 80)
    weights = []
    for learner, alpha in zip(model.estimators_, model.estimator_weights_, strict=True):
        weights.append(w)
        w = w * np.exp(-alpha * (2 * Y - 1) * learner.predict(X))
        w /= w.sum()
    weights = np.array(weights)
    hardest = np.argsort(-weights.mean(axis=0), kind="stable")[:3]
    drawn = {label: line for label, line in found.items() if label.startswith("row")}
    assert sum(label.count(",") + 1 for label in drawn) == 3
    for label, (rounds, values) in drawn.items():
        row = int(label.split()[1].strip(","))
        assert row in hardest
        assert_array_equal(rounds, np.arange(1, 13))
        assert_allclose(values, weights[:, row], rtol=1e-9)
    assert_allclose(found["all alike"][1], 1 / 80)


def test_rows_that_are_always_alike_have_one_curve():
    ax = draw_row_weights([[0.1, 0.4, 0.4, 0.1], [0.2, 0.3, 0.3, 0.2]], n_hardest=3)
    assert [line.get_label() for line in ax.lines] == ["rows 1, 2", "row 0", "all alike"]


def test_regions_are_those_of_the_staged_predictions(model):
    first, last = plot_regions(model, X, Y, rounds=[1, 12], n_points=20)
    assert first.get_title() == "round 1"
    for ax, number in ((first, 1), (last, 12)):
        image = ax.images[0]
        left, right, bottom, top = image.get_extent()
        assert left < X[:, 0].min() < X[:, 0].max() < right
        grid = np.array(
            [[x, y] for y in np.linspace(bottom, top, 20) for x in np.linspace(left, right, 20)]
        )
        said = list(model.staged_predict(grid))[number - 1]
        assert_array_equal(image.get_array().ravel(), said)
    dots = last.collections
    assert [len(each.get_offsets()) for each in dots] == [np.sum(Y == 0), np.sum(Y == 1)]
    weights = np.exp(-(2 * Y - 1) * model.decision_function(X))
    heaviest = X[Y == 0][np.argmax(weights[Y == 0])]
    assert_array_equal(dots[0].get_offsets()[np.argmax(dots[0].get_sizes())], heaviest)


def test_regions_of_three_classes_have_names_of_features_and_classes():
    pandas = pytest.importorskip("pandas")
    table, y = load_iris(return_X_y=True, as_frame=True)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    table = pandas.DataFrame(table.iloc[:, 2:])
    model = StagewiseClassifier(n_estimators=3).fit(table, names)
    axes = plot_regions(model, table, names, n_points=10)
    assert len(axes) == 3
    figure = axes[0].figure
    assert figure.get_supxlabel() == "petal length (cm)"
    assert [text.get_text() for text in figure.legends[0].get_texts()] == list(model.classes_)
    assert set(np.unique(axes[0].images[0].get_array())) == {0, 1, 2}


def test_a_picture_is_drawn_where_it_is_asked_for(model):
    _, ax = plt.subplots()
    assert plot_margins(model, X, Y, ax=ax) is ax
    assert draw_training_error([0.5, 0.25], ax=ax) is ax


@pytest.mark.parametrize(
    ("draw", "message"),
    [
        (lambda m: plot_margins(m, X, Y, rounds=[13]), "rounds has 13, but the model has"),
        (lambda m: plot_regions(m, X[:, :1], Y), "Regions are drawn of two features"),
    ],
)
def test_what_cannot_be_drawn_is_said(model, draw, message):
    with pytest.raises(ValueError, match=message):
        draw(model)


def test_pictures_of_two_classes_refuse_three():
    table, y = load_iris(return_X_y=True)
    model = StagewiseClassifier(n_estimators=2).fit(table, y)
    with pytest.raises(ValueError, match="has 3 classes"):
        plot_training_error(model, table, y)


def test_a_model_without_rounds_has_no_picture():
    model = StagewiseClassifier(**ADABOOST, dictionary=lambda X: np.zeros((len(X), 1)))
    with pytest.raises(ValueError, match="no rounds"):
        plot_training_error(model.fit(X, Y), X, Y)


def test_without_matplotlib_it_is_said_how_to_get_it(model, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    for draw in (plot_training_error, plot_margins, plot_row_weights, plot_regions):
        with pytest.raises(ImportError, match=r"hedgerow\[plot\]"):
            draw(model, X, Y)
