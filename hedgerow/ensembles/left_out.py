"""Out of bag: each row is predicted by the trees that it was not drawn for.

A tree leaves out (1 - 1/n)^n of the rows, more than a third; what it says of them is said of
rows it has never seen. Breiman (1996), "Out-of-bag estimation".
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.ensembles.forest import Forest
from hedgerow.kernels.team import Team
from hedgerow.kernels.walks import add_leaves, walkers_of

Floats = NDArray[np.float64]


class Judged:
    """Sums of what models say of the rows that they were not made from.

    sums     float64 [n_rows, n_values]
    n_trees  int64 [n_rows]              how many models have left a row out
    """

    def __init__(self, n_rows: int, n_values: int) -> None:
        self.sums, self.n_trees = np.zeros((n_rows, n_values)), np.zeros(n_rows, np.int64)

    def means(self) -> Floats:
        """Return the mean of what models said of each row; NaN if none has left it out."""
        with np.errstate(invalid="ignore"):
            return self.sums / np.where(self.n_trees > 0, self.n_trees, np.nan)[:, None]


class LeftOut(Judged):
    """The same, of trees."""

    def __init__(self, forest: Forest, way: Any, n_values: int, values: Floats, team: Team) -> None:
        super().__init__(len(values), n_values)
        self._forest, self._way, self._values, self._team = forest, way, values, team
        self._walkers = walkers_of(team.n_threads)

    def add(self, number: int, counts: NDArray[np.int64]) -> NDArray[np.int64]:
        """Add what a tree says of the rows that were not drawn for it; return these rows."""
        rows, tree = np.flatnonzero(counts == 0), self._forest.tree(number)
        given = self._values, rows, tree, self._way, self._walkers
        self._team.run(add_leaves, *given, self.sums)
        self.n_trees[rows] += 1
        return rows
