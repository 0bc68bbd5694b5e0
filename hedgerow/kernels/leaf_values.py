"""Leaf values: what the leaves of a block's rows hold, added to the rows' sums.

Of a tree of up to 32 leaves all values fit into four registers of 64 bytes, if there are such, and
eight rows take theirs at once. Elsewhere each row reads its own.
"""

from llvmlite import ir
from numba import types
from numba.core import cgutils

from hedgerow.kernels.blocks import LANE, place_of
from hedgerow.kernels.machine import call_llvm, instruction, spread

SMALL = 32  # leaves; as many values are read, however many the tree has

_BYTE, _WORD, _DOUBLE = ir.IntType(8), ir.IntType(64), ir.DoubleType()
_TOGETHER = 8
_BYTES, _WORDS, _DOUBLES = (ir.VectorType(kind, _TOGETHER) for kind in (_BYTE, _WORD, _DOUBLE))


def _add_array(lanes, leaves, values, first, sums):
    sums += values[first : first + SMALL][lanes[leaves : leaves + LANE]]


@instruction(_add_array)
def add_small(_typing, lanes, leaves, values, first, sums):  # noqa: ARG001
    """Add to sums[row] the value number first + l, l the row's byte at `leaves`, below SMALL.

    values  float64 [first + SMALL or more]   read
    sums    float64 [LANE]                    both
    """

    def generate(*given):
        add = _add_permuted if _has_wide_registers(given[0]) else _add_each
        add(given)
        return given[0].get_dummy_value()

    return types.void(lanes, types.int64, values, types.int64, sums), generate


def _has_wide_registers(context):
    """Tell whether the processor that code is made for has AVX-512."""
    _, _, features = context.codegen().magic_tuple()
    return "+avx512f" in features.split(",")


def _add_permuted(given):
    """Add to eight sums at once; one instruction looks into half of the table."""
    builder, leaves = given[1], given[3][1]
    values, sums = _start(given, 2), _start(given, 4)
    first = builder.gep(values, [given[3][3]])
    table = [builder.load(_vector(builder, first, _WORD(8 * k)), align=8) for k in range(4)]
    half = spread(builder, _BYTE(SMALL // 2), _BYTES)
    with cgutils.for_range(builder, _WORD(LANE // _TOGETHER), intp=_WORD) as loop:
        row = builder.mul(loop.index, _WORD(_TOGETHER))
        own = builder.load(place_of(given, builder.add(leaves, row), 0, _BYTES), align=1)
        places = builder.zext(own, _WORDS)
        low, high = (
            call_llvm(builder, "llvm.x86.avx512.vpermi2var.pd.512", _DOUBLES, [one, places, two])
            for one, two in (table[:2], table[2:])
        )
        found = builder.select(builder.icmp_unsigned(">=", own, half), high, low)
        place = _vector(builder, sums, row)
        builder.store(builder.fadd(builder.load(place, align=8), found), place, align=8)


def _add_each(given):
    """Add to one sum after another."""
    builder, leaves = given[1], given[3][1]
    values, sums = _start(given, 2), _start(given, 4)
    first = builder.gep(values, [given[3][3]])
    with cgutils.for_range(builder, _WORD(LANE), intp=_WORD) as loop:
        own = builder.load(place_of(given, builder.add(leaves, loop.index), 0, _BYTE))
        found = builder.load(builder.gep(first, [builder.zext(own, _WORD)]))
        place = builder.gep(sums, [loop.index])
        builder.store(builder.fadd(builder.load(place), found), place)


def _start(given, argument):
    """Return where an array begins."""
    context, builder, signature, arguments = given
    return context.make_array(signature.args[argument])(context, builder, arguments[argument]).data


def _vector(builder, start, place):
    return builder.bitcast(builder.gep(start, [place]), _DOUBLES.as_pointer())
