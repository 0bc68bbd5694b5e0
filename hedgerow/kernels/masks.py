"""Masks: the rows of a leaf as bits, one for each row of the table.

To divide a leaf of a small table, the codes of a feature are compared 64 at a time, those of all
rows, and what comes out is combined with the leaf's mask: a fraction of the time that moving
its records takes. The records stay where they are, in the order of rows. Only those of the
smaller child are listed, as its histogram is made from them; the larger child's is a difference.

    is_masked   the leaf has a mask, in the place of its number
    is_listed   its records are in records[side, begin:end], as they always are without masks

There are masks if the tree is grown from all rows, each thread divides leaves by itself, every
leaf has room for a histogram, and features are numbers with narrow codes or have sets of categories
that are single words (`trees.regrower`).
"""

import numpy as np
from llvmlite import ir
from numba import types

from hedgerow.kernels.jit import inlined_part, part
from hedgerow.kernels.machine import call_llvm, instruction, lowest_bit, spread
from hedgerow.kernels.partition import with_missing

ROOT_SIDE = 2  # of `records`: those of all rows, in order, which are not moved
_WORD_ROWS = 64
MOST_CATEGORIES = 63  # of a feature whose sets are single words, with a bit for missing values
_ONE = np.uint64(1)
_DENSE = 2  # listed records that are moved in the time in which a word of a mask is divided

_FLAG, _BYTE, _WORD = ir.IntType(1), ir.IntType(8), ir.IntType(64)


def _at_most_plain(codes, first, shift, limit):
    own = codes[first : first + _WORD_ROWS] + np.uint8(shift)
    bits = np.packbits(own <= np.uint8(limit), bitorder="little")
    return int(bits.view(np.int64)[0])


@instruction(_at_most_plain)
def at_most(_typing, codes, first, shift, limit):
    """Return for 64 codes, as bits, whether (code + shift) mod 256 <= limit.

    codes  uint8 [at least first + 64]   read
    """

    def generate(context, builder, signature, arguments):
        array = context.make_array(signature.args[0])(context, builder, arguments[0])
        lane = ir.VectorType(_BYTE, _WORD_ROWS)
        place = builder.bitcast(builder.gep(array.data, [arguments[1]]), lane.as_pointer())
        shift, limit = (spread(builder, argument, lane) for argument in arguments[2:])
        moved = builder.add(builder.load(place, align=1), shift)
        return builder.bitcast(builder.icmp_unsigned("<=", moved, limit), _WORD)

    place = types.int64
    return types.int64(codes, place, types.uint8, types.uint8), generate


def _in_set_plain(codes, first, word):
    own = codes[first : first + _WORD_ROWS] & np.uint8(_WORD_ROWS - 1)
    bits = np.packbits(
        (np.uint64(word) >> own.astype(np.uint64)) & np.uint64(1) == 1, bitorder="little"
    )
    return int(bits.view(np.int64)[0])


@instruction(_in_set_plain)
def in_set(_typing, codes, first, word):
    """Return for 64 codes, as bits, whether bit number (code mod 64) of a word is set.

    codes  uint8 [at least first + 64]   read
    """

    def generate(context, builder, signature, arguments):
        array = context.make_array(signature.args[0])(context, builder, arguments[0])
        lane, wide, flags = (ir.VectorType(kind, _WORD_ROWS) for kind in (_BYTE, _WORD, _FLAG))
        place = builder.bitcast(builder.gep(array.data, [arguments[1]]), lane.as_pointer())
        last = spread(builder, _BYTE(_WORD_ROWS - 1), lane)
        code = builder.zext(builder.and_(builder.load(place, align=1), last), wide)
        shifted = builder.lshr(spread(builder, arguments[2], wide), code)
        return builder.bitcast(builder.trunc(shifted, flags), _WORD)

    return types.int64(codes, types.int64, types.uint64), generate


@instruction(lambda word: (int(word) & (2**64 - 1)).bit_count())
def n_bits(_typing, word):
    """Return how many bits of a word are set."""

    def generate(context, builder, signature, arguments):
        return call_llvm(builder, "llvm.ctpop.i64", _WORD, [arguments[0]])

    return types.int64(types.int64), generate


@part
def mask_all(space, leaf, n_rows):
    """Let leaf 0 have all rows, if there are masks."""
    leaf.is_listed, leaf.is_masked = 1, 0
    if space.masks.shape[1] > 0:
        leaf.is_listed, leaf.is_masked, leaf.side = 0, 1, ROOT_SIDE
        mask = space.masks[0]
        for word in range(mask.shape[0]):
            n_left = n_rows - word * _WORD_ROWS
            mask[word] = -1 if n_left >= _WORD_ROWS else ~(np.int64(-1) << n_left)


@part
def divides_mask(space, leaf):
    """Tell whether a leaf is divided by its mask, and not by moving its records."""
    if not leaf.is_masked or not leaf.has_histogram:
        return False
    return not leaf.is_listed or leaf.n_rows > _DENSE * space.masks.shape[1]


@inlined_part
def divide_mask(codes, split, words, masks, larger, smaller):
    """Set the masks of the two children of leaf `larger`; return how many rows go left.

    The smaller child's is masks[smaller], the larger one's takes the place of their parent's.

    words  int64 [1 or more]   read   the set of categories that go left, if these divide the leaf
    """
    parent, less = masks[larger], masks[smaller]
    about = codes.features[split.feature]
    column, by_set = codes.columns[about.place], about.n_categories > 0
    own = with_missing(words[0], split.missing_left)
    shift, limit = np.uint8(split.missing_left), np.uint8(split.cut + split.missing_left)
    n_whole, n_left, n_rows = column.shape[0] // _WORD_ROWS, np.int64(0), np.int64(0)
    for word in range(parent.shape[0]):
        left = np.int64(0)
        if word < n_whole and by_set:
            left = in_set(column, word * _WORD_ROWS, own)
        elif word < n_whole:
            left = at_most(column, word * _WORD_ROWS, shift, limit)
        else:
            for i in range(column.shape[0] - n_whole * _WORD_ROWS):
                code = np.int64(column[n_whole * _WORD_ROWS + i])
                goes_left = (code + split.missing_left) & 255 <= limit
                if by_set:
                    goes_left = (own >> np.uint64(code & (_WORD_ROWS - 1))) & _ONE == _ONE
                left |= np.int64(goes_left) << i
        left &= parent[word]
        less[word] = left
        n_left += n_bits(left)
        n_rows += n_bits(parent[word])
    left_is_smaller = 2 * n_left <= n_rows
    for word in range(parent.shape[0]):
        right = parent[word] ^ less[word]
        if left_is_smaller:
            parent[word] = right
        else:
            parent[word], less[word] = less[word], right
    return n_left


@part
def list_rows(space, leaf, slot):
    """Write the records of a leaf that has a mask one after another, into its own range."""
    mask, records, place = space.masks[slot], space.records[ROOT_SIDE], leaf.begin
    target = space.records[0]
    for word in range(mask.shape[0]):
        bits = mask[word]
        while bits != 0:
            row = lowest_bit(bits)
            target[place] = records[word * _WORD_ROWS + row]
            bits ^= np.int64(1) << row
            place += 1
    leaf.is_listed, leaf.side = 1, 0


@part
def close_mask(nodes, node, mask):
    """Note for each row of a mask that it ends in leaf `node`."""
    for word in range(mask.shape[0]):
        bits = mask[word]
        while bits != 0:
            row = lowest_bit(bits)
            nodes.leaf_of_row[word * _WORD_ROWS + row] = node
            bits ^= np.int64(1) << row
