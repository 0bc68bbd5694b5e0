"""Formulas: functions that kernels and plain Python both call, one text for both.

A `part` can only be called by kernels. A formula stays an ordinary Python function, whose
text kernels compile like that of a part. Only IEEE operations give the same bits in both.
"""

from collections.abc import Callable
from inspect import signature
from typing import Any, TypeVar

from numba.extending import overload

from hedgerow.kernels.jit import _PART_OPTIONS

# A call that LLVM leaves as a call keeps the loop around it from using the machine's vectors.
_FORMULA_OPTIONS = _PART_OPTIONS | {"forceinline": True}

Function = TypeVar("Function", bound=Callable[..., Any])


def formula(function: Function) -> Function:
    """Let kernels compile a plain function's text wherever they call it.

    A part is taken too: its text is then callable from both worlds.
    """
    text: Function = getattr(function, "py_func", function)
    compiled_as(text, lambda *_: text, ", ".join(signature(text).parameters))
    return text


def compiled_as(function: Callable[..., Any], choice: Callable[..., Any], names: str) -> None:
    """Let kernels compile function(names) as the text choice(types of the arguments).

    `choice` returns None for types that it has no text for. A text's parameters have these
    names.
    """
    typing = eval(f"lambda {names}: choice({names})", {"choice": choice})
    overload(function, strict=False, jit_options=_FORMULA_OPTIONS)(typing)
