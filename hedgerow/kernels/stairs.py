"""Stairs: three steps down a tree at once, and lists of rows that close up.

A *flight* is a node with what is below it, three levels deep: seven splits and eight ways out. All
seven are tried for a row at once, whose keys are one or two registers: each split takes that of
its own column. See flights.py for what a flight is made of.

Registers of 512 bits take any of their keys (AVX-512BW). Those of 256 bits take bytes (AVX2): there
rows have 32 keys, and `ready`, `column_of` and `cut_of` write keys, columns and cuts as shuffles.py
wants them. Elsewhere they leave them as they are.
"""

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core.registry import cpu_target

from hedgerow.kernels import shuffles
from hedgerow.kernels.jit import config
from hedgerow.kernels.machine import call_llvm, instruction, spread

REGISTER = 32  # keys of 16 bits
SPLITS = 8  # of a flight, of which one is none
ABREAST = 16  # rows that are looked at at once when a list closes up

_HALF, _INT, _WORD = ir.IntType(16), ir.IntType(32), ir.IntType(64)
_KEYS, _SOME = ir.VectorType(_HALF, REGISTER), ir.VectorType(_HALF, SPLITS)
_PLACES, _NOWHERE = ir.VectorType(_INT, ABREAST), ir.Constant(ir.VectorType(_INT, ABREAST), None)


def widest() -> int:
    """Return how many keys a row has at most whose flights are tried at once; 0 if none can be."""
    if config.DISABLE_JIT:
        return 2 * REGISTER
    if _has("+avx512bw"):
        return 2 * REGISTER
    return shuffles.KEYS if _has("+avx2") else 0


def _has(feature: str) -> bool:
    return feature in cpu_target.target_context.codegen().magic_tuple()[2].split(",")


def _shuffles() -> bool:
    return not _has("+avx512bw")


def _first_key(given: Any, width: Any) -> Any:
    """Return where the keys of row arguments[1] begin in the table arguments[0]."""
    context, builder, signature, arguments = given
    table = context.make_array(signature.args[0])(context, builder, arguments[0])
    place = builder.mul(arguments[1], width or builder.extract_value(table.shape, 1))
    return builder.gep(builder.bitcast(table.data, _HALF.as_pointer()), [place])


@instruction(lambda keys, row: None)  # noqa: ARG005
def ready(_typing, keys, row):
    """Make the keys of a row ready for `answers`.

    keys  uint16 [n_rows, REGISTER or 2 REGISTER]   both
    """

    def generate(*given):
        if _shuffles():
            shuffles.make_differences(given[1], _first_key(given, _WORD(shuffles.KEYS)))
        return given[0].get_dummy_value()

    return types.void(keys, types.int64), generate


@instruction(lambda column: column)
def column_of(_typing, column):
    """Return what a flight has for the column of a split."""

    def generate(context, builder, signature, arguments):
        if not _shuffles():
            return arguments[0]
        places = builder.mul(arguments[0], _WORD(shuffles.PLACES))
        return builder.add(places, _WORD(shuffles.FIRST_PLACES))

    return types.int64(types.int64), generate


@instruction(lambda key: key)
def cut_of(_typing, key):
    """Return what a flight has for the key of a split."""

    def generate(context, builder, signature, arguments):
        return builder.xor(arguments[0], _WORD(shuffles.FLIPPED if _shuffles() else 0))

    return types.int64(types.int64), generate


def _answers_one_by_one(keys, row, words, place):
    halves = words[place : place + SPLITS].view(np.uint16)
    is_above = keys[row][halves[:SPLITS]] > halves[SPLITS:]
    return sum(1 << split for split in range(SPLITS) if is_above[split])


