"""Shuffles: keys of a row by column where registers permute bytes only, 16 at a time (AVX2).

A register has two lanes of 16 bytes, and a shuffle takes a byte of its own lane, or 0 where the
place that is asked for is below 0. So both registers of a row's 32 keys are asked, each lane for
the same places less its own beginning: a lane that begins further up answers 0, and one that ends
further down answers what stands at the place's last four bits. That is why the lanes of a row are
made *differences*: each is what it has in common with none but itself, combined by exclusive or,

    lane 0 as it is, lane 1 ^ lane 0, lane 2 ^ lane 1, lane 3 ^ lane 2,

so that the answers of the first lanes, up to the key's own, add up to the key. Columns of splits
are the places of their two bytes. Comparisons know signs only: keys have their highest bit flipped.
"""

from typing import Any

from llvmlite import ir
from numba.core import cgutils

from hedgerow.kernels.machine import call_llvm, spread

KEYS = 32  # of a row: two registers
PLACES, FIRST_PLACES, FLIPPED = 0x0202, 0x0100, 0x8000  # column 3 is at bytes 6 and 7: 0x0706

_BYTE, _HALF, _INT, _WORD = (ir.IntType(bits) for bits in (8, 16, 32, 64))
_LANE, _REGISTER = ir.VectorType(_BYTE, 16), ir.VectorType(_BYTE, 32)
_SPLITS, _LISTED = ir.VectorType(_HALF, 8), ir.VectorType(_INT, 8)
_OUT = 8  # rows of a list that are looked at at once
_HALVES = 2  # registers of a row, and lanes of a register


def _numbers(first: int, end: int) -> Any:
    return ir.Constant(ir.VectorType(_INT, end - first), list(range(first, end)))


def _registers(builder: Any, own: Any) -> list[Any]:
    """Return where the registers of a row are, given its first key."""
    firsts = (builder.gep(own, [_WORD(16 * i)]) for i in range(_HALVES))
    return [builder.bitcast(first, _REGISTER.as_pointer()) for first in firsts]


def make_differences(builder: Any, own: Any) -> None:
    """Make a row's keys ready for `answers_of`."""
    places = _registers(builder, own)
    low, high = (builder.load(place, align=2) for place in places)
    flips = ir.Constant(_REGISTER, [0, FLIPPED >> 8] * 8 + [0] * 16)
    before = (ir.Constant(_REGISTER, None), low), (low, high)
    for place, (first, own_keys), flip in zip(places, before, (flips, None), strict=True):
        shifted = builder.shuffle_vector(first, own_keys, _numbers(16, 48))
        made = builder.xor(own_keys, shifted)
        builder.store(made if flip is None else builder.xor(made, flip), place, align=2)


def answers_of(builder: Any, own: Any, flight: Any) -> Any:
    """Return the answers of a flight's splits to a row, as bits of a word."""
    columns = builder.load(builder.bitcast(flight, _LANE.as_pointer()), align=2)
    both = ir.Constant(ir.VectorType(_INT, 32), list(range(16)) * _HALVES)
    columns, found = builder.shuffle_vector(columns, columns, both), []
    for i, place in enumerate(_registers(builder, own)):
        begins = ir.Constant(_REGISTER, [32 * i] * 16 + [32 * i + 16] * 16)
        given = [builder.load(place, align=2), builder.sub(columns, begins)]
        found.append(call_llvm(builder, "llvm.x86.avx2.pshuf.b", _REGISTER, given))
    taken = builder.xor(*found)
    lanes = [builder.shuffle_vector(taken, taken, _numbers(first, first + 16)) for first in (0, 16)]
    cuts = builder.bitcast(builder.gep(flight, [_WORD(4)]), _SPLITS.as_pointer())
    keys = builder.bitcast(builder.xor(*lanes), _SPLITS)
    is_above = builder.sext(builder.icmp_signed(">", keys, builder.load(cuts, align=2)), _SPLITS)
    given = [is_above, ir.Constant(_SPLITS, None)]
    packed = call_llvm(builder, "llvm.x86.sse2.packsswb.128", _LANE, given)
    return builder.zext(call_llvm(builder, "llvm.x86.sse2.pmovmskb.128", _INT, [packed]), _WORD)


def close_lists(builder: Any, starts: Any, window: Any, abreast: int) -> Any:
    """Close up two lists by where the second one is above 0; return how many are kept."""
    first, n_rows, n_kept = window
    for before in range(0, abreast, _OUT):
        begin = builder.add(first, _WORD(before))
        lists = [builder.load(_list(builder, start, begin), align=4) for start in starts]
        n_left = spread(builder, builder.trunc(n_rows, _INT), _LISTED)
        is_row = builder.icmp_signed("<", _numbers(before, before + _OUT), n_left)
        is_going = builder.icmp_signed(">", lists[1], ir.Constant(_LISTED, None))
        bits = builder.zext(builder.bitcast(builder.and_(is_row, is_going), _BYTE), _WORD)
        order = _order(builder, bits)
        for start, words in zip(starts, lists, strict=True):
            kept = call_llvm(builder, "llvm.x86.avx2.permd", _LISTED, [words, order])
            builder.store(kept, _list(builder, start, n_kept), align=4)
        n_kept = builder.add(n_kept, call_llvm(builder, "llvm.ctpop.i64", _WORD, [bits]))
    return n_kept


def _list(builder: Any, start: Any, first: Any) -> Any:
    return builder.bitcast(builder.gep(start, [first]), _LISTED.as_pointer())


def _order(builder: Any, bits: Any) -> Any:
    """Return the numbers of the bits that are set, the lowest first: there is a table of them."""
    rows = [[bit for bit in range(_OUT) if word >> bit & 1] for word in range(1 << _OUT)]
    words = [sum(bit << 8 * i for i, bit in enumerate(row)) for row in rows]
    table = ir.Constant(ir.ArrayType(_WORD, len(words)), words)
    places = cgutils.global_constant(builder, "numbers of bits", table)
    word = builder.load(builder.gep(places, [_WORD(0), bits]))
    return builder.zext(builder.bitcast(word, ir.VectorType(_BYTE, _OUT)), _LISTED)
