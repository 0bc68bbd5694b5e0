"""Gathering: models that are made apart from each other, by several threads, in their order."""

from collections.abc import Callable, Iterable, Iterator
from threading import Lock
from typing import Any, TypeVar

from hedgerow.kernels.team import Team

Thing = TypeVar("Thing")


def gathered(
    team: Team,
    numbers: Iterable[int],
    make: Callable[[int], Thing | None],
    told: Callable[[int], bool],
    apart: bool = True,
) -> list[Thing]:
    """Make one thing for each number, and return them in that order.

    make(number) returns None if it was cancelled. told(n) is called when so many things are
    there, and says whether to go on. apart: threads make things each by itself; or else the
    caller makes one after another.

    An interrupt keeps the things that are there, up to the first that is missing; if there is
    none, it goes on to the caller.
    """
    wanted, lock, goes_on = list(numbers), Lock(), [True]
    made: dict[int, Thing] = {}

    def take(_: Any, number: int) -> None:
        if not goes_on[0]:
            return
        thing = make(number)
        if thing is not None:
            with lock:
                made[number] = thing
                goes_on[0] = told(len(made)) and goes_on[0]

    try:
        if apart:
            team.run_each(take, wanted)
        else:
            for number in wanted:
                take(None, number)
    except KeyboardInterrupt:
        if not wanted or wanted[0] not in made:
            raise
    missing = [i for i, number in enumerate(wanted) if number not in made]
    return [made[number] for number in wanted[: missing[0] if missing else None]]


def in_turn(team: Team, n_things: int, make: Callable[[int], Thing]) -> Iterator[Thing]:
    """Yield make(0), make(1), ...: as many at a time as there are threads are made and kept."""
    for first in range(0, n_things, team.n_threads):
        numbers = range(first, min(first + team.n_threads, n_things))
        made: dict[int, Thing] = {}

        def take(_: Any, number: int, made: dict[int, Thing] = made) -> None:
            made[number] = make(number)

        team.run_each(take, numbers)
        yield from (made[number] for number in numbers)
