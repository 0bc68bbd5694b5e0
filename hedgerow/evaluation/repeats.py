"""Repeats: the same work many times, by several workers, with the same result for any number.

What is drawn is a function of the seed and of the repeat's number, so it does not matter which
worker does it, or when. Workers are threads unless `joblib.parallel_config` says otherwise: the
library's own fits hold no lock and share the cores among themselves; BLAS and OpenMP are given
their share of the cores here.
"""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from joblib import cpu_count, effective_n_jobs
from sklearn.utils.parallel import Parallel, delayed
from threadpoolctl import threadpool_limits


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
    with threadpool_limits(max(1, cpu_count() // n_workers)):
        parallel = Parallel(n_jobs=n_jobs, prefer="threads")
        return list(parallel(delayed(work)(*task) for task in tasks))
