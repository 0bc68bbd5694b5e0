"""Checkpoints: what a fit has done so far, in a file that the same fit goes on from.

A checkpoint is a journal (storage.journal). Its first record says which fit it belongs to; each
later one has the rounds, or trees, that were made since the one before it, so that a fit writes
each of them once.
"""

import hashlib
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from numbers import Integral
from os import fspath
from typing import Any, NamedTuple

import numpy as np

from hedgerow.data.table import Table, read_table
from hedgerow.ensembles.additive import AdditiveModel
from hedgerow.ensembles.forest import Forest, Planted, Planting, forest_of
from hedgerow.errors import CheckpointError, ModelFileError
from hedgerow.storage.journal import Journal
from hedgerow.storage.numbers import demand, demand_array
from hedgerow.storage.parts import PARTS, check_additive
from hedgerow.storage.trees import check_class_leaves, check_mean_leaves
from hedgerow.storage.values import Writer
from hedgerow.version import __version__

# What the model does not depend on; the seed is told apart from what it was drawn from.
_NO_MATTER = ("n_jobs", "verbose", "callbacks", "time_limit", "warm_start", "random_state")


class Checkpoint(NamedTuple):
    """What a fit was asked to write.

    path   of the file
    every  rounds, or trees, after which it is written
    data   digest of what is learnt
    """

    path: Any
    every: int
    data: str


def checkpoint_of(
    path: Any, every: Any, table: Table, given: tuple[Any, ...], watched: Any = None
) -> Checkpoint | None:
    """Return what was asked for; None if it was not.

    given    targets, weights and whatever else the model depends on, arrays or None
    watched  as eval_set
    """
    if path is None:
        return None
    fspath(path)  # raises if it is no path
    if isinstance(every, bool) or not isinstance(every, Integral) or every < 1:
        raise ValueError(
            f"checkpoint_every={every!r}: pass the number of rounds or trees after which the "
            "checkpoint is written, 1 or more."
        )
    digest = hashlib.sha256()
    _tell_table(digest, table)
    listed = [watched] if isinstance(watched, tuple) else list(watched or ())
    for each in given:
        _tell(digest, each)
    for each in listed:
        _tell_table(digest, read_table(each[0]))
        for other in each[1:]:
            _tell(digest, other)
    return Checkpoint(path, int(every), digest.hexdigest())


def _tell_table(digest: Any, table: Table) -> None:
    """Tell the values of a table, column by column, with names and categories."""
    digest.update(repr((table.n_rows, table.n_features, table.names)).encode())
    for feature in range(table.n_features):
        column = table.column(feature, table.kinds[feature] == "categorical")
        digest.update(repr(column.categories).encode())
        digest.update(np.ascontiguousarray(column.values).data)


def _tell(digest: Any, given: Any) -> None:
    if isinstance(given, tuple) and hasattr(given, "_fields"):
        for each in given:
            _tell(digest, each)
        return
    values = np.asarray(given)
    digest.update(f"{values.dtype.str}{values.shape}".encode())
    if values.dtype.kind == "O":
        digest.update(repr(values.tolist()).encode())
    else:
        digest.update(np.ascontiguousarray(values).reshape(-1).view(np.uint8).data)


class Before:
    """Rounds that are there, as a fitted estimator shows them to those that go on from it."""

    _loss = None

    def __init__(self, model: AdditiveModel, improvements: Any) -> None:
        self._model, self.n_estimators_ = model, model.n_rounds
        if len(improvements):
            self.oob_improvement_ = improvements[: model.n_rounds]


class Rounds:
    """Rounds of boosting in a checkpoint."""

    def __init__(self, journal: Journal, every: int) -> None:
        self._journal, self._every = journal, every
        self._model: AdditiveModel | None = None
        self._improvements = np.zeros(0)
        self._n_written = 0

    def read(self, records: list[Any], n_categories: Any, n_outputs: int) -> None:
        """Take the rounds that are there."""
        models, improvements = [], [self._improvements]
        for record in records:
            model, found = _fields(record, "rounds", "improvements")
            check_additive(model, n_categories)
            demand_array(found, "f8", 1)
            demand(model.n_outputs == n_outputs, "rounds are of other outputs")
            demand(len(found) in (0, model.n_rounds), "rounds are not as many")
            models.append(model)
            improvements.append(found)
        while len(models) > 1:  # two by two, so that none is copied often
            pairs = [models[place : place + 2] for place in range(0, len(models), 2)]
            models = [pair[0].then(pair[1]) if len(pair) == 2 else pair[0] for pair in pairs]
        self._model = models[0] if models else None
        self._improvements = np.concatenate(improvements)
        self._n_written = self._model.n_rounds if self._model is not None else 0

    def before(self) -> Before | None:
        """Return the rounds to go on from, all but the last, which is grown again; or None.

        With it everything is decided again that is decided after a round, from what is known then:
        whether to stop, and the form of a loss that adapts.
        """
        if self._model is None or self._model.n_rounds < 2:
            return None
        return Before(self._model.first(self._model.n_rounds - 1), self._improvements)

    def write(self, boosting: Any, is_last: bool = False) -> None:
        """Write the rounds that are new, if they are enough or there are no more to come."""
        n_new = boosting.n_rounds - self._n_written
        if n_new >= self._every or (is_last and n_new > 0):
            model = boosting.some_rounds(self._n_written, boosting.n_rounds)
            found = np.array(boosting.improvements[-n_new:], np.float64)
            self._journal.append({"rounds": model, "improvements": found})
            self._n_written = boosting.n_rounds


