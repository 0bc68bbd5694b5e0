"""Work on several folds at once, on no more cores than there are.

The library's own models release the GIL, so threads of one process share the table. Others are
given processes, if they take long enough to be worth starting them.

    workers x threads of each <= cores,     if these are not all: then workers < 2 x cores

Results come in the order of the work. No fit is made in the thread of the caller: an interrupt
there ends everything, and no model is kept half grown.
"""

import time
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import Any, TypeVar

from joblib import Parallel, delayed, parallel_config

from hedgerow.estimators.lessons import carried
from hedgerow.estimators.parts import is_own
from hedgerow.evaluation.progress import Progress
from hedgerow.kernels.cores import n_cores, n_threads_for, threads

Thing = TypeVar("Thing")
_WORTH_PROCESSES = 2.0  # seconds of work that remain


def work_done(
    tasks: Sequence[Callable[[], Thing]], own: bool, n_jobs: int | None, progress: Progress
) -> list[Thing]:
    """Do all tasks and return their results; own: whether they are of the library's own models."""
    n_allowed = n_threads_for(n_jobs)
    n_workers = min(n_allowed, len(tasks))
    if own:
        return _own_done(tasks, n_workers, progress, n_allowed)
    begun = time.monotonic()
    done = _in_threads(tasks[:1], 1, n_allowed, progress)
    remaining = (time.monotonic() - begun) * (len(tasks) - 1)
    if n_workers > 1 and remaining > _WORTH_PROCESSES:
        return done + _in_processes(tasks[1:], n_workers, n_allowed // n_workers, progress)
    return done + _in_threads(tasks[1:], 1, n_allowed, progress)


def _own_done(
    tasks: Sequence[Callable[[], Thing]], n_workers: int, progress: Progress, n_allowed: int
) -> list[Thing]:
    """Do tasks in threads that share the table.

    If all cores may be used, so many are done at once that no core is left alone with the last:
    of five on two cores three share them, then two. And where one waits for the GIL, another
    does not. Otherwise those left over, when all workers have had as many, share the cores.
    """
    if n_workers > 0 and n_allowed >= n_cores():
        n_at_once = -(-len(tasks) // (len(tasks) // n_workers))
        return _in_threads(tasks, n_at_once, max(n_allowed // n_at_once, 1), progress)
    n_last = len(tasks) % max(n_workers, 1)
    most, last = tasks[: len(tasks) - n_last], tasks[len(tasks) - n_last :]
    done = _in_threads(most, n_workers, n_allowed // max(n_workers, 1), progress)
    return done + _in_threads(last, n_last, n_allowed // max(n_last, 1), progress)


def _in_threads(
    tasks: Sequence[Callable[[], Thing]], n_workers: int, n_threads: int, progress: Progress
) -> list[Thing]:
    """Do tasks in threads; the first error ends all that has not begun."""

    def one(number: int) -> Thing:
        with threads(n_threads):
            return tasks[number]()

    work, pool = carried(one), ThreadPoolExecutor(max(n_workers, 1))
    try:
        futures = [pool.submit(work, number) for number in range(len(tasks))]
        waiting: set[Future[Thing]] = set(futures)
        while waiting:
            ended, waiting = wait(waiting, return_when=FIRST_COMPLETED)
            if any(future.exception() for future in ended):
                break
            for _ in ended:
                progress.advance()
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
    # Tasks begin in order, so all before one that failed have ended: the first error is always
    # the same one, whichever thread was faster.
    return [future.result() for future in futures]


def _in_processes(
    tasks: Sequence[Callable[[], Thing]], n_workers: int, n_threads: int, progress: Progress
) -> list[Thing]:
    """Do tasks in processes of so many threads each."""
    results = []
    with parallel_config(backend="loky", inner_max_num_threads=n_threads):
        parallel = Parallel(n_jobs=n_workers, return_as="generator")
        for result in parallel(delayed(task)() for task in tasks):
            results.append(result)
            progress.advance()
    return results


def hushed(estimator: Any) -> dict[str, Any]:
    """Set a copy's parameters so that folds share the cores and one bar shows; return the old.

    n_jobs=None is what `threads` limits, and a bar of each fit would write over that of all.
    """
    if not is_own(estimator):
        return {}
    given = estimator.get_params(deep=True)
    quiet = {"n_jobs": None, "verbose": False}
    names = [name for name in given if name.split("__")[-1] in quiet]
    estimator.set_params(**{name: quiet[name.split("__")[-1]] for name in names})
    return {name: given[name] for name in names}
