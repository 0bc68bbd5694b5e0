"""Trees as text, Graphviz, JSON and HTML."""

import json
import re
from html.parser import HTMLParser

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_iris
from sklearn.tree import DecisionTreeClassifier

from hedgerow.trees.export import TreeNames, export_dot, export_html, export_json, export_text
from hedgerow.trees.labels import one_line
from tests.trees.converter import chain, from_lists, from_sklearn

EXPORTS = [export_text, export_dot, export_html]
NASTY = 'a "b" <i>&amp;</i> \\N {x|y} [z]\nü→é\udc80'


def colour_tree(**changes):
    """Ask for a colour (4 categories, missing left), then for a size (missing right)."""
    arrays = {
        "feature": [0, -1, 1, -1, -1],
        "threshold": [np.nan, np.nan, 0.1 + 0.2, np.nan, np.nan],
        "missing_left": [True, False, False, False, False],
        "category_start": [0, -1, -1, -1, -1],
        "category_words": [0b0111],
        "n_categories": [4, 0],
        "value": [[0.5, 0.5], [0.25, 0.75], [0.9, 0.1], [1.0, 0.0], [0.0, 1.0]],
        "n_rows": [2000, 1000, 1000, 999, 1],
        "impurity": [0.5, 0.375, 0.18, 0.0, 0.0],
    }
    return from_lists([1, -1, 3, -1, -1], [2, -1, 4, -1, -1], **(arrays | changes))


def colour_names(feature="colour", size="size"):
    return TreeNames((feature, size), (("red", "green", "blue", "grey"), None), ("no", "yes"))


# ------------------------------------------------------------------ text


def test_text_says_condition_rows_and_answer_of_every_node():
    assert export_text(colour_tree(), colour_names()).splitlines() == [
        "2,000 rows (no 50.0%)",
        "|-- colour in {red, green, blue} or missing: 1,000 rows -> yes 75.0%",
        "`-- colour not in {red, green, blue}: 1,000 rows (no 90.0%)",
        "    |-- size <= 0.3: 999 rows -> no 100.0%",
        "    `-- size > 0.3 or missing: 1 row -> yes 100.0%",
    ]


def test_text_is_silent_about_missing_values_where_there_were_none():
    names = colour_names()._replace(has_missing=(False, True))
    text = export_text(colour_tree(), names)
    assert "colour in {red, green, blue}: 1,000 rows" in text
    assert "size > 0.3 or missing" in text


def test_text_abbreviates_long_sets():
    text = export_text(colour_tree(), colour_names(), max_categories=1)
    assert "colour in {red, ... 2 more} or missing" in text


def test_text_says_what_a_maximal_depth_hides():
    lines = export_text(colour_tree(), colour_names(), max_depth=1).splitlines()
    assert lines[-1] == ("`-- colour not in {red, green, blue}: 1,000 rows (no 90.0%) ... 2 leaves")
    assert export_text(colour_tree(), colour_names(), max_depth=0) == (
        "2,000 rows (no 50.0%) ... 3 leaves"
    )


def test_text_draws_branches_to_come():
    tree = from_lists([1, 2, -1, -1, -1], [4, 3, -1, -1, -1])
    lines = export_text(tree, TreeNames(("x",), (None,))).splitlines()
    assert [line[:8] for line in lines[1:]] == ["|-- x <=", "|   |-- ", "|   `-- ", "`-- x > "]


def test_text_of_a_regression_shows_values_with_the_outputs_names():
    tree = from_lists([-1], [-1], value=[[1.5, 1e-9]])
    assert export_text(tree, TreeNames((), ())) == "1 row -> 1.5, 1e-09"
    names = TreeNames((), (), None, ("height", "mass"))
    assert export_text(tree, names) == "1 row -> height 1.5, mass 1e-09"


def test_categories_without_names_are_refused():
    names = colour_names()._replace(categories=(None, None))
    with pytest.raises(AssertionError, match="feature 0 is categorical: name its categories"):
        export_text(colour_tree(), names)


# ------------------------------------------------------------------ dot

QUOTED = r'"((?:[^"\\]|\\.)*)"'
NODE = re.compile(rf'  (\d+) \[label={QUOTED}, fillcolor="(#[0-9a-f]{{6}})"\];')
EDGE = re.compile(rf"  (\d+) -> (\d+) \[label={QUOTED}\];")


