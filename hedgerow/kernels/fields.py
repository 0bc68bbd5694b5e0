"""Fields: arrays of records whose fields are attributes, quickly read in Python, too.

What NumPy has for this, np.recarray, takes microseconds a field. That does not matter to compiled
kernels; those that are interpreted read fields all the time.
"""

from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray


class Record(np.record):  # type: ignore[misc]  # NumPy has subclasses of it
    """One record."""

    __getattribute__, __getitem__ = object.__getattribute__, np.void.__getitem__  # type: ignore[assignment]  # of names and of places

    def __getattr__(self, name: str) -> Any:
        """Return a field; an attribute was looked for before."""
        try:
            return self[name]
        except (KeyError, ValueError) as error:
            raise AttributeError(name) from error

    def __setattr__(self, name: str, value: Any) -> None:
        """Set a field: there is nothing else to set."""
        self[name] = value


class Records(np.ndarray):
    """Records; a field of all of them is an array."""

    def __getattr__(self, name: str) -> Any:
        """Return a field; an attribute was looked for before."""
        if name not in (self.dtype.names or ()):
            raise AttributeError(name)
        return self[name].view(np.ndarray)

    def __setattr__(self, name: str, value: Any) -> None:
        """Set a field, or what any array has."""
        if name in (self.dtype.names or ()):
            self[name] = value
        else:
            super().__setattr__(name, value)


def with_fields(array: NDArray[Any], kind: DTypeLike | None = None) -> Any:
    """Return an array of records, or the words of which some are, by its fields."""
    kind = np.dtype(kind or array.dtype)
    return array.view(np.dtype((Record, kind))).view(Records)
