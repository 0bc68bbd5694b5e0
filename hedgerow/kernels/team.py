"""A team of threads that run one kernel together and meet at barriers inside it.

The threads are Python threads in kernels that hold no GIL: no OpenMP, so nothing hangs
after a fork and nothing clashes with other libraries. While they work the caller waits
in Python, so Ctrl-C is seen at once: it raises a flag that kernels look at, every member
leaves its kernel, and the interrupt goes on to the caller. In kernels of a moment the
caller is a member itself (`join`), as it takes a while to wake a thread up.

Python calls a kernel for member 0 only; the other members are told of it from inside, see
calling.py. A function of Python, and a kernel with the JIT off, is called for each member.
"""

import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from queue import Empty, SimpleQueue
from typing import Any

from numba._dispatcher import compute_fingerprint

from hedgerow.kernels.calling import expect, serve
from hedgerow.kernels.cores import n_threads_for
from hedgerow.kernels.errands import Errand, Noted
from hedgerow.kernels.jit import compiled_for
from hedgerow.kernels.meanwhile import Little, interpreted
from hedgerow.kernels.meeting import (
    CALLS,
    CANCELLED,
    DISMISSED,
    EXPECTED,
    Member,
    empty_meeting,
    forget_meeting,
)
from hedgerow.kernels.pool import Helper, Pool

_BRIEF = 200_000  # cell updates that one thread does before a second one has woken up
_GLANCE = 0.1  # seconds after which the caller looks for an interrupt
_FEW_STEPS = 32_768  # of a kernel, a nanosecond each, that one thread does alone
_FEW_NOTED = 4096  # the same, if Python has no part in calling it
_pool = Pool()
_compiled: set[Any] = set()  # kernels and what kinds of arguments they are compiled for


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


