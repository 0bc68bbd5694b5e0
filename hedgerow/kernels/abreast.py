"""One step down a packed tree: of one row, and of 32 rows abreast.

A processor guesses which way a row will go, and at a good split it cannot know. Rows abreast
are never guessed about: what each of them needs is gathered into vectors, which are compared
and chosen from. What a machine cannot do with its vectors LLVM does number by number.
"""

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types

from hedgerow.kernels.jit import inlined_part
from hedgerow.kernels.machine import call_llvm, instruction
from hedgerow.kernels.packed import BY_CATEGORY, FEATURE, HEAVIER_LEFT, MISSING_LEFT, PACKED

ABREAST = 32  # rows that take a step at once
SEAT = 16  # bits of a key for the row's number in its block; above them, where its values begin
_PIECE = 8  # rows whose keys are one register of the widest machines
_LEAF = 1 << 31  # the sign of a node's feature

_BIT, _INT, _WORD, _DOUBLE = ir.IntType(1), ir.IntType(32), ir.IntType(64), ir.DoubleType()
_WORDS, _DOUBLES = ir.VectorType(_WORD, ABREAST), ir.VectorType(_DOUBLE, ABREAST)
_POINTERS = ir.VectorType(ir.PointerType(), ABREAST)
_ALL = ir.Constant(ir.VectorType(_BIT, ABREAST), [1] * ABREAST)
_SUFFIXES = {_WORDS: f"v{ABREAST}i64.v{ABREAST}p0", _DOUBLES: f"v{ABREAST}f64.v{ABREAST}p0"}


@inlined_part
def step(nodes, place, row, words):
    """Return the child that a row goes to, or the leaf itself.

    An unseen category goes to the heavier child.
    """
    node = nodes[np.uint64(place)]
    if node.feature < 0:
        return place
    x = row[np.uint64(node.feature & FEATURE)]
    if np.isnan(x):
        goes_left = (node.feature & MISSING_LEFT) != 0
    elif (node.feature & BY_CATEGORY) == 0:
        goes_left = x <= node.number
    elif x < 0:
        goes_left = (node.feature & HEAVIER_LEFT) != 0
    else:
        code = np.int64(x)
        goes_left = (np.int64(words[node.steps + (code >> 6)]) >> (code & 63)) & 1 == 1
    return place + 1 if goes_left else np.int64(node.link)


