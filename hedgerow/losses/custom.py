"""Users' losses: checked, and completed with the methods that they lack."""

from collections.abc import Callable
from functools import cache
from inspect import getclosurevars, isfunction
from itertools import count
from typing import Any, NamedTuple

import numpy as np

from hedgerow.kernels.trial import demand_compilable
from hedgerow.losses.automatic import WithDerivatives
from hedgerow.losses.minimum import least_loss, level_point
from hedgerow.losses.targets import Array, demand_finite

_COMPILED = ("loss", "gradient", "hessian")
_numbers = count(1)
_NEEDED = (*_COMPILED, "start", "link", "check", "n_outputs")


def identity(raw: Array) -> Array:
    """Return raw scores as they are."""
    return raw


def custom_loss(given: Any, link: Callable[[Array], Array] = identity) -> Any:
    """Return a loss that boosting can use from what a user gave.

    Parameters
    ----------
    given : NamedTuple or callable
        A value of a class with the method `loss(self, y, f)`, or a function
        `(y, raw) -> (gradients, Hessians)` of arrays.
    link : callable
        Turns raw scores into predictions if `given` has no method `link`.

    Notes
    -----
    A loss of your own is a value of a NamedTuple class with at least one field and the method
    `loss(self, y, f)`, the loss of raw score f for target y. Kernels compile it, once a process,
    so it runs as fast as ours; it is written with operators, `abs`, `max`, `min`, `if` and the
    functions of `hedgerow.losses.formulas`. What it lacks is supplied:

    - `gradient(self, y, f)`, `hessian(self, y, f)`: by automatic differentiation. A Hessian
      must not be below zero: where the second derivative is, give an upper bound instead.
    - `start(self, y, w)`: the constant with the smallest loss, found numerically.
    - `link(self, raw)`: what `predict` returns for raw scores, an array; they themselves.
    - `check(self, y)`: raises if these targets have no loss; they must be finite.
    - `leaf(self, residual, w)`: only if given, sets each leaf to what it returns for its rows.

    A function `(y, raw) -> (gradients, Hessians)` of arrays is a loss too. It has no value to
    watch, so there is no early stopping with it.

    Examples
    --------
    >>> from typing import NamedTuple
    >>> class Quartic(NamedTuple):
    ...     scale: float = 1.0
    ...
    ...     def loss(self, y, f):
    ...         return ((y - f) / self.scale) ** 4
    >>> loss = custom_loss(Quartic(2.0))
    >>> loss.gradient(1.0, 3.0), loss.hessian(1.0, 3.0)
    (2.0, 3.0)
    >>> float(loss.start(np.array([0.0, 0.0, 9.0, 9.0]), np.ones(4)))
    4.5
    """
    if isinstance(given, type):
        raise TypeError(
            f"loss={given.__name__} is a class, and a value is needed. Pass "
            f"loss={given.__name__}(...)."
        )
    if isinstance(given, tuple):
        return _completed(given, link)
    if callable(given):
        return Callback(given, link)
    raise TypeError(
        f"loss={given!r} is not a loss. Pass a value of a NamedTuple class with the method "
        "`loss(self, y, f)`, or a function (y, raw) -> (gradients, Hessians)."
    )


