"""Growing rounds: as many as are given, or as are best for rows that are not grown from."""

import copy
from collections.abc import Callable
from typing import Any

import numpy as np

from hedgerow.ensembles.boosting import Boosting
from hedgerow.ensembles.curve import Patience, steady_loss
from hedgerow.ensembles.folds import Folds
from hedgerow.estimators.control import Control
from hedgerow.estimators.ground import ALL, Ground, Rows
from hedgerow.estimators.metrics import metrics_of
from hedgerow.estimators.request import Request, watched_rows
from hedgerow.estimators.rounds_cv import boosted_by_cv
from hedgerow.estimators.stopping import HeldOut, Watch, Watched

_AUTO_STOPPING_ROWS = 10_000  # up to here early_stopping="auto" is False


def grown(
    estimator: Any, ground: Ground, loss: Any, request: Request, control: Control
) -> dict[str, Any]:
    """Grow a given number of rounds, or as many as are best for rows that are watched.

    Returns the attributes that the estimator is to have.
    """
    watched: list[Watched] = [*watched_rows(estimator, request, loss.n_outputs)]
    held_out, rows = _held_out(estimator, ground, loss) if request.eval_set is None else (ALL, ALL)
    if len(held_out):
        watched.append(HeldOut(held_out))
    boosting = ground.boosting(rows, loss, ground.team)
    patience = Patience(int(estimator.n_iter_no_change), float(estimator.tol))
    metrics = metrics_of(estimator, steady_loss(boosting.stage))
    watch = Watch(watched, metrics, patience if estimator.early_stopping else None, ground.team)
    watch.measure(boosting)
    if request.before is not None:
        _go_on_from(request.before, boosting, ground, watch)

    def go_on(_: Boosting) -> bool:
        goes_on = watch(boosting)
        shown = _shown(estimator, boosting)
        return control(boosting.n_rounds, lambda: watch.history, shown) and goes_on

    model = boosting.run(go_on)
    kept = {"_model": model.first(watch.best_round(model.n_rounds)), "_loss": boosting.stage.loss}
    if watched:
        kept["evals_result_"] = watch.history
    if len(held_out):
        kept["validation_losses_"] = watch.history["validation"]["loss"]
    return kept


def _held_out(estimator: Any, ground: Ground, loss: Any) -> tuple[Rows, Rows]:
    """Return the rows to be held out and the rows to grow from, both empty if none is.

    Rows are dealt out by their content, equal rows together: order does not matter.
    """
    stops = estimator.early_stopping
    if stops == "auto":
        stops = ground.sample.n_rows > _AUTO_STOPPING_ROWS and not hasattr(loss, "derivatives")
    if not stops:
        return ALL, ALL
    n_folds = max(2, round(1.0 / float(estimator.validation_fraction)))
    folds = estimator._folds(ground.values, ground.sample, n_folds)
    if folds.max() == 0:
        return ALL, ALL  # all rows are equal
    return np.flatnonzero(folds == 0), np.flatnonzero(folds != 0)


def _go_on_from(before: Any, boosting: Boosting, ground: Ground, watch: Watch) -> None:
    """Bring the rows to the scores that a fitted estimator gives them."""
    out = np.tile(before._model.start, (len(ground.y), 1))
    out += ground.offset_of(np.arange(len(ground.y)))
    boosting.resume(before._model, ground.values, out, watch.measure)
    if hasattr(before._loss, "adapted"):
        boosting.stage.loss = before._loss


def grown_by_cv(
    estimator: Any, ground: Ground, loss: Any, request: Request, control: Control
) -> dict[str, Any]:
    """Grow as many rounds as are best for the rows held out of folds.

    Returns the attributes that the estimator is to have.
    """
    if request.eval_set is not None:
        raise ValueError(
            "n_estimators='cv' chooses the number of rounds by its own folds, so eval_set has no "
            "part. Leave eval_set out, or pass a number of rounds."
        )

    def go_on(together: Folds) -> bool:
        shown = _shown(estimator, together.whole)
        return control(together.n_rounds, lambda: {"cv": {"loss": np.array(together.curve)}}, shown)

    chosen = boosted_by_cv(estimator, ground, loss, go_on)
    raw = np.full((ground.n_table_rows, loss.n_outputs), np.nan)
    raw[slice(None) if ground.sample.rows is None else ground.sample.rows] = chosen.raw
    estimator._loss = chosen.loss
    return {
        "_model": chosen.model,
        "_loss": chosen.loss,
        "cv_results_": chosen.results,
        "oof_predictions_": estimator._predicted(raw),
    }


def _shown(estimator: Any, boosting: Boosting) -> Callable[[], Any]:
    """Return a function that returns a fitted copy of the estimator as it is so far."""

    def fitted() -> Any:
        shown = copy.copy(estimator)
        shown._model, shown._loss = boosting.model(boosting.n_rounds), boosting.stage.loss
        shown.n_estimators_ = shown.n_iter_ = boosting.n_rounds
        return shown

    return fitted
