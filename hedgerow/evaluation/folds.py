"""Folds: which rows a model is fitted to and which it is judged by, and what goes with them.

A fold is handed to an estimator as parts of one table that is read once. A part is binned by
its own rows, so the rows held out have no say in the edges, and models of the same binning
parameters share its codes: decision 0025.
"""

import inspect
from collections.abc import Mapping
from functools import cached_property
from threading import Lock
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier
from sklearn.model_selection import check_cv
from sklearn.utils import _safe_indexing, get_tags, indexable
from sklearn.utils.validation import _check_method_params

from hedgerow.data.parts import Part, ReadOnce
from hedgerow.data.table import read_table
from hedgerow.estimators.parts import is_own, takes_parts

Rows = NDArray[np.int64]


class Given(NamedTuple):
    """What is to be learnt, all rows of it.

    sample_weight  what rows count in fits and in scores; None: alike
    params         other parameters of `fit`; those with an entry for each row are divided
    shares         whether models are given parts of one table, which they bin once
    """

    X: Any
    y: Any
    groups: Any = None
    sample_weight: Any = None
    params: Mapping[str, Any] = {}
    shares: bool = True

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return len(self.y)

    def fit_params(self, rows: Rows | None = None) -> dict[str, Any]:
        """Return what `fit` is given besides X and y, for some rows or all."""
        given = dict(self.params)
        if self.sample_weight is not None:
            given["sample_weight"] = self.sample_weight
        whole = np.arange(self.n_rows) if rows is None else rows
        divided: dict[str, Any] = _check_method_params(np.empty((self.n_rows, 0)), given, whole)
        return divided


class Side:
    """Some rows: those that a fold's model is fitted to, or those that are held out."""

    def __init__(
        self, given: Given, rows: Rows, whole: ReadOnce | None, columns: Rows | None
    ) -> None:
        """Take some rows; columns: of these, if X is of distances between rows."""
        self.given, self.rows, self._whole, self._columns = given, rows, whole, columns
        self.y = _safe_indexing(given.y, rows)

    @cached_property
    def X(self) -> Any:
        """The rows, as a table of the kind that was given."""
        X = _safe_indexing(self.given.X, self.rows)
        return X if self._columns is None else _safe_indexing(X, self._columns, axis=1)

    @cached_property
    def part(self) -> Part:
        """The rows, as a part of a table that is read once."""
        assert self._whole is not None
        return self._whole.part(self.rows)

    @cached_property
    def weights(self) -> Any:
        """What the rows count in scores, or None."""
        return None if self.given.sample_weight is None else self.fit_params["sample_weight"]

    @cached_property
    def fit_params(self) -> dict[str, Any]:
        """What `fit` is given besides X and y."""
        return self.given.fit_params(self.rows)

    @property
    def said_with(self) -> dict[str, Any]:
        """What a model must be given again to say anything of these rows: its offsets."""
        return {name: self.fit_params[name] for name in ("offset",) if name in self.fit_params}

    def scored_with(self, model: Any) -> dict[str, Any]:
        """Return what scorers are given besides X and y: weights, and queries of a ranker."""
        known = inspect.signature(model.score).parameters if hasattr(model, "score") else {}
        given = self.given.params if is_own(model) else {}
        own = {name: self.fit_params[name] for name in given if name in known}
        own.pop("sample_weight", None)
        return own if self.weights is None else own | {"sample_weight": self.weights}

    def table_for(self, estimator: Any) -> Any:
        """Return X as an estimator is best given it."""
        return self.part if self._whole is not None and takes_parts(estimator) else self.X

    @property
    def total(self) -> float:
        """The number of rows, or their weight."""
        return float(len(self.rows) if self.weights is None else np.sum(self.weights))


class Fold:
    """The rows that a model is fitted to and those that it is judged by."""

    def __init__(self, number: int, rows: tuple[Rows, Rows], given: Given, table: Any) -> None:
        """Take rows; table: the whole, read once, or None; and whether X is of distances."""
        self.number, self.rows, self._given, self._table = number, rows, given, table
        self._lock, self._n_users = Lock(), 0
        self._sides: tuple[Side, Side] | None = None

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_lock": None, "_sides": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _lock=Lock())

    def expect(self, n_users: int) -> None:
        """Keep what is made of the tables until so many have called `left`."""
        self._n_users = n_users

    @property
    def sides(self) -> tuple[Side, Side]:
        """The rows to be fitted to, and those held out."""
        with self._lock:
            if self._sides is None:
                whole, is_pairwise = self._table
                columns = self.rows[0] if is_pairwise else None
                train, test = (Side(self._given, rows, whole, columns) for rows in self.rows)
                self._sides = train, test
            return self._sides

    def left(self) -> None:
        """Forget the tables when nobody needs them any more."""
        with self._lock:
            self._n_users -= 1
            if self._n_users == 0:
                self._sides = None