class Team:
    """Threads hired for one fit or prediction. Without helpers the caller does the work."""

    def __init__(self, n_threads: int) -> None:
        self.n_threads = self.n_at_work = n_threads
        self.helpers: list[Helper] = []
        self.errors: list[BaseException] = []
        self.ended: SimpleQueue[_Task] = SimpleQueue()
        self._compiled: set[Any] = set()
        self.meeting = empty_meeting(n_threads)
        self._members = [Member(thread, n_threads, self.meeting) for thread in range(n_threads)]
        self._alone = Member(0, 1, self.meeting)
        self._put_off: Any = None  # the note of an errand

    def cancel(self) -> None:
        """Ask all members to leave the kernel they are in."""
        self.meeting[CANCELLED] = 1

    def alone(self) -> "Team":
        """Return a team of one that is cancelled together with this one."""
        one = Team(1)
        one.meeting, one._members, one._alone = self.meeting, [self._alone], self._alone
        return one

    def run(self, kernel: Callable[..., Any], *arguments: Any) -> None:
        """Let every member call kernel(member, *arguments); return when all have."""
        self._run(0, kernel, arguments)

    def join(self, kernel: Callable[..., Any], *arguments: Any) -> None:
        """As `run`, with the caller as member 0: sooner done, but deaf to Ctrl-C until then."""
        self._run(1, kernel, arguments)

    def sweep(self, n_steps: int, kernel: Callable[..., Any], *arguments: Any) -> None:
        """As `join`, of a kernel of about n_steps steps: few are done by the caller alone."""
        if n_steps < _FEW_STEPS:
            self._catch_up()
            kernel(self._alone, *arguments)
        else:
            self._run(1, kernel, arguments)

    def repeat(self, n_steps: float, errand: Errand, *arguments: Any) -> None:
        """As `sweep`; arguments that are the last time's are not unpacked again."""
        if n_steps < _FEW_STEPS or not self.helpers:
            note, before, self._put_off = errand.noted(self._alone, arguments), self._put_off, None
            note(self._alone, before)
        else:
            self._run(1, errand.noted(self._members[0], arguments), ())

    def put_off(self, n_steps: float, errand: Errand, *arguments: Any) -> None:
        """As `repeat`, together with what the team is asked next: until then nobody looks."""
        if n_steps >= _FEW_STEPS and self.helpers:
            self.repeat(n_steps, errand, *arguments)
        else:
            self._catch_up()
            self._put_off = errand.noted(self._alone, arguments)

    def noted(self, n_steps: float, errand: Errand, *arguments: Any) -> Noted:
        """Write down a kernel for `season`; few steps are to be done by one alone."""
        is_alone = n_steps < _FEW_NOTED or not self.helpers
        member = self._alone if is_alone else self._members[0]
        note = errand.noted(member, arguments)
        return note, note.line(member)

    def _catch_up(self) -> None:
        """Do what was put off."""
        note, self._put_off = self._put_off, None
        if note:
            note(self._alone)

    def _run(self, n_callers: int, kernel: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
        """Let the caller be the first `n_callers` members, 0 or 1, and helpers the others."""
        self._catch_up()
        helpers, is_posted = self.helpers[n_callers:], hasattr(kernel, "is_posted")
        if not helpers:
            kernel(self._members[0], *arguments)
            return
        if is_posted and arguments:
            self._compile(kernel, arguments)
        callers, others = self._members[:n_callers], self._members[n_callers:]
        asked = others[: 1 - n_callers] if is_posted else others
        tasks = [_Task(self, partial(kernel, member, *arguments)) for member in asked]
        ended = 0
        try:
            self._expect(is_posted)
            for helper, task in zip(helpers, tasks, strict=False):
                helper.do(task)
            for member in callers:
                kernel(member, *arguments)
            while ended < len(tasks):
                # A signal that comes just before the wait does not end it, so it must be brief.
                with suppress(Empty):
                    self.ended.get(timeout=_GLANCE)
                    ended += 1
        except BaseException:
            self.cancel()
            self._end(is_posted, helpers, tasks)
            raise
        if self.errors:
            error = self.errors[0]
            self._renew()
            raise error

    def _compile(self, kernel: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
        """Compile a team kernel, or load it, before anybody waits for it."""
        kind = (kernel, *map(type, arguments))
        if kind in self._compiled:
            return
        # A fingerprint takes microseconds, types take milliseconds; of classes it has the names.
        exactly = (*kind, compute_fingerprint(arguments))
        if exactly not in _compiled:
            given = (arguments,) if hasattr(kernel, "needs_all") else arguments  # posted as one
            compiled_for(kernel, (self._members[0], *given))
            _compiled.add(exactly)
        self._compiled.add(kind)

    def _expect(self, is_posted: bool) -> None:
        """Have helpers wait for what member 0 will post, or else for what they are asked."""
        if not is_posted:
            self.meeting[EXPECTED] = DISMISSED
            return
        for thread in range(expect(self.meeting, self.n_threads), self.n_threads):
            self.helpers[thread].do(partial(serve, self.meeting, thread))

    def _end(self, is_posted: bool, helpers: list[Helper], tasks: list[_Task]) -> None:
        """Wait until all tasks have ended, whatever else comes: they write to our arrays."""
        waiting = True
        while waiting:
            try:
                # Whoever was not asked before the interrupt is asked now: all get through.
                if tasks:
                    self._expect(is_posted)
                for helper, task in zip(helpers, tasks, strict=False):
                    helper.do(task)
                while any(not task.is_over for task in tasks):
                    time.sleep(0.001)
                self._renew()
                waiting = False
            except BaseException:  # the first interrupt is the one to be told
                continue

    def _renew(self) -> None:
        """Be as new: nobody cancelled, no errors, nobody waited for."""
        forget_meeting(self.meeting)
        self.meeting[EXPECTED] = self.meeting[CALLS]
        self.errors, self.ended = [], SimpleQueue()

    def run_each(self, work: Any, items: Iterable[Any], call: Any = None) -> None:
        """Share out items: who is free calls work(a team of one, item). Brief ones: call=join."""
        remaining, lock = iter(items), threading.Lock()

        def take(_: Member) -> None:
            while not self.meeting[CANCELLED]:
                with lock:
                    item = next(remaining, None)
                if item is None:
                    return
                work(self._alone, item)

        (call or self.run)(take)


@contextmanager
def hired(n_jobs: int | None, work: float, little: Little | None = None) -> Iterator[Team]:
    """Give a team for `work` cell updates: at most n_jobs threads, and no more than are free.

    little: what one thread may interpret. A team may be smaller than asked for, as results do not
    depend on it: work of many Python threads at once shares the cores.
    """
    pool, wanted = _pool, n_threads_for(n_jobs)
    is_brief = work < _BRIEF or (little is not None and little.is_on())
    team = Team(1 if is_brief else max(1, wanted - pool.n_at_work))
    pool.note(team)
    try:
        if not is_brief:
            team.helpers = pool.take(team.n_threads)
        with interpreted(little):
            yield team
    finally:
        team.n_at_work = 0
        team.meeting[EXPECTED] = DISMISSED
        for helper in team.helpers:
            pool.idle.put(helper)
