"""A team of threads that run one kernel together and meet at barriers inside it.

The threads are Python threads in kernels that hold no GIL: no OpenMP, so nothing hangs
after a fork and nothing clashes with other libraries. While they work the caller waits
in Python, so Ctrl-C is seen at once: it raises a flag that kernels look at, every member
leaves its kernel, and the interrupt goes on to the caller. In kernels of a moment the
caller is a member itself (`join`), as it takes a while to wake a thread up.
"""

import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from queue import SimpleQueue
from typing import Any, NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

from hedgerow.kernels.cores import n_threads_for
from hedgerow.kernels.jit import kernel, part
from hedgerow.kernels.machine import atomic_add, atomic_load, atomic_store, give_way, pause
from hedgerow.kernels.pool import Helper, Pool

# Places in `meeting`, each on a cache line of its own.
_ARRIVED, _GENERATION, _CANCELLED, _ENTERED, _BACK, _N_PLACES = 0, 8, 16, 24, 32, 40
_PATIENCE = 2000
_MOMENT = 20_000  # pauses: some tenths of a millisecond, in which a thread is not worth waking
_BRIEF = 200_000  # cell updates that one thread does before a second one has woken up
_FEW_ROWS = 32_768  # rows that one thread has passed over before a second one has come


class Member(NamedTuple):
    """One thread's view of its team: the first argument of every team kernel."""

    thread: int
    n_threads: int
    meeting: NDArray[np.int64]


@part
def cancelled(team):
    """Tell whether the kernel's result is no longer wanted: every loop over nodes asks."""
    return atomic_load(team.meeting, _CANCELLED) != 0


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
        atomic_add(team.meeting, _ENTERED, 1)


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
def _await_others(meeting, n_back):
    """Wait for helpers to be back from a kernel, but not for long."""
    for _ in range(_MOMENT):
        if atomic_load(meeting, _BACK) >= n_back:
            return
        pause()


@kernel
def _linger(meeting, n_entered):
    """Be back, and wait for the caller to enter its next kernel, but not for long."""
    atomic_add(meeting, _BACK, 1)
    for _ in range(_MOMENT):
        if atomic_load(meeting, _ENTERED) != n_entered:
            return
        pause()


_pool = Pool()


def _forget_threads() -> None:
    global _pool  # noqa: PLW0603  a forked child has none of its parent's threads
    _pool = Pool()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_threads)


class _Task:
    """One member's call of a kernel. It is made once, however often it is asked for."""

    def __init__(self, team: "Team", call: Callable[[], Any]) -> None:
        self._team, self._call = team, call
        self._once = threading.Lock()
        self.is_over = False

    def __call__(self) -> None:
        if not self._once.acquire(blocking=False):
            return
        try:
            self._call()
        except BaseException as error:
            self._team.errors.append(error)
            self._team.cancel()
        finally:
            self.is_over = True
            self._team.ended.put(self)

    def linger(self) -> None:
        """Wait awake for what the team does next."""
        meeting = self._team.meeting
        _linger(meeting, int(meeting[_ENTERED]))


class Team:
    """Threads hired for one fit or prediction. Without helpers the caller does the work."""

    def __init__(self, n_threads: int) -> None:
        self.n_threads = self.n_at_work = n_threads
        self.helpers: list[Helper] = []
        self.errors: list[BaseException] = []
        self.ended: SimpleQueue[_Task] = SimpleQueue()
        self._compiled: set[Any] = set()
        self.meeting = np.zeros(_N_PLACES, np.int64)
        self._members = [Member(thread, n_threads, self.meeting) for thread in range(n_threads)]

    def cancel(self) -> None:
        """Ask all members to leave the kernel they are in."""
        self.meeting[_CANCELLED] = 1

    def run(self, kernel: Callable[..., Any], *arguments: Any) -> None:
        """Let every member call kernel(member, *arguments); return when all have."""
        self._run(0, kernel, arguments)

    def join(self, kernel: Callable[..., Any], *arguments: Any) -> None:
        """As `run`, with the caller as member 0: sooner done, but deaf to Ctrl-C until then."""
        self._run(1, kernel, arguments)

    def sweep(self, n_rows: int, kernel: Callable[..., Any], *arguments: Any) -> None:
        """As `join`, of a kernel that passes once over rows: few are done by the caller alone."""
        if n_rows < _FEW_ROWS:
            kernel(Member(0, 1, self.meeting), *arguments)
        else:
            self._run(1, kernel, arguments)

    def _run(self, n_callers: int, kernel: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
        helpers = self.helpers[n_callers:]
        if not helpers:
            kernel(self._members[0], *arguments)
            return
        kind = (kernel, *map(type, arguments))
        if kind not in self._compiled:
            compiled_for(kernel, (self._members[0], *arguments))
            self._compiled.add(kind)
        members = self._members[n_callers:]
        tasks = [_Task(self, partial(kernel, member, *arguments)) for member in members]
        n_back, ended = int(self.meeting[_BACK]) + len(tasks), 0
        try:
            for helper, task in zip(helpers, tasks, strict=True):
                helper.do(task)
            for member in self._members[:n_callers]:
                kernel(member, *arguments)
                _await_others(self.meeting, n_back)
            while ended < len(tasks):
                self.ended.get()
                ended += 1
        except BaseException:
            self.cancel()
            self._end(helpers, tasks)
            raise
        if self.errors:
            error = self.errors[0]
            self._renew()
            raise error

    def _end(self, helpers: list[Helper], tasks: list[_Task]) -> None:
        """Wait until all tasks have ended, whatever else comes: they write to our arrays."""
        waiting = True
        while waiting:
            try:
                # Whoever was not asked before the interrupt is asked now: all get through.
                for helper, task in zip(helpers, tasks, strict=True):
                    helper.do(task)
                while any(not task.is_over for task in tasks):
                    time.sleep(0.001)
                self._renew()
                waiting = False
            except BaseException:  # the first interrupt is the one to be told
                continue

    def _renew(self) -> None:
        """Be as new: nobody cancelled, no errors, nobody waited for."""
        self.meeting[:] = 0
        self.errors, self.ended = [], SimpleQueue()

    def run_each(self, work: Callable[[Member, Any], None], items: Iterable[Any]) -> None:
        """Share out items: each thread takes the next one and calls work(a team of one, item)."""
        remaining = iter(items)
        lock = threading.Lock()

        def take(_: Member) -> None:
            alone = Member(0, 1, self.meeting)
            while not self.meeting[_CANCELLED]:
                with lock:
                    item = next(remaining, None)
                if item is None:
                    return
                work(alone, item)

        self.run(take)


def compiled_for(kernel: Any, arguments: tuple[Any, ...]) -> None:
    """Compile (or load) a kernel in the calling thread, so that errors and Ctrl-C end there."""
    if hasattr(kernel, "overloads"):
        signature = tuple(numba.typeof(argument) for argument in arguments)
        if signature not in kernel.overloads:
            kernel.compile(signature)


@contextmanager
def hired(n_jobs: int | None, work: float) -> Iterator[Team]:
    """Give a team for `work` cell updates: at most n_jobs threads, and no more than are free.

    Results do not depend on the number of threads, so a team may be smaller than asked
    for: work of many Python threads at once shares the cores instead of fighting for them.
    """
    pool = _pool
    wanted = n_threads_for(n_jobs)
    team = Team(1 if work < _BRIEF else max(1, wanted - pool.n_at_work))
    pool.note(team)
    try:
        if work >= _BRIEF:
            team.helpers = pool.take(team.n_threads)
        yield team
    finally:
        team.n_at_work = 0
        for helper in team.helpers:
            pool.idle.put(helper)
