"""What a value of a file must be: of a type, of a shape, within bounds."""

from typing import Any

import numpy as np

from hedgerow.errors import ModelFileError


def demand(holds: bool, otherwise: str) -> None:
    """Raise unless something holds that is true of every model."""
    if not holds:
        raise ModelFileError(f"It is no model that hedgerow wrote: {otherwise}.")


def demand_array(value: Any, kind: str, n_dimensions: int) -> None:
    """Raise unless something is an array of a dtype and so many dimensions."""
    demand(isinstance(value, np.ndarray), "a number stands where an array is needed")
    if value.dtype != np.dtype(kind) or value.ndim != n_dimensions:
        demand(False, f"an array is {value.dtype}{list(value.shape)}, not {np.dtype(kind)}")


def demand_finite(value: Any, what: str) -> None:
    """Raise unless all numbers are finite."""
    demand(bool(np.isfinite(value).all()), f"{what} is not finite")


def demand_count(value: Any, least: int, what: str) -> None:
    """Raise unless something is a whole number from `least` up, and fits into 64 bits."""
    demand(type(value) is int and least <= value < 1 << 62, f"{what} is no such number")


def demand_number(value: Any, what: str) -> None:
    """Raise unless something is a number; it may be infinite, or not known."""
    demand(type(value) in (int, float), f"{what} is no number")
