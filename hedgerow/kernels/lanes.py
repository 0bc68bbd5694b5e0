"""Lanes: what is asked of all the rows of a small node at once.

Each of at most 64 rows has a lane of every row of `lanes`, int16 [SUMS + MOST_CLASSES, N_LANES]:

    KEYS      its code; NO_KEY in a lane without a row
    WEIGHTS   its weight; 0 in a lane without a row
    CLASSES   its class
    SUMS + k  the weight of the rows of class k whose keys are at most its own

The weights of all rows add up to less than 2^15. A vector has 32 lanes or 64, as rows need.
"""

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils

from hedgerow.kernels.machine import call_llvm, instruction

N_LANES, FEW_LANES = 64, 32
MOST_CLASSES = 8
KEYS, WEIGHTS, CLASSES, SUMS = 0, 1, 2, 3
NO_KEY = 0x7FFF
_NEARLY = 1.0 - 2.0**-18  # estimates are off by less

_SHORT, _INT, _WORD, _FLOAT = ir.IntType(16), ir.IntType(32), ir.IntType(64), ir.FloatType()


class _Lanes:
    """The rows of `lanes` as vectors, for code generators."""

    def __init__(self, context: Any, builder: Any, signature: Any, arguments: Any, width: int):
        array = context.make_array(signature.args[0])(context, builder, arguments[0])
        self._start = builder.bitcast(array.data, _SHORT.as_pointer())
        self.builder, self.width = builder, width
        self.shorts, self.floats = (ir.VectorType(kind, width) for kind in (_SHORT, _FLOAT))

    def row(self, number: Any) -> Any:
        """Return where a row begins, as a vector."""
        first = self.builder.mul(number, _WORD(N_LANES))
        place = self.builder.gep(self._start, [first])
        return self.builder.bitcast(place, self.shorts.as_pointer())

    def load(self, number: Any) -> Any:
        """Return a row."""
        return self.builder.load(self.row(number), align=2)

    def one(self, number: Any, lane: Any) -> Any:
        """Return one number of a row."""
        first = self.builder.mul(number, _WORD(N_LANES))
        return self.builder.load(
            self.builder.gep(self._start, [self.builder.add(first, lane)]), align=2
        )

    def spread(self, number: Any) -> Any:
        """Return a number for all lanes."""
        kind = ir.VectorType(number.type, self.width)
        nothing, zeros = ir.Constant(kind, ir.Undefined), ir.VectorType(_INT, self.width)
        one = self.builder.insert_element(nothing, number, _INT(0))
        return self.builder.shuffle_vector(one, nothing, ir.Constant(zeros, None))

    def where(self, mask: Any, numbers: Any, otherwise: int) -> Any:
        """Return numbers where the mask is set, and else the same one."""
        other = ir.Constant(self.shorts, [otherwise] * self.width)
        return self.builder.select(mask, numbers, other)

    def reduced(self, how: str, numbers: Any) -> Any:
        """Return one number made of those of all lanes."""
        kind = numbers.type.element
        name = f"v{self.width}" + ("f32" if kind == _FLOAT else "i16")
        return call_llvm(self.builder, f"llvm.vector.reduce.{how}.{name}", kind, [numbers])

    def bits(self, mask: Any) -> Any:
        """Return a mask as bits of a word."""
        bits = self.builder.bitcast(mask, ir.IntType(self.width))
        return bits if self.width == N_LANES else self.builder.zext(bits, _WORD)

    def short(self, word: Any) -> Any:
        """Return a word that is small as a number of a lane."""
        return self.builder.trunc(word, _SHORT)


def _of_width(width: int) -> Any:
    """Let a code generator be of lanes: generate(lanes, arguments that follow)."""

    def of_lanes(generate: Any) -> Any:
        def generated(context, builder, signature, arguments):
            lanes = _Lanes(context, builder, signature, arguments, width)
            made = generate(context, lanes, signature, arguments)
            return context.get_dummy_value() if made is None else made

        return generated

    return of_lanes


def _sum_plain(lanes, n_rows, n_classes):
    lanes[SUMS : SUMS + n_classes] = 0
    for row in range(n_rows):
        is_below = lanes[KEYS] >= lanes[KEYS, row]
        lanes[SUMS + lanes[CLASSES, row], is_below] += lanes[WEIGHTS, row]


