"""Kernels compiled by several processes: a compiler uses one core, and keeps the memory it took."""

import gc
import multiprocessing
import signal
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from queue import SimpleQueue
from threading import Event, Lock, Thread

from hedgerow.cli.warmup import steps
from hedgerow.kernels.announcing import silence
from hedgerow.kernels.cores import n_cores

_MOST = 4  # processes: each takes up to two gigabytes
_STEPS = 4  # of a process, before another takes its place


class Shares:
    """Steps that are still to be taken, a share for each process: neighbours share kernels.

    Whoever has none left takes the last of the longest share.

    >>> shares = Shares(list("abcde"), 2)
    >>> [shares.next(0), shares.next(1), shares.next(1), shares.next(1), shares.next(0)]
    ['a', 'd', 'e', 'c', 'b']
    """

    def __init__(self, names: list[str], n_parts: int) -> None:
        size = -(-len(names) // n_parts)
        self._parts = [names[size * k : size * (k + 1)] for k in range(n_parts)]
        self._lock = Lock()

    def next(self, part: int) -> str | None:
        """Return the next step of a process, None if all are taken."""
        with self._lock:
            if self._parts[part]:
                return self._parts[part].pop(0)
            longest = max(self._parts, key=len)
            return longest.pop() if longest else None


def compiled(names: list[str]) -> Iterator[str]:
    """Take steps of the warmup; yield the names of those that are done."""
    n_processes = min(n_cores(), _MOST, len(names))
    shares, done, ended = Shares(names, n_processes), SimpleQueue[str | Exception](), Event()

    def work(part: int) -> None:
        try:
            while not ended.is_set() and (name := shares.next(part)) is not None:
                _take_some(shares, part, name, done, ended)
        except Exception as error:  # raised where somebody waits
            done.put(error)

    crew = [Thread(target=work, args=(part,)) for part in range(n_processes)]
    for each in crew:
        each.start()
    try:
        for _ in names:
            found = done.get()
            if isinstance(found, Exception):
                raise found
            yield found
    finally:
        ended.set()
        for each in crew:
            each.join()


def _take_some(
    shares: Shares, part: int, name: str | None, done: "SimpleQueue[str | Exception]", ended: Event
) -> None:
    """Take some steps, `name` first, in a process of their own; what fails there is raised here."""
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, spawn, initializer=_begin) as process:
        for number in range(_STEPS):
            if name is None or ended.is_set():
                return
            process.submit(_take, name).result()
            done.put(name)
            name = shares.next(part) if number + 1 < _STEPS else None


def _begin() -> None:
    """Let an interrupt end this process without a word, as it ends the one that waits for it.

    A compiler makes little garbage, and very many objects to look for it among.
    """
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    gc.set_threshold(1_000_000, 20, 100)
    silence()


def _take(name: str) -> None:
    steps()[name]()
