"""How many threads this process may use: affinity, container limits, the user's word."""

import math
import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from pathlib import Path

_limit: ContextVar[int | None] = ContextVar("hedgerow_threads", default=None)
# What joblib and batch systems set for the libraries inside their workers.
_VARIABLES = ("HEDGEROW_NUM_THREADS", "OMP_NUM_THREADS")


def n_cores(cgroups: Path = Path("/sys/fs/cgroup")) -> int:
    """Return the cores the process may use, by affinity, container quota and environment."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    limits = [float(cores or 1), _quota(cgroups)]
    given = [os.environ.get(name, "").split(",")[0].strip() for name in _VARIABLES]
    limits += [float(number) for number in given if number.isdigit() and int(number) > 0]
    return max(1, math.ceil(min(limits)))


@cache
def _quota(cgroups: Path) -> float:
    """Return the CPU quota of the container (cgroup v2, then v1), inf if there is none."""
    try:
        quota, period = (cgroups / "cpu.max").read_text().split()
    except (OSError, ValueError):
        try:
            quota = (cgroups / "cpu" / "cpu.cfs_quota_us").read_text().strip()
            period = (cgroups / "cpu" / "cpu.cfs_period_us").read_text().strip()
        except OSError:
            return math.inf
    return int(quota) / int(period) if quota.isdigit() and int(period) else math.inf


def n_threads_for(n_jobs: int | None) -> int:
    """Turn scikit-learn's n_jobs into a number of threads.

    None: the limit of `hedgerow.threads`, else all cores; -1: all cores; -2: all but one, ...
    """
    if n_jobs is None:
        return _limit.get() or n_cores()
    if n_jobs == 0:
        raise ValueError(
            "n_jobs=0 means no thread at all. Pass None for all cores the process may use, a "
            "positive number of threads, or -1 for all cores, -2 for all but one."
        )
    return n_jobs if n_jobs > 0 else max(1, n_cores() + 1 + n_jobs)


@contextmanager
def threads(n: int) -> Iterator[None]:
    """Limit hedgerow to n threads inside a `with` block, for estimators with n_jobs=None.

    The results are the same for any number of threads.

    Examples
    --------
    >>> import hedgerow
    >>> with hedgerow.threads(1):
    ...     tree = hedgerow.DecisionTreeClassifier().fit([[0], [1]], ["a", "b"])
    >>> tree.predict([[1]])
    array(['b'], dtype='<U1')
    """
    if isinstance(n, bool) or not isinstance(n, int) or n < 1:
        raise ValueError(f"threads({n!r}): pass the number of threads, a whole number from 1 up.")
    token = _limit.set(n)
    try:
        yield
    finally:
        _limit.reset(token)
