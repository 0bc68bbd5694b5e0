"""Threads that live on between kernels, and who has them."""

import threading
from collections.abc import Callable
from queue import Empty, SimpleQueue
from typing import Any
from weakref import ref


class Helper:
    """A thread that lives on between tasks."""

    def __init__(self) -> None:
        self._tasks: SimpleQueue[Callable[[], Any]] = SimpleQueue()
        self.do = self._tasks.put  # one step for Python: an interrupt comes before or after it
        threading.Thread(target=self._serve, daemon=True, name="hedgerow").start()

    def _serve(self) -> None:
        while True:
            self._tasks.get()()  # no name for it: who waits must not hold on to a team


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
