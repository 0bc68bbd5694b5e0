"""Models side by side: judged by the same folds, with paired tests, times and sizes."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.estimators.parts import is_own
from hedgerow.evaluation.curve import standard_errors
from hedgerow.evaluation.fitting import Asked, Outcome, check_error_score, judged
from hedgerow.evaluation.folds import Fold, Given, Rows, check_given, splits_of
from hedgerow.evaluation.paired import corrected_test, holm
from hedgerow.evaluation.progress import Progress
from hedgerow.evaluation.scorers import Scorers, scorers_of
from hedgerow.evaluation.tables import frame_of, text_table
from hedgerow.evaluation.workers import work_done
from hedgerow.plot.evaluation import draw_comparison

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Comparison:
    """What `compare` found.

    Attributes
    ----------
    name : str
        Of the score that models are compared by.
    scores : dict from a model's name to float64 [n_folds]
        Scores of that name, paired: of the same folds.
    table : list of dict
        One row for each model, the best first: "model", "score", "standard_error", "fit_time" and
        "score_time" (seconds a fold, on average), "bytes" (when pickled; -1 if it cannot be), and
        a mean of every other score by name.
    pairs : list of dict
        One row for each two models: "first", "second", "difference" of their scores,
        "standard_error" and "t" of Nadeau and Bengio's corrected test, "p", and "p_holm",
        corrected for the number of pairs.
    """

    name: str
    scores: dict[str, Floats]
    table: list[dict[str, Any]]
    pairs: list[dict[str, Any]]

    def to_frame(self) -> Any:
        """Return the table as a pandas DataFrame."""
        return frame_of(self.table)

    def pairs_to_frame(self) -> Any:
        """Return the tests as a pandas DataFrame."""
        return frame_of(self.pairs)

    def plot(self, ax: Any = None) -> Any:
        """Draw the folds' scores side by side (extra `plot`); return matplotlib's Axes."""
        names = [row["model"] for row in self.table]
        folds = np.array([self.scores[name] for name in names])
        return draw_comparison(self.name, names, folds, standard_errors(folds.T), ax=ax)

    def __repr__(self) -> str:
        n_folds = len(next(iter(self.scores.values())))
        text = f"{self.name}, {n_folds} folds\n" + text_table(self.table)
        return text + ("\n\n" + text_table(self.pairs) if self.pairs else "")


def compare(  # noqa: PLR0913  scikit-learn's parameters
    models: Mapping[str, Any],
    X: Any,
    y: Any,
    *,
    scoring: Any = None,
    cv: Any = None,
    groups: Any = None,
    sample_weight: Any = None,
    params: Any = None,
    average: str = "rows",
    error_score: Any = "raise",
    n_jobs: int | None = None,
    verbose: bool = True,
) -> Comparison:
    """Judge several models by the same folds, and test whether they differ.

    The difference of two models' scores over J folds has the corrected standard error
    sqrt(var(d) (1 / J + n_test / n_train)) (Nadeau and Bengio, 2003), because folds share training
    rows; p-values of all pairs are corrected by Holm (1979). Few folds tell little: for more,
    pass cv=RepeatedKFold(...).

    Parameters
    ----------
    models : dict from names to estimators
    X, y : table of any kind, array [n_rows]
    scoring : as in `cross_validate`
        Of several the first one is tested. None: the models' own score, the same of all.
    cv, groups, sample_weight, params, average, error_score, verbose :
        As in `cross_validate`. All models have the same folds.
    n_jobs : int or None
        Cores; None: all that the process may use. Folds go side by side and share them, so times
        are those of a fold on its share; n_jobs=1 gives times of a fold alone on one core.

    Returns
    -------
    Comparison

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.model_selection import RepeatedStratifiedKFold
    >>> from hedgerow import AdaBoostClassifier, DecisionTreeClassifier
    >>> from hedgerow.evaluation import compare
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> models = {"stump": DecisionTreeClassifier(max_depth=1), "boosting": AdaBoostClassifier()}
    >>> twice = RepeatedStratifiedKFold(n_splits=5, n_repeats=2, random_state=0)
    >>> found = compare(models, X, y, cv=twice)
    >>> [row["model"] for row in found.table]
    ['boosting', 'stump']
    >>> found.pairs[0]["first"], found.pairs[0]["p_holm"] < 0.05
    ('boosting', True)
    """
    if not isinstance(models, Mapping) or not models:
        raise TypeError(
            f"models={models!r} is not a dict of models. Pass for example "
            "{'forest': RandomForestClassifier(), 'boosting': GradientBoostingClassifier()}."
        )
    check_error_score(error_score)
    given = Given(X, y, groups, sample_weight, {} if params is None else params, shares=False)
    given = check_given(given)
    splits = splits_of(given, next(iter(models.values())), cv)
    scorers = {name: scorers_of(model, scoring) for name, model in models.items()}
    outcomes: dict[str, list[Outcome]] = {}
    with Progress("comparison", len(splits) * len(models), verbose) as progress:
        for name, model in models.items():
            asked = Asked(scorers[name], curve=False, weighs=True, error_score=error_score)
            folds = [Fold(k, split, given, (None, False)) for k, split in enumerate(splits)]
            tasks = [partial(judged, fold, model, asked) for fold in folds]
            outcomes[name] = work_done(tasks, is_own(model), n_jobs, progress)
    return _compared(outcomes, splits, scorers, average)


def _compared(
    outcomes: dict[str, list[Outcome]],
    splits: list[tuple[Rows, Rows]],
    scorers: dict[str, Scorers],
    average: str,
) -> Comparison:
    """Put outcomes together, the best model first."""
    first = next(iter(scorers.values())).by_name
    name = next(iter(next(iter(outcomes.values()))[0].test), next(iter(first)))
    totals = np.array([own.total for own in next(iter(outcomes.values()))])
    weights = totals if average == "rows" else np.ones(len(splits))
    scores = {
        model: np.array([float(own.test[name][-1]) for own in each])
        for model, each in outcomes.items()
    }
    table = [_row(model, each, name, weights) for model, each in outcomes.items()]
    table.sort(key=lambda row: -np.nan_to_num(row["score"], nan=-np.inf))
    names = [row["model"] for row in table]
    sizes = [np.mean([len(split[side]) for split in splits]) for side in (0, 1)]
    pairs = []
    for one, other in combinations(names, 2):
        test = corrected_test(scores[one], scores[other], *map(float, sizes))
        pairs.append({"first": one, "second": other} | test._asdict())
    corrected = holm(np.array([pair["p"] for pair in pairs]))
    pairs = [pair | {"p_holm": float(p)} for pair, p in zip(pairs, corrected, strict=True)]
    return Comparison(name, scores, table, pairs)


def _row(model: str, outcomes: list[Outcome], name: str, weights: Floats) -> dict[str, Any]:
    found = {
        key: np.array([float(own.test[key][-1]) for own in outcomes]) for key in outcomes[0].test
    }
    others = {key: float(np.average(own, weights=weights)) for key, own in found.items()}
    return {
        "model": model,
        "score": others.pop(name),
        "standard_error": float(standard_errors(found[name])),
        "fit_time": float(np.mean([own.fit_time for own in outcomes])),
        "score_time": float(np.mean([own.score_time for own in outcomes])),
        "bytes": round(float(np.mean([own.n_bytes for own in outcomes]))),
    } | others
