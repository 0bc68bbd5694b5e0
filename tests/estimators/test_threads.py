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
from hedgerow.kernels.meeting import CANCELLED
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


def in_python(code, patience=PATIENCE, **environment):
    """Run code in a process of its own and return what it prints."""
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
        capture_output=True,
        text=True,
        timeout=patience,
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
    import time
    import numpy as np
    from hedgerow import DecisionTreeRegressor
    from hedgerow.kernels import team

    rng = np.random.default_rng(0)
    small = rng.normal(size=(9000, 30)), rng.normal(size=9000)
    model = DecisionTreeRegressor(**PARAMETERS)
    before = model.fit(*small).fingerprint_
    X, y = rng.normal(size=(400_000, 30)), rng.normal(size=400_000)
    print("ready", flush=True)
    try:
        model.fit(X, y)
    except KeyboardInterrupt:
        print(time.time(), flush=True)
    assert team._pool.n_at_work == 0, "threads are still counted as at work"
    assert model.fingerprint_ == before, "the earlier fit is not whole"
    assert model.fit(*small).fingerprint_ == before, "a fit after the interrupt differs"
    print("fits again", flush=True)
"""


def interrupt(seconds, parameters, n_signals=1):
    """Send Ctrl-C to a long fit; return when, what the process said, and how it ended."""
    code = textwrap.dedent(INTERRUPTED).replace("PARAMETERS", repr(parameters))
    process = subprocess.Popen(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    watchdog = threading.Timer(PATIENCE, process.kill)
    watchdog.start()
    try:
        assert process.stdout.readline() == "ready\n", process.stderr.read()
        time.sleep(seconds)
        sent = time.time()
        for _ in range(n_signals):
            process.send_signal(signal.SIGINT)
            time.sleep(0.001)
        said, errors = process.communicate()
        return sent, said + errors, process.returncode
    finally:
        watchdog.cancel()
        process.kill()
        process.wait()


MOMENTS = [({"n_jobs": 2}, 0.8), ({"max_leaf_nodes": 300_000}, 0.8)]
SLOW_MOMENTS = [(p, t) for p in ({"n_jobs": 1}, {"n_jobs": 3}) for t in (0.05, 0.3, 0.8, 1.2)]
SLOW_MOMENTS += [({"criterion": "absolute_error"}, 0.8), ({"ccp_alpha": "cv"}, 0.8)]


@compiled_only
@pytest.mark.parametrize(
    ("parameters", "moment"),
    [*MOMENTS, *(pytest.param(*case, marks=pytest.mark.slow) for case in SLOW_MOMENTS)],
)
def test_an_interrupted_fit_stops_within_a_second_and_leaves_the_model_whole(parameters, moment):
    sent, said, code = interrupt(moment, parameters)
    assert code == 0, said
    assert said.endswith("fits again\n")
    assert float(said.split()[0]) - sent < 1.0


@compiled_only
@pytest.mark.slow
@pytest.mark.parametrize("moment", [0.1, 0.4, 0.9])
def test_a_second_interrupt_does_not_make_a_fit_hang_or_crash(moment):
    _, said, code = interrupt(moment, {"n_jobs": 2}, n_signals=3)
    # a later signal may end the process with a traceback, wherever it then is
    assert code in (0, 1, 130, -signal.SIGINT), said


OFTEN_INTERRUPTED = """
    import faulthandler, os, random, signal, threading, time
    import numpy as np
    from hedgerow import DecisionTreeRegressor
    from hedgerow.kernels import team

    signal.signal(signal.SIGINT, signal.default_int_handler)
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20_000, 15)), rng.normal(size=20_000)
    model = DecisionTreeRegressor(n_jobs=3, max_depth=1)
    before, start = model.fit(X, y).fingerprint_, time.time()
    model.fit(X, y)
    usual = time.time() - start

    def press(seconds, fired):
        time.sleep(seconds)
        fired.set()
        os.kill(os.getpid(), signal.SIGINT)

    for attempt in range(500):
        faulthandler.dump_traceback_later(20, exit=True)
        fired = threading.Event()
        threading.Thread(target=press, args=(random.random() * usual, fired)).start()
        try:
            assert model.fit(X, y).fingerprint_ == before
            while not fired.wait(0.001):
                pass
            time.sleep(0.01)
        except KeyboardInterrupt:
            assert team._pool.n_at_work == 0
    print("fine")
