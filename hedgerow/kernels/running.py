"""Running sums, four at once."""

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils

from hedgerow.kernels.jit import inlined_part
from hedgerow.kernels.machine import instruction

_FOUR = ir.VectorType(ir.IntType(64), 4)
_NOTHING = ir.Constant(_FOUR, [0] * 4)


def _run_fours_plain(numbers, start, sums, n_fours):
    sums[: 4 * n_fours] = start + np.cumsum(numbers[: 4 * n_fours])


@instruction(_run_fours_plain)
def _run_fours(_typing, numbers, start, sums, n_fours):
    """Set the first 4 n_fours of `sums` to the running sums of `numbers`, from `start` on.

    What the fours before add up to is in all places of `before`: it never leaves the vectors'
    registers, and a four waits for one addition only.
    """

    def generate(context, builder, signature, arguments):
        given, start, out, n_fours = arguments
        source = context.make_array(signature.args[0])(context, builder, given).data
        target = context.make_array(signature.args[2])(context, builder, out).data
        before = cgutils.alloca_once(builder, _FOUR)
        one = builder.insert_element(_NOTHING, start, ir.IntType(32)(0))
        builder.store(builder.shuffle_vector(one, _NOTHING, _places(0, 0, 0, 0)), before)
        with cgutils.for_range(builder, n_fours) as loop:
            place = builder.mul(loop.index, ir.IntType(64)(4))
            read, written = (
                builder.bitcast(builder.gep(array, [place]), _FOUR.as_pointer())
                for array in (source, target)
            )
            four = builder.load(read, align=8)
            for moved in (_places(4, 0, 1, 2), _places(4, 4, 0, 1)):
                four = builder.add(four, builder.shuffle_vector(four, _NOTHING, moved))
            so_far = builder.load(before)
            builder.store(builder.add(four, so_far), written, align=8)
            total = builder.shuffle_vector(four, _NOTHING, _places(3, 3, 3, 3))
            builder.store(builder.add(so_far, total), before)
        return context.get_dummy_value()

    return types.void(numbers, types.int64, sums, types.int64), generate


def _places(*places: int) -> ir.Constant:
    return ir.Constant(ir.VectorType(ir.IntType(32), 4), list(places))


@inlined_part
def run_up(numbers, start, sums):
    """Set sums[i] to start + numbers[0] + ... + numbers[i].

    numbers  int64 [n]   read
    sums     int64 [n]   write
    """
    n_fours = numbers.shape[0] // 4
    _run_fours(numbers, start, sums, n_fours)
    left = sums[4 * n_fours - 1] if n_fours > 0 else start
    for i in range(4 * n_fours, numbers.shape[0]):
        left += numbers[i]
        sums[i] = left