def _sum(width):
    @_of_width(width)
    def generate(_context, lanes, _signature, arguments):
        builder, own = lanes.builder, lanes.load(_WORD(KEYS))
        _, n_rows, n_classes = arguments

        def weighed(row, number):
            key = lanes.spread(lanes.one(_WORD(KEYS), row))
            is_below = builder.icmp_signed(">=", own, key)
            return lanes.where(is_below, lanes.spread(number), 0)

        with builder.if_else(builder.icmp_signed("==", n_classes, _WORD(2))) as (two, many):
            with two:
                nothing = ir.Constant(lanes.shorts, None)
                both, second = (cgutils.alloca_once_value(builder, nothing) for _ in range(2))
                with cgutils.for_range(builder, n_rows, intp=_WORD) as loop:
                    weight = lanes.one(_WORD(WEIGHTS), loop.index)
                    own_class = lanes.one(_WORD(CLASSES), loop.index)
                    more = weighed(loop.index, weight)
                    builder.store(builder.add(builder.load(both), more), both)
                    more = weighed(loop.index, builder.mul(weight, own_class))
                    builder.store(builder.add(builder.load(second), more), second)
                first = builder.sub(builder.load(both), builder.load(second))
                builder.store(first, lanes.row(_WORD(SUMS)), align=2)
                builder.store(builder.load(second), lanes.row(_WORD(SUMS + 1)), align=2)
            with many:
                with cgutils.for_range(builder, n_classes, intp=_WORD) as loop:
                    place = lanes.row(builder.add(loop.index, _WORD(SUMS)))
                    builder.store(ir.Constant(lanes.shorts, None), place, align=2)
                with cgutils.for_range(builder, n_rows, intp=_WORD) as loop:
                    own_class = builder.zext(lanes.one(_WORD(CLASSES), loop.index), _WORD)
                    place = lanes.row(builder.add(own_class, _WORD(SUMS)))
                    more = weighed(loop.index, lanes.one(_WORD(WEIGHTS), loop.index))
                    builder.store(builder.add(builder.load(place, align=2), more), place, align=2)

    return generate


@instruction(_sum_plain)
def sum_few(_typing, lanes, n_rows, n_classes):  # noqa: ARG001
    """Set SUMS of the first 32 lanes, for at most 32 rows."""
    return types.void(lanes, types.int64, types.int64), _sum(FEW_LANES)


@instruction(_sum_plain)
def sum_all(_typing, lanes, n_rows, n_classes):  # noqa: ARG001
    """Set SUMS of all lanes."""
    return types.void(lanes, types.int64, types.int64), _sum(N_LANES)


def _promising_plain(lanes, totals, n_classes, least, floor):
    left = lanes[SUMS : SUMS + n_classes].astype(np.float64)
    right = totals[:n_classes, None] - left
    L, R = left.sum(axis=0), right.sum(axis=0)
    squares, others = (left * left).sum(axis=0), (right * right).sum(axis=0)
    is_allowed = (np.minimum(L, R) >= least) & (lanes[KEYS] != NO_KEY)
    LR = np.where(is_allowed, L * R, 1.0)
    rough = np.where(is_allowed, (squares * R + others * L) / LR, -1.0)
    bits = np.flatnonzero(rough >= max(rough.max(), floor) * _NEARLY)
    bits = bits[is_allowed[bits]]
    return np.bitwise_or.reduce(np.int64(1) << bits.astype(np.int64), initial=0)


def _promising(width):
    @_of_width(width)
    def generate(context, lanes, signature, arguments):
        builder = lanes.builder
        _, totals, n_classes, least, floor = arguments
        start = context.make_array(signature.args[1])(context, builder, totals).data
        nothing = ir.Constant(lanes.floats, None)
        names = "L", "R", "squares", "others"
        sums = {name: cgutils.alloca_once_value(builder, nothing) for name in names}

        def add(name, more):
            builder.store(builder.fadd(builder.load(sums[name]), more), sums[name])

        with cgutils.for_range(builder, n_classes, intp=_WORD) as loop:
            place = builder.add(loop.index, _WORD(SUMS))
            left = builder.sitofp(lanes.load(place), lanes.floats)
            total = builder.load(builder.gep(start, [loop.index]))
            total = lanes.spread(builder.sitofp(total, _FLOAT))
            right = builder.fsub(total, left)
            for name, more in (("L", left), ("R", right)):
                add(name, more)
            for name, side in (("squares", left), ("others", right)):
                add(name, builder.fmul(side, side))
        L, R, squares, others = (builder.load(sums[name]) for name in names)
        crossed = builder.fadd(builder.fmul(squares, R), builder.fmul(others, L))
        rough = builder.fdiv(crossed, builder.fmul(L, R))
        bound = lanes.spread(builder.sitofp(least, _FLOAT))
        is_allowed = builder.and_(
            builder.fcmp_ordered(">=", L, bound), builder.fcmp_ordered(">=", R, bound)
        )
        never = ir.Constant(lanes.floats, [-1.0] * lanes.width)
        rough = builder.select(is_allowed, rough, never)
        floor = builder.fptrunc(floor, _FLOAT)
        largest = lanes.reduced("fmax", rough)
        is_higher = builder.fcmp_ordered(">", largest, floor)
        bar = builder.fmul(builder.select(is_higher, largest, floor), _FLOAT(_NEARLY))
        return lanes.bits(builder.fcmp_ordered(">=", rough, lanes.spread(bar)))

    return generate


