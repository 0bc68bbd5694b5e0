"""Lanes: what is asked of all the rows of a small node at once.

Each row of a node has a lane of every row of `lanes`, int16 [SUMS + MOST_CLASSES, N_LANES]:

    KEYS      its code; NO_KEY in a lane without a row
    WEIGHTS   its weight; 0 in a lane without a row
    CLASSES   its class
    SUMS + k  the weight of the rows of class k whose keys are at most its own

The weights of all rows add up to less than 2^15. A vector has 32 lanes or 64, as rows need.
Nodes of more rows have their SUMS by codes: see `code_lanes`.
"""

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils

from hedgerow.kernels.machine import call_llvm, instruction

N_LANES, WIDE, NARROW = 512, 64, 32
MOST_CLASSES = 8
KEYS, WEIGHTS, CLASSES, SUMS = 0, 1, 2, 3
NO_KEY = 0x7FFF
NEARLY = 1.0 - 2.0**-18  # estimates are off by less

_SHORT, _INT, _WORD, _FLOAT = ir.IntType(16), ir.IntType(32), ir.IntType(64), ir.FloatType()


class Lanes:
    """The rows of `lanes` as vectors of some lanes from `first` on, for code generators."""

    def __init__(self, given: Any, width: int, first: Any = None):
        context, self.builder, signature, arguments = given
        array = context.make_array(signature.args[0])(context, self.builder, arguments[0])
        self._start = self.builder.bitcast(array.data, _SHORT.as_pointer())
        self.width, self.first = width, _WORD(0) if first is None else first
        self.shorts, self.floats = (ir.VectorType(kind, width) for kind in (_SHORT, _FLOAT))

    def place(self, number: Any, lane: Any) -> Any:
        """Return where a lane of a row is."""
        before = self.builder.mul(number, _WORD(N_LANES))
        return self.builder.gep(self._start, [self.builder.add(before, lane)])

    def row(self, number: Any) -> Any:
        """Return where a row begins, as a vector."""
        return self.builder.bitcast(self.place(number, self.first), self.shorts.as_pointer())

    def load(self, number: Any) -> Any:
        """Return a row."""
        return self.builder.load(self.row(number), align=2)

    def one(self, number: Any, lane: Any) -> Any:
        """Return one number of a row."""
        return self.builder.load(self.place(number, lane), align=2)

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
        name = f"llvm.vector.reduce.{how}.v{self.width}i{kind.width}"
        return call_llvm(self.builder, name, kind, [numbers])

    def bits(self, mask: Any) -> Any:
        """Return a mask as bits of a word."""
        bits = self.builder.bitcast(mask, ir.IntType(self.width))
        return bits if self.width == WIDE else self.builder.zext(bits, _WORD)

    def squares(self, totals: Any, n_classes: Any, least: Any) -> Any:
        """Estimate score + W of the cut after each lane's key, -1 where it is not allowed.

        That is sum_k L_k^2 / L + sum_k R_k^2 / R, see `squares`.
        """
        builder, nothing = self.builder, ir.Constant(self.floats, None)
        names = "L", "R", "squares", "others"
        sums = {name: cgutils.alloca_once_value(builder, nothing) for name in names}

        def add(name, more):
            builder.store(builder.fadd(builder.load(sums[name]), more), sums[name])

        with cgutils.for_range(builder, n_classes, intp=_WORD) as loop:
            left = self.load(builder.add(loop.index, _WORD(SUMS)))
            left = builder.sitofp(left, self.floats)
            total = builder.load(builder.gep(totals, [loop.index]))
            right = builder.fsub(self.spread(builder.sitofp(total, _FLOAT)), left)
            add("L", left)
            add("R", right)
            add("squares", builder.fmul(left, left))
            add("others", builder.fmul(right, right))
        L, R, squares, others = (builder.load(sums[name]) for name in names)
        crossed = builder.fadd(builder.fmul(squares, R), builder.fmul(others, L))
        both = builder.fdiv(crossed, builder.fmul(L, R))
        bound = self.spread(builder.sitofp(least, _FLOAT))
        is_allowed = builder.and_(
            builder.fcmp_ordered(">=", L, bound), builder.fcmp_ordered(">=", R, bound)
        )
        return builder.select(is_allowed, both, ir.Constant(self.floats, [-1.0] * self.width))

    def bar(self, estimates: Any, floor: Any) -> Any:
        """Return what estimates must reach: nearly the largest, or what is known, for all lanes.

        Floats that are not negative are ordered as their bits, and negative ones below them.
        """
        builder, ints = self.builder, ir.VectorType(_INT, self.width)
        largest = self.reduced("smax", builder.bitcast(estimates, ints))
        floor = builder.bitcast(builder.fptrunc(floor, _FLOAT), _INT)
        is_higher = builder.icmp_signed(">", largest, floor)
        bar = builder.bitcast(builder.select(is_higher, largest, floor), _FLOAT)
        return self.spread(builder.fmul(bar, _FLOAT(NEARLY)))


def _sum_plain(lanes, n_rows, n_classes):
    lanes[SUMS : SUMS + n_classes] = 0
    for row in range(n_rows):
        is_below = lanes[KEYS] >= lanes[KEYS, row]
        lanes[SUMS + lanes[CLASSES, row], is_below] += lanes[WEIGHTS, row]


