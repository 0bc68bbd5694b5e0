"""Choosing the number of rounds by cross-validation, and growing the model, in one fit."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils import Bunch

from hedgerow.ensembles.additive import AdditiveModel, Floats
from hedgerow.ensembles.boosting import Boosting
from hedgerow.ensembles.curve import Patience, best_round, mean_losses, steady_loss
from hedgerow.ensembles.folds import Fold, Folds
from hedgerow.estimators.folds import content_folds
from hedgerow.estimators.ground import ALL, Ground, Rows
from hedgerow.estimators.metrics import metrics_of
from hedgerow.estimators.stopping import HeldOut
from hedgerow.kernels.team import Team

Splits = list[tuple[Rows, Rows]]  # training rows and rows held out


class Chosen(NamedTuple):
    """The model of the chosen round, its fit, how it was chosen, and scores of rows held out."""

    model: AdditiveModel
    whole: Boosting
    results: Bunch
    raw: Floats  # [n_rows, n_outputs], NaN where a row was never held out


def boosted_by_cv(
    estimator: Any, ground: Ground, loss: Any, go_on: Callable[[Folds], bool]
) -> Chosen:
    """Grow the models of all folds and of all rows together, and choose the best round."""
    splits = _splits(estimator, ground)
    first, *teams = Folds.teams(len(splits) + 1, ground.team)
    whole = ground.boosting(ALL, loss, first)
    folds = [
        _fold(estimator, ground.boosting(train, loss, own), held_out, own)
        for (train, held_out), own in zip(splits, teams, strict=True)
    ]
    together = Folds(whole, folds, ground.team)
    patience = Patience(int(estimator.n_iter_no_change), float(estimator.tol))
    together.run(
        int(estimator.max_estimators),
        lambda grown: go_on(grown) and not patience.is_over(grown.curve),
    )
    curve, errors = together.curve, together.errors
    allowance = float(errors[best_round(curve)]) if estimator.one_se else 0.0
    chosen = min(best_round(curve, allowance), whole.n_rounds)
    results = Bunch(
        losses=np.array(curve),
        standard_errors=errors,
        fold_losses=together.fold_losses,
        held_out=[fold.held_out for fold in folds],
    )
    raw = _held_out_raw(together, chosen, ground)
    return Chosen(whole.model(chosen), whole, results, raw)


def _fold(estimator: Any, boosting: Boosting, held_out: Rows, team: Team) -> Fold:
    """Begin the model of a fold; rounds are chosen by the loss, or by eval_metric."""
    metric = metrics_of(estimator, steady_loss(boosting.stage))[0]

    def measure(own: Boosting) -> float:
        return metric.sign * metric.measure(rows.scored(own), own.stage.loss, team)

    def measure_all(own: Boosting, seen: Floats) -> list[float]:
        return mean_losses(own.stage.loss, rows.scored(own), seen, team)

    rows = HeldOut(held_out)
    return Fold(boosting, held_out, measure, None if estimator.eval_metric else measure_all)


def _held_out_raw(together: Folds, n_rounds: int, ground: Ground) -> Floats:
    """Return each row's score by the models that it was held out of, their mean if several."""
    n_outputs = len(together.whole.stage.start)
    total, times = np.zeros((len(ground.y), n_outputs)), np.zeros((len(ground.y), 1))
    for fold in together.folds:
        rows = fold.held_out
        model = fold.boosting.model(min(n_rounds, fold.boosting.n_rounds))
        total[rows] += model.raw(ground.values[rows], ground.team, offset=ground.offset_of(rows))
        times[rows] += 1
    return np.divide(total, times, out=np.full_like(total, np.nan), where=times > 0)


def _splits(estimator: Any, ground: Ground) -> Splits:
    """Return the folds: of rows by their content, or as the given splitter has them."""
    if isinstance(estimator.cv, (int, np.integer)):
        targets = ground.y.reshape(len(ground.y), -1)
        folds = content_folds(ground.values.T, targets, int(estimator.cv))
        if folds.max() == 0:
            raise ValueError(
                f"n_estimators='cv' needs rows that differ, but all {len(folds)} rows (n_samples="
                f"{len(folds)}) are equal or there is only 1 sample. Pass a number of rounds."
            )
        numbers = range(int(folds.max()) + 1)
        return [(np.flatnonzero(folds != k), np.flatnonzero(folds == k)) for k in numbers]
    return _given_splits(estimator, ground)


def _given_splits(estimator: Any, ground: Ground) -> Splits:
    """Translate splits of the table's rows into splits of the rows that count."""
    from sklearn.model_selection import check_cv  # noqa: PLC0415  a plain fit needs none

    n_rows, rows = ground.n_table_rows, ground.sample.rows
    place = np.arange(n_rows) if rows is None else np.full(n_rows, -1)
    y = np.zeros((n_rows, *ground.y.shape[1:]))
    if rows is not None:
        place[rows] = np.arange(len(rows))
    y[slice(None) if rows is None else rows] = ground.y
    splitter = check_cv(estimator.cv, y, classifier=is_classifier(estimator))
    splits = []
    for number, split in enumerate(splitter.split(np.zeros((n_rows, 1)), y)):
        train, held_out = (place[np.asarray(part, np.int64)] for part in split)
        train, held_out = train[train >= 0], held_out[held_out >= 0]
        if not len(train) or not len(held_out):
            raise ValueError(
                f"Split {number} of cv has {len(train)} training rows and {len(held_out)} rows "
                "held out that have weight, and needs both. Pass a cv of fewer folds."
            )
        splits.append((np.unique(train), np.unique(held_out)))
    if not splits:
        raise ValueError("cv has no splits. Pass a number of folds from 2 up, or a splitter.")
    return splits
