"""Blocks: what a split does for many rows at once, a byte for each.

A lane is a byte for each row of a block: of a code, of the side that a row goes to, or of the
leaf that it reaches. See `grove` and `routes`.
"""

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types

from hedgerow.kernels.machine import address, instruction, spread

LANE = 512  # bytes that `choose` handles at once: one for each row of a block
WORD_LANE = 64  # bytes that `look_up` handles at once

_BYTE, _WORD = ir.IntType(8), ir.IntType(64)


def _choose_bytes(lanes, test, limit, left, right, target):
    test, left, right, target = (
        slice(place, place + LANE) for place in (test, left, right, target)
    )
    lanes[target] = np.where(lanes[test] <= limit, lanes[left], lanes[right])


@instruction(_choose_bytes)
def choose(_typing, lanes, test, limit, left, right, target):
    """Set the lane at `target` to that at `left` where the one at `test` is <= limit, else `right`.

    A lane is LANE bytes of `lanes`. The target may be one of the other lanes, not overlap it.
    """

    def generate(context, builder, signature, arguments):
        lane = ir.VectorType(_BYTE, LANE)
        _, test, limit, left, right, target = arguments
        given = context, builder, signature, arguments
        places = [place_of(given, place, 0, lane) for place in (test, left, right, target)]
        tested, if_left, if_right = (builder.load(place, align=1) for place in places[:3])
        goes_left = builder.icmp_unsigned("<=", tested, spread(builder, limit, lane))
        builder.store(builder.select(goes_left, if_left, if_right), places[3], align=1)
        return context.get_dummy_value()

    place = types.int64
    return types.void(lanes, place, types.uint8, place, place, place), generate


def _look_up_bytes(lanes, codes, word, target):
    own = lanes[codes : codes + WORD_LANE].astype(np.uint64) & np.uint64(WORD_LANE - 1)
    lanes[target : target + WORD_LANE] = ~(np.uint64(word) >> own) & np.uint64(1)


@instruction(_look_up_bytes)
def look_up(_typing, lanes, codes, word, target):
    """Set 64 bytes from `target` on to 0 where bit (code mod 64) of a word is set, else to 1.

    The codes are the 64 bytes of `lanes` from `codes` on.
    """

    def generate(context, builder, signature, arguments):
        lane, wide = (ir.VectorType(kind, WORD_LANE) for kind in (_BYTE, _WORD))
        _, codes, word, target = arguments
        given = context, builder, signature, arguments
        source, place = (place_of(given, each, 0, lane) for each in (codes, target))
        last = spread(builder, _BYTE(WORD_LANE - 1), lane)
        code = builder.zext(builder.and_(builder.load(source, align=1), last), wide)
        shifted = builder.trunc(builder.lshr(spread(builder, word, wide), code), lane)
        side = builder.and_(builder.not_(shifted), spread(builder, _BYTE(1), lane))
        builder.store(side, place, align=1)
        return context.get_dummy_value()

    place = types.int64
    return types.void(lanes, place, types.uint64, place), generate


def place_of(given: Any, place: Any, beyond: int, kind: Any) -> Any:
    """Return where what is `beyond` bytes after a place of a generator's first array begins."""
    context, builder, signature, arguments = given
    place = builder.add(place, _WORD(beyond))
    start = address(context, builder, signature, [arguments[0], place], _BYTE)
    return builder.bitcast(start, kind.as_pointer())
