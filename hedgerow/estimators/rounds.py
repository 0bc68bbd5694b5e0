"""Growing rounds: as many as are given, or as are best for rows that are not grown from."""

import copy
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from hedgerow.data.pages import give_back
from hedgerow.ensembles.boosting import Boosting
from hedgerow.ensembles.curve import Patience, steady_loss
from hedgerow.ensembles.folds import Folds
from hedgerow.estimators.cart import Sample
from hedgerow.estimators.checkpoints import Rounds, opened
from hedgerow.estimators.control import Control
from hedgerow.estimators.ground import ALL, Ground, Rows
from hedgerow.estimators.metrics import metrics_of
from hedgerow.estimators.request import Request, watched_rows
from hedgerow.estimators.rounds_cv import boosted_by_cv
from hedgerow.estimators.row_order import in_order_of_leaves
from hedgerow.estimators.stopping import HeldOut, Watch, Watched
from hedgerow.storage.parts import n_categories_of

_AUTO_STOPPING_ROWS = 10_000  # up to here early_stopping="auto" is False


class Pace(NamedTuple):
    """How many rounds a fit may grow, and what trees are multiplied by; None: by a search."""

    n_rounds: int
    rate: float | None


_RATE = 0.1  # learning_rate="auto"
_ROUNDS, _ROUNDS_STOPPED = 100, 500  # n_estimators="auto", without and with a watch
_SLOW = Pace(200, 0.06)  # if both are "auto", without a watch


def pace_of(estimator: Any, sample: Sample | None, loss: Any, request: Request) -> Pace:
    """Return the pace that is asked for, or what "auto" stands for."""
    given, asked = estimator.learning_rate, estimator.n_estimators
    rate = None if given == "line_search" else _RATE if given == "auto" else float(given)
    if asked == "cv":
        return Pace(int(estimator.max_estimators), rate)
    if asked != "auto":
        return Pace(int(asked), rate)
    watches = _holds_out(estimator, sample, loss) if request.eval_set is None else True
    if watches and estimator.early_stopping:
        return Pace(_ROUNDS_STOPPED, rate)
    return _SLOW if given == "auto" else Pace(_ROUNDS, rate)


def settled_pace(estimator: Any) -> Pace:
    """Return the pace of an estimator that neither watches rows nor holds any out."""
    assert estimator.early_stopping is False
    return pace_of(estimator, None, None, Request(None, None, None, 0.0))


def grown(
    estimator: Any, ground: Ground, loss: Any, request: Request, control: Control
) -> dict[str, Any]:
    """Grow a given number of rounds, or as many as are best for rows that are watched.

    Returns the attributes that the estimator is to have.
    """
    if request.checkpoint is None:
        return _grown(estimator, ground, loss, request, control)
    about = n_categories_of(estimator._schema), ground.n_outputs(loss)
    with opened(estimator, request.checkpoint, Rounds, *about) as rounds:
        resumed = request._replace(before=rounds.before())
        return _grown(estimator, ground, loss, resumed, Noting(control, rounds))


def _grown(
    estimator: Any, ground: Ground, loss: Any, request: Request, control: Any
) -> dict[str, Any]:
    if request.eval_set is not None and estimator.dropout > 0.0:
        raise ValueError(
            f"eval_set is watched round by round, but with dropout={estimator.dropout} later "
            "rounds change the trees of earlier ones. Leave eval_set out, or use dropout=0.0."
        )
    ground = in_order_of_leaves(ground, loss)
    watched: list[Watched] = [*watched_rows(estimator, request, ground.n_outputs(loss))]
    held_out, rows = _held_out(estimator, ground, loss) if request.eval_set is None else (ALL, ALL)
    if len(held_out):
        watched.append(HeldOut(held_out))
    give_back(len(ground.y))
    boosting = ground.boosting(rows, loss, ground.team)
    give_back(len(ground.y))
    patience = Patience(int(estimator.n_iter_no_change), float(estimator.tol))
    metrics = metrics_of(estimator, steady_loss(boosting.stage))
    watch = Watch(watched, metrics, patience if estimator.early_stopping else None, ground.team)
    watch.measure(boosting)
    if request.before is not None:
        _go_on_from(request.before, boosting, ground, watch)

    def go_on(_: Boosting) -> bool:
        goes_on = watch(boosting)
        shown = _shown(estimator, boosting, boosting.n_rounds)
        control.note(boosting)
        return control(boosting.n_rounds, lambda: watch.history, shown) and goes_on

    model = boosting.run(go_on, asks_often=bool(watched) or control.asks_often)
    control.note(boosting, is_last=True)
    kept = {"_model": model.first(watch.best_round(model.n_rounds)), "_loss": boosting.stage.loss}
    kept |= _improvements(request.before, boosting, kept["_model"].n_rounds)
    if watched:
        kept["evals_result_"] = watch.history
    if len(held_out):
        kept["validation_losses_"] = watch.history["validation"]["loss"]
    return kept


