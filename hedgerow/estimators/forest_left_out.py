"""What each tree of a forest has not seen tells which features it needs."""

from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Bunch, check_random_state

from hedgerow.ensembles.shuffled import Shuffle
from hedgerow.estimators.checks import check_labels, check_length, check_weights
from hedgerow.estimators.permutation import class_codes, fitted_targets
from hedgerow.estimators.tables import ReadsTables
from hedgerow.kernels.team import hired

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]


class ShufflesLeftOut(ReadsTables):
    """A forest that shuffles features of the rows out of its trees' bags."""

    _rows: Counts | None
    _seed: int

    def oob_permutation_importances(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        n_repeats: int = 1,
        random_state: Any = None,
    ) -> Bunch:
        """Return how much worse trees do on rows they have not seen if a feature is shuffled.

        For each tree, by how much its accuracy falls (of a regression: its squared error rises)
        on the rows out of its bag when the values of a feature change places among them. No
        other rows are needed than those of fit.

        Parameters
        ----------
        X, y : table and targets of fit, in their order
        sample_weight : array [n_rows] or None
            What a row counts in the accuracy, or error, of a tree.
        n_repeats : int
            Shuffles of each feature in each tree, whose results are averaged.
        random_state : int, RandomState or None
            None: the seed of the forest. A shuffle is a function of the seed, the feature, the
            repeat and the tree, of rows in the order of their content.

        Returns
        -------
        Bunch
            importances : float64 [n_features, n_trees]; 0 where a tree does not use a feature,
                NaN for a tree that has seen all rows
            importances_mean : float64 [n_features], the mean over trees
            importances_std : float64 [n_features], the standard error of this mean: the
                deviation over trees / sqrt(n_trees). It is about other trees of the same
                training rows, not about other rows.

        Notes
        -----
        Breiman (2001), section 10.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from hedgerow import RandomForestClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> forest = RandomForestClassifier(30).fit(X, y)
        >>> forest.oob_permutation_importances(X, y).importances_mean.round(1)
        array([0. , 0. , 0.3, 0.4])
        """
        values, bags = self._values(X), self._drawn_bags("Importances out of bag")
        self._demand_training_rows(len(values))
        if isinstance(n_repeats, bool) or not isinstance(n_repeats, Integral) or n_repeats < 1:
            raise ValueError(f"n_repeats={n_repeats!r}: pass a whole number from 1 up.")
        rows = np.arange(len(values)) if self._rows is None else self._rows
        seed = self._seed
        if random_state is not None:
            seed = int(check_random_state(random_state).randint(2**31 - 1))
        shuffle = Shuffle(
            np.ascontiguousarray(values[rows]),
            check_weights(sample_weight, len(values))[rows],
            self._row_loss(y, rows, len(values)),
            self._ballot(),
            self._n_values,
            int(n_repeats),
            seed,
        )
        work = float(values.size) * self._model.n_trees
        with hired(self.n_jobs, work) as team:
            found = shuffle.importances(self._model, bags, team)
        return _averaged(found)

    def _row_loss(self, y: Any, rows: Counts, n_rows: int) -> Any:
        """Return the loss of some rows as a function of what a tree says of them."""
        if hasattr(self, "classes_"):
            labels = check_labels(self, y)
            check_length("y", labels, n_rows)
            codes = class_codes(self.classes_, labels[rows])
            return lambda own, said: (np.argmax(said, axis=1) != codes[own]).astype(np.float64)
        targets = fitted_targets(self, y, n_rows)[rows]
        return lambda own, said: ((said - targets[own]) ** 2).mean(axis=1)


def _averaged(found: Floats) -> Bunch:
    """Return importances of trees, their mean, and its standard error."""
    known = found[:, ~np.isnan(found).any(axis=0)]
    n_known = known.shape[1]
    if not n_known:
        raise ValueError(
            "No tree of this forest has left out a row that counts, so none can be judged. Pass "
            "max_samples below 1.0, or more rows, and fit again."
        )
    error = np.full(len(found), np.nan)
    if n_known > 1:
        error = known.std(axis=1, ddof=1) / np.sqrt(n_known)
    mean = known.mean(axis=1)
    return Bunch(importances=found, importances_mean=mean, importances_std=error)
