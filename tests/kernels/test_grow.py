"""The grower against its definition, and against itself with other threads, rows and paths."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hedgerow.trees import grower as library
from hedgerow.trees.grower import grow
from hedgerow.trees.grown import Grown
from hedgerow.trees.rules import GrowthRules
from tests.oracle import grow as oracle
from tests.strategies import (
    CLASS_CRITERIA,
    Problem,
    data_of,
    grown_by,
    growth_rules,
    judge_of,
    oracle_rules,
    problems,
    real_weights,
    seeded_problem,
    table_of,
    team_of_one,
    whole_weights,
)

pytestmark = pytest.mark.usefixtures("many_hands")

FULL = GrowthRules(min_gain=-math.inf)
FEW_LEAVES = GrowthRules(min_gain=-math.inf, max_leaves=7)
LEVEL_BY_LEVEL = GrowthRules(min_gain=-math.inf, max_leaves=7, level_by_level=True)


def categories_of(grown: Grown, node: int, n_categories: int) -> frozenset[int]:
    start = int(grown.category_start[node])
    words = grown.category_words
    return frozenset(
        code for code in range(n_categories) if int(words[start + code // 64]) >> code % 64 & 1
    )


def assert_equals_oracle(problem: Problem, criterion: str, rules: GrowthRules, max_bins=None):
    table, judge = table_of(problem, max_bins), judge_of(problem, criterion)
    grown = grow(table, judge, rules, team_of_one())
    data = data_of(problem, table, judge, criterion)
    expected = oracle.grow(data, problem.targets, oracle_rules(rules, judge))
    assert grown.left.tolist() == expected.left
    assert grown.right.tolist() == expected.right
    assert grown.sums.tolist() == [list(sums) for sums in expected.sums]
    assert grown.n_rows.tolist() == [len(rows) for rows in expected.rows]
    for node, split in enumerate(expected.splits):
        if split is None:
            assert grown.feature[node] == -1
            assert (grown.leaf_of_row[expected.rows[node]] == node).all()
            continue
        assert grown.feature[node] == split.feature
        assert grown.missing_left[node] == split.missing_left
        if split.threshold is None:
            n_categories = data.features[split.feature].n_categories
            assert categories_of(grown, node, n_categories) == split.categories
            assert np.isnan(grown.threshold[node])
        else:
            assert grown.category_start[node] == -1
            assert grown.threshold[node] == split.threshold


# ---------------------------------------------------------------- the definition


@pytest.mark.parametrize("criterion", CLASS_CRITERIA)
@given(problem=problems(n_classes=2, weights=whole_weights()), rules=growth_rules(limited=False))
def test_a_tree_of_two_classes_is_that_of_its_definition(criterion, problem, rules):
    assert_equals_oracle(problem, criterion, rules)


@pytest.mark.parametrize("criterion", CLASS_CRITERIA)
@given(problem=problems(n_classes=3, weights=whole_weights()), rules=growth_rules(limited=False))
def test_a_tree_of_three_classes_is_that_of_its_definition(criterion, problem, rules):
    assert_equals_oracle(problem, criterion, rules)


@given(problem=problems(weights=whole_weights()), rules=growth_rules(limited=False))
def test_a_tree_of_targets_is_that_of_its_definition(problem, rules):
    assert_equals_oracle(problem, "squared_error", rules)


@given(problem=problems(weights=whole_weights()), rules=growth_rules(limited=False))
def test_a_tree_of_medians_is_that_of_its_definition(problem, rules):
    assert_equals_oracle(problem, "absolute_error", rules)


def test_a_criterion_of_rows_has_room_for_the_code_of_missing_values():
    problem = Problem(((1.0, 2.0, None),), (0.0, 1.0, 1.0), (1.0,) * 3)
    table, judge = table_of(problem), judge_of(problem, "absolute_error")
    assert judge.n_lines(table.max_bins) > table.codes.features.missing.max()


@pytest.mark.parametrize("seed", range(5))
def test_a_large_tree_of_medians_is_that_of_its_definition(seed):
    problem = seeded_problem(seed, 40, kinds="fmwc", most=3)
    assert_equals_oracle(problem, "absolute_error", FULL)


@given(problem=problems(n_outputs=2, weights=whole_weights()), rules=growth_rules(limited=False))
def test_a_tree_of_several_targets_is_that_of_its_definition(problem, rules):
    assert_equals_oracle(problem, "squared_errors", rules)


@given(problem=problems(n_classes=3, weights=real_weights()), rules=growth_rules())
def test_a_tree_of_real_weights_is_that_of_its_definition(problem, rules):
    assert_equals_oracle(problem, "gini", rules)


@given(problem=problems(weights=real_weights()), rules=growth_rules())
def test_a_tree_of_targets_with_real_weights_is_that_of_its_definition(problem, rules):
    assert_equals_oracle(problem, "squared_error", rules)


@given(problem=problems(n_classes=3), rules=growth_rules(limited=True))
def test_a_tree_of_few_leaves_is_that_of_its_definition(problem, rules):
    assert_equals_oracle(problem, "gini", rules)


@pytest.mark.parametrize("criterion", CLASS_CRITERIA)
@pytest.mark.parametrize("seed", range(5))
def test_a_large_tree_of_classes_is_that_of_its_definition(criterion, seed):
    for n_classes in (2, 3):
        problem = seeded_problem(seed, 40, n_classes, most=3)
        assert_equals_oracle(problem, criterion, FULL)
        assert_equals_oracle(problem, criterion, FEW_LEAVES)


@pytest.mark.parametrize("seed", range(5))
def test_a_large_tree_of_targets_is_that_of_its_definition(seed):
    problem = seeded_problem(seed, 40, most=3)
    assert_equals_oracle(problem, "squared_error", FULL)
    assert_equals_oracle(problem, "squared_error", FEW_LEAVES)
    assert_equals_oracle(problem, "squared_error", LEVEL_BY_LEVEL)


@pytest.mark.parametrize("max_bins", [2, 5])
def test_a_tree_of_bins_is_that_of_its_definition(max_bins):
    for seed in range(5):
        assert_equals_oracle(seeded_problem(seed, 40, 2, "mwm"), "gini", FULL, max_bins)


@pytest.mark.parametrize("n_classes", [0, 2])
def test_a_tree_of_more_values_than_a_byte_has_is_that_of_its_definition(n_classes):
    problem = seeded_problem(1, 300, n_classes, "wf")
    names = tuple(f"{int(x):03}" if x % 50 else None for x in problem.columns[0])
    wide = problem._replace(columns=(names, *seeded_problem(2, 300, 2, "wf").columns))
    criterion = "gini" if n_classes else "squared_error"
    rules = GrowthRules(min_gain=-math.inf, max_leaves=6)
    assert_equals_oracle(problem, criterion, rules)
    assert_equals_oracle(wide, criterion, rules)


def test_of_leaves_of_equal_gain_the_left_one_is_split_first():
    # The root parts {0, 1} from {2, 3}; then both sides gain the same.
    columns = (0.0, 0.0, 1.0, 1.0), (0.0, 1.0, 0.0, 1.0)
    problem = Problem(columns, (0, 1, 2, 3), (1.0, 1.0, 1.0, 1.0), 4)
    rules = GrowthRules(max_leaves=3)
    assert_equals_oracle(problem, "gini", rules)
    assert_equals_oracle(problem.taken([0, 0, 1, 1, 2, 3, 2, 3]), "gini", rules)


def test_a_split_without_gain_is_made_if_none_is_demanded():
    # Exclusive or: no single cut gains, two levels of them separate the classes.
    columns = (0.0, 0.0, 1.0, 1.0), (0.0, 1.0, 0.0, 1.0)
    problem = Problem(columns, (0, 1, 1, 0), (1.0,) * 4, 2)
    assert len(grown_by(1, problem, "gini", FULL).left) == 7
    assert len(grown_by(1, problem, "gini", GrowthRules(min_gain=1e-9)).left) == 1


@pytest.mark.parametrize("n_classes", [0, 2, 3])
def test_random_cuts_of_all_features_are_those_of_their_definition(n_classes):
    criterion = "gini" if n_classes else "squared_error"
    for seed in range(6):
        rules = GrowthRules(min_gain=-math.inf, random_cut=True, seed=seed)
        assert_equals_oracle(seeded_problem(seed, 25, n_classes, "fcmw"), criterion, rules)


@pytest.mark.parametrize("n_classes", [0, 3])
def test_random_cuts_of_many_rows_and_few_values_are_those_of_their_definition(n_classes):
    criterion = "gini" if n_classes else "squared_error"
    rules = GrowthRules(min_gain=-math.inf, random_cut=True, max_depth=4, seed=1)
    assert_equals_oracle(seeded_problem(3, 150, n_classes, "fmf", most=3), criterion, rules)


@pytest.mark.parametrize("least", [1, 4])
@pytest.mark.parametrize("weight", [1.0, 2.0**20, 2.0**26])
def test_a_tree_of_light_or_heavy_classes_is_that_of_its_definition(weight, least):
    problem = seeded_problem(6, 50, 3, "fmcw", most=3)
    heavy = problem._replace(weights=tuple(weight * w for w in problem.weights))
    rules = GrowthRules(min_gain=-math.inf, min_leaf_rows=least, min_leaf_weight=3.0 * weight)
    assert_equals_oracle(heavy, "gini", rules)
    assert_equals_oracle(heavy._replace(targets=tuple(y % 2 for y in heavy.targets)), "gini", rules)


@given(problem=problems(n_classes=2), seed=st.integers(0, 2**31))
def test_random_cuts_of_awkward_columns_are_those_of_their_definition(problem, seed):
    rules = GrowthRules(min_gain=-math.inf, random_cut=True, seed=seed)
    assert_equals_oracle(problem, "gini", rules)


@pytest.mark.parametrize("random_cut", [False, True])
def test_random_candidates_are_those_of_their_definition(random_cut):
    for seed in range(6):
        for n_candidates in (1, 2):
            rules = GrowthRules(
                min_gain=-math.inf, n_candidates=n_candidates, random_cut=random_cut, seed=seed
            )
            assert_equals_oracle(seeded_problem(seed, 25, 2, "ffcm"), "gini", rules)


@pytest.mark.parametrize("random_cut", [False, True])
@pytest.mark.parametrize("n_classes", [0, 2, 3])
def test_lots_between_equal_gains_are_those_of_their_definition(n_classes, random_cut):
    criterion = "gini" if n_classes else "squared_error"
    for seed in range(6):
        problem = seeded_problem(seed, 30, n_classes, "ffcmw", most=3)
        twice = problem._replace(columns=(*problem.columns, *problem.columns))
        rules = GrowthRules(min_gain=-math.inf, random_cut=random_cut, by_lot=True, seed=seed)
        assert_equals_oracle(twice, criterion, rules)
        assert_equals_oracle(twice, criterion, rules, max_bins=4)


@given(problem=problems(n_classes=2), seed=st.integers(0, 2**31))
def test_lots_of_awkward_columns_are_those_of_their_definition(problem, seed):
    assert_equals_oracle(problem, "gini", GrowthRules(min_gain=-math.inf, by_lot=True, seed=seed))


@pytest.mark.parametrize("n_rows", [6, 300])
@pytest.mark.parametrize("random_cut", [False, True])
def test_lots_choose_each_of_two_equal_features_as_often(random_cut, n_rows):
    y = tuple(range(n_rows))
    column = tuple(float(x > 2) for x in y)
    problem = Problem((column, column), y, (1.0,) * n_rows, 0)

    def n_second(by_lot):
        rules = [
            GrowthRules(max_leaves=2, random_cut=random_cut, by_lot=by_lot, seed=seed)
            for seed in range(400)
        ]
        return sum(int(grown_by(1, problem, "squared_error", own).feature[0]) for own in rules)

    assert n_second(by_lot=False) == 0
    # 200 of 400 are expected, with a deviation of 10.
    assert abs(n_second(by_lot=True) - 200) < 40


def test_a_random_cut_draws_the_side_of_missing_values():
    # They belong to the right; to try both sides would always find that out.
    column = (0.0, 0.0, 0.0, 1.0, 1.0, 1.0, None, None)
    problem = Problem((column,), (0, 0, 0, 5, 5, 5, 5, 5), (1.0,) * 8, 0)
    trees = [
        grown_by(1, problem, "squared_error", GrowthRules(max_leaves=2, random_cut=True, seed=seed))
        for seed in range(400)
    ]
    # 200 of 400 are expected, with a deviation of 10.
    assert abs(sum(int(tree.missing_left[0]) for tree in trees) - 200) < 40
    best = grown_by(1, problem, "squared_error", GrowthRules(max_leaves=2))
    assert not best.missing_left[0]


def test_a_tree_of_some_rows_is_that_of_its_definition():
    problem = seeded_problem(3, 30, 2)
    table, judge = table_of(problem), judge_of(problem, "gini")
    rows = list(range(0, 30, 2))
    grown = grow(table, judge._replace(records=judge.records[rows]), FULL, team_of_one())
    data = data_of(problem, table, judge, "gini")
    expected = oracle.grow(data, problem.targets, oracle_rules(FULL, judge), rows)
    assert grown.sums.tolist() == [list(sums) for sums in expected.sums]
    assert [row for row in range(30) if grown.leaf_of_row[row] >= 0] == rows
    assert grown.n_rows.tolist()[1:] == [len(own) for own in expected.rows][1:]


def test_the_root_of_some_rows_counts_these_rows():
    problem = seeded_problem(3, 30, 2)
    table, judge = table_of(problem), judge_of(problem, "gini")
    grown = grow(table, judge._replace(records=judge.records[:10]), FULL, team_of_one())
    assert grown.n_rows[0] == 10


def test_a_feature_that_was_drawn_may_have_each_of_its_categories_on_either_side():
    columns = tuple("abcabcabc"), tuple("aaabbbccc")
    problem = Problem(columns, (0, 1, 0, 1, 0, 1, 0, 1, 0), (1.0,) * 9, 2)
    n_left = np.zeros(3, int)
    for seed in range(400):
        rules = GrowthRules(max_leaves=2, n_candidates=1, random_cut=True, seed=seed)
        left = categories_of(grown_by(1, problem, "gini", rules), 0, 3)
        n_left[list(left)] += 1
    # One or two of three categories go left: 200 of 400 are expected, with a deviation of 10.
    assert (abs(n_left - 200) < 40).all()


def test_a_random_cut_of_an_infinite_range_is_between_two_values():
    for column in ((-math.inf, 0.0, math.inf), (-1.7e308, 0.0, 1.7e308)):
        problem = Problem((column,), (0, 1, 0), (1.0,) * 3, 2)
        grown = grown_by(1, problem, "gini", GrowthRules(max_leaves=2, random_cut=True))
        assert column[0] <= grown.threshold[0] < column[2]


# ---------------------------------------------------------------- the same bytes, however grown


def assert_same(one: Grown, other: Grown):
    for name, first, second in zip(Grown._fields, one, other, strict=True):
        assert first.tobytes() == second.tobytes(), name


def assert_same_but_rows(one: Grown, other: Grown):
    """Compare all that does not count or list rows."""
    free = dict.fromkeys(("n_rows", "leaf_of_row"), np.zeros(0))
    sums = {"sums": np.zeros(0)}
    assert_same(one._replace(**free, **sums), other._replace(**free, **sums))
    assert one.sums[:, :-1].tolist() == other.sums[:, :-1].tolist()


ALL_RULES = {
    "full": FULL,
    "few leaves": FEW_LEAVES,
    "level by level": LEVEL_BY_LEVEL,
    "shallow": GrowthRules(min_gain=-math.inf, max_depth=3, min_leaf_rows=3),
    "random": GrowthRules(min_gain=-math.inf, n_candidates=1, random_cut=True, seed=5),
    "lots": GrowthRules(min_gain=-math.inf, by_lot=True, seed=6),
    "random, lots": GrowthRules(min_gain=-math.inf, random_cut=True, by_lot=True, seed=7),
}


@pytest.mark.parametrize("n_threads", [2, 3])
@pytest.mark.parametrize("rules", ALL_RULES)
@pytest.mark.parametrize("n_classes", [0, 3])
def test_a_tree_has_the_same_bytes_from_any_number_of_threads(n_classes, rules, n_threads):
    criterion = "gini" if n_classes else "squared_error"
    problem = seeded_problem(1, 120, n_classes, "fcmw", most=3)
    alone = grown_by(1, problem, criterion, ALL_RULES[rules])
    assert_same(alone, grown_by(n_threads, problem, criterion, ALL_RULES[rules]))


@pytest.mark.parametrize("rules", ALL_RULES)
@pytest.mark.parametrize("n_classes", [0, 3])
def test_a_tree_has_the_same_bytes_from_shuffled_rows(n_classes, rules):
    criterion = "gini" if n_classes else "squared_error"
    problem = seeded_problem(2, 60, n_classes, "fcmw", most=3)
    order = np.random.default_rng(3).permutation(60)
    one = grown_by(1, problem, criterion, ALL_RULES[rules])
    other = grown_by(1, problem.taken(order), criterion, ALL_RULES[rules])
    assert other.leaf_of_row.tolist() == one.leaf_of_row[order].tolist()
    assert_same(one._replace(leaf_of_row=other.leaf_of_row), other)


def large_problem(n_rows, n_classes, kinds):
    """Make targets that depend on the columns, so that trees end early."""
    problem = seeded_problem(4, n_rows, n_classes, kinds)
    signal = [(0 if x is None else hash_of(x)) for x in problem.columns[0]]
    rest = [(0 if x is None else hash_of(x)) for x in problem.columns[1]]
    targets = [(3 * a + b) % (n_classes or 5) for a, b in zip(signal, rest, strict=True)]
    noisy = [y if row % 97 else 0 for row, y in enumerate(targets)]
    return problem._replace(targets=tuple(noisy))


def hash_of(value):
    return "abcde".index(value) if isinstance(value, str) else int(value)


@pytest.mark.parametrize("rules", ["full", "few leaves"])
@pytest.mark.parametrize("n_classes", [0, 2])
def test_histograms_grow_the_same_tree_as_tallies(monkeypatch, n_classes, rules):
    criterion = "gini" if n_classes else "squared_error"
    problem = large_problem(2500, n_classes, "fcm")
    by_histograms = grown_by(1, problem, criterion, ALL_RULES[rules])
    assert_same(by_histograms, grown_by(2, problem, criterion, ALL_RULES[rules]))
    monkeypatch.setattr(library, "_HISTOGRAM_BYTES", 8 * 256 * 4 * 4 * 2)  # for few leaves only
    assert_same(by_histograms, grown_by(1, problem, criterion, ALL_RULES[rules]))
    monkeypatch.setattr(library, "_HISTOGRAM_BYTES", 0)
    assert_same(by_histograms, grown_by(1, problem, criterion, ALL_RULES[rules]))
    assert_same(by_histograms, grown_by(3, problem, criterion, ALL_RULES[rules]))


def test_histograms_part_categories_as_tallies_do_where_a_class_is_absent(monkeypatch):
    # Class 0 is not in the node. By its share, 0 in both, a comes before b; by that of 1, b does.
    column, targets = ("a", "b") * 600, (1, 2) * 600
    problem = Problem((column,), targets, (1.0,) * 1200, 3)
    rules = GrowthRules(max_leaves=2)
    by_histogram = grown_by(1, problem, "misclassification", rules)
    monkeypatch.setattr(library, "_HISTOGRAM_BYTES", 0)
    assert_same(by_histogram, grown_by(1, problem, "misclassification", rules))


@pytest.mark.parametrize("n_classes", [0, 2])
def test_subtrees_that_one_thread_grows_are_the_same_bytes(n_classes):
    # Nodes of fewer than 8192 rows are put aside for one thread each.
    criterion = "gini" if n_classes else "squared_error"
    problem = large_problem(9000, n_classes, "ff")
    alone = grown_by(1, problem, criterion, FULL)
    assert len(alone.left) > 7
    for n_threads in (2, 3):
        assert_same(alone, grown_by(n_threads, problem, criterion, FULL))


# ---------------------------------------------------------------- weights are repeats


@given(problem=problems(n_classes=3, weights=whole_weights()), limited=st.booleans())
def test_a_row_of_weight_three_is_three_rows(problem, limited):
    rules = GrowthRules(min_gain=-math.inf, max_leaves=4 if limited else None)
    repeats = np.repeat(range(len(problem.weights)), np.array(problem.weights, int))
    many = problem.taken(repeats)._replace(weights=(1.0,) * len(repeats))
    one, other = (grown_by(1, part, "gini", rules) for part in (problem, many))
    assert_same_but_rows(one, other)
    assert one.leaf_of_row[repeats].tolist() == other.leaf_of_row.tolist()
