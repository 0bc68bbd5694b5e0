"""Rows of a block as bits: those that meet a condition, and those that reach a node.

    condition of a split     1 0 1 1 ...     a bit for each row: does it go left
    rows that reach a node   1 1 0 1 ...     left child: both bits; right child: only this one

A block has LANE rows, so that their bits are 64 bytes: one register, where registers are wide.
"""

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils

from hedgerow.kernels.blocks import LANE, place_of
from hedgerow.kernels.machine import instruction, spread

BITS = LANE // 8  # bytes of the bits of a block's rows
LEAST_PLANES, MOST_PLANES = 4, 8

_BYTE, _WORD = ir.IntType(8), ir.IntType(64)
_ROWS, _ROW_BYTES = ir.VectorType(_WORD, LANE // 64), ir.VectorType(_BYTE, 64)
_N_WORDS = LANE // 64
_GROUP = 1 << LEAST_PLANES  # leaves that are looked at together


def _mark_bytes(lanes, test, limit, target):
    meets = lanes[test : test + LANE] <= limit
    lanes[target : target + BITS] = np.packbits(meets, bitorder="little")


@instruction(_mark_bytes)
def mark(_typing, lanes, test, limit, target):  # noqa: ARG001
    """Set the bits at `target` of the rows whose byte at `test` is <= limit."""

    def generate(*given):
        context, builder, _, (_, test, limit, target) = given
        bound = spread(builder, limit, _ROW_BYTES)
        for word in range(_N_WORDS):
            source = place_of(given, test, 64 * word, _ROW_BYTES)
            meets = builder.icmp_unsigned("<=", builder.load(source, align=1), bound)
            place = place_of(given, target, 8 * word, _WORD)
            builder.store(builder.bitcast(meets, _WORD), place, align=1)
        return context.get_dummy_value()

    place = types.int64
    return types.void(lanes, place, types.uint8, place), generate


def _part_bytes(lanes, condition, source, left, right):
    meets, rows = (lanes[place : place + BITS].copy() for place in (condition, source))
    lanes[left : left + BITS] = rows & meets
    lanes[right : right + BITS] = rows & ~meets


@instruction(_part_bytes)
def part_rows(_typing, lanes, condition, source, left, right):  # noqa: ARG001
    """Part the rows whose bits are at `source` into those that meet a condition, and the others."""

    def generate(*given):
        context, builder, _, (_, condition, source, left, right) = given
        meets, rows = (
            builder.load(place_of(given, place, 0, _ROWS), align=1) for place in (condition, source)
        )
        builder.store(builder.and_(rows, meets), place_of(given, left, 0, _ROWS), align=1)
        others = builder.and_(rows, builder.not_(meets))
        builder.store(others, place_of(given, right, 0, _ROWS), align=1)
        return context.get_dummy_value()

    place = types.int64
    return types.void(lanes, place, place, place, place), generate


def _number_bytes(lanes, first, n_planes, planes, target):
    n_leaves = 1 << n_planes
    rows = lanes[first : first + n_leaves * BITS].reshape(n_leaves, BITS)
    reached = np.unpackbits(rows, axis=1, bitorder="little")
    lanes[target : target + LANE] = np.argmax(reached, axis=0)
    lanes[planes : planes + MOST_PLANES * BITS] = 0


@instruction(_number_bytes)
def number_leaves(_typing, lanes, first, n_planes, planes, target):  # noqa: ARG001
    """Set the lane at `target` to the number of the leaf that each row reaches.

    The bits of the leaves' rows follow one another from `first` on; there are 2^n_planes leaves,
    LEAST_PLANES or more planes, and each row reaches one leaf, or none, which is leaf 0. A plane
    is a digit of the numbers of all rows; it takes BITS bytes from `planes` on, garbage after it.
    """

    def generate(*given):
        _set_planes(given)
        _set_numbers(given)
        return given[0].get_dummy_value()

    place = types.int64
    return types.void(lanes, place, place, place, place), generate


def _set_planes(given):
    """Set plane p to the rows of all leaves whose number has digit p, a group after another."""
    _, builder, _, (_, first, n_planes, planes, _) = given
    nothing = ir.Constant(_ROWS, None)
    sums = [cgutils.alloca_once_value(builder, nothing) for _ in range(MOST_PLANES)]

    def add(plane, rows):
        builder.store(builder.or_(builder.load(sums[plane]), rows), sums[plane])

    n_groups = builder.shl(_WORD(1), builder.sub(n_planes, _WORD(LEAST_PLANES)))
    with cgutils.for_range(builder, n_groups, intp=_WORD) as loop:
        start = builder.add(first, builder.mul(loop.index, _WORD(BITS * _GROUP)))
        places = [place_of(given, start, BITS * leaf, _ROWS) for leaf in range(_GROUP)]
        rows = [builder.load(place, align=1) for place in places]
        for plane in range(LEAST_PLANES):
            for odd in rows[1::2]:
                add(plane, odd)
            rows = [builder.or_(*pair) for pair in zip(rows[::2], rows[1::2], strict=True)]
        for plane in range(LEAST_PLANES, MOST_PLANES):
            digit = builder.and_(builder.lshr(loop.index, _WORD(plane - LEAST_PLANES)), _WORD(1))
            add(plane, builder.and_(rows[0], spread(builder, builder.neg(digit), _ROWS)))
    for plane in range(MOST_PLANES):
        place = place_of(given, planes, BITS * plane, _ROWS)
        builder.store(builder.load(sums[plane]), place, align=1)


def _set_numbers(given):
    """Make bytes of planes, for all rows one digit after another."""
    _, builder, _, (_, _, n_planes, planes, target) = given
    nothing = ir.Constant(_ROW_BYTES, None)
    numbers = [cgutils.alloca_once_value(builder, nothing) for _ in range(_N_WORDS)]
    with cgutils.for_range(builder, n_planes, intp=_WORD) as loop:
        plane = builder.add(planes, builder.mul(loop.index, _WORD(BITS)))
        digit = builder.trunc(builder.shl(_WORD(1), loop.index), _BYTE)
        digits = spread(builder, digit, _ROW_BYTES)
        for word, number in enumerate(numbers):
            bits = builder.load(place_of(given, plane, 8 * word, _WORD), align=1)
            is_set = builder.bitcast(bits, ir.VectorType(ir.IntType(1), 64))
            known = builder.load(number)
            builder.store(builder.select(is_set, builder.or_(known, digits), known), number)
    for word, number in enumerate(numbers):
        place = place_of(given, target, 64 * word, _ROW_BYTES)
        builder.store(builder.load(number), place, align=1)