@inlined_part
def step_unguessed(nodes, place, row):
    """Return what `step` does in a tree without splits by categories, and never guess.

    Sums and masks: of a choice LLVM would make a branch.
    """
    node = nodes[np.uint64(place)]
    is_leaf = np.int64(node.feature) >> 63  # all bits, or none
    x = row[np.uint64(np.int64(node.feature) & FEATURE & ~is_leaf)]
    by_value = np.int64(x <= node.number)
    by_absence = np.int64(np.isnan(x)) & ((np.int64(node.feature) & MISSING_LEFT) // MISSING_LEFT)
    further = np.int64(node.link) - place
    after = further + (1 - further) * (by_value | by_absence)
    return place + (after & ~is_leaf)


def _one_by_one(values, nodes, words, keys, places, leaves, window):
    first, n_rows, n_kept = window
    flat = values.reshape(-1)
    for i in range(first, first + min(n_rows, ABREAST)):
        key, place = keys[i], places[i]
        after = step(nodes, place, flat[key >> SEAT :], words)
        if after == place:
            leaves[key & ((1 << SEAT) - 1)] = place
        else:
            keys[n_kept], places[n_kept] = key, after
            n_kept += 1
    return n_kept


@instruction(_one_by_one)
def step_by_number(_typing, values, nodes, words, keys, places, leaves, window):
    """Let rows take a step down a tree that has no split by categories.

    values  float64 [n_rows, n_features]   read
    nodes   PACKED [n_nodes]               read    of the tree
    words   uint64 [n_words]               read    of the tree
    keys    int64 [n + ABREAST]            both    see SEAT
    places  int64 [n + ABREAST]            both    the node that each row has come to
    leaves  int64 [n]                      write   by seat
    window  first, n_rows, n_kept                  rows first .. first + min(n_rows, ABREAST)

    A row at a leaf leaves the list, others are put down again from n_kept <= first on.
    Returns what n_kept has grown to; after it the list may be garbage up to first + ABREAST.
    """
    given = values, nodes, words, keys, places, leaves, window
    return _signature(given), _walker(by_category=False)


@instruction(_one_by_one)
def step_by_any(_typing, values, nodes, words, keys, places, leaves, window):
    """Do as step_by_number in any tree."""
    given = values, nodes, words, keys, places, leaves, window
    return _signature(given), _walker(by_category=True)


def _signature(given):
    # What follows counts bytes: a row's values stand side by side, and so do nodes.
    assert given[0].layout == "C"
    assert given[1].dtype.size == PACKED.itemsize
    return types.int64(*given[:-1], types.UniTuple(types.int64, 3))


def _walker(by_category):
    """Return a code generator: 32 rows take a step."""

    def generate(context, builder, signature, arguments):
        arrays = zip(signature.args[:6], arguments[:6], strict=True)
        starts = [context.make_array(kind)(context, builder, each).data for kind, each in arrays]
        values, nodes, words, _, _, leaves = (builder.ptrtoint(each, _WORD) for each in starts)
        first, n_rows, n_kept = (builder.extract_value(arguments[6], i) for i in range(3))
        numbers = ir.Constant(_WORDS, list(range(ABREAST)))
        is_row = builder.icmp_signed("<", numbers, _spread(builder, n_rows))
        key, place = (_taken(builder, start, first, is_row) for start in starts[3:5])

        node = _item(builder, nodes, place, PACKED.itemsize)
        about = _gathered(builder, builder.add(node, _same(8)), _WORDS)
        number = _gathered(builder, node, _DOUBLES)
        is_leaf = _has(builder, about, _LEAF)
        value = builder.lshr(key, _same(SEAT))
        value = builder.add(value, builder.and_(about, _same(FEATURE)))
        value = builder.select(is_leaf, _same(0), value)  # any value that is there
        x = _gathered(builder, _item(builder, values, value, 8), _DOUBLES)
        goes_left = builder.fcmp_ordered("<=", x, number)
        if by_category:
            is_set = builder.and_(builder.not_(is_leaf), _has(builder, about, BY_CATEGORY))
            in_set = _in_set(builder, words, (is_set, about, number, x))
            goes_left = builder.select(is_set, in_set, goes_left)
        is_missing = builder.fcmp_unordered("uno", x, x)
        goes_left = builder.select(is_missing, _has(builder, about, MISSING_LEFT), goes_left)
        link = builder.lshr(about, _same(32))
        after = builder.select(goes_left, builder.add(place, _same(1)), link)

        seat = _item(builder, leaves, builder.and_(key, _same((1 << SEAT) - 1)), 8)
        _scatter(builder, place, seat, builder.and_(is_row, is_leaf))
        goes_on = builder.and_(is_row, builder.not_(is_leaf))
        return _put_down(builder, ((starts[3], key), (starts[4], after)), goes_on, n_kept)

    return generate


def _in_set(builder: Any, words: Any, split: Any) -> Any:
    """Tell which rows go left at a split by categories; of a missing value, anything."""
    is_set, about, number, x = split
    is_seen = builder.and_(is_set, builder.fcmp_ordered(">=", x, ir.Constant(_DOUBLES, None)))
    code = builder.fptosi(builder.select(is_seen, x, ir.Constant(_DOUBLES, None)), _WORDS)
    word = builder.add(builder.bitcast(number, _WORDS), builder.ashr(code, _same(6)))
    set_of = _gathered(builder, _item(builder, words, word, 8), _WORDS, is_seen)
    shifted = builder.lshr(set_of, builder.and_(code, _same(63)))
    return builder.select(is_seen, _has(builder, shifted, 1), _has(builder, about, HEAVIER_LEFT))


def _same(value: int) -> Any:
    """Return a word for all rows."""
    return ir.Constant(_WORDS, [value] * ABREAST)


def _spread(builder: Any, word: Any) -> Any:
    """Return a word for all rows that is known only when it runs."""
    nothing, firsts = ir.Constant(_WORDS, ir.Undefined), ir.VectorType(_INT, ABREAST)
    one = builder.insert_element(nothing, word, _INT(0))
    return builder.shuffle_vector(one, nothing, ir.Constant(firsts, None))


def _has(builder: Any, words: Any, bit: int) -> Any:
    return builder.icmp_unsigned("!=", builder.and_(words, _same(bit)), _same(0))


def _item(builder: Any, start: Any, numbers: Any, item_size: int) -> Any:
    """Return the addresses of items of an array."""
    return builder.add(builder.mul(numbers, _same(item_size)), _spread(builder, start))


def _taken(builder: Any, start: Any, first: Any, is_row: Any) -> Any:
    """Return the words of a list from `first` on; 0 where there is no row."""
    place = builder.bitcast(builder.gep(start, [first]), _WORDS.as_pointer())
    return builder.select(is_row, builder.load(place, align=8), _same(0))


def _gathered(builder: Any, addresses: Any, kind: Any, mask: Any = _ALL) -> Any:
    pointers, otherwise = builder.inttoptr(addresses, _POINTERS), ir.Constant(kind, None)
    given = [pointers, _INT(8), mask, otherwise]
    return call_llvm(builder, f"llvm.masked.gather.{_SUFFIXES[kind]}", kind, given)


def _scatter(builder: Any, words: Any, addresses: Any, mask: Any) -> None:
    given = [words, builder.inttoptr(addresses, _POINTERS), _INT(8), mask]
    call_llvm(builder, f"llvm.masked.scatter.{_SUFFIXES[_WORDS]}", ir.VoidType(), given)


def _put_down(builder: Any, lists: Any, goes_on: Any, n_kept: Any) -> Any:
    """Store words of the rows that go on, close together; return where the next ones go."""
    kind, bits = ir.VectorType(_WORD, _PIECE), ir.IntType(_PIECE)
    name = f"llvm.experimental.vector.compress.v{_PIECE}i64"
    for first in range(0, ABREAST, _PIECE):
        lanes = ir.Constant(ir.VectorType(_INT, _PIECE), list(range(first, first + _PIECE)))
        mask = builder.shuffle_vector(goes_on, goes_on, lanes)
        for start, words in lists:
            own = builder.shuffle_vector(words, words, lanes)
            kept = call_llvm(builder, name, kind, [own, mask, ir.Constant(kind, ir.Undefined)])
            place = builder.bitcast(builder.gep(start, [n_kept]), kind.as_pointer())
            builder.store(kept, place, align=8)
        n_more = call_llvm(builder, f"llvm.ctpop.i{_PIECE}", bits, [builder.bitcast(mask, bits)])
        n_kept = builder.add(n_kept, builder.zext(n_more, _WORD))
    return n_kept
