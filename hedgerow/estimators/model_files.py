"""Model files: saving any fitted estimator, and loading it."""

from os import fspath
from typing import Any

from sklearn.utils.validation import check_is_fitted

from hedgerow.errors import ModelFileError
from hedgerow.estimators.bagged import Bagged
from hedgerow.estimators.saving import Saves
from hedgerow.estimators.stored import KINDS
from hedgerow.storage.models import bytes_of, read
from hedgerow.storage.writing import read_whole, write_whole


def save_model(estimator: Any, path: Any) -> None:
    """Write a fitted estimator to a file: see Saves.save."""
    check_is_fitted(estimator)
    try:
        pieces = bytes_of(estimator, KINDS, "model")
    except ModelFileError as problem:
        raise ModelFileError(
            f"This {type(estimator).__name__} cannot be saved. {problem}{_remedy(str(problem))}"
        ) from None
    write_whole(path, pieces)


def load(path: Any, *, memory_map: Any = "auto") -> Any:
    """Return the fitted estimator that a file holds.

    The file may be a stranger's: nothing that it names is imported or called, and everything is
    checked before it is used.

    Parameters
    ----------
    path : str or path
        A file that `save` wrote.
    memory_map : bool or "auto"
        Whether to map the file instead of reading it: pages come when they are looked at, are
        shared by processes, and can be dropped. "auto": from 64 MiB on. A mapped file must not be
        written to while the model is in use; `save` is safe, because it replaces files.

    Returns
    -------
    An estimator as it was when it was saved: same class, parameters, attributes, predictions.

    Raises
    ------
    hedgerow.ModelFileError
        If the file is damaged, of a newer format, or no model.
    OSError
        If it cannot be read.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> import hedgerow
    >>> model = hedgerow.GradientBoostingRegressor(n_estimators=5).fit([[0], [1], [2]], [0, 1, 4])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "model.hedgerow")
    ...     model.save(file)
    ...     loaded = hedgerow.load(file)
    >>> loaded.fingerprint_ == model.fingerprint_
    True
    """
    if not isinstance(memory_map, bool) and memory_map != "auto":
        raise ValueError(f"memory_map={memory_map!r}: pass True, False or 'auto'.")
    data = read_whole(path, memory_map)
    try:
        model = read(data, KINDS, "model")
        if not isinstance(model, Saves) or isinstance(model, Bagged):
            raise ModelFileError(f"It holds a {type(model).__name__}, which is no model.")
        check_is_fitted(model)
    except ModelFileError as problem:
        raise ModelFileError(f"{fspath(path)} cannot be loaded. {problem}") from None
    except ValueError:  # not fitted
        raise ModelFileError(f"{fspath(path)} cannot be loaded. Its model is not fitted.") from None
    return model


def _remedy(problem: str) -> str:
    """Say what to do about something that is not for files."""
    if ".parameters." in problem.split(" ", maxsplit=1)[0]:
        name = (
            problem.split(" ", maxsplit=1)[0]
            .rsplit(".parameters.", maxsplit=1)[-1]
            .split(".", maxsplit=1)[0]
        )
        if name in ("estimator", "loss", "dictionary"):
            return (
                f" Leave {name} out or pass one of the library's own, or keep the model with "
                "joblib, whose files run code when they are loaded: load only your own."
            )
        return (
            f" The fitted model does not need it: model.set_params({name}=...) to a plain value, "
            "such as None or the default, and save again."
        )
    if "categories" in problem:
        return " Convert the column to texts or numbers, and fit again."
    return ""