class Noting:
    """A control that writes rounds to a checkpoint, before it asks anybody."""

    asks_often = True

    def __init__(self, control: Control, rounds: Rounds) -> None:
        self._control, self.note = control, rounds.write

    def __call__(self, *given: Any) -> bool:
        """Do as the control does."""
        return self._control(*given)


def _improvements(before: Any, boosting: Boosting, n_rounds: int) -> dict[str, Any]:
    """Return what rounds did for the rows out of the bag, if it was measured.

    NaN: of rounds before, without it.
    """
    if not boosting.improvements and not hasattr(before, "oob_improvement_"):
        return {}
    n_before = 0 if before is None else before.n_estimators_
    earlier = getattr(before, "oob_improvement_", np.full(n_before, np.nan))
    found = np.concatenate([earlier, boosting.improvements])
    return {"oob_improvement_": found[:n_rounds]} if len(found) == boosting.n_rounds else {}


def _holds_out(estimator: Any, sample: Sample | None, loss: Any) -> bool:
    """Tell whether rows are held out to choose the number of rounds."""
    if estimator.early_stopping != "auto":
        return bool(estimator.early_stopping)
    assert sample is not None
    if sample.n_rows <= _AUTO_STOPPING_ROWS or not estimator._has_parts(sample):
        return False
    return not hasattr(loss, "derivatives") and estimator.dropout == 0.0


def _held_out(estimator: Any, ground: Ground, loss: Any) -> tuple[Rows, Rows]:
    """Return the rows to be held out and the rows to grow from, both empty if none is.

    Rows are dealt out by their content, equal rows together: order does not matter.
    """
    if not _holds_out(estimator, ground.sample, loss):
        return ALL, ALL
    n_folds = max(2, round(1.0 / float(estimator.validation_fraction)))
    folds = estimator._folds(ground.columns(), ground.sample, n_folds)
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
        shown = _shown(estimator, together.whole, together.n_rounds)
        return control(together.n_rounds, lambda: {"cv": {"loss": np.array(together.curve)}}, shown)

    chosen = boosted_by_cv(estimator, ground, loss, go_on)
    raw = np.full((ground.n_table_rows, ground.n_outputs(loss)), np.nan)
    raw[slice(None) if ground.sample.rows is None else ground.sample.rows] = chosen.raw
    estimator._loss = loss = chosen.whole.stage.loss
    return _improvements(None, chosen.whole, chosen.model.n_rounds) | {
        "_model": chosen.model,
        "_loss": loss,
        "cv_results_": chosen.results,
        "oof_predictions_": estimator._predicted(raw),
    }


def _shown(estimator: Any, boosting: Boosting, number: int) -> Callable[[], Any]:
    """Return a function that returns a fitted copy of the estimator as it was after a round."""

    def fitted() -> Any:
        shown = copy.copy(estimator)
        n_rounds = min(number, boosting.n_rounds)
        shown._model, shown._loss = boosting.model(n_rounds), boosting.stage.loss
        shown.n_estimators_ = shown.n_iter_ = n_rounds
        return shown

    return fitted
