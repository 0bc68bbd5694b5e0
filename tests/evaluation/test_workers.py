"""Folds side by side: threads for our own models, processes for others, never too many of them."""

import os
import threading
import time
from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.datasets import load_diabetes
from sklearn.linear_model import Ridge

import hedgerow as hr
from hedgerow.estimators.parts import is_own
from hedgerow.evaluation import cross_validate, workers
from hedgerow.evaluation.progress import Progress
from hedgerow.kernels.cores import n_threads_for

X, Y = load_diabetes(return_X_y=True)
QUIET = Progress("nothing", 0, verbose=False)


def test_results_come_in_the_order_of_the_work():
    def wait_and_tell(number):
        time.sleep(0.01 * (5 - number))
        return number

    tasks = [partial(wait_and_tell, number) for number in range(5)]
    assert workers.work_done(tasks, True, 3, QUIET) == [0, 1, 2, 3, 4]


@pytest.mark.parametrize(
    ("n_jobs", "n_tasks", "n_workers"),
    [(1, 3, 1), (2, 5, 3), (2, 3, 3), (4, 2, 2), (5, 3, 3), (8, 8, 8), (4, 10, 5), (4, 13, 5)],
)
def test_of_all_cores_none_is_left_alone_with_the_last_task(
    n_jobs, n_tasks, n_workers, monkeypatch
):
    monkeypatch.setattr(workers, "n_cores", lambda: n_jobs)
    most = most_at_work(n_jobs, n_tasks, n_workers)
    assert most == n_workers * max(n_jobs // n_workers, 1)


@pytest.mark.parametrize(("n_jobs", "n_tasks"), [(1, 3), (2, 5), (4, 2), (5, 3), (8, 8)])
def test_of_some_cores_workers_take_no_more(n_jobs, n_tasks, monkeypatch):
    monkeypatch.setattr(workers, "n_cores", lambda: 64)
    n_workers = min(n_jobs, n_tasks)
    most = most_at_work(n_jobs, n_tasks, n_workers)
    assert most == n_workers * (n_jobs // n_workers) <= n_jobs


def most_at_work(n_jobs, n_tasks, n_workers):
    """Return the most threads that tasks were allowed at once; the first n_workers meet."""
    at_work, most, lock, all_here = [], [], threading.Lock(), threading.Barrier(n_workers)

    def task(number):
        n_threads = n_threads_for(None)
        with lock:
            at_work.append(n_threads)
            most.append(sum(at_work))
        if number < n_workers:
            all_here.wait(timeout=30)
        with lock:
            at_work.remove(n_threads)

    tasks = [partial(task, number) for number in range(n_tasks)]
    workers.work_done(tasks, True, n_jobs, QUIET)
    return max(most)


def test_the_first_error_ends_what_has_not_begun():
    begun = []

    def task(number):
        begun.append(number)
        time.sleep(0.01)
        if number == 1:
            raise RuntimeError("broken")

    with pytest.raises(RuntimeError, match="broken"):
        workers.work_done([partial(task, number) for number in range(200)], True, 1, QUIET)
    assert len(begun) < 200


def test_models_of_ours_are_those_without_strangers_inside():
    assert is_own(hr.AdaBoostClassifier(hr.DecisionTreeClassifier()))
    assert is_own(hr.GradientBoostingRegressor())
    assert not is_own(hr.BaggingRegressor(Ridge()))
    assert not is_own(Ridge())


@pytest.mark.slow
def test_processes_give_the_scores_of_one_thread(monkeypatch):
    expected = cross_validate(Ridge(), X, Y, n_jobs=1)
    monkeypatch.setattr(workers, "_WORTH_PROCESSES", 0.0)
    found = cross_validate(Ridge(), X, Y, n_jobs=2, return_estimator=True)
    assert_array_equal(found["test_score"], expected["test_score"])
    assert all(np.isfinite(model.coef_).all() for model in found["estimator"])
    pids = workers.work_done([os.getpid] * 4, False, 2, QUIET)
    assert pids[0] == os.getpid()
    assert os.getpid() not in pids[1:]
