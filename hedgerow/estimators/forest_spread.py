"""How sure a forest is: standard errors of its predictions, and where their variance comes from."""

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Bunch
from sklearn.utils.validation import check_is_fitted

from hedgerow.ensembles.bags import Bags
from hedgerow.ensembles.decomposition import Decomposition, models_for
from hedgerow.ensembles.uncertainty import (
    Sensitivity,
    infinitesimal_jackknife,
    jackknife_after_bootstrap,
    mean_jackknife,
    repeats_of,
)
from hedgerow.ensembles.voices import blocks_of, voices
from hedgerow.estimators.checks import unknown_option
from hedgerow.estimators.tables import ReadsTables
from hedgerow.fitted.tree import paths_of
from hedgerow.kernels.predict import average_unseen
from hedgerow.kernels.team import Team, hired

Floats = NDArray[np.float64]

_METHODS = {
    "infinitesimal": infinitesimal_jackknife,
    "jackknife": jackknife_after_bootstrap,
    "mean": mean_jackknife,
}


class ShowsSpread(ReadsTables):
    """A forest that tells how much its predictions would vary over training sets."""

    _bags: Bags | None
    _n_meant: int

    def standard_errors(self, X: Any, *, method: str = "infinitesimal") -> Floats:
        """Return the standard error of each prediction: its deviation over training sets.

            V = sum over training rows i of Cov_b(N_bi, t_b(x))^2 - (m / B) s^2(x)
            standard error = sqrt(max(V, 0) + s^2(x) / B)

        N_bi is how often row i was drawn for tree b, with m draws for each, t_b(x) what the tree
        predicts, s^2 the variance of that over trees. V is the variance of the forest of
        endlessly many trees; that there are B adds the rest.

        Bars of 1.96 standard errors are about the mean prediction of such forests, not about the
        truth: a bias is not in them. They are honest if trees have few of the rows each: pass
        max_samples of 0.1 or, better, less, and twice as many trees as rows; the price is a
        forest that follows the data less closely. The default, as many draws as rows, gives bars
        that are too short (see Notes).

        Parameters
        ----------
        X : table
        method : {"infinitesimal", "jackknife", "mean"}
            The infinitesimal jackknife, as above; or the jackknife after bootstrap, which
            compares the trees that have left out a row with all; or the mean of both V.

        Returns
        -------
        float64 [n_rows], or [n_rows, n_outputs] if there are several; of a classifier
        [n_rows, n_classes], for what `predict_proba` returns.

        Notes
        -----
        Efron (1992, 2014); Wager, Hastie and Efron (2014), equations 5 to 8. Memory: a matrix
        [n_trees, n_trees], and blocks.

        "infinitesimal" leaves out what several rows do together, "jackknife" counts it twice or
        more, the mean is right for what two do. With few draws there is little of it. Forests of
        full-depth trees of five features, simulated: the mean of what was said as a share of the
        actual variance, and coverage by bars of 95 %; standard errors of these are at most 0.05
        (of 1.42: 0.07) and 0.6 % (of 79.4 %: 0.9 %).

            rows  max_samples  trees   infinitesimal     jackknife          mean
            1000         0.02   2000   1.01  94.8 %
            1000         0.02   1000   0.98  93.9 %   1.00  94.3 %   0.99  94.1 %
            1000         0.05   1000   1.01  93.8 %   1.06  94.5 %   1.03  94.2 %
            1000         0.1    2000   0.95  93.5 %   1.04  94.6 %   1.00  94.2 %
             200         0.1    1000   0.94  93.0 %   1.03  94.0 %   0.98  93.5 %
             200         None    600   0.67  79.4 %   1.42  92.5 %   1.05  88.3 %

        In the last line each prediction follows from few rows, so that even a variance that is
        right on average is often far too small, and more trees do not help. In the others they
        do: V itself varies less.

        Examples
        --------
        >>> import numpy as np
        >>> from hedgerow import RandomForestRegressor
        >>> X = np.arange(40.0)[:, None]
        >>> y = np.where(X[:, 0] < 20, 0.0, 1.0) + np.random.default_rng(0).normal(size=40)
        >>> forest = RandomForestRegressor(400, min_samples_leaf=8).fit(X, y)
        >>> forest.standard_errors([[5.0], [35.0]]).round(1)
        array([0.2, 0.1])
        """
        if method not in _METHODS:
            raise unknown_option("method", method, tuple(_METHODS))
        values = self._values(X)
        out = np.empty((len(values), self._n_values))
        with self._hired(values) as team:
            sensitivity = self._sensitivity(method)
            for block, spoken in self._spoken(values, team):
                floor = _positive(sensitivity.variances(spoken, team))
                out[block] = np.sqrt(floor + spoken.var(axis=-1, ddof=1) / self._model.n_trees)
        return self._flat(out)

    def variance_decomposition(self, X: Any) -> Bunch:
        """Take the variance of the forest's predictions apart: what more trees would cure.

            Var(forest) = rho sigma^2 + (1 - rho) sigma^2 / B

        sigma^2 is the variance of one tree over training sets and its own randomness, rho the
        correlation of two trees of the same training set. The variance between the trees of
        this forest estimates (1 - rho) sigma^2; the infinitesimal jackknife rho sigma^2.

        Parameters
        ----------
        X : table

        Returns
        -------
        Bunch
            Averages over the rows of X, floats; arrays if there are several outputs or classes.
            Estimates of single rows that are negative count as such in averages.

            tree_variance : sigma^2
            correlation : rho, of the averages of its parts
            floor : rho sigma^2, which no number of trees goes below
            predicted : rho sigma^2 + (1 - rho) sigma^2 / B
            observed : the same by the jackknife after bootstrap, which does not know of them:
                its floor, and the variance between trees / B
            trees_for(share=0.01) : how many trees bring the variance to 1 + share floors
            rows : Bunch of the same for each row, [n_rows] or [n_rows, n_outputs]

        Notes
        -----
        Notes 1, random forests; Hastie, Tibshirani and Friedman (2009), section 15.4.

        Examples
        --------
        >>> from sklearn.datasets import load_diabetes
        >>> from hedgerow import RandomForestRegressor
        >>> X, y = load_diabetes(return_X_y=True)
        >>> forest = RandomForestRegressor(200, max_features=3, min_samples_leaf=20).fit(X, y)
        >>> parts = forest.variance_decomposition(X)
        >>> parts.correlation.round(1)
        np.float64(0.1)
        >>> parts.trees_for(share=0.05) < parts.trees_for(share=0.01)
        True
        """
        values = self._values(X)
        floor, between, other = (np.empty((len(values), self._n_values)) for _ in range(3))
        with self._hired(values) as team:
            first, second = (self._sensitivity(each) for each in ("infinitesimal", "jackknife"))
            for block, spoken in self._spoken(values, team):
                floor[block] = first.variances(spoken, team)
                other[block] = second.variances(spoken, team)
                between[block] = spoken.var(axis=-1, ddof=1)
        n_trees = self._model.n_trees
        # Means of estimates, some of them negative, are right on average; of positive parts not.
        mean = Decomposition(_positive(floor.mean(axis=0)), between.mean(axis=0), n_trees)
        shown = _shown(mean, _positive(other.mean(axis=0)))
        rows = _shown(Decomposition(_positive(floor), between, n_trees), _positive(other))
        return Bunch(
            **{name: self._flat(each[None])[0] for name, each in shown.items()},
            trees_for=partial(models_for, float(mean.floor.sum()), float(mean.between.sum())),
            rows=Bunch(**{name: self._flat(each) for name, each in rows.items()}),
        )

    def _sensitivity(self, method: str) -> Sensitivity:
        """Return how variances follow from what the trees say, or raise if they do not."""
        bags, n_trees = self._drawn_bags("Standard errors"), self._model.n_trees
        if n_trees < 2:
            raise ValueError(
                "Standard errors follow from how trees differ, but this forest has 1. Fit with "
                "n_estimators of about the number of rows."
            )
        return _METHODS[method](bags, n_trees, repeats_of(bags, self._n_meant))

    def _drawn_bags(self, what: str) -> Bags:
        """Return the bags of the trees, or raise saying what needs them."""
        check_is_fitted(self)
        if self._bags is None:
            raise ValueError(
                f"{what} need trees of bootstrap samples, but this forest was fitted with "
                f"bootstrap={self.bootstrap}. Pass bootstrap=True, and fit again."
            )
        return self._bags

    def _hired(self, values: Floats) -> Any:
        return hired(self.n_jobs, float(len(values)) * self._model.n_trees * 10)

    def _flat(self, found: Floats) -> Floats:
        """Return what was found of each row; without an axis of outputs if there is only one."""
        is_one = self._n_values == 1 and not hasattr(self, "classes_")
        return np.ascontiguousarray(found[:, 0]) if is_one else found

    def _spoken(self, values: Floats, team: Team) -> Iterator[tuple[slice, Floats]]:
        """Yield blocks of rows, and what each tree says of them: [n, n_values, n_trees]."""
        forest, n_values = self._model, self._n_values
        for block in blocks_of(len(values), n_values * forest.n_trees):
            own = np.ascontiguousarray(values[block])
            spoken = voices(forest, own, self._ballot(), n_values, team)
            self._average_voices(own, spoken)
            yield block, spoken

    def _average_voices(self, values: Floats, spoken: Floats) -> None:
        """Let rows with unseen categories go both ways, if that was asked for."""
        rows = self._averaged_rows(values, self._model.n_categories)
        each = np.zeros(spoken.shape[:2])
        for number, tree in enumerate(self._trees() if len(rows) else ()):
            stack, shares = np.empty(tree.n_nodes + 1, np.int64), np.empty(tree.n_nodes + 1)
            value = self._shown(tree.value)
            average_unseen(values, paths_of(tree), rows, value, stack, shares, each)
            spoken[rows, :, number] = each[rows]


def _positive(estimates: Floats) -> Floats:
    return np.maximum(estimates, 0.0)


def _shown(parts: Decomposition, other: Floats) -> dict[str, Floats]:
    """Return the parts of a variance by their names; other: another estimate of the floor."""
    return {
        "tree_variance": parts.model_variance,
        "correlation": parts.correlation,
        "floor": parts.floor,
        "predicted": parts.mean_variance,
        "observed": parts._replace(floor=other).mean_variance,
    }
