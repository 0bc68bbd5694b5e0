"""Estimators that can be saved to a file."""

from typing import Any

from sklearn.base import BaseEstimator

from hedgerow.estimators.checks import demand_fitted
from hedgerow.fitted.model import Fitted


class Saves(Fitted, BaseEstimator):
    """An estimator with a method that writes it to a file."""

    def _demand_fitted(self) -> None:
        demand_fitted(self)

    def save(self, path: Any) -> None:
        """Write the fitted model to a file that `hedgerow.load` reads.

        The file is whole or not there: it is written beside its place and then renamed, and a file
        of this name that was there before stays as it was until then. Equal models have equal
        bytes. A file holds numbers and texts only, no code: models of other libraries' learners,
        functions and losses of your own cannot be saved.

        Parameters
        ----------
        path : str or path
            Ending as you like; ".hedgerow" is our habit.

        Raises
        ------
        hedgerow.ModelFileError
            If something in the model is not for files; it says what, and what to do.
        OSError
            If the file cannot be written; it says why.

        Examples
        --------
        >>> import tempfile, pathlib
        >>> import hedgerow
        >>> model = hedgerow.DecisionTreeClassifier().fit([[0], [1]], ["a", "b"])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     model.save(pathlib.Path(folder, "tree.hedgerow"))
        ...     same = hedgerow.load(pathlib.Path(folder, "tree.hedgerow"))
        >>> same.predict([[1]])
        array(['b'], dtype='<U1')
        """
        # Here, because the list of all estimators imports each of them.
        from hedgerow.estimators.model_files import save_model  # noqa: PLC0415

        save_model(self, path)
