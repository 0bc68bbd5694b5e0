"""Ranks: a few numbers sorted without a branch, by counting those that are smaller."""

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils

from hedgerow.kernels.machine import instruction

FEW = 32
_SHORT, _WORD = ir.IntType(16), ir.IntType(64)


def _rank_plain(keys: Any, n: Any) -> None:
    keys[1, : int(n)] = np.argsort(np.argsort(keys[0, : int(n)]))


@instruction(_rank_plain)
def rank(_typing, keys, n):  # noqa: ARG001
    """Set keys[1, i] to how many of the first n of keys[0] are below keys[0, i].

    keys  int16 [2, FEW]   both   no two of the first n are equal
    """

    def generate(context, builder, signature, arguments):
        array = context.make_array(signature.args[0])(context, builder, arguments[0])
        start = builder.bitcast(array.data, _SHORT.as_pointer())
        row = ir.VectorType(_SHORT, FEW)
        source = builder.bitcast(start, row.as_pointer())
        target = builder.bitcast(builder.gep(start, [_WORD(FEW)]), row.as_pointer())
        own = builder.load(source, align=2)
        total = cgutils.alloca_once_value(builder, ir.Constant(row, None))
        nothing = ir.Constant(row, ir.Undefined)
        with cgutils.for_range(builder, arguments[1], intp=_WORD) as loop:
            one = builder.load(builder.gep(start, [loop.index]), align=2)
            first = builder.insert_element(nothing, one, ir.IntType(32)(0))
            other = builder.shuffle_vector(
                first, nothing, ir.Constant(ir.VectorType(ir.IntType(32), FEW), None)
            )
            is_above = builder.sext(builder.icmp_signed(">", own, other), row)
            builder.store(builder.sub(builder.load(total), is_above), total)
        builder.store(builder.load(total), target, align=2)
        return context.get_dummy_value()

    return types.void(keys, types.int64), generate
