"""The order of a node's categories: by a mean of the target, then by code.

Categories too rare to be judged alone have the mean of all of them. In a column of thousands most
are rare: their order is known, and only the others have to be sorted.
"""

import numpy as np

from hedgerow.kernels.heap import heap_sort
from hedgerow.kernels.jit import part
from hedgerow.kernels.machine import bits_of_double, double_of_bits
from hedgerow.kernels.partings import least_mass
from hedgerow.kernels.random import mixed, uniform

_FEW = 24  # categories that are compared each with each sooner than by a heap


@part
def sort_categories(problem, feature, n_codes, node, by, scratch):
    """Order the codes by the mean that `by` names (or by random keys), then by code.

    scratch.order lists the n_codes codes, ascending. Of few categories fewer are rare: their
    order leaves little to chance.
    """
    keys, order = scratch.keys, scratch.order
    if problem.rules.random_cut:
        for i in range(n_codes):
            keys[i] = uniform(mixed(mixed(node.bits, feature), 2 + order[i]))
        _sort(keys, order, n_codes, scratch.running)
        return
    n_judged, moments = _put_rare_behind(problem, n_codes, scratch), problem.moments
    own = scratch.sides[1]
    for i in range(n_judged):
        _read_alone(moments, scratch.cells, order[i], own)
        keys[i] = moments.key(own, by)
    _sort(keys, order, n_judged, scratch.running)
    if n_judged < n_codes:
        pooled = moments.key(scratch.sides[0], by)
        for i in range(n_judged, n_codes):
            keys[i] = pooled
        _put_between(keys, order, n_judged, n_codes)


@part
def _put_rare_behind(problem, n_codes, scratch):
    """Move rare codes behind the others, still ascending; return how many others there are.

    scratch.sides[0] is set to their sums.
    """
    moments, order, pool, own = problem.moments, scratch.order, scratch.sides[0], scratch.sides[1]
    least, n_judged, width = least_mass(moments, n_codes), n_codes, moments.width()
    for k in range(moments.sum_width()):
        pool[k] = 0
    for i in range(n_codes - 1 if least > 0 else -1, -1, -1):
        code = order[i]
        _read_alone(moments, scratch.cells, code, own)
        if problem.criterion.mass(own) < least:
            moments.read(scratch.cells, code * width, pool)
            n_judged -= 1
            order[i], order[n_judged] = order[n_judged], code
    return n_judged


@part
def _put_between(keys, order, n_judged, n_codes):
    """Put the codes behind n_judged sorted ones, all of one key, to where they belong."""
    pooled, n_before = keys[n_judged], np.int64(0)
    while n_before < n_judged and keys[n_before] < pooled:
        n_before += 1
    end = n_before + n_codes - n_judged
    for begin, stop in ((n_before, n_judged), (n_judged, n_codes), (n_before, n_codes)):
        _reverse(keys, begin, stop)
        _reverse(order, begin, stop)
    n_equal = end
    while n_equal < n_codes and keys[n_equal] == pooled:
        n_equal += 1
    if n_equal > end:
        heap_sort(keys[n_before:n_equal], order[n_before:n_equal], n_equal - n_before)


@part
def _reverse(numbers, begin, end):
    for i in range((end - begin) // 2):
        one, other = begin + i, end - 1 - i
        numbers[one], numbers[other] = numbers[other], numbers[one]


@part
def _sort(keys, order, n_codes, room):
    if n_codes <= _FEW:
        _sort_few(keys, order, n_codes, room)
    else:
        heap_sort(keys, order, n_codes)


@part
def _sort_few(keys, order, n_codes, room):
    """Sort as heap_sort does, without branches: each code counts those that come before it.

    room  int64 [2, n_codes or more]   write   garbage
    """
    for i in range(n_codes):
        key, code, place = keys[i], order[i], np.int64(0)
        for j in range(n_codes):
            place += np.int64((keys[j] < key) | ((keys[j] == key) & (order[j] < code)))
        room[0, place], room[1, place] = code, bits_of_double(key)
    for i in range(n_codes):
        order[i], keys[i] = room[0, i], double_of_bits(room[1, i])


@part
def _read_alone(moments, cells, code, sums):
    """Set sums to those of one code."""
    for k in range(moments.sum_width()):
        sums[k] = 0
    moments.read(cells, code * moments.width(), sums)
