"""Cross-validation while boosting: the models of all folds and of all rows grow together.

    curve(m) = sum_k sum_(i held out of k) w_i l(y_i, f_km(x_i)) / sum of those weights

Model k is grown from one table, but from the rows of its fold only; its scores of the other
rows come with each round. The losses are pooled over rows, as in notes 2,
"Validation and cross validation".

A model grows some rounds before it is another one's turn, so that what it works with stays
in the nearest caches. Rounds beyond the one that is chosen are left out in the end.
"""

import time
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from hedgerow.ensembles.additive import Floats
from hedgerow.ensembles.boosting import Boosting
from hedgerow.ensembles.curve import steady_sum
from hedgerow.kernels.meeting import Member
from hedgerow.kernels.team import Team

_MOMENT, _MOST_ROUNDS = 0.1, 32  # seconds and rounds of a turn


class Fold:
    """A model that some rows are held out of, and their loss after each round.

    measure(boosting) is the mean loss of these rows, or another number, smaller is better.
    measure_all(boosting, seen), if it is given, is a list of it after each of the newest rounds,
    from the scores of these rows, [n_outputs, n_rounds, n].
    """

    def __init__(
        self,
        boosting: Boosting,
        held_out: NDArray[np.int64],
        measure: Callable[[Boosting], float],
        measure_all: Callable[[Boosting, Floats], list[float]] | None = None,
    ) -> None:
        self.boosting, self.held_out, self._measure = boosting, held_out, measure
        self._measure_all = measure_all
        self.weight = steady_sum(boosting.stage.weights[held_out])
        self.losses = [measure(boosting)]
        self.learnt = [True]

    def advance(self, n_rounds: int) -> None:
        """Boost some rounds, if there is anything to learn, and measure."""
        end = len(self.losses) + n_rounds
        while len(self.losses) < end:
            self._advance_many(end - len(self.losses))
            if len(self.losses) < end:
                self.learnt.append(self.boosting.next_round())
                self.losses.append(self._measure(self.boosting))

    def _advance_many(self, n_rounds: int) -> None:
        """Boost as many of these rounds as can be grown in one call."""
        if self._measure_all is not None:
            seen = self.boosting.season(n_rounds, self.held_out)
            if seen.shape[1]:
                self.losses += self._measure_all(self.boosting, seen)
                self.learnt += [True] * seen.shape[1]


class Folds:
    """The models of all folds and of all rows.

    If there are enough of them, each is grown by one thread: they do not wait for each other
    inside a tree.
    """

    def __init__(self, whole: Boosting, folds: list[Fold], team: Team) -> None:
        self.whole, self.folds, self._team = whole, folds, team
        self._total_weight = sum(fold.weight for fold in folds)
        self.curve = [self._pooled(0)]

    @staticmethod
    def teams(n_models: int, team: Team) -> list[Team]:
        """Return the team that each of n_models models is to be grown by."""
        if team.n_threads > n_models:
            return [team] * n_models
        return [Team(1) for _ in range(n_models)]

    @property
    def n_rounds(self) -> int:
        """Rounds that all models have done."""
        return len(self.curve) - 1

    @property
    def fold_losses(self) -> Floats:
        """Mean loss of each fold's rows, [n_folds, n_rounds + 1]."""
        return np.array([fold.losses[: len(self.curve)] for fold in self.folds])

    @property
    def errors(self) -> Floats:
        """Standard error of the folds' mean losses, [n_rounds + 1]."""
        each = self.fold_losses
        if len(each) == 1:
            return np.zeros(each.shape[1])
        return np.asarray(each.std(axis=0, ddof=1) / np.sqrt(len(each)))

    def _pooled(self, number: int) -> float:
        """Return the mean loss of all rows that were held out, after a round."""
        return sum(fold.weight * fold.losses[number] for fold in self.folds) / self._total_weight

    def run(self, n_rounds: int, go_on: Callable[["Folds"], bool]) -> None:
        """Boost until all rounds are done, there is nothing to learn, or `go_on` says no.

        An interrupt ends the growing with the rounds that are done, if there are any.
        """
        turn = 1
        try:
            while self.n_rounds < n_rounds:
                begun = time.perf_counter()
                self._advance(min(turn, n_rounds - self.n_rounds))
                if not self._extend(go_on):
                    break
                seconds = time.perf_counter() - begun
                turn = max(1, min(2 * turn, int(turn * _MOMENT / seconds), _MOST_ROUNDS))
        except KeyboardInterrupt:
            if not self.n_rounds:
                raise

    def _advance(self, n_rounds: int) -> None:
        """Boost some rounds of every model."""

        def boost(_: Member, advance: Callable[[int], None]) -> None:
            advance(n_rounds)

        models = [self._advance_whole, *(fold.advance for fold in self.folds)]
        if self._team.n_threads > len(models):
            for advance in models:
                advance(n_rounds)
        else:
            self._team.run_each(boost, models)

    def _advance_whole(self, n_rounds: int) -> None:
        end = self.whole.n_rounds + n_rounds
        while self.whole.n_rounds < end and self.whole.next_rounds(end - self.whole.n_rounds):
            pass

    def _extend(self, go_on: Callable[["Folds"], bool]) -> bool:
        """Add the newest rounds to the curve. Returns False if one of them is to be the last."""
        for number in range(len(self.curve), len(self.folds[0].losses)):
            self.curve.append(self._pooled(number))
            if not any(fold.learnt[number] for fold in self.folds) or not go_on(self):
                return False
        return True
