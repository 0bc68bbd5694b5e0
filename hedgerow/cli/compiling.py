"""Kernels compiled by several processes: a compiler uses one core, and keeps the memory it took."""

import gc
import multiprocessing
import signal
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor, as_completed
from itertools import chain, zip_longest
from typing import TypeVar

from hedgerow.cli.warmup import steps
from hedgerow.kernels.cache import silence
from hedgerow.kernels.cores import n_cores

Item = TypeVar("Item")

_MOST = 4  # processes: each takes up to two gigabytes
_STEPS = 4  # of a process, before another takes its place


def compiled(names: list[str]) -> Iterator[str]:
    """Take steps of the warmup; yield the names of those that are done."""
    chunks = [names[first : first + _STEPS] for first in range(0, len(names), _STEPS)]
    n_processes = min(n_cores(), _MOST, len(chunks))
    with ThreadPoolExecutor(n_processes) as pool:
        futures = {
            pool.submit(_in_a_process, chunk): chunk for chunk in far_apart(chunks, n_processes)
        }
        try:
            for future in as_completed(futures):
                future.result()
                yield from futures[future]
        finally:
            pool.shutdown(cancel_futures=True)


def _in_a_process(names: list[str]) -> None:
    """Take some steps in a process of their own; what fails there is raised here."""
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, spawn, initializer=_begin) as process:
        process.submit(_take, names).result()


def far_apart(items: list[Item], n_parts: int) -> list[Item]:
    """Take one of each part of a list in turn: neighbours share kernels.

    >>> far_apart(list("abcdefg"), 2)
    ['a', 'e', 'b', 'f', 'c', 'g', 'd']
    """
    size = -(-len(items) // n_parts)
    parts = [items[first : first + size] for first in range(0, len(items), size)]
    return [item for item in chain(*zip_longest(*parts)) if item is not None]


def _begin() -> None:
    """Let an interrupt end this process without a word, as it ends the one that waits for it.

    A compiler makes little garbage, and very many objects to look for it among.
    """
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    gc.set_threshold(1_000_000, 20, 100)
    silence()


def _take(names: list[str]) -> None:
    work = steps()
    for name in names:
        work[name]()
