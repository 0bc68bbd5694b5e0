"""Rows that are near each other for a forest: proximities, and quantiles of what is near."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from hedgerow.data.table import Table
from hedgerow.ensembles.neighbours import Residents, left_out_of, proximities
from hedgerow.ensembles.settlement import Settlement
from hedgerow.estimators.cart import Sample
from hedgerow.estimators.tables import ReadsTables
from hedgerow.kernels.team import hired

Floats = NDArray[np.float64]


class ShowsNeighbours(ReadsTables):
    """A forest that tells which rows are near each other."""

    _n_rows: int
    _rows: NDArray[np.int64] | None

    def proximities(self, X: Any, Y: Any = None, *, out_of_bag: bool = False) -> sparse.csr_matrix:
        """Return the share of trees in which two rows end in the same leaf.

        Parameters
        ----------
        X : table
        Y : table or None
            None: X again.
        out_of_bag : bool
            Count, for each pair, only trees that have seen neither of the two rows. X must be
            the table of fit, in its order.

        Returns
        -------
        scipy.sparse.csr_matrix [n_rows of X, n_rows of Y]
            Pairs that never meet are not stored; nor are, with out_of_bag, pairs that no tree
            has left out. It is made some rows at a time, and is never dense.

        Notes
        -----
        Breiman and Cutler (2003); Breiman (2002), "Manual on setting up random forests".

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from hedgerow import RandomForestClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> forest = RandomForestClassifier(20).fit(X, y)
        >>> near = forest.proximities(X[[0, 1, 100]])
        >>> near[0, 1] > near[0, 2]
        np.True_
        """
        values, forest = self._values(X), self._model
        out = self._left_out(len(values), Y) if out_of_bag else None
        with hired(self.n_jobs, float(len(values)) * forest.n_trees * 10) as team:
            left = right = Residents(forest.leaves(values, team), out)
            if Y is not None:
                right = Residents(forest.leaves(self._values(Y), team))
            return sparse.csr_matrix(proximities(forest, left, right, team))

    def _left_out(self, n_rows: int, Y: Any) -> NDArray[np.uint8]:
        """Return 1 where a tree has not seen a training row, uint8 [n_rows, n_trees]."""
        if Y is not None:
            raise ValueError(
                "proximities(X, Y, out_of_bag=True): only rows of fit are in or out of a bag. Pass "
                "the table of fit as X, and no Y."
            )
        bags = self._drawn_bags("Proximities out of bag")
        self._demand_training_rows(n_rows)
        out = np.ones((n_rows, self._model.n_trees), np.uint8)
        out[slice(None) if self._rows is None else self._rows] = left_out_of(
            bags, self._model.n_trees
        )
        return out

    def _demand_training_rows(self, n_rows: int) -> None:
        """Raise if a table has another number of rows than that of fit."""
        if n_rows != self._n_rows:
            raise ValueError(
                f"X has {n_rows} rows, but the forest was fitted with {self._n_rows}: which rows "
                "are out of a tree's bag is known of those only. Pass the table of fit, in its "
                "order."
            )


class PredictsQuantiles(ReadsTables):
    """A regression forest that predicts quantiles."""

    keep_rows = False
    _settlement: Settlement | None

    def predict_quantiles(self, X: Any, quantiles: Any = (0.05, 0.5, 0.95)) -> Floats:
        """Return quantiles of the target of each row; they never cross.

        Training rows are weighted by how often they share a leaf with the row,

            w_i(x) = mean over trees of [i in the leaf of x] N_bi / (sum of N_bj in that leaf),

        N_bi is how often row i was drawn for tree b. A quantile is the smallest target up to
        which the weights add up to its level.

        Parameters
        ----------
        X : table
        quantiles : numbers from 0 to 1, in any order

        Returns
        -------
        float64 [n_rows, n_quantiles], or [n_rows, n_quantiles, n_outputs] if there are several.

        Notes
        -----
        Meinshausen (2006). The forest must be fitted with keep_rows=True. Small leaves make
        quantiles rough: min_samples_leaf=5 or more.

        Examples
        --------
        >>> import numpy as np
        >>> from hedgerow import RandomForestRegressor
        >>> X = np.repeat([[0.0], [1.0]], 100, axis=0)
        >>> y = np.arange(200) % 100 + 1000 * X[:, 0]
        >>> forest = RandomForestRegressor(min_samples_leaf=50, keep_rows=True).fit(X, y)
        >>> forest.predict_quantiles([[0.0], [1.0]], quantiles=[0.0, 0.5, 1.0]).round(-1)
        array([[   0.,   50.,  100.],
               [1000., 1050., 1100.]])
        """
        check_is_fitted(self)
        if self._settlement is None:
            raise ValueError(
                "predict_quantiles needs to know which training rows are in which leaf, and this "
                "forest was fitted with keep_rows=False. Pass keep_rows=True, and fit again."
            )
        levels = _checked_levels(quantiles)
        values, order = self._values(X), np.argsort(levels, kind="stable")
        work = float(len(values)) * self._settlement.ranks.size
        with hired(self.n_jobs, work + float(len(values)) * self._model.n_trees * 10) as team:
            found = self._settlement.quantiles(self._model, values, levels[order], team)
        out = np.empty_like(found)
        out[:, order] = found
        return np.ascontiguousarray(out[:, :, 0]) if self.n_outputs_ == 1 else out

    def _settle(self, table: Table, sample: Sample) -> None:
        """Keep which training rows are in which leaf, if that was asked for."""
        self._settlement = None
        if not self.keep_rows:
            return
        values, drawn = self._schema.matrix(table, "missing"), (self._bags, sample.weights.counts)
        values = values if sample.rows is None else values[sample.rows]
        with hired(self.n_jobs, float(len(values)) * self._model.n_trees * 10) as team:
            self._settlement = Settlement.of(self._model, values, sample.targets, drawn, team)


def _checked_levels(quantiles: Any) -> Floats:
    """Return levels as float64 [n_levels], or raise."""
    levels = np.asarray(quantiles, np.float64)
    if levels.ndim != 1 or not len(levels) or not ((levels >= 0) & (levels <= 1)).all():
        raise ValueError(
            f"quantiles={quantiles!r}: pass a list of numbers from 0 to 1, such as [0.05, 0.95]."
        )
    return levels