@instruction(_promising_plain)
def promising_few(_typing, lanes, totals, n_classes, least, floor):
    """Return the lanes whose key may be the last one left of the best cut, as bits; of 32 lanes.

    totals  int64 [n_classes]   read   weights of the node
    least   int64               weight that both sides must have, above 0
    floor   float64             squares of a cut that is known: a worse one is not promising

        squares of a cut = sum_k L_k^2 / L + sum_k R_k^2 / R = score + W, see `squares`
    """
    words = types.int64, types.int64, types.float64
    return types.int64(lanes, totals, *words), _promising(FEW_LANES)


@instruction(_promising_plain)
def promising_all(_typing, lanes, totals, n_classes, least, floor):
    """Return the same of all lanes."""
    words = types.int64, types.int64, types.float64
    return types.int64(lanes, totals, *words), _promising(N_LANES)


def _compared(width, how):
    """Return a code generator: the lanes whose key is so, as bits."""

    @_of_width(width)
    def generate(_context, lanes, _signature, arguments):
        key = lanes.spread(lanes.short(arguments[1]))
        return lanes.bits(lanes.builder.icmp_signed(how, lanes.load(_WORD(KEYS)), key))

    return generate


def _bits_plain(mask):
    return np.bitwise_or.reduce(np.int64(1) << np.flatnonzero(mask), initial=0)


@instruction(lambda lanes, key: _bits_plain(lanes[KEYS] <= key))
def up_to(_typing, lanes, key):  # noqa: ARG001
    """Return the lanes whose key is at most so large, as bits."""
    return types.int64(lanes, types.int64), _compared(N_LANES, "<=")


@instruction(lambda lanes, key: _bits_plain(lanes[KEYS] == key))
def equal_to(_typing, lanes, key):  # noqa: ARG001
    """Return the lanes that have a key, as bits."""
    return types.int64(lanes, types.int64), _compared(N_LANES, "==")


def _nearest(how, comparison, otherwise):
    """Return a code generator: the nearest of the keys that are so."""

    @_of_width(N_LANES)
    def generate(_context, lanes, _signature, arguments):
        keys, key = lanes.load(_WORD(KEYS)), lanes.spread(lanes.short(arguments[1]))
        near = lanes.where(lanes.builder.icmp_signed(comparison, keys, key), keys, otherwise)
        return lanes.builder.sext(lanes.reduced(how, near), _WORD)

    return generate


@instruction(lambda lanes, key: int(lanes[KEYS, lanes[KEYS] > key].min(initial=NO_KEY)))
def key_above(_typing, lanes, key):  # noqa: ARG001
    """Return the smallest key above this one; NO_KEY if there is none."""
    return types.int64(lanes, types.int64), _nearest("smin", ">", NO_KEY)


@instruction(lambda lanes, key: int(lanes[KEYS, lanes[KEYS] <= key].max(initial=-1)))
def key_up_to(_typing, lanes, key):  # noqa: ARG001
    """Return the largest key that is at most this one; -1 if there is none."""
    return types.int64(lanes, types.int64), _nearest("smax", "<=", -1)


def _weigh_plain(lanes, key, n_classes, sums):
    for k in range(n_classes):
        is_left = (lanes[KEYS] <= key) & (lanes[CLASSES] == k)
        sums[k] = lanes[WEIGHTS, is_left].sum()


@instruction(_weigh_plain)
def weigh(_typing, lanes, key, n_classes, sums):  # noqa: ARG001
    """Set `sums`, int64 [n_classes], to the weight of the rows whose keys are at most so large."""

    @_of_width(N_LANES)
    def generate(context, lanes, signature, arguments):
        builder = lanes.builder
        start = context.make_array(signature.args[3])(context, builder, arguments[3]).data
        key = lanes.spread(lanes.short(arguments[1]))
        is_left = builder.icmp_signed("<=", lanes.load(_WORD(KEYS)), key)
        weights = lanes.where(is_left, lanes.load(_WORD(WEIGHTS)), 0)
        classes = lanes.load(_WORD(CLASSES))
        with cgutils.for_range(builder, arguments[2], intp=_WORD) as loop:
            own = lanes.spread(lanes.short(loop.index))
            own = lanes.where(builder.icmp_signed("==", classes, own), weights, 0)
            total = builder.sext(lanes.reduced("add", own), _WORD)
            builder.store(total, builder.gep(start, [loop.index]))

    return types.void(lanes, types.int64, types.int64, sums), generate
