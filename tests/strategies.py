"""Small problems for trees: columns, targets, weights and rules, with all that is awkward in them.

A problem is plain Python. `table_of`, `judge_of` and `data_of` are the views that the
library and the oracle have of it; both then speak of the same whole numbers.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from hypothesis import strategies as st

from hedgerow.data.binned import BinnedTable, Recipe, bin_table
from hedgerow.data.joint_columns import digits_of, lay_out
from hedgerow.data.table import read_table
from hedgerow.kernels.class_counts import ClassCounts
from hedgerow.kernels.class_weights import ClassWeights
from hedgerow.kernels.codes import BIN, BLOCK, FEATURE, MISSING, PANEL, Codes
from hedgerow.kernels.logarithm import log2
from hedgerow.kernels.team import Team, hired
from hedgerow.trees.classification import class_judge
from hedgerow.trees.grower import Judge, grow
from hedgerow.trees.grown import Grown
from hedgerow.trees.medians import median_judge
from hedgerow.trees.quantise import quantised_weights
from hedgerow.trees.regression import target_judge
from hedgerow.trees.rules import GrowthRules
from tests.oracle import criteria
from tests.oracle.grow import Rules
from tests.oracle.split import Data, Feature

COST = ((0.0, 1.0, 3.0), (2.0, 0.0, 1.0), (1.0, 4.0, 0.0))
_CRITERIA: dict[str, Any] = {
    "gini": criteria.Gini(),
    # The grower's own logarithm, in plain Python: a last bit can decide between two cuts.
    "entropy": criteria.Entropy(getattr(log2, "py_func", log2)),
    "exponential": criteria.Exponential(),
    "misclassification": criteria.Misclassification(),
    "cost": criteria.Cost(COST),
    "squared_error": criteria.SquaredError(),
    "squared_errors": criteria.SquaredErrors(),
    "absolute_error": criteria.AbsoluteError(),
}
CLASS_CRITERIA = ("gini", "entropy", "misclassification", "cost")


class Problem(NamedTuple):
    """Columns of numbers or strings, None for missing; a class or target and a weight per row."""

    columns: tuple[tuple[Any, ...], ...]
    targets: tuple[Any, ...]
    weights: tuple[float, ...]
    n_classes: int = 0  # 0: targets are numbers

    def taken(self, rows: Any) -> "Problem":
        """Return the problem of some rows, in this order, repeated as often as they are listed."""
        columns = tuple(tuple(column[row] for row in rows) for column in self.columns)
        targets, weights = ([part[row] for row in rows] for part in (self.targets, self.weights))
        return self._replace(columns=columns, targets=tuple(targets), weights=tuple(weights))


# ---------------------------------------------------------------- drawing


def _numbers() -> st.SearchStrategy[st.SearchStrategy[Any]]:
    """What a numeric column may hold: few values, many, infinite ones, close neighbours."""
    near = [1.0, math.nextafter(1.0, 2.0), math.nextafter(math.nextafter(1.0, 2.0), 2.0)]
    extremes = [-math.inf, -1.7e308, -1.0, 0.0, 5e-324, 1.0, 1.7e308, math.inf]
    return st.sampled_from(
        [
            st.sampled_from([0.0, 1.0, 2.0]),
            st.integers(-20, 20).map(float),
            st.sampled_from(near),
            st.sampled_from(extremes),
            st.just(4.0),
        ]
    )


@st.composite
def numeric_columns(draw: Any, n_rows: int) -> tuple[Any, ...]:
    values = draw(_numbers())
    if draw(st.booleans()):
        values = st.none() | values
    return tuple(draw(st.lists(values, min_size=n_rows, max_size=n_rows)))


@st.composite
def category_columns(draw: Any, n_rows: int, max_categories: int = 6) -> tuple[Any, ...]:
    names = st.sampled_from("abcdefghij"[: draw(st.integers(2, max_categories))])
    values = st.none() | names if draw(st.booleans()) else names
    # One string at least, or the column would be read as numbers.
    return ("a", *draw(st.lists(values, min_size=n_rows - 1, max_size=n_rows - 1)))


@st.composite
def problems(
    draw: Any,
    n_classes: int = 0,
    n_outputs: int = 1,
    weights: st.SearchStrategy[float] | None = None,
    max_rows: int = 16,
) -> Problem:
    """Draw a problem of a few rows and features; n_classes=0 is regression."""
    n_rows = draw(st.integers(2, max_rows))
    column = numeric_columns(n_rows) | category_columns(n_rows)
    columns = draw(st.lists(column, min_size=1, max_size=3))
    targets: st.SearchStrategy[Any]
    if n_classes:
        targets = st.integers(0, n_classes - 1)
    else:
        targets = st.integers(-4, 4).map(lambda y: y / 4)
        if n_outputs > 1:
            targets = st.tuples(*[targets] * n_outputs)
    weight = st.just(1.0) if weights is None else weights
    return Problem(
        tuple(columns),
        tuple(draw(st.lists(targets, min_size=n_rows, max_size=n_rows))),
        tuple(draw(st.lists(weight, min_size=n_rows, max_size=n_rows))),
        n_classes,
    )


def whole_weights() -> st.SearchStrategy[float]:
    return st.integers(1, 4).map(float)


def real_weights() -> st.SearchStrategy[float]:
    return st.floats(1e-3, 1e3, allow_subnormal=False)


@st.composite
def growth_rules(draw: Any, limited: bool | None = None) -> GrowthRules:
    """Draw limits; `limited` says whether the number of leaves is among them."""
    if limited is None:
        limited = draw(st.booleans())
    return GrowthRules(
        max_leaves=draw(st.integers(1, 6)) if limited else None,
        max_depth=draw(st.none() | st.integers(0, 4)),
        min_split_rows=draw(st.integers(2, 5)),
        min_leaf_rows=draw(st.integers(1, 3)),
        min_leaf_weight=draw(st.sampled_from([0.0, 0.5, 2.0, 3.5])),
        min_gain=draw(st.sampled_from([-math.inf, 0.25, 1.0])),
        level_by_level=draw(st.booleans()),
        keep_gain=draw(st.sampled_from([-math.inf, -math.inf, 0.5, 2.0])),
    )


def seeded_problem(
    seed: int, n_rows: int, n_classes: int = 0, kinds: str = "fmc", most: int = 1
) -> Problem:
    """Make an ordinary problem of many splits.

    kinds: a letter per column, f for few values, m for many, c for categories, w for as
    many values as rows; each but w has missing values. Weights are whole, up to `most`.
    """
    random = np.random.default_rng(seed)
    columns = []
    for kind in kinds:
        size = {"f": 4, "m": 20, "c": 5, "w": n_rows}[kind]
        codes = random.permutation(n_rows) if kind == "w" else random.integers(0, size, n_rows)
        values = [("abcde"[code] if kind == "c" else float(code)) for code in codes]
        gaps = random.random(n_rows) < 0.1 * (kind != "w")
        columns.append(tuple(None if gap else x for gap, x in zip(gaps, values, strict=True)))
    if n_classes:
        targets = random.integers(0, n_classes, n_rows).tolist()
    else:
        targets = (random.integers(-8, 9, n_rows) / 8).tolist()
    weights = random.integers(1, most + 1, n_rows).astype(float).tolist()
    return Problem(tuple(columns), tuple(targets), tuple(weights), n_classes)


# ---------------------------------------------------------------- the library's view


def team_of_one() -> Team:
    """Return a team for brief work, which its caller does."""
    with hired(1, 0.0) as team:
        return team


def table_of(
    problem: Problem,
    max_bins: int | None = None,
    team: Team | None = None,
    most_codes: int = 16,
    n_levels: int = 1,
) -> BinnedTable:
    """Bin the columns; with max_bins=None every value has its own bin."""
    rows = [list(row) for row in zip(*problem.columns, strict=True)]
    counts = quantised_weights(np.array(problem.weights)).counts
    team = team_of_one() if team is None else team
    recipe = Recipe(max_bins, most_codes=most_codes, n_levels=n_levels)
    return bin_table(read_table(rows), recipe, team, None, counts)


def judge_of(problem: Problem, criterion: str) -> Judge:
    weights = np.array(problem.weights)
    if problem.n_classes:
        cost = np.array(COST)[: problem.n_classes, : problem.n_classes]
        return class_judge(
            np.array(problem.targets, np.int64),
            problem.n_classes,
            quantised_weights(weights),
            "misclassification" if criterion == "cost" else criterion,
            np.ascontiguousarray(cost) if criterion == "cost" else None,
        )
    y = np.array(problem.targets, np.float64).reshape(len(weights), -1)
    if criterion == "absolute_error":
        return median_judge(y, quantised_weights(weights, 30))
    return target_judge(y, quantised_weights(weights, 30))


def grown_by(
    n_threads: int,
    problem: Problem,
    criterion: str,
    rules: GrowthRules,
    max_bins: int | None = None,
) -> Grown:
    """Grow a tree by a team of n_threads; of one, in the calling thread."""
    if n_threads == 1:
        team = team_of_one()
        return grow(table_of(problem, max_bins), judge_of(problem, criterion), rules, team)
    with hired(n_threads, 1e9) as team:
        assert team.n_threads == n_threads
        table = table_of(problem, max_bins, team)
        return grow(table, judge_of(problem, criterion), rules, team)


# ---------------------------------------------------------------- codes without values


class CodedColumn(NamedTuple):
    """Codes of one feature, None for missing. More than 255 bins make it wide."""

    codes: tuple[int | None, ...]
    n_bins: int
    n_categories: int = 0


def coded_columns(
    n_rows: int, n_bins: st.SearchStrategy[int], categorical: bool = False
) -> st.SearchStrategy[CodedColumn]:
    """Draw a column of codes, from one of these numbers of bins."""

    def column(size: int) -> st.SearchStrategy[CodedColumn]:
        ends = [code for code in (0, 31, 63, 64, size - 1) if code < size]  # of words, of bins
        code = st.none() | st.integers(0, size - 1) | st.sampled_from(ends)
        codes = st.lists(code, min_size=n_rows, max_size=n_rows).map(tuple)
        return st.builds(CodedColumn, codes, st.just(size), st.just(size if categorical else 0))

    return n_bins.flatmap(column)


def codes_of(columns: list[CodedColumn] | tuple[CodedColumn, ...], most_codes: int = 0) -> Codes:
    """Lay columns of codes out as the grower reads them; most_codes: as in a Recipe."""
    narrow = [column for column in columns if column.n_bins <= MISSING]
    wide = [column for column in columns if column.n_bins > MISSING]
    n_rows = len(columns[0].codes)
    features = np.zeros(len(columns), FEATURE).view(np.recarray)
    for feature, column in zip(features, columns, strict=True):
        is_narrow = column.n_bins <= MISSING
        feature.place = narrow.index(column) if is_narrow else -1 - wide.index(column)
        feature.missing = MISSING if is_narrow else column.n_bins
        feature.n_bins, feature.n_categories = column.n_bins, column.n_categories
    narrow_codes = np.zeros((len(narrow), n_rows), np.uint8)
    for place, column in enumerate(narrow):
        narrow_codes[place] = [MISSING if code is None else code for code in column.codes]
    has_missing = np.array([None in each.codes for each in columns])
    n_columns = lay_out(features, has_missing, most_codes, narrow_codes)
    codes = Codes(
        blocks=np.zeros((-(-n_columns // BLOCK), n_rows, BLOCK), np.uint8),
        columns=narrow_codes,
        wide=np.zeros((len(wide), n_rows), np.int32),
        shared=np.zeros((int(features.shared.max()) + 1, n_rows), np.uint8),
        features=features,
        bins=np.zeros(0, BIN).view(np.recarray),
        fine=np.zeros((0, n_rows, BLOCK), np.uint8),
        levels=np.zeros(0, BIN).view(np.recarray),
        n_levels=1,
        pieces=np.zeros((0, 2), np.int64),
        digits=digits_of(features),
        panels=panels_of(n_columns),
        keys=np.zeros((0, n_rows), np.uint16),
        kinds=np.zeros((0, 0, BLOCK), np.uint8),
    )
    features.fine = features.pieces = -1
    for place, column in enumerate(wide):
        codes.wide[place] = [column.n_bins if code is None else code for code in column.codes]
    for about in features[features.column >= 0]:
        digits = np.minimum(codes.columns[about.place], about.n_codes - 1) * max(about.flag, 1)
        block, lane = divmod(about.column, BLOCK)
        codes.blocks[block, :, lane] += (about.stride * digits).astype(np.uint8)
    for about in features[features.shared >= 0]:
        block, lane = divmod(about.column, BLOCK)
        codes.shared[about.shared] = codes.blocks[block, :, lane]
    return codes


def panels_of(n_columns: int) -> Any:
    """Return what is known of blocks of 16 columns that have no kinds."""
    panels = np.zeros(-(-n_columns // BLOCK), PANEL).view(np.recarray)
    panels.n_columns = np.minimum(n_columns - BLOCK * np.arange(len(panels)), BLOCK)
    return panels


def repeated_rows(rows: Any, repeats: Any = 1) -> Any:
    """Return records of targets: rows, and how often each counts."""
    return np.asarray(rows) | (np.asarray(repeats, np.int64) << 48)


def class_counts() -> ClassCounts:
    """Return the moments of rows of three classes whose records have the weights."""
    return ClassCounts(3, 0, np.arange(3))


def class_moments(weights: Any, keeps_all: int = 0) -> ClassWeights:
    """Return the moments of rows of three classes with these weights."""
    return ClassWeights(
        n_classes=3, keeps_all=keeps_all, place=np.arange(3), weights=np.asarray(weights)
    )


# ---------------------------------------------------------------- the oracle's view


def _weights_of(judge: Judge, n_rows: int) -> Any:
    """Return the steps of weight of each row."""
    if isinstance(judge.moments, ClassWeights):
        return judge.moments.weights
    if not isinstance(judge.moments, ClassCounts):
        return judge.row_weights(n_rows)
    weights = np.zeros(n_rows, np.int64)
    weights[judge.records & 0xFFFFFFFF] = judge.records >> 48
    return weights


def data_of(problem: Problem, table: BinnedTable, judge: Judge, criterion: str) -> Data:
    """Return the same columns and whole numbers, for the oracle."""
    features = tuple(
        _feature_of(column, table, number) for number, column in enumerate(problem.columns)
    )
    weights = _weights_of(judge, len(problem.targets)).tolist()
    rows: list[tuple[int, ...]]
    if problem.n_classes:
        rows = [
            (*(weight if k == label else 0 for k in range(problem.n_classes)), 1)
            for label, weight in zip(problem.targets, weights, strict=True)
        ]
    else:
        products = judge.moments.products.reshape(len(weights), -1).tolist()
        rows = [(*own, weight, 1) for own, weight in zip(products, weights, strict=True)]
    return Data(features, rows, criterion_of(criterion, problem.n_classes))


def criterion_of(criterion: str, n_classes: int) -> Any:
    if criterion == "cost":
        return criteria.Cost([row[:n_classes] for row in COST[:n_classes]])
    return _CRITERIA[criterion]


def _feature_of(column: tuple[Any, ...], table: BinnedTable, number: int) -> Feature:
    about, names = table.codes.features[number], table.categories[number]
    if names is not None:
        codes = [None if value is None else names.index(value) for value in column]
        return Feature(codes, (), len(names), int(about.missing))
    bins = table.codes.bins[int(about.first) : int(about.first) + int(about.n_bins)].tolist()
    codes = [
        None if x is None else next(i for i, (low, high) in enumerate(bins) if low <= x <= high)
        for x in column
    ]
    return Feature(codes, bins, 0, int(about.missing))


def oracle_rules(rules: GrowthRules, judge: Judge) -> Rules:
    """Return the rules in whole steps."""
    return Rules(
        max_leaves=rules.max_leaves,
        max_depth=rules.max_depth,
        min_split_rows=rules.min_split_rows,
        min_rows=rules.min_leaf_rows,
        min_weight=max(math.ceil(rules.min_leaf_weight / judge.weight_unit), 1),
        min_gain=rules.min_gain / judge.score_unit,
        keep_gain=rules.keep_gain / judge.score_unit,
        n_tree_features=rules.n_tree_features,
        n_level_features=rules.n_level_features,
        n_candidates=rules.n_candidates,
        groups=rules.groups,
        random_cut=rules.random_cut,
        by_lot=rules.by_lot,
        seed=rules.seed,
        level_by_level=rules.level_by_level,
    )