class Trees:
    """Trees of a forest in a checkpoint."""

    def __init__(self, journal: Journal, every: int) -> None:
        self._journal, self._every = journal, every
        self.planted: list[Planted] = []

    def read(self, records: list[Any], n_categories: Any, leaves: tuple[bool, int]) -> None:
        """Take the trees that are there; leaves: whether of classes, and how many numbers."""
        for record in records:
            (forest,) = _fields(record, "trees")
            demand(type(forest) is Forest, "there are no trees")
            demand(np.array_equal(forest.n_categories, n_categories), "trees are of other columns")
            for thicket in forest.thickets:
                if leaves[0]:
                    check_class_leaves(thicket, leaves[1])
                else:
                    check_mean_leaves(thicket, leaves[1], weighs=True)
            units = forest.units.tolist()
            self.planted += [Planted(forest.tree(k), unit) for k, unit in enumerate(units)]

    def write(self, planted: list[Planted], n_categories: Any) -> None:
        """Write trees that are new."""
        if planted:
            forest = forest_of(list(planted), n_categories)
            self._journal.append({"trees": forest})
            self.planted += planted


def resumed(
    estimator: Any,
    about: tuple[int, Any],
    planting: Planting,
    told: Callable[[int], bool],
    checkpoint: Checkpoint | None,
) -> list[Planted]:
    """Grow the trees of a forest; those of a checkpoint are there, and new ones are written to it.

    about  the number of the first tree, and the number of categories of each column
    told   as of Planting, given how many trees there are in all
    """
    begin, n_categories = about
    if checkpoint is None:
        numbers = range(begin, estimator.n_estimators)
        return planting.grow(numbers, lambda n: told(begin + n))
    of_classes, n_values = hasattr(estimator, "classes_"), estimator._n_values
    leaves = of_classes, n_values if of_classes else 1 + 2 * n_values
    with opened(estimator, checkpoint, Trees, n_categories, leaves) as trees:
        planted: list[Planted] = trees.planted
        end = len(planted)
        while len(planted) == end < estimator.n_estimators:  # all are there that were asked for
            numbers = range(end, min(end + checkpoint.every, estimator.n_estimators))
            grown = planting.grow(numbers, partial(_told_of, told, end))
            trees.write(grown, n_categories)
            end = numbers.stop
        return planted


def _told_of(told: Callable[[int], bool], n_before: int, n: int) -> bool:
    return told(n_before + n)


@contextmanager
def opened(estimator: Any, checkpoint: Checkpoint, kind: Any, *about: Any) -> Iterator[Any]:
    """Open the checkpoint of a fit, with what an earlier one has written; kind: Rounds or Trees."""
    with Journal(checkpoint.path, PARTS) as journal:
        told = _told(estimator, checkpoint)
        first, *records = journal.opened(told)
        _demand_same(first, told, checkpoint.path)
        done = kind(journal, checkpoint.every)
        try:
            done.read(records, *about)
        except CheckpointError:
            raise
        except (ModelFileError, TypeError, ValueError, LookupError) as problem:
            raise CheckpointError(
                f"{fspath(checkpoint.path)} is damaged. {problem} Remove it to begin from the "
                "first round."
            ) from None
        yield done


def demand_resumable(estimator: Any, before: Any) -> None:
    """Raise if a fit cannot go on from a checkpoint."""
    reason = ""
    if before is not None or estimator.warm_start:
        reason = "warm_start=True goes on from a fitted model. Pass warm_start=False"
    elif getattr(estimator, "dropout", 0.0) > 0.0:
        reason = "with dropout later rounds change earlier ones. Pass dropout=0.0"
    elif estimator.n_estimators == "cv":
        reason = "n_estimators='cv' boosts a model for each fold. Pass a number of rounds"
    if reason:
        raise ValueError(f"checkpoint was given, but {reason}, or leave checkpoint out.")


def _fields(record: Any, *names: str) -> list[Any]:
    demand(type(record) is dict and tuple(record) == names, "a record has other fields")
    return [record[name] for name in names]


def _told(estimator: Any, checkpoint: Checkpoint) -> dict[str, str]:
    """Return which fit a checkpoint belongs to."""
    given = sorted(estimator.get_params(deep=False).items())
    told = {f"parameter {name}": _text(each) for name, each in given if name not in _NO_MATTER}
    about = {"library": f"hedgerow {__version__}", "class": type(estimator).__name__}
    return about | told | {"seed": str(estimator._seed), "data": checkpoint.data}


def _text(value: Any) -> str:
    """Return a text that differs for different parameters; of functions, by name and code."""
    try:
        writer = Writer(PARTS)
        told = json.dumps(writer.tree(value, ""))
    except (ModelFileError, TypeError, ValueError):
        code = getattr(value, "__code__", None)
        own = code.co_code.hex() if code is not None else repr(value)
        kind = getattr(value, "__qualname__", type(value).__qualname__)
        return f"{kind} {own}" if " at 0x" not in own else str(kind)
    arrays = [f"{array.dtype.str}{array.tolist()}" for array in writer.arrays.values()]
    return " ".join([told, *arrays])


def _demand_same(first: Any, told: dict[str, str], path: Any) -> None:
    """Raise unless a checkpoint belongs to this fit."""
    is_plain = type(first) is dict and all(type(each) is str for each in first.values())
    for name in told if is_plain else ["library"]:
        had = first.get(name) if is_plain else None
        if had == told[name]:
            continue
        what = f"{name} = {had!r:.60}, and this fit has {told[name]!r:.60}"
        if name == "data":
            what = (
                "other rows, targets, weights or rows to be watched, or has them in another order"
            )
        raise CheckpointError(
            f"The checkpoint {fspath(path)} belongs to another fit: it has {what}. Pass what that "
            "fit had, or another file; remove the file to begin from the first round."
        )