class Callback(NamedTuple):
    """A loss of which only a function of arrays is known, (y, raw) -> (g, h).

    y and raw are float64 [n_rows]; g and h, the first and second derivatives of the loss in
    raw, have a number for each row, or one for all. Weights are multiplied in afterwards.
    """

    function: Callable[[Array, Array], Any]
    shown: Callable[[Array], Array] = identity
    n_outputs: int = 1

    def derivatives(self, y: Array, raw: Array) -> Array:
        """Return g and h, float64 [2, n_rows]."""
        views = y.view(), raw.view()
        for view in views:
            view.flags.writeable = False
        returned = self.function(*views)
        out = np.empty((2, len(y)))
        try:
            out[0], out[1] = returned
        except (TypeError, ValueError) as error:
            shapes = [np.shape(each) for each in returned] if np.iterable(returned) else returned
            raise ValueError(
                f"{self._name()} returned {type(returned).__name__} {shapes}, and a pair "
                f"(gradients, Hessians) of shape ({len(y)},) each is needed. Return both, one "
                "number for each row."
            ) from error
        out[1] += 0.0  # no zero has a sign
        return out

    def start(self, y: Array, w: Array) -> float:
        """Return where the gradients add up to zero."""
        return level_point(lambda c: self.derivatives(y, np.full(len(y), c))[0], y, w)

    def link(self, raw: Array) -> Array:
        """Return what users are shown."""
        return self.shown(raw)

    def check(self, y: Array) -> None:
        """Raise unless every target is finite."""
        demand_finite(y, self._name())

    def _name(self) -> str:
        return getattr(self.function, "__name__", type(self.function).__name__)


def _completed(loss: Any, link: Callable[[Array], Array]) -> Any:
    """Return a NamedTuple's value as one of a class that lacks no method."""
    kind: Any = type(loss)
    name = kind.__name__
    if not getattr(kind, "_fields", ()):
        raise TypeError(
            f"loss={loss!r} is a {name}, and a value of a typing.NamedTuple class with at least "
            "one field is needed: kernels compile nothing else. Write `class MyLoss(NamedTuple):` "
            "with a parameter or `n_outputs: int = 1` as its field."
        )
    if not callable(getattr(kind, "loss", None)):
        raise TypeError(
            f"loss={loss!r} has no method `loss(self, y, f)`. Add it: the loss of raw score f "
            "for target y, as a formula."
        )
    is_ours = kind.__module__.split(".")[0] == "hedgerow"
    complete = loss
    if not is_ours or any(not hasattr(kind, each) for each in _NEEDED):
        complete = _complete_class(kind, link, _meaning(loss))(*loss)
        demand_compilable(complete)
    if complete.n_outputs != 1:
        raise ValueError(
            f"loss={loss!r} has n_outputs={complete.n_outputs}, and a loss of one raw score for "
            "each row is needed. Write it with n_outputs=1."
        )
    return complete


def _meaning(loss: Any) -> tuple[Any, ...]:
    """Return what compiled methods are made of, and what they read beside their arguments.

    A method replaced, or a number of its module changed, makes another class to be compiled.
    """
    kind = type(loss)
    meaning: list[Any] = [kind, *(_meaning(each) for each in loss if isinstance(each, tuple))]
    for method in (getattr(kind, name, None) for name in _COMPILED):
        if isfunction(method):
            meaning.append(method)
            read = getclosurevars(method)
            for name, value in sorted({**read.globals, **read.nonlocals}.items()):
                meaning += [name, type(value), value if _is_hashable(value) else id(value)]
    return tuple(meaning)


def _is_hashable(value: Any) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return True


@cache
def _complete_class(
    kind: Any, link: Callable[[Array], Array], _meaning: tuple[Any, ...]
) -> Callable[..., Any]:
    """Return a class with the same fields and the methods that are missing.

    Its name is its own: Numba takes values of two classes for the same if their names and
    fields are.
    """

    def reduce(self: Any) -> Any:
        return custom_loss, (kind(*self), link)

    defaults = {
        "gradient": lambda self, y, f: WithDerivatives(self, 1).gradient(y, f),
        "hessian": lambda self, y, f: WithDerivatives(self, 1).hessian(y, f),
        "start": least_loss,
        "link": lambda self, raw: link(raw),  # noqa: ARG005
        "check": lambda self, y: demand_finite(y, repr(self)),
        "n_outputs": 1,
    }
    missing = {name: value for name, value in defaults.items() if not hasattr(kind, name)}
    own = {"__slots__": (), "__reduce__": reduce, "__repr__": lambda self: repr(kind(*self))}
    return type(f"{kind.__name__}#{next(_numbers)}", (kind,), missing | own)
