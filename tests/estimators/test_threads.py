"""Threads, processes and signals: the same tree from all of them, and nobody hangs."""

import contextvars
import multiprocessing
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from joblib import Parallel, delayed
from numba import config

import hedgerow
from hedgerow import DecisionTreeClassifier, DecisionTreeRegressor
from hedgerow.kernels import team as teams
from hedgerow.kernels.cores import n_cores, n_threads_for
from hedgerow.kernels.team import hired
from tests.estimators.tables import census

ROOT = Path(__file__).parents[2]
PATIENCE = 60  # seconds until a hang is called one
BUSY = 1e9  # cell updates: enough for every thread that may be had

compiled_only = pytest.mark.skipif(bool(config.DISABLE_JIT), reason="plain Python holds the GIL")


@pytest.fixture(scope="module", name="problem")
def _problem():
    return census(12_000)  # its root is shared by threads


def fingerprint(problem, n_jobs=None):
    model = DecisionTreeClassifier(max_depth=8, n_jobs=n_jobs)
    return model.fit(problem.X, problem.classes).fingerprint_


def in_python(code, **environment):
    """Run code in a process of its own and return what it prints."""
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


# ------------------------------------------------------------------ many fits at once


def test_eight_python_threads_that_fit_at_once_get_the_serial_tree(problem):
    serial = fingerprint(problem, n_jobs=1)
    with ThreadPoolExecutor(8) as pool:
        jobs = [pool.submit(fingerprint, problem, n) for n in (None, 1, 2, 3, -1, 2, None, 4)]
        assert {job.result(timeout=PATIENCE) for job in jobs} == {serial}


def test_python_threads_predict_with_one_model_at_once(problem):
    model = DecisionTreeClassifier(n_jobs=2).fit(problem.X, problem.classes)
    expected = model.predict(problem.X).tolist()
    with ThreadPoolExecutor(8) as pool:
        jobs = [pool.submit(model.predict, problem.X) for _ in range(8)]
        assert all(job.result(timeout=PATIENCE).tolist() == expected for job in jobs)


@pytest.mark.parametrize("backend", ["loky", "threading"])
def test_joblib_workers_get_the_serial_tree(problem, backend):
    with Parallel(n_jobs=2, backend=backend, timeout=PATIENCE) as parallel:
        found = parallel(delayed(fingerprint)(problem, n) for n in (1, 2, None, 2))
    assert set(found) == {fingerprint(problem, n_jobs=1)}


# ------------------------------------------------------------------ processes


def _send_fingerprint(connection, problem):
    connection.send(fingerprint(problem, n_jobs=2))


def from_child(method, problem):
    """Fit in a child and return its fingerprint, or fail if it hangs."""
    context = multiprocessing.get_context(method)
    ours, theirs = context.Pipe()
    child = context.Process(target=_send_fingerprint, args=(theirs, problem))
    child.start()
    try:
        assert ours.poll(PATIENCE), f"a child made by {method} hangs"
        return ours.recv()
    finally:
        child.kill()
        child.join()


# Python 3.12 and later warn of any fork beside threads; ours are forgotten in the child.
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_a_child_of_a_process_that_has_fitted_gets_the_same_tree(problem, method):
    if method not in multiprocessing.get_all_start_methods():
        pytest.skip(f"this system has no {method}")
    before = fingerprint(problem, n_jobs=2)
    assert from_child(method, problem) == before
    assert fingerprint(problem, n_jobs=2) == before


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_child_forked_in_mid_fit_gets_the_same_tree(problem):
    before, stop = fingerprint(problem, n_jobs=2), threading.Event()

    def fit_on():
        while not stop.is_set():
            fingerprint(problem, n_jobs=2)

    busy = threading.Thread(target=fit_on)
    busy.start()
    try:
        assert {from_child("fork", problem) for _ in range(3)} == {before}
    finally:
        stop.set()
        busy.join()


# ------------------------------------------------------------------ Ctrl-C


INTERRUPTED = """
    import sys, time, threading
    import numpy as np
    from hedgerow import DecisionTreeClassifier, DecisionTreeRegressor
    from hedgerow.kernels import team

    rng = np.random.default_rng(0)
    small = rng.normal(size=(9000, 4)), rng.normal(size=9000)
    model = DecisionTreeRegressor(**{parameters!r})
    before = model.fit(*small).fingerprint_
    X, y = rng.normal(size=({n_rows}, 30)), rng.normal(size={n_rows})
    print("ready", flush=True)
    try:
        model.fit(X, y)
        print("finished", flush=True)
    except KeyboardInterrupt:
        print("interrupted", time.time(), flush=True)
    assert team._pool.n_at_work == 0, "threads are still counted as at work"
    assert model.fingerprint_ == before, "the earlier fit is not whole"
    assert model.fit(*small).fingerprint_ == before, "a fit after the interrupt differs"
    print("fits again", flush=True)
"""


