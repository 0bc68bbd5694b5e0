"""Meetings: what the members of a team do inside kernels, and between two of them.

To wake a thread takes as long as a pass over a hundred thousand rows. So helpers linger after
a kernel, awake and without the GIL, until the caller has entered its next one.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hedgerow.kernels.jit import config, kernel, part
from hedgerow.kernels.machine import atomic_add, atomic_load, atomic_store, give_way, pause

# Places in `meeting`, each on a cache line of its own.
_ARRIVED, _GENERATION, CANCELLED, ENTERED, BACK, N_PLACES = 0, 8, 16, 24, 32, 40
_PATIENCE = 2000
# Pauses, some tenths of a millisecond, for which a thread stays awake; Python's are too long.
_MOMENT = 0 if config.DISABLE_JIT else 20_000


class Member(NamedTuple):
    """One thread's view of its team: the first argument of every team kernel."""

    thread: int
    n_threads: int
    meeting: NDArray[np.int64]


@part
def cancelled(team):
    """Tell whether the kernel's result is no longer wanted: every loop over nodes asks."""
    return atomic_load(team.meeting, CANCELLED) != 0


@part
def meet(team):
    """Wait until every member has come here. What was written before is then seen by all.

    If the team is cancelled nobody waits; whoever goes on must ask `cancelled` again.
    """
    if team.n_threads == 1:
        return
    generation = atomic_load(team.meeting, _GENERATION)
    if atomic_add(team.meeting, _ARRIVED, 1) == team.n_threads - 1:
        atomic_store(team.meeting, _ARRIVED, 0)
        atomic_store(team.meeting, _GENERATION, generation + 1)
        return
    waited = 0
    while atomic_load(team.meeting, _GENERATION) == generation and not cancelled(team):
        waited += 1
        if waited < _PATIENCE:
            pause()
        else:
            give_way()


@part
def enter(team):
    """Call those who linger: from here on the caller leaves the GIL to them."""
    if team.thread == 0:
        atomic_add(team.meeting, ENTERED, 1)


@part
def portion(team, n_items):
    """Return the first item of this member's share of `n_items`, and the first beyond it."""
    return n_items * team.thread // team.n_threads, n_items * (team.thread + 1) // team.n_threads


@part
def share(team, n_items):
    """Enter a kernel, and return this member's portion of what it is about."""
    enter(team)
    return portion(team, n_items)


@kernel
def await_others(meeting, n_back):
    """Wait for helpers to be back from a kernel, but not for long."""
    for _ in range(_MOMENT):
        if atomic_load(meeting, BACK) >= n_back:
            return
        pause()


@kernel
def linger(meeting, n_entered):
    """Be back, and wait for the caller to enter its next kernel, but not for long."""
    atomic_add(meeting, BACK, 1)
    for _ in range(_MOMENT):
        if atomic_load(meeting, ENTERED) != n_entered:
            return
        pause()
