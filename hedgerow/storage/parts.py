"""Parts of models that files hold: their classes, and what must be true of their values."""

from collections.abc import Callable
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.data.table import Schema
from hedgerow.ensembles import adaboost, stagewise
from hedgerow.ensembles.additive import AdditiveModel
from hedgerow.ensembles.bags import Bags, Bootstrap, Pasting, Urn
from hedgerow.ensembles.committee import Committee
from hedgerow.ensembles.dictionary import Stumps
from hedgerow.ensembles.forest import Forest
from hedgerow.ensembles.mean_committee import MeanCommittee
from hedgerow.ensembles.settlement import Settlement
from hedgerow.kernels.grove import Grove
from hedgerow.kernels.neighbours import Dwellers
from hedgerow.kernels.packed import Thicket
from hedgerow.kernels.predict import Paths
from hedgerow.losses import (
    AbsoluteError,
    Bernoulli,
    Exponential,
    Gamma,
    Huber,
    LambdaRank,
    Multinomial,
    Pairwise,
    Poisson,
    Quantile,
    Quantiles,
    SquaredError,
    Tweedie,
)
from hedgerow.storage.numbers import (
    demand,
    demand_array,
    demand_count,
    demand_finite,
    demand_number,
)
from hedgerow.storage.trees import check_bounds, check_forest, check_paths, check_thicket
from hedgerow.storage.values import Kind
from hedgerow.trees.tree import Tree

_MOST_DRAWS = (1 << 31) - 1  # they are counted in 32 bits
_SOME_LOSSES = (
    AbsoluteError,
    Bernoulli,
    Exponential,
    Gamma,
    Huber,
    LambdaRank,
    Multinomial,
    Pairwise,
    Poisson,
    Quantile,
    SquaredError,
    Tweedie,
)
LOSSES = (*_SOME_LOSSES, Quantiles)


def part(cls: Any, check: Callable[[Any], None], name: str | None = None) -> tuple[type, Kind]:
    """Return how files hold a NamedTuple or a dataclass: by its fields, all of them."""
    own = [each.name for each in fields(cls)] if is_dataclass(cls) else list(cls._fields)
    name = name or cls.__name__

    def build(given: dict[str, Any]) -> Any:
        demand(list(given) == own, f"a {name} has other fields")
        check_fields = [isinstance(each, np.ndarray) for each in given.values()]
        demand(cls is not Tree or all(check_fields), "a tree is not of arrays")
        value = cls(**given)
        check(value)
        return value

    return cls, Kind(name, lambda value: {each: getattr(value, each) for each in own}, build)


def by_owner(_: Any) -> None:
    """Leave a check to the value that this one is a part of, which knows more."""


def check_schema(schema: Schema) -> None:
    """Raise unless names and categories are plain, and each is there once."""
    names, categories = schema.names, schema.categories
    is_text = names is None or (type(names) is tuple and all(type(each) is str for each in names))
    demand(is_text, "names are no texts")
    demand(type(categories) is tuple and len(categories) > 0, "there are no columns")
    demand(names is None or len(names) == len(categories), "columns and names are not as many")
    for each in categories:
        if each is not None:
            demand(type(each) is tuple, "categories are no list")
            is_plain = all(type(value) in (str, bytes, bool, int, float) for value in each)
            demand(
                is_plain and len(set(each)) == len(each), "categories are not plain, or repeated"
            )


def n_categories_of(schema: Schema) -> NDArray[np.int32]:
    """Return the number of categories of each column, 0 if it is a number."""
    return np.array([0 if each is None else len(each) for each in schema.categories], np.int32)