def interrupted_after(seconds, parameters, n_rows=400_000, n_signals=1):
    """Send Ctrl-C to a long fit; return how long it took to stop, None if it had ended by then."""
    code = textwrap.dedent(INTERRUPTED.format(parameters=parameters, n_rows=n_rows))
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    process = subprocess.Popen(
        [sys.executable, "-c", code], env=environment, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    watchdog = threading.Timer(PATIENCE, process.kill)
    watchdog.start()
    try:
        assert process.stdout.readline() == "ready\n", process.stderr.read()
        time.sleep(seconds)
        sent = time.time()
        for _ in range(n_signals):
            process.send_signal(signal.SIGINT)
            time.sleep(0.02)
        said, errors = process.communicate()
    finally:
        watchdog.cancel()
        process.kill()
        process.wait()
    assert process.returncode == 0, errors
    assert said.endswith("fits again\n")
    return None if said.startswith("finished") else float(said.split()[1]) - sent


@compiled_only
@pytest.mark.parametrize("moment", [0.05, 0.3, 0.8, 1.5])
@pytest.mark.parametrize("parameters", [{"n_jobs": 2}, {"n_jobs": 1}, {"max_leaf_nodes": 300_000}])
def test_an_interrupted_fit_stops_within_a_second_and_leaves_the_model_whole(moment, parameters):
    seconds = interrupted_after(moment, parameters)
    assert seconds is None or seconds < 1.0
    assert moment > 1 or seconds is not None  # the fit takes long enough to be interrupted


@compiled_only
def test_pressing_ctrl_c_twice_leaves_no_thread_behind():
    """The second signal may come at any time: a traceback is fine, a hang or a crash is not."""
    code = textwrap.dedent(INTERRUPTED.format(parameters={"n_jobs": 2}, n_rows=400_000))
    process = subprocess.Popen(
        [sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": str(ROOT)}, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    try:
        assert process.stdout.readline() == "ready\n"
        time.sleep(0.4)
        for _ in range(2):
            process.send_signal(signal.SIGINT)
            time.sleep(0.001)
        process.communicate(timeout=PATIENCE)
    finally:
        process.kill()
        process.wait()
    assert process.returncode in (0, 1, 130, -signal.SIGINT)


# ------------------------------------------------------------------ errors inside a team


def _fail_in_second(member, _):
    if member.thread == 1:
        raise RuntimeError("member 1 failed")


def test_an_error_of_one_member_reaches_the_caller_and_the_next_team_works():
    for _ in range(3):
        with pytest.raises(RuntimeError, match="member 1 failed"), hired(3, BUSY) as team:
            team.run(_fail_in_second, None)
    seen = []
    with hired(3, BUSY) as team:
        team.run(lambda member, _: seen.append(member.thread), None)
    assert sorted(seen) == list(range(team.n_threads))
    assert teams._pool.n_at_work == 0


def test_an_error_in_shared_out_work_stops_the_rest():
    done = []

    def work(_, item):
        if item == 3:
            raise ValueError("item 3")
        time.sleep(0.001)
        done.append(item)

    with pytest.raises(ValueError, match="item 3"), hired(2, BUSY) as team:
        team.run_each(work, range(1000))
    assert len(done) < 1000


def test_an_interrupt_while_helpers_are_being_started_leaves_none_behind(monkeypatch):
    # Ctrl-C may come between two bytecodes of Team.run, when only some members are at work.
    waiting, real = threading.Event(), teams._Helper.do
    calls = []

    def interrupted(helper, task):
        calls.append(helper)
        if len(calls) == 2:
            raise KeyboardInterrupt
        real(helper, task)

    monkeypatch.setattr(teams._Helper, "do", interrupted)
    with pytest.raises(KeyboardInterrupt), hired(2, BUSY) as team:
        team.run(lambda *_: waiting.wait(2), None)
    monkeypatch.undo()
    assert team.n_threads == 2
    busy = len(team._done)
    waiting.set()
    assert busy == len(calls) - 1  # whoever was started had ended before the interrupt went on


# ------------------------------------------------------------------ how many threads


def size_of_team(n_jobs=None, work=BUSY):
    with hired(n_jobs, work) as team:
        return team.n_threads


@pytest.mark.parametrize(
    ("n_jobs", "cores", "n_threads"),
    [(None, 6, 6), (-1, 6, 6), (-2, 6, 5), (-9, 6, 1), (3, 6, 3), (8, 6, 8), (1, 6, 1)],
)
def test_n_jobs_counts_threads_as_scikit_learn_does(monkeypatch, n_jobs, cores, n_threads):
    monkeypatch.setattr("hedgerow.kernels.cores.n_cores", lambda: cores)
    assert n_threads_for(n_jobs) == n_threads
    assert size_of_team(n_jobs) == n_threads


def test_little_work_is_done_by_the_caller_alone():
    assert size_of_team(4, work=10.0) == 1


def test_teams_at_the_same_time_share_the_cores(monkeypatch):
    monkeypatch.setattr("hedgerow.kernels.cores.n_cores", lambda: 4)
    with hired(None, BUSY) as first:
        assert first.n_threads == 4
        assert size_of_team() == 1
    assert size_of_team() == 4


def test_threads_limits_estimators_that_do_not_say_n_jobs(monkeypatch):
    monkeypatch.setattr("hedgerow.kernels.cores.n_cores", lambda: 4)
    with hedgerow.threads(2):
        assert size_of_team() == 2
        with hedgerow.threads(1):
            assert size_of_team() == 1
        assert size_of_team() == 2
        assert size_of_team(3) == 3
    assert size_of_team() == 4


def test_the_limit_is_of_one_context_and_ends_with_an_error(monkeypatch):
    monkeypatch.setattr("hedgerow.kernels.cores.n_cores", lambda: 4)
    with hedgerow.threads(1), ThreadPoolExecutor(1) as pool:
        assert pool.submit(n_threads_for, None).result() == 4  # another thread, another context
        context = contextvars.copy_context()
        assert pool.submit(context.run, n_threads_for, None).result() == 1
    with pytest.raises(ZeroDivisionError), hedgerow.threads(1):
        raise ZeroDivisionError
    assert n_threads_for(None) == 4


@pytest.mark.parametrize("n", [0, -1, 1.5, True, "2", None])
def test_threads_takes_a_whole_number_from_one_up(n):
    with pytest.raises(ValueError, match=r"threads\(.*\): pass the number of threads"):
        hedgerow.threads(n).__enter__()


# ------------------------------------------------------------------ cores


COUNT = "from hedgerow.kernels.cores import n_cores; print(n_cores())"


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="this system has no affinity")
def test_cores_are_those_that_the_process_may_use():
    one = min(os.sched_getaffinity(0))
    assert in_python(f"import os; os.sched_setaffinity(0, {{{one}}}); {COUNT}") == "1"
    assert int(in_python(COUNT, OMP_NUM_THREADS="")) <= len(os.sched_getaffinity(0))


@pytest.fixture(name="many_cores")
def _many_cores(monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(16)), raising=False)
    for name in ("HEDGEROW_NUM_THREADS", "OMP_NUM_THREADS"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize(
    ("quota", "cores"),
    [("max 100000", 16), ("200000 100000", 2), ("150000 100000", 2), ("50000 100000", 1), ("", 16)],
)
@pytest.mark.usefixtures("many_cores")
def test_a_container_of_version_2_limits_the_cores(tmp_path, quota, cores):
    (tmp_path / "cpu.max").write_text(quota + "\n")
    assert n_cores(tmp_path) == cores


@pytest.mark.parametrize(("quota", "cores"), [("-1", 16), ("300000", 3), ("10000", 1)])
@pytest.mark.usefixtures("many_cores")
def test_a_container_of_version_1_limits_the_cores(tmp_path, quota, cores):
    (tmp_path / "cpu").mkdir()
    (tmp_path / "cpu" / "cpu.cfs_quota_us").write_text(quota + "\n")
    (tmp_path / "cpu" / "cpu.cfs_period_us").write_text("100000\n")
    assert n_cores(tmp_path) == cores


@pytest.mark.usefixtures("many_cores")
def test_without_a_container_all_cores_count(tmp_path):
    assert n_cores(tmp_path) == 16


@pytest.mark.parametrize("name", ["OMP_NUM_THREADS", "HEDGEROW_NUM_THREADS"])
@pytest.mark.parametrize(("value", "cores"), [("3", 3), ("99", 16), ("", 16), ("nonsense", 16), ("4,2", 4)])
@pytest.mark.usefixtures("many_cores")
def test_the_environment_limits_the_cores(monkeypatch, tmp_path, name, value, cores):
    monkeypatch.setenv(name, value)
    assert n_cores(tmp_path) == cores


def test_the_limit_of_the_environment_reaches_a_fit():
    code = """
        from hedgerow.kernels.team import hired
        with hired(None, 1e9) as team:
            print(team.n_threads)
    """
    assert in_python(code, OMP_NUM_THREADS="1") == "1"


# ------------------------------------------------------------------ memory


@compiled_only
def test_threads_are_used_again_not_started_anew():
    problem = np.random.default_rng(0).normal(size=(9000, 30))
    y = problem[:, 0] > 0
    for _ in range(2):
        DecisionTreeClassifier(n_jobs=3, max_depth=3).fit(problem, y)
    before = threading.active_count()
    for _ in range(10):
        DecisionTreeClassifier(n_jobs=3, max_depth=3).fit(problem, y)
        DecisionTreeRegressor(n_jobs=3, max_depth=3).fit(problem, y * 1.0)
    assert threading.active_count() == before