def folds_of(given: Given, estimator: Any, cv: Any) -> list[Fold]:
    """Divide rows into folds, or raise if that cannot be done."""
    splits = splits_of(given, estimator, cv)
    shares = given.shares and takes_parts(estimator)
    whole = ReadOnce(read_table(given.X)) if shares else None
    table = whole, get_tags(estimator).input_tags.pairwise
    return [Fold(number, split, given, table) for number, split in enumerate(splits)]


def splits_of(given: Given, estimator: Any, cv: Any) -> list[tuple[Rows, Rows]]:
    """Return the training rows and the rows held out of each fold."""
    if isinstance(cv, (int, np.integer)) and (isinstance(cv, bool) or cv < 2):
        raise ValueError(
            f"cv={cv} leaves no rows to be judged by: there must be at least 2 folds. Pass a "
            "number of folds from 2 up, a splitter of scikit-learn, or pairs of training rows and "
            "test rows; for one division of the rows, ShuffleSplit(1)."
        )
    splitter = check_cv(cv, given.y, classifier=is_classifier(estimator))
    splits = [
        (_as_rows(train, given.n_rows), _as_rows(test, given.n_rows))
        for train, test in splitter.split(np.empty((given.n_rows, 0)), given.y, given.groups)
    ]
    if not splits:
        raise ValueError("cv has no splits. Pass a number of folds from 2 up, or a splitter.")
    for number, (train, test) in enumerate(splits):
        if not len(train) or not len(test):
            raise ValueError(
                f"Fold {number} has {len(train)} training rows and {len(test)} rows held out, and "
                "needs both. Pass a cv of fewer folds."
            )
        is_trained_on = np.zeros(given.n_rows, bool)
        is_trained_on[train] = True
        if is_trained_on[test].any():
            row = test[is_trained_on[test]].min()
            raise ValueError(
                f"Row {row} is both a training row and held out in fold {number}: its score would "
                "be too good. Pass a cv whose training and test rows have none in common."
            )
    _check_queries(given, splits)
    return splits


def _as_rows(part: Any, n_rows: int) -> Rows:
    rows = np.asarray(part)
    return np.flatnonzero(rows) if rows.dtype == bool and len(rows) == n_rows else rows.astype(int)


def _check_queries(given: Given, splits: list[tuple[Rows, Rows]]) -> None:
    """Raise if the rows of a query are divided: a ranking is of all of them."""
    if "group" in given.params:
        raise ValueError(
            "params has 'group', sizes of queries, which cannot be divided into folds. Pass "
            "params={'qid': ...}, the query of each row, and groups=qid with cv=GroupKFold()."
        )
    if "qid" not in given.params:
        return
    qid = np.asarray(given.params["qid"])
    for number, (train, test) in enumerate(splits):
        shared = np.intersect1d(qid[train], qid[test])
        if len(shared):
            raise ValueError(
                f"Query {shared[0]!r} has training rows and rows held out in fold {number}, but a "
                "ranking is of whole queries. Pass groups=qid and cv=GroupKFold()."
            )


def check_given(given: Given) -> Given:
    """Return what was given, with rows that can be taken; raise if lengths or targets are bad."""
    X, y, groups = indexable(given.X, given.y, given.groups)
    targets = np.asarray(y)
    if targets.dtype.kind == "f" and np.isnan(targets).any():
        row = int(np.argwhere(np.isnan(targets))[0][0])
        raise ValueError(
            f"y[{row}] is NaN, and a row without a target can neither be learnt nor judged. Leave "
            "such rows out of X and y."
        )
    weights = given.sample_weight
    if weights is not None and np.shape(weights) != (len(targets),):
        raise ValueError(
            f"sample_weight has shape {np.shape(weights)}, expected ({len(targets)},): one number "
            "for each row."
        )
    return given._replace(X=X, y=y, groups=groups)
