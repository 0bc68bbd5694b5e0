"""Dropout: a round is fitted to what the model lacks without some of its earlier rounds.

    f' = f - D,     D = sum of k earlier rounds, drawn by lot
    f  = f' + k / (k + rate) D + rate / (k + rate) T,     T fitted to the derivatives at f'

so that the new trees do not overshoot what the dropped ones had reached already. Earlier
trees are changed by later rounds: the first rounds of the model are not the model that
training had then. Vinayak and Gilad-Bachrach (2015), DART; the normalisation is that of
their section 3, with a learning rate.
"""

from typing import NamedTuple

import numpy as np

from hedgerow.data.binned import BinnedTable
from hedgerow.ensembles.additive import Harvest
from hedgerow.ensembles.stage import Stage
from hedgerow.kernels.random import mixed_bits, uniform_bits
from hedgerow.kernels.team import Team

_NAME = 0x64726F70  # of these draws, among those that a seed is for
_WHETHER = -1


class Dropout(NamedTuple):
    """How rounds are dropped.

    rate  float   chance of each earlier round
    most  int     to be dropped at once
    skip  float   chance of a round that drops none
    """

    rate: float
    most: int
    skip: float = 0.0

    def rounds(self, seed: int, number: int) -> list[int]:
        """Return the rounds that round `number` drops; one at least, unless it skips."""
        if self.rate == 0.0 or not number:
            return []
        name = mixed_bits(mixed_bits(seed, _NAME), number)
        if uniform_bits(name, _WHETHER) < self.skip:
            return []
        lots = [(uniform_bits(name, earlier), earlier) for earlier in range(number)]
        chosen = [lot for lot in sorted(lots) if lot[0] < self.rate] or [min(lots)]
        return sorted(earlier for _, earlier in chosen[: self.most])


NO_DROPOUT = Dropout(0.0, 0)


class Dropped:
    """Rounds that are taken out of the scores for a while."""

    def __init__(
        self, rounds: list[int], harvest: Harvest, table: BinnedTable, stage: Stage, team: Team
    ) -> None:
        n_outputs = len(stage.raw)
        self._harvest, self._stage, self._n_rounds = harvest, stage, len(rounds)
        self._trees = [n_outputs * number + k for number in rounds for k in range(n_outputs)]
        self.before = stage.raw  # the scores with them
        self._scores = np.zeros_like(stage.raw) if rounds else stage.raw[:0]
        for tree in self._trees:
            harvest.add(tree, table.codes, self._scores[tree % n_outputs], team)
        if rounds:
            stage.raw = stage.raw - self._scores

    def rate(self, rate: float) -> float:
        """Return what the new trees are multiplied by."""
        return rate / (self._n_rounds + rate) if self._n_rounds else rate

    def put_back(self, rate: float) -> None:
        """Put the rounds back, smaller."""
        if self._n_rounds:
            factor = self._n_rounds / (self._n_rounds + rate)
            self._harvest.stretch(self._trees, factor)
            self._stage.raw += factor * self._scores
