"""Cross-validation that knows boosting and forests: every size of a model from one fit a fold."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from sklearn.utils import Bunch

from hedgerow.estimators.parts import is_own
from hedgerow.evaluation.curve import Curve, standard_errors
from hedgerow.evaluation.fitting import Asked, Outcome, Scored, check_error_score, judged
from hedgerow.evaluation.folds import Fold, Given, check_given, folds_of
from hedgerow.evaluation.progress import Progress
from hedgerow.evaluation.scorers import scorers_of
from hedgerow.evaluation.workers import work_done


class CrossValidated(Bunch):  # type: ignore[misc]  # scikit-learn has no types
    """What `cross_validate` returns: scikit-learn's dict, and curves.

    Entries are attributes as well. `test_score` (`test_<name>` of several scorers), `fit_time` and
    `score_time` have a number for each fold, as scikit-learn's have.

    Attributes
    ----------
    curves : dict of Curve
        By score; empty if the model has no stages.
    train_curves : dict of Curve, with return_train_score
    curve : Curve
        That of the only score, or of the first.
    weights : float64 [n_folds]
        What each fold counts in means: its rows held out, or their weight, or 1.
    """

    @property
    def curve(self) -> Curve:
        """The curve of the first score."""
        if not self.curves:
            raise ValueError(
                "There is no curve: the model does not say what each of its rounds predicts, or "
                "not all that the scorers ask for. Scores of whole models are in test_score."
            )
        curves: dict[str, Curve] = self.curves
        return next(iter(curves.values()))

    def means(self) -> dict[str, tuple[float, float]]:
        """Return the mean over folds of each score of whole models, and its standard error."""
        names = [name for name in self if name.startswith("test_")]
        return {
            name.removeprefix("test_"): (
                float(np.average(self[name], weights=self.weights)),
                float(standard_errors(self[name])),
            )
            for name in names
        }

    def __repr__(self) -> str:
        lines = [f"{len(self.fit_time)} folds, {self.fit_time.mean():.3g} s to fit one"]
        for name, (mean, error) in self.means().items():
            curve = self.curves.get(name)
            lines.append(f"{name}: {mean:.4g} +/- {error:.2g}" + (" at the end" if curve else ""))
            lines += [f"  {curve}".replace(f"{name}: ", "")] if curve else []
        return "\n".join(lines)


def cross_validate(  # noqa: PLR0913  scikit-learn's parameters
    estimator: Any,
    X: Any,
    y: Any,
    *,
    groups: Any = None,
    scoring: Any = None,
    cv: Any = None,
    n_jobs: int | None = None,
    verbose: bool = True,
    sample_weight: Any = None,
    params: Any = None,
    return_train_score: bool = False,
    return_estimator: bool = False,
    return_indices: bool = False,
    error_score: Any = "raise",
    average: str = "rows",
    curve: bool = True,
) -> CrossValidated:
    """Judge an estimator by rows that it was not fitted to, and every size of it as well.

        L_k(m) = score of fold k by the first m rounds (or trees) of the model of the other folds
        CV(m)  = sum over k of n_k L_k(m) / n

    A boosted model of M rounds holds those of 1, ..., M - 1, and a forest of M trees the smaller
    ones: one fit a fold gives the scores that fits of every size would give, to the bit. Notes 2,
    "Validation and cross validation". Fold by fold scores are those of scikit-learn's
    `cross_validate`, whose parameters these are if nothing else is said.

    A fold is read as a part of the table and binned by its training rows alone.

    Parameters
    ----------
    estimator : any estimator of scikit-learn's kind
        There are curves if it has `staged_predict`, as this library's boosted models, forests and
        bagging have, scikit-learn's boosting has, and a pipeline that ends in one; but not with
        dropout, where rounds change earlier ones. A model that stops early has a curve up to there.
    X, y : table of any kind, array [n_rows]
    groups : array [n_rows] or None
        For splitters of groups.
    scoring : str, callable, list or dict, or None (the estimator's own score)
    cv : int, splitter, iterable of (training rows, test rows), or None (5 folds)
    n_jobs : int or None
        Cores; None: all that the process may use. Folds go side by side and share them.
    verbose : bool
        Show a bar on a terminal, if it takes longer than a second.
    sample_weight : array [n_rows] or None
        What rows count, in fits and in scores. (Weights in `params` are for fits only.)
    params : dict or None
        Other parameters of `fit`. Those with an entry for each row are divided among the folds;
        a ranker's `qid` also goes to its score, and offsets to predictions.
    return_train_score, return_estimator, return_indices : bool
    error_score : "raise" or number
        The score of a fold whose fit or score fails.
    average : {"rows", "folds"}
        Folds count by the rows (their weight) that are held out of them, as in the notes, or alike.
    curve : bool
        Judge every stage, or whole models only.

    Returns
    -------
    CrossValidated

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from hedgerow import AdaBoostClassifier
    >>> from hedgerow.evaluation import cross_validate
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> result = cross_validate(AdaBoostClassifier(n_estimators=80), X, y)
    >>> result["test_score"].round(3)
    array([0.974, 0.956, 0.991, 0.965, 0.973])
    >>> result.curve.mean[[0, 9, 79]].round(3)
    array([0.9  , 0.938, 0.972])
    """
    given = Given(X, y, groups, sample_weight, {} if params is None else params)
    given = check_given(given)
    check_error_score(error_score)
    if average not in ("rows", "folds"):
        raise ValueError(f"average={average!r} is neither 'rows' nor 'folds'.")
    scorers = scorers_of(estimator, scoring)
    folds = folds_of(given, estimator, cv)
    asked = Asked(
        scorers, curve, return_train_score, keeps=return_estimator, error_score=error_score
    )
    with Progress("cross-validation", len(folds), verbose) as progress:
        outcomes = all_judged(folds, estimator, asked, n_jobs, progress)
    found = gathered_scores(outcomes, average)
    if return_indices:
        train, test = zip(*(fold.rows for fold in folds), strict=True)
        found["indices"] = {"train": list(train), "test": list(test)}
    return found


def all_judged(
    folds: list[Fold], estimator: Any, asked: Asked, n_jobs: int | None, progress: Progress
) -> list[Outcome]:
    """Fit and judge a model for each fold, several at once."""
    for fold in folds:
        fold.expect(1)
    tasks = [partial(judged, fold, estimator, asked) for fold in folds]
    return work_done(tasks, is_own(estimator), n_jobs, progress)


def gathered_scores(outcomes: Sequence[Outcome], average: str) -> CrossValidated:
    """Put the scores of folds together."""
    if all(each.error for each in outcomes):
        raise ValueError(f"All {len(outcomes)} fits failed. The first one:\n{outcomes[0].error}")
    weights = np.array([each.total if average == "rows" else 1.0 for each in outcomes])
    found = CrossValidated(
        fit_time=np.array([each.fit_time for each in outcomes]),
        score_time=np.array([each.score_time for each in outcomes]),
        weights=weights,
        curves={},
    )
    names = next(list(each.test) for each in outcomes if not each.error)
    is_staged = all(each.is_staged or each.error for each in outcomes)
    for side in ("test", "train"):
        scores = [getattr(each, side) for each in outcomes]
        if not any(scores):
            continue
        for name in names:
            found[f"{side}_{name}"] = np.array([_last(own, name) for own in scores])
        if is_staged:
            curves = {name: Curve(name, _padded(scores, name), weights) for name in names}
            found["curves" if side == "test" else "train_curves"] = curves
    if outcomes[0].model is not None:
        found["estimator"] = [each.model for each in outcomes]
    return found


def _last(scores: Scored, name: str) -> float:
    return float(scores[name][-1]) if name in scores else float("nan")


def _padded(scores: list[Scored], name: str) -> Any:
    """Return scores [n_folds, n_sizes]; a model that is done early stays as it is."""
    n_sizes = max(len(own[name]) for own in scores if name in own)
    rows = [own.get(name, np.array([np.nan])) for own in scores]
    return np.array([np.append(own, np.full(n_sizes - len(own), own[-1])) for own in rows])
