"""Threads that live on between kernels, and who has them."""

import threading
from queue import Empty, SimpleQueue
from typing import Any, Protocol
from weakref import ref

import numpy as np
from numpy.typing import NDArray

from hedgerow.kernels.meeting import ENTERED, linger


class Task(Protocol):
    """What a helper does."""

    def __call__(self) -> None:
        """Do it."""

    @property
    def meeting(self) -> NDArray[np.int64]:
        """Where the team that it was done for tells of what comes next."""


class Helper:
    """A thread that lives on between tasks."""

    def __init__(self) -> None:
        self._tasks: SimpleQueue[Task] = SimpleQueue()
        self.do = self._tasks.put  # one step for Python: an interrupt comes before or after it
        threading.Thread(target=self._serve, daemon=True, name="hedgerow").start()

    def _serve(self) -> None:
        while True:
            meeting = self._next_done()
            n_entered = int(meeting[ENTERED])
            if self._tasks.empty():
                linger(meeting, n_entered)

    def _next_done(self) -> NDArray[np.int64]:
        """Do the next task; who waits for another must not hold on to its team."""
        task = self._tasks.get()
        task()
        return task.meeting


class Pool:
    """The helpers of this process that no team has now, and the teams that are at work.

    There is no lock that an interrupt could leave locked: queues and lists are changed in
    one step, and a team that was lost on the way is forgotten with its last reference.
    """

    def __init__(self) -> None:
        self.idle: SimpleQueue[Helper] = SimpleQueue()
        self.teams: list[ref[Any]] = []

    @property
    def n_at_work(self) -> int:
        """Threads of all teams."""
        return sum(team.n_at_work for each in tuple(self.teams) if (team := each()) is not None)

    def note(self, team: Any) -> None:
        """Count a team's threads as at work, and forget teams that are not any more."""
        kept = [each for each in self.teams if (old := each()) is not None and old.n_at_work]
        self.teams = [*kept, ref(team)]

    def take(self, n_helpers: int) -> list[Helper]:
        """Give helpers, new ones if too few are idle."""
        taken: list[Helper] = []
        while len(taken) < n_helpers:
            try:
                taken.append(self.idle.get_nowait())
            except Empty:
                taken.append(Helper())
        return taken