def check_tree(tree: Tree) -> None:
    """Raise unless a tree may be walked, and has a value in each node."""
    demand_array(tree.n_categories, "i4", 1)
    paths = Paths(*(getattr(tree, name) for name in Paths._fields))
    demand_array(tree.left, "i4", 1)
    check_paths(np.array([0, tree.n_nodes]), paths, tree.n_categories)
    demand_array(tree.value, "f8", 2)
    demand_array(tree.impurity, "f8", 1)
    demand_array(tree.n_rows, "i8", 1)
    sizes = {len(tree.value), len(tree.impurity), len(tree.n_rows), tree.n_nodes}
    demand(len(sizes) == 1 and tree.value.shape[1] > 0, "values are not of all nodes")
    demand_finite(tree.value, "a value")
    demand_finite(tree.impurity, "an impurity")
    demand(bool((tree.n_rows >= 0).all()), "a node has less than no rows")
    demand(bool((tree.weight > 0).all()), "a node weighs nothing")


def check_additive(model: Any, n_categories: NDArray[np.int32]) -> None:
    """Raise unless an additive model's trees may be walked."""
    demand(type(model) is AdditiveModel and type(model.grove) is Grove, "there is no sum of trees")
    grove = model.grove
    demand_array(model.start, "f8", 1)
    demand_finite(model.start, "the start")
    demand(len(model.start) > 0, "there is no score")
    demand_array(grove.offset, "i8", 1)
    demand_array(grove.output, "i4", 1)
    n_trees, n_outputs = len(grove.output), len(model.start)
    demand(len(grove.offset) == n_trees + 1, "trees and their bounds are not as many")
    is_in_turn = (grove.output == np.arange(n_trees, dtype=np.int32) % n_outputs).all()
    demand(n_trees % n_outputs == 0 and bool(is_in_turn), "trees are not of scores in turn")
    paths = Paths(*(getattr(grove, name) for name in Paths._fields))
    demand_array(grove.left, "i4", 1)
    check_paths(grove.offset, paths, n_categories)
    for array in (grove.value, model.gradient, model.gain):
        demand_array(array, "f8", 1)
        demand(len(array) == len(grove.left), "values are not of all nodes")
        demand_finite(array, "a value")


def check_committee(model: Committee) -> None:
    """Raise unless a committee's trees may be walked, as they grew and as they speak."""
    demand(type(model.forest) is Forest, "there are no trees")
    check_thicket(model.voices, model.forest.n_categories)
    same = len(model.voices.first) - 1 == model.forest.n_trees
    demand(same, "trees and their voices are not as many")


def check_bags(bags: Any, n_rows: int) -> None:
    """Raise unless rows may be drawn as these bags say."""
    demand(type(bags) is Bags and type(bags.urn) is Urn, "there are no bags")
    (order, ends, rank), way = bags.urn, bags.way
    demand_count(bags.seed, 0, "a seed")
    demand(type(way) in (Bootstrap, Pasting), "rows are drawn in no known way")
    demand_count(way.n_draws, 1, "a number of draws")
    most = n_rows if type(way) is Pasting else _MOST_DRAWS
    demand(way.n_draws <= most, "more rows are drawn than there are")
    for array, kind in ((order, "i8"), (ends, "i8"), (rank, "i4")):
        demand_array(array, kind, 1)
    demand(len(order) == len(rank) == n_rows and len(ends) in (0, n_rows), "rows are not as many")
    demand(n_rows > 0 and order.min() >= 0 and order.max() < n_rows, "a row is not there")
    demand(bool((rank[order] == np.arange(n_rows)).all()), "rows are not in an order")
    rises = len(ends) == 0 or bool(ends[0] > 0 and (ends[1:] >= ends[:-1]).all())
    demand(rises and (len(ends) == 0 or ends[-1] < 1 << 52), "weights do not add up")


