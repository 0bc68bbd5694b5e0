"""The words and colours of nodes."""

import numpy as np
import pytest

from hedgerow.trees.labels import TreeNames, colours, number, one_line, outline, percent, question
from tests.trees.converter import from_lists


@pytest.mark.parametrize(
    ("threshold", "missing_left", "left", "right"),
    [
        (np.inf, False, "is not missing", "is missing"),
        (-np.inf, True, "is missing", "is not missing"),
        (2.0, True, "<= 2 or missing", "> 2"),
    ],
)
def test_a_split_of_missing_from_known_says_so(threshold, missing_left, left, right):
    tree = from_lists(
        [1, -1, -1],
        [2, -1, -1],
        threshold=[threshold, np.nan, np.nan],
        missing_left=[missing_left, False, False],
    )
    asked = question(tree, TreeNames(("x",), (None,)), 0, decimals=3, max_categories=8)
    assert asked.side(is_left=True) == f"x {left}"
    assert asked.side(is_left=False) == f"x {right}"


@pytest.mark.parametrize(
    ("x", "decimals", "text"),
    [
        (0.0, 3, "0"),
        (2.4500000476, 3, "2.45"),
        (100.0, 0, "100"),
        (1e-5, 3, "1e-05"),
        (123456789.0, 3, "1.23e+08"),
        (-0.25, 1, "-0.2"),
        (np.inf, 3, "inf"),
    ],
)
def test_numbers_are_short_and_never_vanish(x, decimals, text):
    assert number(x, decimals) == text


def test_a_purer_node_has_a_stronger_colour_and_another_class_another_hue():
    value = [[0.5, 0.5], [0.9, 0.1], [0.5, 0.5], [1.0, 0.0], [0.0, 1.0]]
    tree = from_lists([1, -1, 3, -1, -1], [2, -1, 4, -1, -1], value=value)
    fill = colours(tree, TreeNames(("x",), (None,), ("no", "yes")))
    darkness = [sum(255 - int(c[i : i + 2], 16) for i in (1, 3, 5)) for c in fill]
    assert darkness[0] == darkness[2] < darkness[1] < darkness[3]
    assert fill[3] != fill[4]


def test_equal_values_have_equal_colours():
    tree = from_lists([1, -1, -1], [2, -1, -1], value=[[2.0], [2.0], [2.0]])
    assert len(set(colours(tree, TreeNames(("x",), (None,))))) == 1


def test_names_are_written_on_one_line():
    assert one_line("a\nb\x00c\udc80 \u00e4") == r"a\nb\x00c\udc80 ä"
    assert one_line(3) == "3"


def test_an_outline_stops_at_a_depth_and_counts_the_leaves_below():
    tree = from_lists([1, 2, -1, -1, -1], [4, 3, -1, -1, -1])
    assert [line.node for line in outline(tree, None)] == [0, 1, 2, 3, 4]
    lines = outline(tree, 1)
    assert [line.node for line in lines] == [0, 1, 4]
    assert [line.n_hidden_leaves for line in lines] == [0, 2, 0]
    assert [line.is_left for line in lines[1:]] == [True, False]


@pytest.mark.parametrize(
    ("share", "decimals", "text"),
    [
        (1.0, 2, "100%"),
        (0.9987, 2, ">99%"),
        (0.99999, 4, ">99.99%"),
        (0.994, 2, "99%"),
        (0.5, 3, "50.0%"),
    ],
)
def test_only_a_pure_leaf_is_a_hundred_percent(share, decimals, text):
    assert percent(share, decimals) == text
