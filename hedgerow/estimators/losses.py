"""The losses of regression by name, with the numbers that parameters give them."""

from typing import Any

import numpy as np

from hedgerow.losses import (
    AbsoluteError,
    Gamma,
    Huber,
    Poisson,
    Quantile,
    Quantiles,
    SquaredError,
    Tweedie,
    custom_loss,
)

REGRESSION_LOSSES: dict[str, Any] = {
    "squared_error": SquaredError,
    "absolute_error": AbsoluteError,
    "huber": Huber,
    "quantile": Quantile,
    "poisson": Poisson,
    "gamma": Gamma,
    "tweedie": Tweedie,
}


def regression_loss(loss: Any, alpha: Any, power: Any) -> Any:
    """Return the loss that the parameters name, or are."""
    if not isinstance(loss, str):
        return custom_loss(loss)
    if np.ndim(alpha) > 0:
        return _levels(loss, alpha)
    given = {"huber": {"alpha": alpha}, "quantile": {"level": alpha}, "tweedie": {"power": power}}
    numbers = {name: float(number) for name, number in given.get(loss, {}).items()}
    return REGRESSION_LOSSES[loss](**numbers)


def least_weight(given: Any, loss: Any) -> float:
    """Return the least weight of a leaf; "auto": what the loss asks for, or 1."""
    return float(getattr(loss, "least_leaf", 1.0) if given == "auto" else given)


def _levels(loss: str, alpha: Any) -> Quantiles:
    """Return the loss of several levels."""
    if loss != "quantile":
        raise ValueError(
            f"alpha={alpha!r} has several levels, which only loss='quantile' has; the loss is "
            f"{loss!r}. Pass one number, or loss='quantile'."
        )
    return Quantiles(tuple(float(level) for level in alpha))
