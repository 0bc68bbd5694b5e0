"""Which rows judge a model, and which it is trained with."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.cli.problems import CommandError, UsageError
from hedgerow.cli.targets import Problem

Rows = NDArray[np.int64]
_LARGEST_SEED = 2**32 - 1


def demand_seed(seed: int) -> None:
    """Raise if a seed is none that scikit-learn takes."""
    if not 0 <= seed <= _LARGEST_SEED:
        raise UsageError(f"--seed {seed}: pass a whole number from 0 to {_LARGEST_SEED}.")


def held_out_rows(problem: Problem, share: float, seed: int) -> tuple[Rows, Rows]:
    """Return the rows to train with and the others, with the same shares of classes if possible."""
    from sklearn.model_selection import train_test_split

    n_rows = len(problem.y)
    n_out = round(share * n_rows)
    if n_out < 2 or n_rows - n_out < 2:
        raise CommandError(
            f"{n_rows} rows are too few to hold out {share:g} of them. Pass --cv, another "
            "--holdout, or --holdout 0 to judge nothing."
        )
    classes = None
    if problem.task == "classification":
        _, counts = np.unique(problem.y, return_counts=True)
        possible = counts.min() >= 2 and min(n_out, n_rows - n_out) >= len(counts)
        classes = problem.y if possible else None
    rows, held_out = train_test_split(
        np.arange(n_rows), test_size=n_out, random_state=seed, stratify=classes
    )
    _demand_known(problem, rows, held_out)
    return np.sort(rows), np.sort(held_out)


def fold_rows(problem: Problem, n_folds: int, seed: int) -> list[tuple[Rows, Rows]]:
    """Return the rows to train with and the others, of each fold."""
    from sklearn.model_selection import KFold, StratifiedKFold

    if len(problem.y) < 2 * n_folds:
        raise CommandError(f"{len(problem.y)} rows are too few for {n_folds} folds.")
    splitter: Any = KFold(n_folds, shuffle=True, random_state=seed)
    if problem.task == "classification":
        classes, counts = np.unique(problem.y, return_counts=True)
        if counts.min() < n_folds:
            raise CommandError(
                f"class {classes[counts.argmin()].item()!r} has {counts.min()} rows, too few for "
                f"{n_folds} folds. Pass fewer folds, or leave these rows out."
            )
        splitter = StratifiedKFold(n_folds, shuffle=True, random_state=seed)
    return list(splitter.split(np.zeros(len(problem.y)), problem.y))


def _demand_known(problem: Problem, rows: Rows, held_out: Rows) -> None:
    if problem.task == "classification":
        strange = set(problem.y[held_out].tolist()) - set(problem.y[rows].tolist())
        if strange:
            raise CommandError(
                f"class {sorted(strange)[0]!r} has too few rows to be both trained with and held "
                "out. Leave its rows out, or pass --holdout 0."
            )
