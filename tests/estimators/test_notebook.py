"""A notebook shows a fitted tree below scikit-learn's diagram of its parameters."""

import pytest
from sklearn import config_context
from sklearn.base import clone

from hedgerow import DecisionTreeClassifier, DecisionTreeRegressor

TREE = '<div class="hedgerow-tree">'
DIAGRAM = "sk-estimator"


@pytest.fixture(scope="module")
def model():
    X = [["<b>bold</b>", 1.0], ["plain", 2.0], ["plain", 3.0]]
    return DecisionTreeClassifier(max_depth=7).fit(X, ["yes & no", "no", "no"])


def shown(model) -> list[str]:
    return [model._repr_html_(), model._repr_mimebundle_()["text/html"]]


def test_a_fitted_tree_is_below_its_parameters(model):
    for html in shown(model):
        diagram, tree = html.split(TREE)
        assert DIAGRAM in diagram
        assert "max_depth" in diagram
        assert "3 rows" in tree


def test_a_regression_is_shown_with_its_values():
    model = DecisionTreeRegressor().fit([[1], [2]], [10.0, 20.0])
    assert "1 row -&gt; 20" in model._repr_html_().split(TREE)[1]


def test_without_a_tree_nothing_is_added(model):
    for html in shown(clone(model)):
        assert DIAGRAM in html
        assert TREE not in html


def test_names_are_text_and_not_html(model):
    _, tree = model._repr_html_().split(TREE)
    assert "<b>" not in tree
    assert "yes &amp; no" in tree


def test_who_wants_text_gets_text(model):
    with config_context(display="text"):
        assert not hasattr(model, "_repr_html_")
        assert model._repr_mimebundle_() == {"text/plain": repr(model)}