def parsed_dot(dot):
    """Nodes and edges; fails on a line that is neither."""
    head, *lines, last, end = dot.split("\n")
    assert (head, last, end) == ("digraph tree {", "}", "")
    nodes, edges = {}, {}
    for line in lines[2:]:
        if node := NODE.fullmatch(line):
            nodes[int(node[1])] = node[2]
        else:
            edge = EDGE.fullmatch(line)
            assert edge, line
            edges[int(edge[1]), int(edge[2])] = edge[3]
    return nodes, edges


def test_dot_has_a_box_per_node_and_an_arrow_per_branch():
    nodes, edges = parsed_dot(export_dot(colour_tree(), colour_names()))
    assert nodes == {
        0: r"colour in {red, green, blue}\n2,000 rows\nno 50.0%",
        1: r"1,000 rows\nyes 75.0%",
        2: r"size <= 0.3\n1,000 rows\nno 90.0%",
        3: r"999 rows\nno 100.0%",
        4: r"1 row\nyes 100.0%",
    }
    assert edges == {
        (0, 1): "yes or missing",
        (0, 2): "no",
        (2, 3): "yes",
        (2, 4): "no or missing",
    }


def test_dot_says_what_a_maximal_depth_hides():
    nodes, edges = parsed_dot(export_dot(colour_tree(), colour_names(), max_depth=1))
    assert nodes[2] == r"1,000 rows\nno 90.0%\n... 2 leaves"
    assert set(edges) == {(0, 1), (0, 2)}


def test_dot_escapes_what_graphviz_would_read():
    nodes, _ = parsed_dot(export_dot(colour_tree(), colour_names(size=NASTY)))
    shown = nodes[2].split(r"\n1,000 rows")[0]
    expected = r"a \"b\" <i>&amp;amp;</i> \\N {x|y} [z]\\nü→é\\udc80 <= 0.3"
    assert shown == expected


@given(st.text(), st.text())
def test_dot_is_valid_and_whole_whatever_the_names(name, category):
    names = TreeNames((name, "s"), ((category, "b", "c", "d"), None), ("no", "yes"))
    nodes, _ = parsed_dot(export_dot(colour_tree(), names))
    read = re.sub(r"\\(.)", r"\1", nodes[0].split(r"\n2,000 rows")[0]).replace("&amp;", "&")
    assert read == f"{one_line(name)} in {{{one_line(category)}, b, c}}"


# ------------------------------------------------------------------ json


def test_json_is_a_flat_list_of_nodes():
    document = json.loads(export_json(colour_tree(), colour_names()))
    assert document["nodes"][0] == {
        "node": 0,
        "left": 1,
        "right": 2,
        "feature": 0,
        "threshold": None,
        "left_categories": [0, 1, 2],
        "missing_left": True,
        "value": [0.5, 0.5],
        "impurity": 0.5,
        "n_rows": 2000,
        "weight": 1.0,
    }
    assert document["nodes"][1]["left"] is None
    assert document["nodes"][1]["missing_left"] is None
    assert document["categories"] == [["red", "green", "blue", "grey"], None]
    assert document["classes"] == ["no", "yes"]


@given(st.floats(allow_nan=False))
def test_json_gives_the_bits_of_a_threshold_back(threshold):
    thresholds = [np.nan, np.nan, threshold, np.nan, np.nan]
    text = export_json(colour_tree(threshold=thresholds), colour_names())
    document = json.loads(text, parse_constant=pytest.fail)
    assert float(document["nodes"][2]["threshold"]).hex() == threshold.hex()


def test_json_writes_any_category_as_what_it_is_or_as_text():
    categories = (np.int64(3), 2.5, np.str_("x"), np.datetime64("2020-01-02"))
    names = TreeNames(("f", "g"), (categories, None), (np.nan, True))
    document = json.loads(export_json(colour_tree(), names), parse_constant=pytest.fail)
    assert document["categories"][0] == [3, 2.5, "x", "2020-01-02"]
    assert document["classes"] == ["nan", True]


