"""Helping: columns of a histogram that one thread sums are taken by threads that wait, too.

Columns are taken by tickets. Who asked for help sums what nobody takes, and waits only for
columns that somebody has begun with.
"""

import numpy as np

from hedgerow.kernels.codes import N_BINS, PAIR
from hedgerow.kernels.histogram import add_block, is_of_kinds, pairs_of_block
from hedgerow.kernels.jit import part
from hedgerow.kernels.machine import atomic_add, atomic_load, atomic_store, pause

# Places in a thread's `asked`: the next ticket (and above its 16 bits the number of the
# histogram), whose histogram it is, how many columns others have summed, how many threads wait.
_TICKET, _LEAF, _N_DONE, _N_IDLE = 0, 1, 8, 12
_NUMBER = 1 << 16
# Tickets: each is good for half of a block's columns, or, if rows have kinds, one of them for all.
_PER_BLOCK = 2
_MANY = 1024  # rows of a leaf whose columns are worth to be shared


def nobody_asked(asked):
    """Let all tickets be taken."""
    asked[..., _TICKET] = _NUMBER - 1


@part
def somebody_waits(asked):
    """Tell whether another thread has nothing to do."""
    return atomic_load(asked, _N_IDLE) > 0


@part
def can_be_helped(asked, n_rows):
    """Tell whether somebody waits who could help, and it is worth it."""
    return n_rows >= _MANY and somebody_waits(asked)


@part
def sum_helped(problem, space, leaf):
    """Make a leaf's histogram from its rows, with the help of threads that wait."""
    asked, n_mine = space.asked[0], np.int64(0)
    n_tickets = _PER_BLOCK * problem.codes.blocks.shape[0]
    asked[_LEAF] = leaf
    atomic_store(asked, _N_DONE, 0)
    atomic_store(asked, _TICKET, (atomic_load(asked, _TICKET) // _NUMBER + 1) * _NUMBER)
    ticket = np.int64(0)
    while ticket < n_tickets:
        ticket = atomic_add(asked, _TICKET, 1) % _NUMBER
        if ticket < n_tickets:
            _sum_some(problem, space, leaf, ticket)
            n_mine += 1
    while atomic_load(asked, _N_DONE) + n_mine < n_tickets:
        pause()


@part
def help_others(problem, space, view, thread):
    """Sum columns for a thread that asks for it; return whether there was one."""
    n_tickets = _PER_BLOCK * problem.codes.blocks.shape[0]
    for other in range(view.asked.shape[0]):
        asked = view.asked[other, 0]
        if other != thread and atomic_load(asked, _TICKET) % _NUMBER < n_tickets:
            ticket = atomic_add(asked, _TICKET, 1) % _NUMBER
            if ticket < n_tickets:
                _sum_some(problem, space, asked[_LEAF], ticket)
                atomic_add(asked, _N_DONE, 1)
                return True
    return False


@part
def be_idle(view, thread, step):
    """Let all others know that a thread waits (step 1), or not any more (-1)."""
    for other in range(view.asked.shape[0]):
        if other != thread:
            atomic_add(view.asked[other, 0], _N_IDLE, step)


@part
def _sum_some(problem, space, leaf, ticket):
    """Make the columns of a leaf's histogram that a ticket is good for."""
    own, hist, width = space.leaves[0, leaf], space.hists[leaf], problem.moments.width()
    block = ticket // _PER_BLOCK
    n_pairs = pairs_of_block(problem.codes, block)
    half = ticket % _PER_BLOCK
    begin, end = half * n_pairs // _PER_BLOCK, (half + 1) * n_pairs // _PER_BLOCK
    if is_of_kinds(problem.codes, block, own.end - own.begin):  # half would take as long as all
        begin, end = np.int64(0), np.int64(0) if half else n_pairs
    first = block * problem.codes.blocks.shape[2] * N_BINS * width
    size = PAIR * N_BINS * width
    hist[first + begin * size : first + end * size] = 0
    records = space.records[own.side, own.begin : own.end]
    add_block(problem.codes, block, begin, end, records, problem.moments, hist, space.piles[0])
