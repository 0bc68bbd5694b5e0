"""Formulas: functions that kernels and plain Python both call, one text for both.

Unlike a part it is no object of Numba's, so that NumPy's functions and classes that stand for
numbers may take it, too. Only IEEE operations give the same bits in both.
"""

from collections.abc import Callable
from inspect import signature
from typing import Any, TypeVar

import numpy as np
from numba.extending import overload

from hedgerow.kernels.jit import _PART_OPTIONS

# A call that LLVM leaves as a call keeps the loop around it from using the machine's vectors.
_FORMULA_OPTIONS = _PART_OPTIONS | {"forceinline": True}

Function = TypeVar("Function", bound=Callable[..., Any])


def formula(function: Function) -> Function:
    """Let kernels compile a plain function's text wherever they call it."""
    compiled_as(function, lambda *_: function, ", ".join(signature(function).parameters))
    return function


def where(condition, one, other):
    """Return one of two numbers; in Python also of two arrays, number by number."""
    return np.where(condition, one, other)


def compiled_as(function: Callable[..., Any], choice: Callable[..., Any], names: str) -> None:
    """Let kernels compile function(names) as the text choice(types of the arguments).

    `choice` returns None for types that it has no text for. A text's parameters have these
    names.
    """
    typing = eval(f"lambda {names}: choice({names})", {"choice": choice})
    overload(function, strict=False, jit_options=_FORMULA_OPTIONS)(typing)


compiled_as(
    where,
    lambda *_: lambda condition, one, other: one if condition else other,
    "condition, one, other",
)
