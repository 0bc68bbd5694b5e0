"""Pictures of trees: everything is said, nothing overlaps."""

import itertools
import sys

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib import pyplot as plt
from matplotlib.colors import to_hex
from matplotlib.lines import Line2D
from matplotlib.text import Text
from sklearn.datasets import load_diabetes, load_iris
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from hedgerow.plot import draw_tree
from hedgerow.trees.labels import HIDDEN_COLOUR, TreeNames, colours
from tests.trees.converter import chain, from_lists, from_sklearn

LONG = "average basket value in $ (last 12 months, $ of returns excluded)"
SNAKE = "postcode_of_delivery_address_normalised_twice"
MONTHS = ("January", "February", "March", "April", "May", "June", "July", "August")


@pytest.fixture(autouse=True)
def _agg():
    with mpl.rc_context({"backend": "Agg"}):
        yield
        plt.close("all")


def iris(max_depth=2):
    data = load_iris()
    tree = DecisionTreeClassifier(random_state=0, max_depth=max_depth).fit(data.data, data.target)
    names = TreeNames(tuple(data.feature_names), (None,) * 4, tuple(data.target_names))
    return from_sklearn(tree), names


def diabetes():
    data = load_diabetes()
    tree = DecisionTreeRegressor(random_state=0, max_depth=7).fit(data.data, data.target)
    return from_sklearn(tree), TreeNames(tuple(data.feature_names), (None,) * 10)


