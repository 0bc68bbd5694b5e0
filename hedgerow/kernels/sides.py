"""Sides: as many records as a register holds go to their sides of a split at once.

The records of a register change places, those that go left before those that go right. The
register is then written twice: where the left ones go on, and so that it ends where the right
ones do. What is written to the wrong side is written over by the next register.
"""

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils

from hedgerow.kernels.machine import call_llvm, instruction, spread

_BYTE, _INT, _WORD = ir.IntType(8), ir.IntType(32), ir.IntType(64)
_PLAIN = 8  # records at once, without the JIT
_ROW = 0xFFFFFFFF


def _n_abreast(context: Any) -> int:
    """Return how many records a register holds that can be permuted; 1 if none can be."""
    features = context.codegen().magic_tuple()[2].split(",")
    if "+avx512f" in features:
        return 8
    return 4 if "+avx2" in features else 1


@instruction(lambda: _PLAIN)
def abreast(_typing):
    """Return how many records are dealt out at once."""

    def generate(*given):
        return _WORD(_n_abreast(given[0]))

    return types.int64(), generate


def _sides_one_by_one(column, source, first, shift, limit):
    codes = column[source[first : first + _PLAIN] & _ROW] + np.uint8(shift)
    return sum(1 << i for i in range(_PLAIN) if codes[i] <= limit)


@instruction(_sides_one_by_one)
def sides_up_to(_typing, column, source, first, shift, limit):  # noqa: ARG001
    """Return a bit for each of some records: set if (code + shift) % 256 <= limit.

    column  uint8 [n_rows]   read
    source  int64 [n]        read   records; those from `first` on
    """

    def generate(context, builder, signature, arguments):
        codes = _codes(context, builder, signature, arguments)
        shift, limit = (
            spread(builder, builder.trunc(number, _BYTE), codes.type) for number in arguments[3:]
        )
        return _bits(builder, builder.icmp_unsigned("<=", builder.add(codes, shift), limit))

    return types.int64(column, source, types.int64, types.int64, types.int64), generate


def _members_one_by_one(column, source, first, word):
    codes = column[source[first : first + _PLAIN] & _ROW] & 63
    return sum(1 << i for i in range(_PLAIN) if int(word) >> int(codes[i]) & 1)


@instruction(_members_one_by_one)
def sides_of_set(_typing, column, source, first, word):  # noqa: ARG001
    """Return a bit for each of some records: the bit of `word` that its code % 64 names."""

    def generate(context, builder, signature, arguments):
        codes = _codes(context, builder, signature, arguments)
        words = ir.VectorType(_WORD, codes.type.count)
        places = builder.and_(builder.zext(codes, words), spread(builder, _WORD(63), words))
        moved = builder.lshr(spread(builder, arguments[3], words), places)
        return _bits(builder, builder.trunc(moved, ir.VectorType(ir.IntType(1), words.count)))

    return types.int64(column, source, types.int64, types.uint64), generate


def _codes(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    """Return the codes of the records source[first], source[first + 1], .. side by side."""
    lane = ir.VectorType(_BYTE, _n_abreast(context))
    column, source = (_start(context, builder, signature, arguments, i) for i in range(2))
    codes = ir.Constant(lane, ir.Undefined)
    for i in range(lane.count):
        record = builder.load(builder.gep(source, [builder.add(arguments[2], _WORD(i))]))
        row = builder.and_(record, _WORD(_ROW))
        codes = builder.insert_element(codes, builder.load(builder.gep(column, [row])), _INT(i))
    return codes


def _bits(builder: Any, flags: Any) -> Any:
    return builder.zext(builder.bitcast(flags, ir.IntType(flags.type.count)), _WORD)


def _start(context: Any, builder: Any, signature: Any, arguments: Any, which: int) -> Any:
    """Return where an array begins."""
    array = context.make_array(signature.args[which])(context, builder, arguments[which])
    return array.data


def _deal_one_by_one(source, first, target, low, high, bits):
    some = source[first : first + _PLAIN]
    is_left = (bits >> np.arange(_PLAIN)) & 1 == 1
    some = np.concatenate([some[is_left], some[~is_left]])
    target[low : low + _PLAIN] = some
    target[high - _PLAIN + 1 : high + 1] = some
    return low + np.count_nonzero(is_left)


@instruction(_deal_one_by_one)
def deal_out(_typing, source, first, target, low, high, bits):  # noqa: ARG001
    """Write some records upwards from target[low] if their bit is set, or downwards from `high`.

    source, target  int64 [n]   read, write   at least twice as many places are free as are dealt

    Returns the next `low`.
    """

    def generate(context, builder, signature, arguments):
        count = _n_abreast(context)
        register = ir.VectorType(_WORD, count)
        source, target = (_start(context, builder, signature, arguments, i) for i in (0, 2))
        first, low, high, bits = (arguments[i] for i in (1, 3, 4, 5))
        records = builder.load(_register(builder, source, first, register), align=8)
        dealt = _permuted(builder, records, bits)
        ends = low, builder.sub(high, _WORD(count - 1))
        for place in ends:
            builder.store(dealt, _register(builder, target, place, register), align=8)
        return builder.add(low, call_llvm(builder, "llvm.ctpop.i64", _WORD, [bits]))

    number = types.int64
    return number(source, number, target, number, number, number), generate


def _register(builder: Any, start: Any, place: Any, register: Any) -> Any:
    return builder.bitcast(builder.gep(start, [place]), register.as_pointer())


def _permuted(builder: Any, records: Any, bits: Any) -> Any:
    """Return the records of a register, those whose bit is set first."""
    count = records.type.count
    if count == 1:
        return records
    # AVX-512 permutes words by their numbers, which a byte holds; AVX2 halves of words.
    halves = 1 if count == 8 else 2
    item = _BYTE if count == 8 else _INT
    places = ir.VectorType(item, halves * count)
    rows = [ir.Constant(places, _order(number, count, halves)) for number in range(1 << count)]
    table = ir.Constant(ir.ArrayType(places, len(rows)), rows)
    orders = cgutils.global_constant(builder, "orders_of_sides", table)
    order = builder.load(builder.gep(orders, [_WORD(0), bits]))
    if count == 8:
        given = [records, builder.zext(order, records.type)]
        return call_llvm(builder, "llvm.x86.avx512.permvar.di.512", records.type, given)
    given = [builder.bitcast(records, places), order]
    permuted = call_llvm(builder, "llvm.x86.avx2.permd", places, given)
    return builder.bitcast(permuted, records.type)


def _order(bits: int, count: int, pieces: int) -> list[int]:
    """Return the places of the pieces of records, those first whose bit is set."""
    records = sorted(range(count), key=lambda record: not bits >> record & 1)
    return [pieces * record + piece for record in records for piece in range(pieces)]
