"""A team of threads that run one kernel together and meet at barriers inside it.

The threads are Python threads in kernels that hold no GIL: no OpenMP, so nothing hangs
after a fork and nothing clashes with other libraries. While they work the caller waits
in Python, so Ctrl-C is seen at once: it raises a flag that kernels look at, every member
leaves its kernel, and the interrupt goes on to the caller.
"""

import os
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

from hedgerow.kernels.cores import n_threads_for
from hedgerow.kernels.jit import part
from hedgerow.kernels.machine import atomic_add, atomic_load, atomic_store, give_way, pause

_ARRIVED, _GENERATION, _CANCELLED = 0, 8, 16  # places in `meeting`, on three cache lines
_PATIENCE = 2000
_BRIEF = 200_000  # cell updates that one thread does before a second one has woken up


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
def share(team, n_items):
    """Return the first item of this member's share of `n_items`, and the first beyond it."""
    return n_items * team.thread // team.n_threads, n_items * (team.thread + 1) // team.n_threads


class _Helper:
    """A thread that lives on between tasks."""

    def __init__(self) -> None:
        self._wake = threading.Semaphore(0)
        self._task: Callable[[], None] | None = None
        threading.Thread(target=self._serve, daemon=True, name="hedgerow").start()

    def do(self, task: Callable[[], None]) -> None:
        self._task = task
        self._wake.release()

    def _serve(self) -> None:
        while True:
            self._wake.acquire()
            task, self._task = self._task, None
            if task is not None:
                task()


class _Pool:
    """The helpers of this process that no team has now, and how many threads are at work."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.idle: list[_Helper] = []
        self.n_at_work = 0

    def take(self, n_helpers: int) -> list[_Helper]:
        with self.lock:
            taken = [self.idle.pop() for _ in range(min(n_helpers, len(self.idle)))]
        return taken + [_Helper() for _ in range(n_helpers - len(taken))]


_pool = _Pool()


def _forget_threads() -> None:
    global _pool  # noqa: PLW0603  a forked child has none of its parent's threads
    _pool = _Pool()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_threads)


class Team:
    """Threads hired for one fit or prediction. Without helpers the caller does the work."""

    def __init__(self, n_threads: int, helpers: list[_Helper]) -> None:
        self.n_threads = n_threads
        self._helpers = helpers
        self._meeting = np.zeros(24, np.int64)
        self._members = [Member(thread, n_threads, self._meeting) for thread in range(n_threads)]
        self._ended = threading.Semaphore(0)
        self._done: list[Member] = []  # appending is atomic, counting up is not
        self._errors: list[BaseException] = []

    def run(self, kernel: Callable[..., Any], *arguments: Any) -> None:
        """Let every member call kernel(member, *arguments); return when all have."""
        if not self._helpers:
            kernel(self._members[0], *arguments)
            return
        _compile(kernel, (self._members[0], *arguments))
        for helper, member in zip(self._helpers, self._members, strict=True):
            helper.do(self._task(kernel, member, arguments))
        try:
            self._wait()
        except BaseException:
            self._meeting[_CANCELLED] = 1
            self._wait_for_all()
            self._meeting[:] = 0
            self._errors.clear()
            raise
        if self._errors:
            self._meeting[:] = 0
            raise self._errors.pop()

    def run_each(self, work: Callable[[Member, Any], None], items: Iterable[Any]) -> None:
        """Share out items: each thread takes the next one and calls work(a team of one, item)."""
        remaining = iter(items)
        lock = threading.Lock()

        def take(_: Member) -> None:
            alone = Member(0, 1, self._meeting)
            while not self._meeting[_CANCELLED]:
                with lock:
                    item = next(remaining, None)
                if item is None:
                    return
                work(alone, item)

        self.run(take)

    def _task(
        self, kernel: Callable[..., Any], member: Member, arguments: tuple[Any, ...]
    ) -> Callable[[], None]:
        def task() -> None:
            try:
                kernel(member, *arguments)
            except BaseException as error:
                self._errors.append(error)
                self._meeting[_CANCELLED] = 1
            finally:
                self._done.append(member)
                self._ended.release()

        return task

    def _wait(self) -> None:
        for _ in self._helpers:
            self._ended.acquire()
        self._done.clear()

    def _wait_for_all(self) -> None:
        """Wait for the rest after an interrupt; a second one must not leave threads behind."""
        while len(self._done) < len(self._helpers):
            try:
                self._ended.acquire(timeout=0.01)
            except KeyboardInterrupt:
                continue
        self._ended = threading.Semaphore(0)
        self._done.clear()


def _compile(kernel: Any, arguments: tuple[Any, ...]) -> None:
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
    with pool.lock:
        n_threads = 1 if work < _BRIEF else max(1, wanted - pool.n_at_work)
        pool.n_at_work += n_threads
    brief = n_threads == 1 and work < _BRIEF
    helpers = [] if brief else pool.take(n_threads)
    try:
        yield Team(n_threads, helpers)
    finally:
        with pool.lock:
            pool.idle.extend(helpers)
            pool.n_at_work -= n_threads
