"""How scikit-learn's parameters limit the growth of trees, alone or in forests."""

from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval, RealNotInt, StrOptions

from hedgerow.data.binned import MAX_BINS, BinnedTable, Recipe
from hedgerow.data.table import Table
from hedgerow.estimators.constraints import monotone_signs, n_drawn
from hedgerow.estimators.tables import ReadsTables, categorical_columns
from hedgerow.trees.rules import GrowthRules

GROWTH_CONSTRAINTS: dict[str, list[Any]] = {
    "max_depth": [Interval(Integral, 1, None, closed="left"), None],
    "min_samples_split": [
        Interval(Integral, 2, None, closed="left"),
        Interval(RealNotInt, 0.0, 1.0, closed="right"),
    ],
    "min_samples_leaf": [
        Interval(Integral, 1, None, closed="left"),
        Interval(RealNotInt, 0.0, 1.0, closed="neither"),
    ],
    "min_weight_fraction_leaf": [Interval(Real, 0.0, 0.5, closed="both")],
    "max_features": [
        Interval(Integral, 1, None, closed="left"),
        Interval(RealNotInt, 0.0, 1.0, closed="right"),
        StrOptions({"sqrt", "log2"}),
        None,
    ],
    "random_state": ["random_state"],
    "max_leaf_nodes": [Interval(Integral, 2, None, closed="left"), None],
    "min_impurity_decrease": [Interval(Real, 0.0, None, closed="left")],
    "split_finding": [StrOptions({"auto", "exact", "histogram"})],
    "max_bins": [Interval(Integral, 2, MAX_BINS, closed="both")],
    "categorical_features": ["array-like", StrOptions({"auto"})],
    "unseen": [StrOptions({"missing", "error", "average"})],
    "monotonic_cst": ["array-like", dict, None],
    "n_jobs": [Integral, None],
}

_ROWS_OF_LEVEL = 16


class GrowsTrees(ReadsTables):
    """An estimator with the parameters of a tree."""

    _exact_rows = 100_000  # up to here `split_finding="auto"` looks at every distinct value
    _keeps_levels = False  # whether small nodes have finer bins: forests gain by it, and means
    _halvings = 0  # of the bins at both ends of a feature, where the best cuts are sought

    @property
    def _cuts_at_random(self) -> bool:
        """Whether one random cut of a feature is tried, or the best."""
        return False

    def _signs(
        self, table: Table, binned: BinnedTable, n_values: int, is_class: bool
    ) -> NDArray[np.int64] | None:
        """Return how predictions may change in each feature, None if anyhow.

        n_values: classes or outputs.
        """
        signs = monotone_signs(self.monotonic_cst, table, binned.categories)
        if signs is not None and n_values > 1 + is_class:
            what = f"{n_values} classes" if is_class else f"{n_values} columns"
            raise ValueError(
                f"monotonic_cst keeps one number in order, but y has {what}. Use two classes or "
                "one column, or leave monotonic_cst out."
            )
        return signs

    def _growth_rules(
        self, n_rows: int, n_features: int, total_weight: float, seed: int
    ) -> GrowthRules:
        """Translate scikit-learn's parameters into the rules of the grower."""
        fraction = self.min_samples_leaf
        min_leaf = fraction if isinstance(fraction, Integral) else int(np.ceil(fraction * n_rows))
        fraction = self.min_samples_split
        min_split = fraction if isinstance(fraction, Integral) else int(np.ceil(fraction * n_rows))
        return GrowthRules(
            max_leaves=self.max_leaf_nodes,
            max_depth=self.max_depth,
            min_split_rows=max(int(min_split), 2 * int(min_leaf)),
            min_leaf_rows=int(min_leaf),
            min_leaf_weight=float(self.min_weight_fraction_leaf) * total_weight,
            min_gain=self._least_gain(total_weight),
            n_candidates=self._n_candidates(n_features),
            random_cut=self._cuts_at_random,
            by_lot=self._draws_lots(n_features),
            seed=seed,
        )

    def _draws_lots(self, n_features: int) -> bool:  # noqa: ARG002  a forest's answer depends on it
        """Whether lots decide between features of equal gain, not margins."""
        return False

    def _least_gain(self, total_weight: float) -> float:
        """Return the gain a split needs. Gains are never negative, but rounding may make them."""
        least = float(self.min_impurity_decrease) * total_weight
        return least * (1 - 1e-12) if least > 0 else -np.inf

    def _n_candidates(self, n_features: int) -> int | None:
        """Return the number of features tried per node, None for all."""
        return n_drawn(self.max_features, n_features)

    def _recipe(self, table: Table, n_rows: int) -> Recipe:
        """Decide how the table is binned."""
        exact = self.split_finding == "exact" or (
            self.split_finding == "auto" and n_rows <= self._exact_rows
        )
        return Recipe(
            None if exact else int(self.max_bins),
            categorical_columns(self.categorical_features, table),
            halvings=0 if self._cuts_at_random else self._halvings,
        )

    def _n_levels(self, n_rows: int) -> int:
        """Return how many levels a bin has: of 16 rows or so each, up to 256, a power of two."""
        if not self._keeps_levels or self._cuts_at_random or self.max_leaf_nodes is not None:
            return 1
        return int(2 ** min((n_rows // (_ROWS_OF_LEVEL * MAX_BINS)).bit_length(), 8))