def check_settlement(settlement: Any, forest: Forest, n_rows: int, n_outputs: int) -> None:
    """Raise unless rows dwell in the leaves of a forest."""
    demand(type(settlement) is Settlement, "rows are in no leaves")
    (rows, amounts, starts, first), ranks, targets = settlement
    demand(type(settlement.dwellers) is Dwellers, "rows are in no leaves")
    sizes = np.concatenate([np.diff(each.first[:, 0]) for each in forest.thickets])
    leaf = np.concatenate([each.nodes["feature"] < 0 for each in forest.thickets])
    demand_array(rows, "i4", 1)
    demand_array(amounts, "i4" if amounts.dtype == np.int32 else "i8", 1)
    demand_array(first, "i8", 1)
    demand(np.array_equal(first, np.cumsum(sizes) - sizes), "leaves are not where they were")
    check_bounds(starts, len(rows), "rows of leaves")
    demand(len(starts) == len(leaf) + 1 and len(amounts) == len(rows), "leaves are not as many")
    demand(bool(((np.diff(starts) > 0) == leaf).all()), "a leaf has no row")
    demand(bool((amounts > 0).all() and (amounts < 1 << 52).all()), "a row counts for nothing")
    demand(bool((rows >= 0).all() and (rows < n_rows).all()), "a row is not there")
    demand_array(ranks, "i4", 2)
    demand(type(targets) is tuple and ranks.shape == (n_outputs, n_rows), "rows are not as many")
    demand(len(targets) == n_outputs, "there are other outputs")
    for own, values in zip(ranks, targets, strict=True):
        demand_array(values, "f8", 1)
        demand_finite(values, "a target")
        demand(bool((own >= 0).all() and (own < len(values)).all()), "a target is not there")


def check_stumps(stumps: Stumps) -> None:
    """Raise unless stumps have all their numbers; which features there are, their owner knows."""
    for array, kind in zip(stumps, ("i8", "f8", "?"), strict=True):
        demand_array(array, kind, 1)
        demand(len(array) == len(stumps.feature), "stumps are not as many")
    demand_finite(stumps.threshold, "a threshold")


def check_loss(loss: Any) -> None:
    """Raise unless the numbers of a loss are some."""
    for name, value in loss._asdict().items():
        if name == "n_outputs":
            demand_count(value, 1, "a number of outputs")
        else:
            demand_number(value, f"{name} of a loss")
            demand_finite(value, f"{name} of a loss")


def check_levels(loss: Quantiles) -> None:
    """Raise unless there are levels that rise."""
    demand(type(loss.levels) is tuple and len(loss.levels) > 0, "there are no levels")
    for level in loss.levels:
        demand(type(level) is float and 0.0 < level < 1.0, "a level is not within 0 and 1")
    demand(bool((np.diff(loss.levels) > 0).all()), "levels do not rise")


def check_step(step: stagewise.Round) -> None:
    """Raise unless a step of a descent has functions and their coefficients."""
    demand(type(step.elements) is tuple, "a round has no functions")
    demand_array(step.coefficients, "f8", 1)
    demand_finite(step.coefficients, "a coefficient")
    demand(len(step.coefficients) == len(step.elements), "functions are not as many")
    demand_number(step.error, "an error")
    demand_number(step.loss, "a loss")


def check_algorithm(algorithm: Any) -> None:
    """Raise unless the numbers of an algorithm are some."""
    demand_count(algorithm.n_classes, 1, "a number of classes")
    demand_number(algorithm.rate, "a rate")
    demand_finite(algorithm.rate, "a rate")
    if type(algorithm) is adaboost.Real:
        demand_count(algorithm.n_rows, 1, "a number of rows")


PARTS: dict[type, Kind] = dict(
    [
        part(Schema, check_schema),
        part(Tree, check_tree),
        part(AdditiveModel, by_owner),
        part(Grove, by_owner),
        part(Forest, check_forest),
        part(Thicket, by_owner),
        part(Committee, check_committee),
        part(MeanCommittee, by_owner),
        part(Bags, by_owner),
        part(Urn, by_owner),
        part(Bootstrap, by_owner),
        part(Pasting, by_owner),
        part(Settlement, by_owner),
        part(Dwellers, by_owner),
        part(Stumps, check_stumps),
        part(adaboost.Round, by_owner, "AdaBoostRound"),
        part(adaboost.Discrete, check_algorithm),
        part(adaboost.Real, check_algorithm),
        part(stagewise.Round, check_step, "StagewiseRound"),
        part(Quantiles, check_levels),
        *(part(loss, check_loss) for loss in _SOME_LOSSES),
    ]
)