def test_json_of_a_regression_has_no_classes():
    names = TreeNames(("f", "g"), (("a", "b", "c", "d"), None), None, ("u", "v"))
    document = json.loads(export_json(colour_tree(), names, indent=2))
    assert document["classes"] is None
    assert document["outputs"] == ["u", "v"]


# ------------------------------------------------------------------ html


class Reader(HTMLParser):
    """The text of an HTML piece; every tag must be closed in order."""

    def __init__(self, piece):
        super().__init__()
        self.open, self.text, self.tags, self.titles, self.levels = [], [], [], [], []
        self.feed(piece)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        self.open.append(tag)
        self.tags.append(tag)
        self.titles += [value for name, value in attributes if name == "title"]

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, text):
        if self.open[-1] != "style":
            self.text.append(text)
        if " row" in text:
            self.levels.append(self.open.count("details") - self.open.count("summary"))


def test_html_nests_a_box_that_opens_per_split():
    piece = Reader(export_html(colour_tree(), colour_names()))
    assert piece.tags.count("details") == 2
    assert "colour in {red, green, blue} or missing: 1,000 rows -> yes 75.0%" in piece.text
    assert piece.titles[:2] == ["no 50.0%", "yes 50.0%"]
    assert piece.titles[-1] == "yes 100.0%"


def test_html_nests_a_node_in_the_boxes_of_those_above_it():
    fitted = DecisionTreeClassifier(random_state=0).fit(*load_iris(return_X_y=True))
    tree, names = from_sklearn(fitted), TreeNames(tuple("abcd"), (None,) * 4, (0, 1, 2))
    piece = Reader(export_html(tree, names, max_depth=None))
    assert piece.levels == tree.depths.tolist()


def test_html_says_what_a_maximal_depth_hides():
    piece = Reader(export_html(colour_tree(), colour_names(), max_depth=1))
    assert "colour not in {red, green, blue}: 1,000 rows (no 90.0%) ... 2 leaves" in piece.text


def test_html_of_a_regression_shows_where_the_value_lies():
    tree = from_lists([1, -1, -1], [2, -1, -1], value=[[2.0], [1.0], [5.0]])
    piece = export_html(tree, TreeNames(("x",), (None,)))
    assert re.findall(r"width:([\d.]+)%", piece) == ["25.0", "0.0", "100.0"]


@given(st.text())
def test_html_shows_names_and_never_obeys_them(name):
    names = colour_names(feature=name)._replace(classes=(name, NASTY))
    piece = Reader(export_html(colour_tree(), names))
    plain = Reader(export_html(colour_tree(), colour_names()))
    assert piece.tags == plain.tags
    assert f"{one_line(name)} in {{red, green, blue}} or missing" in "".join(piece.text)


def test_html_can_be_written_as_utf8_whatever_the_names():
    names = colour_names(feature=NASTY)
    assert b"&lt;i&gt;&amp;amp;&lt;/i&gt;" in export_html(colour_tree(), names).encode()


# ------------------------------------------------------------------ all of them


@pytest.mark.parametrize("export", EXPORTS)
def test_every_node_of_a_real_tree_is_shown(export):
    iris = load_iris()
    tree = from_sklearn(DecisionTreeClassifier(random_state=0).fit(iris.data, iris.target))
    names = TreeNames(tuple(iris.feature_names), (None,) * 4, tuple(iris.target_names))
    text = export(tree, names, max_depth=None)
    assert len(re.findall(r"\d rows?\b", text)) == tree.n_nodes


@pytest.mark.parametrize("export", EXPORTS)
def test_a_chain_of_ten_thousand_splits_is_exported(export):
    text = export(chain(10_000), TreeNames(("x",), (None,)), max_depth=None)
    assert len(re.findall(r"\d row\b", text)) == 20_001
    assert len(text) < 10e6  # an indent per level would make it hundreds of megabytes


def test_deep_lines_of_text_say_their_depth():
    lines = export_text(chain(50), TreeNames(("x",), (None,))).splitlines()
    assert "[depth 50] x <= 49.5" in lines[50]
    assert "depth" not in lines[40]


def test_a_chain_of_ten_thousand_splits_is_written_as_json():
    nodes = json.loads(export_json(chain(10_000), TreeNames(("x",), (None,))))["nodes"]
    assert len(nodes) == 20_001
