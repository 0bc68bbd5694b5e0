"""Meetings: what the members of a team share, and how they wait for each other in a kernel."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hedgerow.kernels.jit import part
from hedgerow.kernels.machine import atomic_add, atomic_load, atomic_store, give_way, pause

# Places in `meeting`, each on a cache line of its own; from HELPERS on a line for each thread.
PLACES = 8
_ARRIVED, _GENERATION, CANCELLED, CALLS, EXPECTED, HELPERS = range(0, 6 * PLACES, PLACES)
DISMISSED = -1  # as the number of calls that are expected: helpers need not wait for more
_PATIENCE = 2000  # pauses, less than a tenth of a millisecond


class Member(NamedTuple):
    """One thread's view of its team: the first argument of every team kernel.

    note: the address where a call is written down instead of being made, or 0; see errands.py.
    """

    thread: int
    n_threads: int
    meeting: NDArray[np.int64]
    note: int = 0


def empty_meeting(n_threads: int) -> NDArray[np.int64]:
    """Return the meeting of a team that has not begun."""
    return np.zeros(HELPERS + PLACES * n_threads, np.int64)


def forget_meeting(meeting: NDArray[np.int64]) -> None:
    """Let a team that was cancelled, and has left its kernel, be as new."""
    meeting[[_ARRIVED, CANCELLED]] = 0


@part
def cancelled(team):
    """Tell whether the kernel's result is no longer wanted: every loop over nodes asks."""
    return atomic_load(team.meeting, CANCELLED) != 0


@part
def be_patient(waited):
    """Wait a little longer; whoever has waited for long lets other threads have the core."""
    if waited < _PATIENCE:
        pause()
    else:
        give_way()


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
        be_patient(waited)


@part
def share(team, n_items):
    """Return the first item of this member's share of `n_items`, and the first beyond it."""
    return n_items * team.thread // team.n_threads, n_items * (team.thread + 1) // team.n_threads
