"""Kernels compiled by several processes: a compiler uses one core, and keeps the memory it took."""

import multiprocessing
import signal
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from itertools import chain, zip_longest

from hedgerow.cli.warmup import steps
from hedgerow.kernels.cache import silence
from hedgerow.kernels.cores import n_cores

_MOST = 4  # processes: each takes up to two gigabytes
_STEPS = 6  # of a process, before another takes its place


def compiled(names: list[str]) -> Iterator[str]:
    """Take steps of the warmup; yield the name of each that is done."""
    n_processes = min(n_cores(), _MOST, len(names))
    with ProcessPoolExecutor(
        n_processes,
        multiprocessing.get_context("spawn"),
        initializer=_begin,
        max_tasks_per_child=_STEPS,
    ) as pool:
        futures = {pool.submit(_take, name): name for name in far_apart(names, n_processes)}
        try:
            for future in as_completed(futures):
                future.result()
                yield futures[future]
        finally:
            pool.shutdown(cancel_futures=True)


def far_apart(names: list[str], n_parts: int) -> list[str]:
    """Take one of each part of the list in turn: neighbours share kernels.

    >>> far_apart(list("abcdefg"), 2)
    ['a', 'e', 'b', 'f', 'c', 'g', 'd']
    """
    size = -(-len(names) // n_parts)
    parts = [names[first : first + size] for first in range(0, len(names), size)]
    return [name for name in chain(*zip_longest(*parts)) if name is not None]


def _begin() -> None:
    """Let an interrupt end this process without a word, as it ends the one that waits for it."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    silence()


def _take(name: str) -> None:
    steps()[name]()
