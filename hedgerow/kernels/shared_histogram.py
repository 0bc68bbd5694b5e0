"""Histograms of open leaves: summed by a team, kept for the leaf's children.

A leaf's histogram has the leaf's number; leaves beyond the last histogram have none. A
thread sums chunks of its own segment of rows, then those that others have not come to, as
cores are not equally fast. Then it merges (and subtracts) the columns it owns, whose
features it will search. Of a leaf of few rows it sums the columns it owns over all rows.
"""

import numpy as np

from hedgerow.kernels import in_bulk
from hedgerow.kernels.codes import N_BINS, PAIR, leads
from hedgerow.kernels.helping import can_be_helped, sum_helped
from hedgerow.kernels.histogram import (
    add_block,
    build,
    merge,
    owner,
    pairs_of_block,
    subtract,
)
from hedgerow.kernels.jit import interpreted_as, part
from hedgerow.kernels.machine import atomic_add
from hedgerow.kernels.meeting import meet, share
from hedgerow.kernels.nodes import OPEN
from hedgerow.kernels.workspace import APART

_MIN_PACKED, _MIN_ROWS = 32, 128  # below, a tally is cheaper; times the width of a cell
_CHUNK = 4096  # rows that a thread sums in a block before it looks what is left
_FEW = 8192  # rows of a leaf that cost less than to merge what threads have summed


@part
def first_histogram(team, problem, space):
    """Make the histogram of leaf 0, if it wants one."""
    own = space.leaves[team.thread, 0]
    own.has_histogram = _wanted(problem, space, own, np.int64(0))
    if own.has_histogram:
        _sum(team, problem, space, np.int64(0))


@part
def divide_histogram(team, problem, space, smaller, larger, had_histogram):
    """Make the histograms that two children want: larger = parent - smaller, where it can."""
    less, rest = space.leaves[team.thread, smaller], space.leaves[team.thread, larger]
    wants_rest, wants_less = (
        _wanted(problem, space, rest, larger),
        _wanted(problem, space, less, smaller),
    )
    subtracts = had_histogram and wants_rest and smaller < space.hists.shape[0]
    if wants_less or subtracts:
        _sum(team, problem, space, smaller)
    if subtracts:
        _subtract(team, problem, space, smaller, larger)
    elif wants_rest:
        meet(team)  # the threads' parts are read until here
        _sum(team, problem, space, larger)
    less.has_histogram, rest.has_histogram = wants_less, wants_rest


@part
def first_cell(problem, leaf):
    """Return where the column of a leaf's split begins in its histogram, -1 if there is none."""
    about = problem.codes.features[leaf.feature]
    if not leaf.has_histogram or about.column < 0 or about.n_categories > 0:
        return np.int64(-1)
    return about.column * N_BINS * problem.moments.width()


@part
def _wanted(problem, space, leaf, number):
    is_large = is_worth(problem, leaf.n_rows)
    return np.int64(leaf.feature == OPEN and is_large and number < space.hists.shape[0])


@part
def is_worth(problem, n_rows):
    """Tell whether so many rows are worth a histogram."""
    width = problem.moments.width()
    least = _MIN_PACKED if width == 1 else _MIN_ROWS * width
    return n_rows >= max(least, problem.rules.fine_rows + 1)


@part
def _sum(team, problem, space, leaf):
    """Make a leaf's histogram from its rows, complete for this thread's columns."""
    hist, own = space.hists[leaf], space.leaves[team.thread, leaf]
    if space.asked.shape[0] > 0 and can_be_helped(space.asked[0], own.n_rows):
        sum_helped(problem, space, leaf)
    elif team.n_threads == 1:
        records = space.records[own.side, own.begin : own.end]
        build(problem.codes, records, problem.moments, hist, space.piles[0])
    elif own.n_rows <= _FEW:
        _sum_columns(team, problem, space, leaf)
    else:
        _sum_chunks(team, problem, space, leaf)
        meet(team)
        features, size = problem.codes.features, N_BINS * problem.moments.width()
        for feature in range(features.shape[0]):
            if _merges(team, problem.codes, feature, hist.shape[0] // size):
                first = features[feature].column * size
                merge(space.parts, first, first + size, hist)


@part
def _sum_columns(team, problem, space, leaf):
    """Sum the columns of a leaf that this thread owns, from the rows of all threads."""
    codes, hist, width = problem.codes, space.hists[leaf], problem.moments.width()
    pile = space.piles[team.thread]
    for block in range(codes.blocks.shape[0]):
        begin, end = share(team, pairs_of_block(codes, block))
        first, size = block * codes.blocks.shape[2] * N_BINS * width, PAIR * N_BINS * width
        hist[first + begin * size : first + end * size] = 0
        for thread in range(team.n_threads):
            theirs = space.leaves[thread, leaf]
            records = space.records[theirs.side, theirs.begin : theirs.end]
            add_block(codes, block, begin, end, records, problem.moments, hist, pile)


@part
def _sum_chunks(team, problem, space, leaf):
    """Sum this thread's part of a leaf's rows: it takes tickets for chunks of rows and a block.

    There are two sets of tickets: one in use, and one to be used next, which is cleared here;
    all threads meet before they change.
    """
    codes, me, mine = problem.codes, team.thread, space.parts[team.thread]
    turn = space.n_sums[me * APART] & 1
    space.n_sums[me * APART] += 1
    space.tickets[1 - turn, me * APART] = 0
    mine[:] = 0
    for ahead in range(team.n_threads):
        owner_of_rows = (me + ahead) % team.n_threads
        theirs = space.leaves[owner_of_rows, leaf]
        records = space.records[theirs.side, theirs.begin : theirs.end]
        n_chunks = -(-records.shape[0] // _CHUNK)
        ticket = atomic_add(space.tickets[turn], owner_of_rows * APART, 1)
        while ticket < n_chunks * codes.blocks.shape[0]:
            block, first = ticket // n_chunks, ticket % n_chunks * _CHUNK
            chunk = records[first : min(first + _CHUNK, records.shape[0])]
            end, pile = pairs_of_block(codes, block), space.piles[me]
            add_block(codes, block, np.int64(0), end, chunk, problem.moments, mine, pile)
            ticket = atomic_add(space.tickets[turn], owner_of_rows * APART, 1)


@interpreted_as(in_bulk.subtract)
@part
def _subtract(team, problem, space, smaller, larger):
    features, size = problem.codes.features, N_BINS * problem.moments.width()
    for feature in range(features.shape[0]):
        if _merges(team, problem.codes, feature, space.hists.shape[1] // size):
            less = space.hists[smaller]
            subtract(space.hists[larger], features[feature], problem.moments.width(), less)


@part
def _merges(team, codes, feature, n_columns):
    """Tell whether a feature stands for a column that this thread owns."""
    if not leads(codes.features[feature]):
        return False
    return owner(codes, feature, n_columns, team.n_threads) == team.thread
