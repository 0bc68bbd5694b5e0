"""Cross-validation while boosting: the models of all folds and of all rows grow together.

    curve(m) = sum_k sum_(i held out of k) w_i l(y_i, f_km(x_i)) / sum of those weights

Model k is grown from one table, but from the rows of its fold only; its scores of the other
rows come with each round. The losses are pooled over rows, as in notes 2,
"Validation and cross validation".
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.ensembles.additive import Floats
from hedgerow.ensembles.boosting import Boosting
from hedgerow.ensembles.curve import steady_sum
from hedgerow.kernels.meeting import Member
from hedgerow.kernels.team import Team


class Fold:
    """A model that some rows are held out of, and their loss after each round.

    measure(boosting) is the mean loss of these rows, or another number, smaller is better.
    """

    def __init__(
        self,
        boosting: Boosting,
        held_out: NDArray[np.int64],
        measure: Callable[[Boosting], float],
    ) -> None:
        self.boosting, self.held_out, self._measure = boosting, held_out, measure
        self.weight = steady_sum(boosting.stage.weights[held_out])
        self.losses = [measure(boosting)]
        self.learns = True

    def advance(self) -> None:
        """Boost a round, if there is anything to learn, and measure."""
        self.learns = self.boosting.next_round()
        self.losses.append(self._measure(self.boosting))


class Folds:
    """The models of all folds and of all rows.

    If there are enough of them, each is grown by one thread: they do not wait for each other
    inside a tree.
    """

    def __init__(self, whole: Boosting, folds: list[Fold], team: Team) -> None:
        self.whole, self.folds, self._team = whole, folds, team
        self._total_weight = sum(fold.weight for fold in folds)
        self.curve = [self._pooled()]

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

    def _pooled(self) -> float:
        """Return the mean loss of all rows that were held out, after the newest round."""
        return sum(fold.weight * fold.losses[-1] for fold in self.folds) / self._total_weight

    def run(self, n_rounds: int, go_on: Callable[["Folds"], bool]) -> None:
        """Boost until all rounds are done, there is nothing to learn, or `go_on` says no.

        An interrupt ends the growing with the rounds that are done, if there are any.
        """
        try:
            while self.n_rounds < n_rounds and self._advance():
                if not go_on(self):
                    break
        except KeyboardInterrupt:
            if not self.n_rounds:
                raise

    def _advance(self) -> bool:
        """Boost a round of every model. Returns False if no fold has learnt anything."""
        rounds: list[Callable[[], Any]] = [self.whole.next_round]
        rounds += [fold.advance for fold in self.folds]

        def boost(_: Member, next_round: Callable[[], Any]) -> None:
            next_round()

        if self._team.n_threads > len(rounds):
            for next_round in rounds:
                next_round()
        else:
            self._team.run_each(boost, rounds)
        self.curve.append(self._pooled())
        return any(fold.learns for fold in self.folds)