def wordy():
    """Four full levels of splits with long names, sets and classes."""
    n_nodes = 31
    left, right = [-1] * n_nodes, [-1] * n_nodes
    size = {0: n_nodes}
    for node in range(n_nodes):
        if size[node] > 1:
            left[node], right[node] = node + 1, node + 1 + size[node] // 2
            size[left[node]] = size[right[node]] = size[node] // 2
    is_split = np.array(left) != -1
    is_set = is_split & (np.arange(n_nodes) % 2 == 0)
    tree = from_lists(
        left,
        right,
        feature=np.where(is_split, np.where(is_set, 0, 1 + np.arange(n_nodes) % 3 // 2), -1),
        threshold=np.where(is_split & ~is_set, 12.5, np.nan),
        category_start=np.where(is_set, 0, -1),
        category_words=[0b1111110],
        n_categories=[8, 0, 0],
        missing_left=is_split & (np.arange(n_nodes) % 3 == 0),
        value=np.random.default_rng(0).dirichlet([1, 1], n_nodes),
        n_rows=np.arange(n_nodes) * 1000,
    )
    classes = ("comes back within a year", "never comes back")
    return tree, TreeNames(
        ("month of the first purchase", LONG, SNAKE), (MONTHS, None, None), classes
    )


def one_leaf():
    return from_lists([-1], [-1]), TreeNames((), ())


PROBLEMS = [iris, diabetes, wordy, one_leaf]


def parted(artists):
    """Boxes, lines and words on the lines."""
    n_boxes = (len(artists) + 2) // 3
    return artists[:n_boxes], artists[n_boxes::2], artists[n_boxes + 1 :: 2]


def words(artist):
    return artist.get_text().replace("\n", " ").replace("\N{NO-BREAK SPACE}", " ")


def extents(artists):
    artists[0].figure.canvas.draw()
    return [artist.get_bbox_patch().get_window_extent() for artist in artists]


def test_a_box_says_question_rows_and_answer():
    boxes, lines, labels = parted(draw_tree(*iris()))
    assert [words(box) for box in boxes] == [
        "petal width (cm) ≤ 0.8 150 rows setosa 33%",
        "50 rows setosa 100%",
        "petal width (cm) ≤ 1.75 100 rows versicolor 50%",
        "54 rows versicolor 91%",
        "46 rows virginica 98%",
    ]
    assert [words(label) for label in labels] == ["yes", "no or missing", "yes or missing", "no"]
    assert all(isinstance(line, Line2D) for line in lines)


def test_a_box_abbreviates_sets_and_breaks_long_names():
    boxes, _, _ = parted(draw_tree(*wordy()))
    assert words(boxes[0]).startswith(
        "month of the first purchase in {February, March, April, May, ... 2 more} 0 rows"
    )
    assert "...\N{NO-BREAK SPACE}2\N{NO-BREAK SPACE}more}\n" in boxes[0].get_text()
    assert any("postcode_of_delivery_\n" in box.get_text() for box in boxes)
    assert max(len(line) for box in boxes for line in box.get_text().split("\n")) <= 26


def test_a_branch_that_is_not_drawn_is_a_grey_box_with_its_leaves():
    tree, names = iris(max_depth=None)
    boxes, _, _ = parted(draw_tree(tree, names, max_depth=2))
    hidden = [box for box in boxes if box.get_text().startswith("…")]
    assert [box.get_text().split("\n")[0] for box in hidden] == ["… 5 leaves", "… 3 leaves"]
    assert all(to_hex(box.get_bbox_patch().get_facecolor()) == HIDDEN_COLOUR for box in hidden)


def test_every_node_is_drawn_without_a_maximal_depth():
    tree, names = iris(max_depth=None)
    boxes, lines, labels = parted(draw_tree(tree, names, max_depth=None))
    assert len(boxes) == tree.n_nodes
    assert len(lines) == len(labels) == tree.n_nodes - 1


@pytest.mark.parametrize("problem", PROBLEMS)
def test_nothing_overlaps(problem):
    boxes, _, labels = parted(draw_tree(*problem()))
    for one, other in itertools.combinations(extents([*boxes, *labels]), 2):
        assert not one.overlaps(other)


@pytest.mark.parametrize("problem", PROBLEMS)
def test_nothing_overlaps_in_small_axes(problem):
    _, ax = plt.subplots(figsize=(7, 4))
    boxes, _, labels = parted(draw_tree(*problem(), ax=ax))
    for one, other in itertools.combinations(extents([*boxes, *labels]), 2):
        assert not one.overlaps(other)
    assert all(box.axes is ax for box in boxes)


@pytest.mark.parametrize("problem", PROBLEMS)
@pytest.mark.parametrize("fontsize", [None, 14])
def test_a_new_figure_holds_the_whole_tree(problem, fontsize):
    boxes, _, _ = parted(draw_tree(*problem(), fontsize=fontsize))
    figure = boxes[0].figure.bbox
    for box in extents(boxes):
        assert figure.x0 <= box.x0 < box.x1 <= figure.x1
        assert figure.y0 <= box.y0 < box.y1 <= figure.y1


@pytest.mark.parametrize("problem", PROBLEMS)
def test_levels_are_level_and_children_below(problem):
    tree, names = problem()
    boxes, _, _ = parted(draw_tree(tree, names))
    shown = np.flatnonzero(tree.depths <= 4)
    tops = np.array([box.y1 for box in extents(boxes)])
    for depth in range(int(tree.depths[shown].max())):
        level, below = (tops[tree.depths[shown] == d] for d in (depth, depth + 1))
        assert np.ptp(level) < 1  # a pixel
        assert level.min() > below.max()


def test_leaves_are_evenly_spaced_and_a_split_is_amid_its_branches():
    tree, names = wordy()
    x = np.array([box.get_position()[0] for box in parted(draw_tree(tree, names))[0]])
    steps = np.diff(x[tree.is_leaf])
    np.testing.assert_allclose(steps, steps[0], rtol=1e-12)
    splits = ~tree.is_leaf
    amid = (x[tree.left[splits]] + x[tree.right[splits]]) / 2
    np.testing.assert_allclose(x[splits], amid, rtol=1e-12)


def test_a_line_joins_the_edges_of_its_boxes():
    tree, names = wordy()
    boxes, lines, _ = parted(draw_tree(tree, names))
    frames = extents(boxes)
    parent = {
        int(child): node for node in range(31) for child in (tree.left[node], tree.right[node])
    }
    for child, line in enumerate(lines, start=1):
        start, end = line.axes.transData.transform(line.get_xydata())
        assert start[1] == pytest.approx(frames[parent[child]].y0, abs=2)  # pixels
        assert end[1] == pytest.approx(frames[child].y1, abs=2)


def test_a_box_has_the_colour_of_its_node():
    tree, names = iris()
    boxes, _, _ = parted(draw_tree(tree, names))
    assert [to_hex(box.get_bbox_patch().get_facecolor()) for box in boxes] == colours(tree, names)


def test_the_font_is_as_asked_or_as_small_as_needed():
    tree, names = wordy()
    assert parted(draw_tree(tree, names, fontsize=12))[0][0].get_fontsize() == pytest.approx(12)
    _, ax = plt.subplots(figsize=(6, 4))
    assert parted(draw_tree(tree, names, ax=ax))[0][0].get_fontsize() < 9


def test_a_very_large_tree_is_drawn_in_a_figure_of_bounded_size():
    boxes, _, _ = parted(draw_tree(chain(150), TreeNames(("x",), (None,)), max_depth=None))
    assert max(boxes[0].figure.get_size_inches()) <= 60.01


def test_a_dollar_is_a_dollar():
    artists = [a for a in draw_tree(*wordy()) if isinstance(a, Text)]
    assert not any(artist.get_parse_math() for artist in artists)


def test_without_matplotlib_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r'pip install "hedgerow\[plot\]"'):
        draw_tree(*one_leaf())
