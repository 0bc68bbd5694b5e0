"""What is asked after each round: the clock, the user's callbacks; and progress is shown."""

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

from hedgerow.estimators.stopping import History

_PATIENCE = 1.0  # seconds after which progress is shown


@dataclass(frozen=True)
class Round:
    """What a callback is told after a round.

    Attributes
    ----------
    number : int
        Rounds that are done.
    n_rounds : int
        Rounds at most.
    seconds : float
        Since the fit began.
    history : dict
        What was measured so far: name of the rows, name of the metric, value of each round.
    fitted : callable
        Returns a fitted copy of the estimator with the rounds so far, to be saved or shown.
    """

    number: int
    n_rounds: int
    seconds: float
    history: History
    fitted: Callable[[], Any]


class Control:
    """Whether to go on after a round, by time and by callbacks."""

    def __init__(self, estimator: Any, n_rounds: int, begun: float, what: str = "boosting") -> None:
        self._callbacks = list(estimator.callbacks or ())
        self._limit = float("inf") if estimator.time_limit is None else float(estimator.time_limit)
        self._n_rounds, self._begun = n_rounds, begun
        self._bar = Bar(n_rounds, what) if estimator.verbose and sys.stderr.isatty() else None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.close()

    @property
    def asks_often(self) -> bool:
        """Whether somebody is to be asked after each round, or else only a bar is shown."""
        return bool(self._callbacks) or self._limit < float("inf")

    def __call__(self, number: int, history: Callable[[], History], fitted: Any) -> bool:
        """Tell everybody that a round is done; return whether all want to go on."""
        seconds = time.monotonic() - self._begun
        if self._bar is not None and seconds > _PATIENCE:
            self._bar.show(number)
        goes_on = seconds < self._limit
        for callback in self._callbacks:
            told = Round(number, self._n_rounds, seconds, history(), fitted)
            goes_on = callback(told) is not False and goes_on
        return goes_on

    def note(self, boosting: Any, is_last: bool = False) -> None:
        """Write nothing down: there is no checkpoint."""


class Bar:
    """A bar on the terminal with the time that is left."""

    def __init__(self, n_rounds: int, what: str) -> None:
        self._n_rounds, self._what = n_rounds, what
        self._progress: Any = None

    def show(self, number: int) -> None:
        """Show how many rounds are done."""
        if self._progress is None:
            self._progress = _progress()
            self._task = self._progress.add_task(self._what, total=self._n_rounds)
            self._progress.start()
        self._progress.update(self._task, completed=number)

    def close(self) -> None:
        """Take the bar away."""
        if self._progress is not None:
            self._progress.stop()


def _progress() -> Any:
    # Here, because few fits need it and it takes longer to import than a small fit.
    from rich.console import Console  # noqa: PLC0415
    from rich.progress import (  # noqa: PLC0415
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    columns = [TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn()]
    return Progress(*columns, TimeRemainingColumn(), console=Console(stderr=True), transient=True)
