"""The shared datasets of classes and numbers, and how their rows are dealt into folds.

They stand beside the repository and may be absent, adult excepted: it is among the examples.
"""

import sys
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmarks.harness import console
from benchmarks.records import ROOT

DATA = ROOT.parent / "shared" / "data"
ADULT = ROOT / "examples" / "data" / "adult.parquet"
N_FOLDS = 5
MOST_ROWS = 200_000  # a larger set is a fixed sample of this many


class Dataset(NamedTuple):
    """A table, its targets (a class is its number) and the fold of each row."""

    X: Any  # pandas
    y: NDArray[Any]
    n_classes: int  # 0: numbers
    folds: NDArray[np.int64]


class Parted(NamedTuple):
    """What is learnt and what is predicted, each X and y."""

    train: tuple[Any, Any]
    test: tuple[Any, Any]
    n_classes: int  # 0: numbers


def catalog(data: Path) -> pd.DataFrame:
    """Return name, task, target and rows of the sets to learn from, small ones first."""
    sets = pd.read_csv(data / "catalog.csv")
    return sets[sets["task"] != "ranking"].sort_values("rows", kind="stable")


def dataset(data: Path, name: str, most: int = MOST_ROWS) -> Dataset:
    """Read a set; of one that has more rows than that, a sample."""
    about = catalog(data).set_index("name").loc[name]
    table = pd.read_parquet(data / f"{name}.parquet")
    if len(table) > most:
        chosen = np.sort(np.argsort(scattered(len(table), seed=1))[:most])
        table = table.iloc[chosen].reset_index(drop=True)
    X, y = table.drop(columns=about["target"]), table[about["target"]]
    if about["task"] == "regression":
        return Dataset(X, y.to_numpy(np.float64), 0, dealt(np.zeros(len(y), np.int64)))
    classes, numbers = np.unique(y.to_numpy(), return_inverse=True)
    return Dataset(X, numbers, len(classes), dealt(numbers))


def contested(data: Path, name: str, rows: int | None = None) -> Parted | None:
    """Return a whole set with a fold held out, or its first rows; None if it is not there.

    A table without categories is an array of numbers, which every library reads alike.
    """
    if name == "adult":
        table = pd.read_parquet(ADULT)
        X, y, n_classes = table.iloc[:, :-1], table.iloc[:, -1].to_numpy(np.int64), 2
        folds = dealt(y)
    elif (data / f"{name}.parquet").exists():
        X, y, n_classes, folds = dataset(data, name, sys.maxsize)
    else:
        console.print(f"Left out {name}: it is not in {data}.", soft_wrap=True)
        return None
    if not any(isinstance(kind, pd.CategoricalDtype) for kind in X.dtypes):
        X = X.to_numpy(np.float64)
    learnt, asked = np.flatnonzero(folds != 0)[:rows], np.flatnonzero(folds == 0)[:rows]
    take = X.iloc.__getitem__ if isinstance(X, pd.DataFrame) else X.__getitem__
    return Parted((take(learnt), y[learnt]), (take(asked), y[asked]), n_classes)


def dealt(classes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the fold of each row: a function of its number, each class dealt out evenly."""
    order = np.lexsort((scattered(len(classes), seed=0), classes))
    folds = np.empty(len(classes), np.int64)
    folds[order] = np.arange(len(classes)) % N_FOLDS
    return folds


def scattered(n_rows: int, seed: int) -> NDArray[np.uint64]:
    """Return a number for each row that looks random: splitmix64. Steele et al. (2014)."""
    z = np.arange(1, n_rows + 1, dtype=np.uint64) + (np.uint64(seed) << np.uint64(32))
    z *= np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))
