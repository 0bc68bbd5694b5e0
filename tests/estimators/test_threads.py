"""What is true of threads, processes and interrupts."""

import multiprocessing
import os
import signal
import subprocess
import sys
import textwrap
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import joblib
import numpy as np
import pytest

import hedgerow
from hedgerow import DecisionTreeClassifier
from hedgerow.kernels import cores
from hedgerow.kernels.cores import n_cores, n_threads_for

_LIMIT = 120  # seconds: a hang is a failure


def _table():
    rng = np.random.default_rng(11)
    X = rng.standard_normal((20_000, 6))
    X[rng.random(X.shape) < 0.05] = np.nan
    return X, (np.nan_to_num(X[:, 0] * X[:, 1]) + rng.standard_normal(20_000) > 0).astype(int)


def _fingerprint(_=None, n_jobs=None):
    return DecisionTreeClassifier(max_depth=9, n_jobs=n_jobs).fit(*_table()).fingerprint_


@pytest.fixture(scope="module")
def serial():
    return _fingerprint(n_jobs=1)


def test_eight_threads_that_fit_at_once_all_get_the_serial_tree(serial):
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(_fingerprint, range(8), timeout=_LIMIT))
    assert found == [serial] * 8


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_a_child_process_fits_after_its_parent_did(serial, method):
    if method not in multiprocessing.get_all_start_methods():
        pytest.skip(f"this system has no {method}")
    _fingerprint(n_jobs=2)  # the parent has threads of its own by now
    with multiprocessing.get_context(method).Pool(1) as pool:
        assert pool.map_async(_fingerprint, range(2)).get(_LIMIT) == [serial] * 2


@pytest.mark.parametrize("backend", ["loky", "threading"])
def test_joblib_workers_get_the_serial_tree(serial, backend):
    work = (joblib.delayed(_fingerprint)(number) for number in range(3))
    assert joblib.Parallel(2, backend=backend, timeout=_LIMIT)(work) == [serial] * 3


@pytest.mark.parametrize("n_jobs", [1, 2, 3, 5, -1, None])
def test_the_number_of_threads_makes_no_difference(serial, n_jobs):
    assert _fingerprint(n_jobs=n_jobs) == serial


_INTERRUPTED = """
    import os, signal, sys, threading, time
    import numpy as np
    from hedgerow import DecisionTreeRegressor

    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((300_000, 20)), rng.standard_normal(300_000)
    small = DecisionTreeRegressor(max_depth=4, n_jobs=2).fit(X[:30_000], y[:30_000])
    DecisionTreeRegressor(n_jobs=2).fit(X[:20_000], y[:20_000])
    fitted = DecisionTreeRegressor(n_jobs=2, max_depth=2).fit(X[:500], y[:500])
    before = fitted.predict(X[:50])
    fitted.max_depth = None
    sent = []

    def interrupt():
        time.sleep(float(sys.argv[1]))
        sent.append(time.perf_counter())
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=interrupt, daemon=True).start()
    try:
        fitted.fit(X, y)
    except KeyboardInterrupt:
        print("seconds", time.perf_counter() - sent[0])
    else:
        print("not interrupted")
    assert (fitted.predict(X[:50]) == before).all(), "the earlier fit is gone"
    again = DecisionTreeRegressor(max_depth=4, n_jobs=2).fit(X[:30_000], y[:30_000])
    assert again.fingerprint_ == small.fingerprint_
    print("healthy")
"""


@pytest.mark.skipif(os.name == "nt", reason="signals are sent differently there")
@pytest.mark.parametrize("delay", [0.05, 0.9])
def test_an_interrupt_ends_a_long_fit_within_a_second_and_nothing_is_lost(delay):
    script = textwrap.dedent(_INTERRUPTED)
    run = subprocess.run(
        [sys.executable, "-c", script, str(delay)],
        capture_output=True,
        text=True,
        timeout=_LIMIT,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    words = run.stdout.split()
    assert words[0] == "seconds", run.stdout
    assert float(words[1]) < 1.0
    assert words[2] == "healthy"


def test_threads_limits_estimators_that_do_not_say_how_many():
    with hedgerow.threads(3):
        assert n_threads_for(None) == 3
        assert n_threads_for(2) == 2
    assert n_threads_for(None) == n_cores()


@pytest.mark.parametrize("n", [0, -1, 1.5, True, "2"])
def test_threads_wants_a_whole_number_from_one_up(n):
    with pytest.raises(ValueError, match=r"threads\(.*\): pass the number of threads"):
        with hedgerow.threads(n):
            pass


def test_no_thread_at_all_is_refused():
    with pytest.raises(ValueError, match=r"n_jobs=0 means no thread at all\. Pass None"):
        _fingerprint(n_jobs=0)


def test_negative_numbers_of_jobs_count_from_all_cores(monkeypatch):
    monkeypatch.setattr(cores, "n_cores", lambda: 6)
    assert [n_threads_for(n) for n in (-1, -2, -6, -9)] == [6, 5, 1, 1]


def test_a_container_quota_limits_the_cores(tmp_path: Path, monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(8)), raising=False)
    for name in ("HEDGEROW_NUM_THREADS", "OMP_NUM_THREADS"):
        monkeypatch.delenv(name, raising=False)
    second, first, none = tmp_path / "v2", tmp_path / "v1", tmp_path / "none"
    second.mkdir()
    (second / "cpu.max").write_text("250000 100000\n")
    (first / "cpu").mkdir(parents=True)
    (first / "cpu" / "cpu.cfs_quota_us").write_text("400000\n")
    (first / "cpu" / "cpu.cfs_period_us").write_text("100000\n")
    none.mkdir()
    (none / "cpu.max").write_text("max 100000\n")
    assert [n_cores(second), n_cores(first), n_cores(none), n_cores(tmp_path / "x")] == [3, 4, 8, 8]


def test_the_environment_and_affinity_limit_the_cores(monkeypatch, tmp_path):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1, 2, 3}, raising=False)
    monkeypatch.delenv("HEDGEROW_NUM_THREADS", raising=False)
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    assert n_cores(tmp_path) == 2
    monkeypatch.setenv("HEDGEROW_NUM_THREADS", "1")
    assert n_cores(tmp_path) == 1


@pytest.mark.skipif(os.name == "nt", reason="signals are sent differently there")
def test_other_signals_handlers_that_raise_end_a_fit_too():
    class Stop(Exception):
        pass

    def stop(*_):
        raise Stop

    before = signal.signal(signal.SIGUSR1, stop)
    try:
        rng = np.random.default_rng(0)
        X, y = rng.standard_normal((400_000, 10)), rng.standard_normal(400_000)
        DecisionTreeClassifier(max_depth=2, n_jobs=2).fit(X[:30_000], y[:30_000] > 0)
        timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGUSR1))
        timer.start()
        with pytest.raises(Stop):
            DecisionTreeClassifier(n_jobs=2).fit(X, y > 0)
    finally:
        signal.signal(signal.SIGUSR1, before)
