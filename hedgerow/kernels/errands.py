"""Errands: kernels that are called again and again with the same arrays.

For Python to unpack the arguments of a kernel takes tens of microseconds if there are a hundred
arrays, and a round of boosting is half a dozen kernels. An errand has its arguments unpacked
once and written down, and is from then on one address that is jumped to. What changes from call
to call, numbers too, is therefore in arrays.
"""

from operator import is_
from typing import Any

import numpy as np

from hedgerow.kernels.calling import FIRST, SIZE, WORK, do_noted, do_posted
from hedgerow.kernels.jit import config, kernel
from hedgerow.kernels.meanwhile import is_missing
from hedgerow.kernels.meeting import Member

_ROOM = 1024  # words of a note, to begin with
Noted = tuple[Any, tuple[int, int, int, int]]  # a note, and its line


class Errand:
    """A team kernel, with what it was last called with."""

    def __init__(self, kernel: Any) -> None:
        self._kernel = kernel
        self._member, self._given = Member(0, 0, np.zeros(0, np.int64)), ()
        self._note: Note | _Plain | None = None

    def noted(self, member: Member, arguments: tuple[Any, ...]) -> Any:
        """Return kernel(member, *arguments) as a kernel that has no arguments.

        Arguments that are the same objects as the last time are not unpacked again.
        """
        own = self._member
        is_known = member.n_threads == own.n_threads and member.meeting is own.meeting
        if self._note is None or not is_known or not _same(arguments, self._given):
            self._note = _noted(self._kernel, member, arguments)
            self._member, self._given = member, arguments
        return self._note


def _same(some: tuple[Any, ...], others: tuple[Any, ...]) -> bool:
    return len(some) == len(others) and all(map(is_, some, others))


def _noted(kernel: Any, member: Member, arguments: tuple[Any, ...]) -> Any:
    if config.DISABLE_JIT:
        return _Plain(kernel, member, arguments)
    if is_missing(kernel, (member, arguments)):
        return _Plain(kernel.plain, member, (arguments,))
    return Note(kernel, member, arguments)


class _Plain:
    """A call that is kept, of a kernel that is not compiled."""

    def __init__(self, kernel: Any, _: Member, arguments: tuple[Any, ...]) -> None:
        self._kernel, self._arguments = kernel, arguments

    def __call__(self, member: Member, before: "Note | _Plain | None" = None) -> None:
        if before:
            before(member)
        self._kernel(member, *self._arguments)


class Note:
    """A call that is written down."""

    is_posted = True

    def __init__(self, kernel: Any, member: Member, arguments: tuple[Any, ...]) -> None:
        """Have the kernel write down what it would do; arguments must live as long as the note."""
        self._needs_all, self._arguments = int(kernel.needs_all), arguments
        n_bytes, room = 0, 8 * _ROOM
        while n_bytes == 0 or room < n_bytes:
            room = max(room, n_bytes)
            words = np.zeros(FIRST + -(-room // 8), np.int64)
            words[SIZE] = room
            kernel(member._replace(note=words.ctypes.data), *arguments)
            n_bytes = int(words[SIZE])
        self._words = words
        self._work, self._first = int(words[WORK]), words.ctypes.data + 8 * FIRST

    def line(self, member: Member) -> tuple[int, int, int, int]:
        """Return what `season` does it by: addresses, and who does it."""
        return self._work, self._first, int(member.n_threads == 1), self._needs_all

    def __call__(self, member: Member, before: "Note | _Plain | None" = None) -> None:
        """Do this; after another, if both are of one who is alone: the GIL is asked for once."""
        if isinstance(before, _Plain):
            before(member)
            before = None
        if before is None:
            do_noted(member, self._work, self._first, self._needs_all)
        else:
            _do_both(member, before._work, before._first, self._work, self._first)


@kernel
def _do_both(team, work, given, next_work, next_given):
    """Do two things that were written down for a team of one, the one after the other."""
    do_posted(work, given, team.thread)
    do_posted(next_work, next_given, team.thread)
