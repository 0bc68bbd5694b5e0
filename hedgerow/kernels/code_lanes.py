"""Code lanes: what is asked of all codes of a feature at once, in a node of some hundred rows.

Here a lane of SUMS is of a code, not of a row. Rows are added to the lane of their code and class;
then each lane is given the sums of all codes up to its own. See `lanes`.
"""

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils

from hedgerow.kernels.lanes import NEARLY, SUMS, WIDE, Lanes, bits_of, estimated
from hedgerow.kernels.machine import instruction

_SHORT, _INT, _WORD, _FLOAT = ir.IntType(16), ir.IntType(32), ir.IntType(64), ir.FloatType()


def _accumulate_plain(lanes, n_chunks, n_classes, words):
    cells = lanes[SUMS : SUMS + n_classes]
    for chunk in range(n_chunks):
        words[chunk] = bits_of((cells[:, chunk * WIDE : (chunk + 1) * WIDE] != 0).any(axis=0))
    np.cumsum(cells[:, : n_chunks * WIDE], axis=1, out=cells[:, : n_chunks * WIDE])


@instruction(_accumulate_plain)
def accumulate(_typing, lanes, n_chunks, n_classes, words):  # noqa: ARG001
    """Add up SUMS of codes from the first on; set `words` to the codes that occur, as bits.

    words  int64 [n_chunks]   write   64 codes each
    """

    def generate(*given):
        _, n_chunks, n_classes, words = given[3]
        builder, lanes = given[1], Lanes(given, WIDE)
        start = given[0].make_array(given[2].args[3])(given[0], builder, words).data
        nothing = ir.Constant(lanes.shorts, None)
        with cgutils.for_range(builder, n_chunks, intp=_WORD) as chunk:
            builder.store(_WORD(0), builder.gep(start, [chunk.index]))
        with cgutils.for_range(builder, n_classes, intp=_WORD) as own_class:
            number = builder.add(own_class.index, _WORD(SUMS))
            before = cgutils.alloca_once_value(builder, _SHORT(0))
            with cgutils.for_range(builder, n_chunks, intp=_WORD) as chunk:
                lanes.first = builder.mul(chunk.index, _WORD(WIDE))
                cells = lanes.load(number)
                place = builder.gep(start, [chunk.index])
                occurs = lanes.bits(builder.icmp_signed("!=", cells, nothing))
                builder.store(builder.or_(builder.load(place), occurs), place)
                for step in (1, 2, 4, 8, 16, 32):
                    moved = [WIDE - step + lane for lane in range(WIDE)]  # zeros come first
                    by = ir.Constant(ir.VectorType(_INT, WIDE), moved)
                    cells = builder.add(cells, builder.shuffle_vector(nothing, cells, by))
                cells = builder.add(cells, lanes.spread(builder.load(before)))
                builder.store(cells, lanes.row(number), align=2)
                builder.store(builder.extract_element(cells, _INT(WIDE - 1)), before)
        return given[0].get_dummy_value()

    return types.void(lanes, types.int64, types.int64, words), generate


def _promising_plain(lanes, totals, n_classes, least, floor, n_chunks, words, rough):
    rough[: n_chunks * WIDE] = estimated(lanes, totals, n_classes, least)[: n_chunks * WIDE]
    known = rough[: n_chunks * WIDE]
    is_near = (known >= max(known.max(), floor) * NEARLY) & (known >= 0.0)
    for chunk in range(n_chunks):
        words[chunk] &= bits_of(is_near[chunk * WIDE : (chunk + 1) * WIDE])


@instruction(_promising_plain)
def keep_promising(_typing, lanes, totals, n_classes, least, floor, n_chunks, words, rough):  # noqa: ARG001
    """Keep of the codes in `words` those that may be the last one left of the best cut.

    totals, least, floor   as in lanes.promising_narrow
    rough                  float32 [64 * n_chunks]   write   garbage
    """

    def generate(*given):
        _, totals, n_classes, least, floor, n_chunks, *_ = given[3]
        builder, lanes = given[1], Lanes(given, WIDE)
        totals, words, rough = (
            given[0].make_array(given[2].args[i])(given[0], builder, given[3][i]).data
            for i in (1, 6, 7)
        )
        ints = ir.VectorType(_INT, WIDE)
        none = ir.Constant(ints, [-1] * WIDE)
        largest = cgutils.alloca_once_value(builder, none)

        def estimates(first):
            return builder.bitcast(builder.gep(rough, [first]), lanes.floats.as_pointer())

        with cgutils.for_range(builder, n_chunks, intp=_WORD) as chunk:
            lanes.first = builder.mul(chunk.index, _WORD(WIDE))
            own = lanes.squares(totals, n_classes, least)
            builder.store(own, estimates(lanes.first), align=4)
            own, known = builder.bitcast(own, ints), builder.load(largest)
            is_higher = builder.icmp_signed(">", own, known)
            builder.store(builder.select(is_higher, own, known), largest)
        bar = lanes.bar(builder.load(largest), floor)
        with cgutils.for_range(builder, n_chunks, intp=_WORD) as chunk:
            own = builder.load(estimates(builder.mul(chunk.index, _WORD(WIDE))), align=4)
            place = builder.gep(words, [chunk.index])
            is_near = lanes.bits(builder.fcmp_ordered(">=", own, bar))
            builder.store(builder.and_(builder.load(place), is_near), place)
        return given[0].get_dummy_value()

    given = lanes, totals, types.int64, types.int64, types.float64, types.int64, words, rough
    return types.void(*given), generate