def _sum(width):
    """Return a code generator: the sums of two classes in registers, of more in memory."""

    def generate(*given):
        lanes, (_, n_rows, n_classes) = Lanes(given, width), given[3]
        builder, own = lanes.builder, lanes.load(_WORD(KEYS))
        nothing = ir.Constant(lanes.shorts, None)

        def weighed(row, weight):
            key = lanes.spread(lanes.one(_WORD(KEYS), row))
            is_below = builder.icmp_signed(">=", own, key)
            return lanes.where(is_below, lanes.spread(weight), 0)

        with builder.if_else(builder.icmp_signed("==", n_classes, _WORD(2))) as (two, many):
            with two:
                both, second = (cgutils.alloca_once_value(builder, nothing) for _ in range(2))
                with cgutils.for_range(builder, n_rows, intp=_WORD) as loop:
                    weight = lanes.one(_WORD(WEIGHTS), loop.index)
                    own_class = lanes.one(_WORD(CLASSES), loop.index)
                    own_weight = builder.mul(weight, own_class)
                    for place, number in (both, weight), (second, own_weight):
                        more = weighed(loop.index, number)
                        builder.store(builder.add(builder.load(place), more), place)
                first = builder.sub(builder.load(both), builder.load(second))
                builder.store(first, lanes.row(_WORD(SUMS)), align=2)
                builder.store(builder.load(second), lanes.row(_WORD(SUMS + 1)), align=2)
            with many:
                with cgutils.for_range(builder, n_classes, intp=_WORD) as loop:
                    place = lanes.row(builder.add(loop.index, _WORD(SUMS)))
                    builder.store(nothing, place, align=2)
                with cgutils.for_range(builder, n_rows, intp=_WORD) as loop:
                    own_class = builder.zext(lanes.one(_WORD(CLASSES), loop.index), _WORD)
                    place = lanes.row(builder.add(own_class, _WORD(SUMS)))
                    more = weighed(loop.index, lanes.one(_WORD(WEIGHTS), loop.index))
                    builder.store(builder.add(builder.load(place, align=2), more), place, align=2)
        return given[0].get_dummy_value()

    return generate


@instruction(_sum_plain)
def sum_narrow(_typing, lanes, n_rows, n_classes):  # noqa: ARG001
    """Set SUMS of the first 32 lanes, for at most 32 rows."""
    return types.void(lanes, types.int64, types.int64), _sum(NARROW)


@instruction(_sum_plain)
def sum_wide(_typing, lanes, n_rows, n_classes):  # noqa: ARG001
    """Set SUMS of the first 64 lanes, for at most 64 rows."""
    return types.void(lanes, types.int64, types.int64), _sum(WIDE)


def estimated(lanes, totals, n_classes, least):
    """Return what `Lanes.squares` does, of all lanes: with the JIT off."""
    left = lanes[SUMS : SUMS + n_classes].astype(np.float64)
    right = totals[:n_classes, None] - left
    L, R = left.sum(axis=0), right.sum(axis=0)
    squares, others = (left * left).sum(axis=0), (right * right).sum(axis=0)
    is_allowed = np.minimum(L, R) >= least
    LR = np.where(is_allowed, L * R, 1.0)
    return np.where(is_allowed, (squares * R + others * L) / LR, -1.0)


def bits_of(mask):
    """Return a mask of at most 64 lanes as bits of a word: with the JIT off."""
    bits = sum(1 << int(lane) for lane in np.flatnonzero(mask))
    return bits - (1 << 64) if bits >> 63 else bits


def _promising_plain(width):
    def promising(lanes, totals, n_classes, least, floor):
        rough = estimated(lanes, totals, n_classes, least)[:width]
        return bits_of((rough >= max(rough.max(), floor) * NEARLY) & (rough >= 0.0))

    return promising


def _promising(width):
    def generate(*given):
        lanes, (_, totals, n_classes, least, floor) = Lanes(given, width), given[3]
        start = given[0].make_array(given[2].args[1])(given[0], lanes.builder, totals).data
        rough = lanes.squares(start, n_classes, least)
        is_near = lanes.builder.fcmp_ordered(">=", rough, lanes.bar(rough, floor))
        return lanes.bits(is_near)

    return generate


@instruction(_promising_plain(NARROW))
def promising_narrow(_typing, lanes, totals, n_classes, least, floor):  # noqa: ARG001
    """Return the lanes whose key may be the last one left of the best cut, as bits; of 32 lanes.

    totals  int64 [n_classes]   read   weights of the node
    least   int64               weight that both sides must have, above 0
    floor   float64             squares of a cut that is known: a worse one is not promising
    """
    words = types.int64, types.int64, types.float64
    return types.int64(lanes, totals, *words), _promising(NARROW)


@instruction(_promising_plain(WIDE))
def promising_wide(_typing, lanes, totals, n_classes, least, floor):  # noqa: ARG001
    """Return the same of 64 lanes."""
    words = types.int64, types.int64, types.float64
    return types.int64(lanes, totals, *words), _promising(WIDE)