@instruction(_answers_one_by_one)
def answers(_typing, keys, row, words, place):
    """Return a bit for each split of a flight, set if the row's key is above that of the split.

    keys   uint16 [n_rows, REGISTER or 2 REGISTER]   read    ready
    words  int32 [n_words]                           read    of flights; this one begins at place
    """

    def generate(*given):
        context, builder, signature, arguments = given
        array = context.make_array(signature.args[2])(context, builder, arguments[2])
        flight = builder.gep(builder.bitcast(array.data, _INT.as_pointer()), [arguments[3]])
        if _shuffles():
            own = _first_key(given, _WORD(shuffles.KEYS))
            return shuffles.answers_of(builder, own, flight)
        table = context.make_array(signature.args[0])(context, builder, arguments[0])
        width, own = builder.extract_value(table.shape, 1), _first_key(given, None)
        columns, cuts = (_some(builder, builder.gep(flight, [_WORD(i)])) for i in (0, SPLITS // 2))
        numbers = list(range(SPLITS)) + [SPLITS] * (REGISTER - SPLITS)
        lanes = ir.Constant(ir.VectorType(_INT, REGISTER), numbers)
        columns = builder.shuffle_vector(columns, ir.Constant(_SOME, None), lanes)
        taken = _taken(builder, own, columns, builder.icmp_signed(">", width, _WORD(REGISTER)))
        firsts = ir.Constant(ir.VectorType(_INT, SPLITS), list(range(SPLITS)))
        found = builder.shuffle_vector(taken, taken, firsts)
        bits = builder.bitcast(builder.icmp_unsigned(">", found, cuts), ir.IntType(SPLITS))
        return builder.zext(bits, _WORD)

    return types.int64(keys, types.int64, words, types.int64), generate


def _some(builder: Any, start: Any) -> Any:
    """Return eight halves of words, from a place on."""
    return builder.load(builder.bitcast(start, _SOME.as_pointer()), align=2)


def _taken(builder: Any, own: Any, columns: Any, is_long: Any) -> Any:
    """Return the keys of a row in some columns, of two registers or of one."""
    registers = [builder.gep(own, [_WORD(first)]) for first in (0, REGISTER)]
    with builder.if_else(is_long) as (if_long, if_short):
        with if_long:
            low, high = (_register(builder, each) for each in registers)
            name = "llvm.x86.avx512.vpermi2var.hi.512"
            of_two, after_two = call_llvm(builder, name, _KEYS, [low, columns, high]), builder.block
        with if_short:
            name, only = "llvm.x86.avx512.permvar.hi.512", _register(builder, registers[0])
            of_one, after_one = call_llvm(builder, name, _KEYS, [only, columns]), builder.block
    taken = builder.phi(_KEYS)
    taken.add_incoming(of_two, after_two)
    taken.add_incoming(of_one, after_one)
    return taken


def _register(builder: Any, start: Any) -> Any:
    return builder.load(builder.bitcast(start, _KEYS.as_pointer()), align=2)


def _close_one_by_one(rows, places, window):
    first, n_rows, n_kept = window
    for i in range(first, first + min(n_rows, ABREAST)):
        if places[i] > 0:
            rows[n_kept], places[n_kept] = rows[i], places[i]
            n_kept += 1
    return n_kept


@instruction(_close_one_by_one)
def close_up(_typing, rows, places, window):
    """Keep some rows of a list that have a place above 0, from n_kept <= first on.

    rows    int32 [n + ABREAST]     both
    places  int32 [n + ABREAST]     both
    window  first, n_rows, n_kept           rows first .. first + min(n_rows, ABREAST)

    Returns what n_kept has grown to; after it the list may be garbage up to first + ABREAST.
    """

    def generate(context, builder, signature, arguments):
        arrays = zip(signature.args[:2], arguments[:2], strict=True)
        starts = [context.make_array(kind)(context, builder, each).data for kind, each in arrays]
        first, n_rows, n_kept = (builder.extract_value(arguments[2], i) for i in range(3))
        if _shuffles():
            return shuffles.close_lists(builder, starts, (first, n_rows, n_kept), ABREAST)
        lists = [builder.load(_list(builder, start, first), align=4) for start in starts]
        numbers = ir.Constant(_PLACES, list(range(ABREAST)))
        is_row = builder.icmp_signed(
            "<", numbers, spread(builder, builder.trunc(n_rows, _INT), _PLACES)
        )
        goes_on = builder.and_(is_row, builder.icmp_signed(">", lists[1], _NOWHERE))
        for start, words in zip(starts, lists, strict=True):
            given = [words, goes_on, ir.Constant(_PLACES, ir.Undefined)]
            kept = call_llvm(
                builder, f"llvm.experimental.vector.compress.v{ABREAST}i32", _PLACES, given
            )
            builder.store(kept, _list(builder, start, n_kept), align=4)
        bits = builder.bitcast(goes_on, _HALF)
        n_more = call_llvm(builder, f"llvm.ctpop.i{ABREAST}", _HALF, [bits])
        return builder.add(n_kept, builder.zext(n_more, _WORD))

    return types.int64(rows, places, types.UniTuple(types.int64, 3)), generate


def _list(builder: Any, start: Any, first: Any) -> Any:
    return builder.bitcast(builder.gep(start, [first]), _PLACES.as_pointer())
