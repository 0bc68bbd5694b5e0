"""Repeats: the same work many times, by several workers, with the same result for any number.

What is drawn is a function of the seed and of the repeat's number, so it does not matter which
worker does it, or when. Workers are threads unless `joblib.parallel_config` says otherwise: the
library's own fits hold no lock and share the cores among themselves; BLAS and OpenMP are given
their share of the cores here.
"""

from collections.abc import Callable, Iterable
from functools import cache
from typing import Any

import numpy as np
from joblib import cpu_count, effective_n_jobs
from sklearn.utils.parallel import Parallel, delayed
from threadpoolctl import ThreadpoolController


def generator(seed: int, *place: int) -> np.random.Generator:
    """Return random numbers that are a function of a seed and a place, such as a repeat."""
    return np.random.default_rng([seed, *place])


def repeated(work: Callable[..., Any], tasks: Iterable[tuple[Any, ...]], n_jobs: Any) -> list[Any]:
    """Return work(*task) of each task, in their order.

    n_jobs: workers, as scikit-learn counts them; None is one, -1 is one for each core.
    """
    n_workers = effective_n_jobs(n_jobs)
    if n_workers == 1:
        return [work(*task) for task in tasks]
    _libraries.cache_clear()
    n_threads = max(1, cpu_count() // n_workers)
    with _libraries().limit(limits=n_threads, user_api="blas"):
        parallel = Parallel(n_jobs=n_jobs, prefer="threads")
        return list(parallel(delayed(_limited)(work, task, n_threads) for task in tasks))


def _limited(work: Callable[..., Any], task: tuple[Any, ...], n_threads: int) -> Any:
    """Return work(*task). OpenMP is told how many threads it has by the thread that calls it."""
    with _libraries().limit(limits=n_threads, user_api="openmp"):
        return work(*task)


@cache
def _libraries() -> ThreadpoolController:
    return ThreadpoolController()
