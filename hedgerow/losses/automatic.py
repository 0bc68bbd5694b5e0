"""Losses of which only the formula is known: their derivatives are found by the machine."""

from typing import Any, NamedTuple

from hedgerow.losses.compiled_series import as_series
from hedgerow.losses.series import Series


class WithDerivatives(NamedTuple):
    """A loss l(y, f) and its derivatives in f, found by evaluating l at a series.

        l(y, f + e) = l + dl/df e + d2l/df2 e^2 / 2 + ...

    formula   the user's NamedTuple, whose method loss(y, f) is written with `formulas`

    Kernels compile both derivatives together with the formula: the value of an expression
    and its derivatives share one evaluation, and what is not asked for is not computed.
    """

    formula: Any
    n_outputs: int = 1

    def loss(self, y: float, f: float) -> Any:
        """l(y, f), as the user wrote it."""
        return self.formula.loss(y, f)

    def gradient(self, y: float, f: float) -> Any:
        """dl/df, exact up to rounding; at a kink, that of one of its sides."""
        return as_series(self.formula.loss(y, Series(f, 1.0, 0.0))).first

    def hessian(self, y: float, f: float) -> Any:
        """d2l/df2, exact up to rounding; a kink is not seen."""
        return as_series(self.formula.loss(y, Series(f, 1.0, 0.0))).second


def with_derivatives(loss: Any) -> WithDerivatives:
    """Return a loss with `gradient` and `hessian` from one that only has `loss(y, f)`.

    Parameters
    ----------
    loss : NamedTuple
        A value of a class with at least one field and the method `loss(self, y, f)`, written
        with operators, `abs`, `max`, `min`, `if` and the functions of `hedgerow.losses.formulas`.

    Examples
    --------
    >>> from typing import NamedTuple
    >>> from hedgerow.losses.formulas import log1p
    >>> class Cauchy(NamedTuple):
    ...     scale: float = 1.0
    ...
    ...     def loss(self, y, f):
    ...         return log1p(((f - y) / self.scale) ** 2)
    >>> cauchy = with_derivatives(Cauchy(2.0))
    >>> cauchy.gradient(0.0, 2.0), cauchy.hessian(0.0, 2.0)
    (0.5, 0.0)
    """
    name = type(loss).__name__
    if not (isinstance(loss, tuple) and getattr(loss, "_fields", None)):
        raise TypeError(
            f"with_derivatives was given a {name}, and accepts a value of a typing.NamedTuple "
            "class with at least one field: kernels compile nothing else. Write `class "
            f"{name}(NamedTuple):` with a parameter or `n_outputs: int = 1` as its field."
        )
    if not callable(getattr(loss, "loss", None)):
        raise TypeError(
            f"with_derivatives was given a {name} without the method `loss(self, y, f)`. Add it: "
            "the loss of raw score f for target y, as a formula."
        )
    return WithDerivatives(loss)
