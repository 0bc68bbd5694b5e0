"""The heap: the largest (key, item) on top."""

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from hedgerow.kernels.heap import heap_sort, lift, take_largest
from hedgerow.kernels.jit import kernel

# Few keys, so that ties abound; infinite ones, because leaves not yet searched have them.
KEYS = st.sampled_from([-math.inf, -1.0, 0.0, 0.5, 2.0, math.inf])


@kernel
def put(keys, items, n_items, key, item):
    keys[n_items], items[n_items] = key, item
    lift(keys, items, n_items)


@kernel
def taken(keys, items, n_items):
    return take_largest(keys, items, n_items)


@kernel
def heap_sorted(keys, items, n_items):
    heap_sort(keys, items, n_items)


@given(st.lists(KEYS, max_size=40), st.randoms())
def test_a_heap_sort_is_a_sort_by_key_and_then_by_item(keys, shuffler):
    items = list(range(len(keys)))
    shuffler.shuffle(items)
    sorted_keys, sorted_items = np.array([*keys, 9.0]), np.array([*items, -9])
    heap_sorted(sorted_keys, sorted_items, len(keys))
    expected = [*sorted(zip(keys, items, strict=True)), (9.0, -9)]  # what is behind stays
    assert list(zip(sorted_keys, sorted_items, strict=True)) == expected


@given(st.lists(st.none() | KEYS, max_size=40))
def test_of_what_was_put_into_a_heap_the_largest_is_taken_first(steps):
    keys, items = np.zeros(len(steps)), np.zeros(len(steps), np.int64)
    inside: list[tuple[float, int]] = []
    for number, key in enumerate(steps):
        if key is not None:
            put(keys, items, len(inside), key, -number)
            inside.append((key, -number))
        elif inside:
            largest = max(inside)
            assert taken(keys, items, len(inside)) == largest[1]
            inside.remove(largest)
