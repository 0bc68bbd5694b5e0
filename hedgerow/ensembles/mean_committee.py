"""Committees of numbers: trees of AdaBoost.R2, one for each round."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hedgerow.ensembles.forest import Forest
from hedgerow.kernels.ballots import Means
from hedgerow.kernels.packed import Thicket
from hedgerow.kernels.spread import tell_leaves
from hedgerow.kernels.team import Team
from hedgerow.kernels.walks import walkers_of

Floats = NDArray[np.float64]


class MeanCommittee(NamedTuple):
    """Trees of numbers, one for each round."""

    forest: Forest

    def says(self, values: Floats, team: Team) -> Floats:
        """Return what each tree says of rows, float64 [n_rows, n_rounds]."""
        thicket: Thicket = self.forest.thickets[0]
        out, rows = np.zeros((len(values), 1, self.forest.n_trees)), np.arange(len(values))
        team.run(tell_leaves, values, rows, thicket, Means(1), walkers_of(team.n_threads), out)
        return np.asarray(out[:, 0])