"""


@compiled_only
@pytest.mark.slow
def test_five_hundred_interrupts_at_any_moment_leave_no_thread_waiting():
    assert in_python(OFTEN_INTERRUPTED, patience=300) == "fine"


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


class Crew:
    """A kernel whose members wait for each other, as barriers do, unless they are cancelled."""

    def __init__(self):
        self.came, self.left, self.gave_up = [], [], False

    def __call__(self, member, _):
        self.came.append(member.thread)
        deadline = time.monotonic() + 5
        while len(self.came) < member.n_threads and not member.meeting[CANCELLED]:
            if time.monotonic() > deadline:
                self.gave_up = True
                break
            time.sleep(0.0005)
        self.left.append(member.thread)


def interrupted_at(line, act):
    """Raise KeyboardInterrupt at the given line of kernels/team.py that `act` comes to."""
    n_lines, before = 0, sys.gettrace()

    def trace(frame, event, _):
        nonlocal n_lines
        if frame.f_code.co_filename != teams.__file__:
            return None
        n_lines += event == "line"
        if n_lines == line:
            raise KeyboardInterrupt
        return trace

    sys.settrace(trace)
    try:
        act()
    except KeyboardInterrupt:
        return True
    finally:
        sys.settrace(before)
    return False


def run_in_team(crew, n_threads=2):
    with hired(n_threads, BUSY) as team:
        team.run(crew, None)


@pytest.mark.slow
def test_an_interrupt_at_any_line_leaves_no_member_behind():
    run_in_team(Crew())  # the threads are there
    for line in range(1, 1000):
        crew, after = Crew(), Crew()
        interrupted = interrupted_at(line, lambda crew=crew: run_in_team(crew))
        assert sorted(crew.left) == sorted(crew.came), f"a member is still at work: line {line}"
        assert teams._pool.n_at_work == 0, f"threads are counted as at work: line {line}"
        run_in_team(after)
        assert sorted(after.left) == [0, 1], f"the next team is not whole: line {line}"
        assert not crew.gave_up, f"a member waited in vain: line {line}"
        assert not after.gave_up, f"a member of the next team waited in vain: line {line}"
        if not interrupted:
            return
    pytest.fail("the team never came to an end")


def test_teams_come_and_go_in_many_threads_at_once():
    def hire_and_leave(seed):
        for n in np.random.default_rng(seed).integers(1, 4, 300):
            with hired(int(n), BUSY):
                pass

    with ThreadPoolExecutor(8) as pool:
        for job in [pool.submit(hire_and_leave, seed) for seed in range(8)]:
            job.result(timeout=PATIENCE)
    assert teams._pool.n_at_work == 0


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


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="this system has no affinity")
def test_cores_are_those_that_the_thread_may_use(tmp_path, monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "")

    def cores_when_pinned():
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})  # of this thread only
        return n_cores(tmp_path)

    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(cores_when_pinned).result() == 1
    assert n_cores(tmp_path) == len(os.sched_getaffinity(0))


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
@pytest.mark.parametrize(
    ("value", "cores"), [("3", 3), ("99", 16), ("", 16), ("nonsense", 16), ("4,2", 4)]
)
@pytest.mark.usefixtures("many_cores")
def test_the_environment_limits_the_cores(monkeypatch, tmp_path, name, value, cores):
    monkeypatch.setenv(name, value)
    assert n_cores(tmp_path) == cores


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="this system has no affinity")
def test_affinity_and_environment_of_a_process_reach_its_teams():
    code = """
        import os
        from hedgerow.kernels.team import hired

        def size():
            with hired(None, 1e9) as team:
                return team.n_threads

        os.environ["OMP_NUM_THREADS"] = "1"
        limited = size()
        del os.environ["OMP_NUM_THREADS"]
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
        print(limited, size())
    """
    assert in_python(code) == "1 1"


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
