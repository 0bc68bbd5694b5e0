"""The team: threads that run one kernel together, meet in it, and end together."""

import os
import signal
import threading
import time

import numpy as np
import pytest
from numba import config

from hedgerow.kernels.calling import helped_kernel, team_kernel
from hedgerow.kernels.jit import kernel, part
from hedgerow.kernels.machine import atomic_add, atomic_load, pause
from hedgerow.kernels.meeting import cancelled, meet, share
from hedgerow.kernels.team import hired

MUCH = 1e9  # work enough for as many threads as are asked for


@team_kernel
def gather(team, told, seen):
    """In each round tell a number, meet, add up what all have told, and meet again."""
    for turn in range(seen.shape[0]):
        told[team.thread] = (turn + 1) * (team.thread + 1)
        meet(team)
        for thread in range(team.n_threads):
            seen[turn, team.thread] += told[thread]
        meet(team)


@team_kernel
def mark_share(team, marks):
    begin, end = share(team, marks.shape[1])
    for item in range(begin, end):
        marks[team.thread, item] += 1


@team_kernel
def wait_for_others(team):
    meet(team)


@kernel
def wait_here(team):
    """As wait_for_others, of members who come by themselves."""
    meet(team)


@part
def _work(team, started):
    started[team.thread] = 1
    while not cancelled(team):
        pass


@team_kernel
def work_until_cancelled(team, started):
    _work(team, started)


@kernel
def work_here(team, started):
    """As work_until_cancelled, of members who come by themselves."""
    _work(team, started)


@pytest.mark.parametrize("n_threads", [1, 2, 3])
def test_what_was_told_before_a_meeting_is_known_to_all_after_it(n_threads):
    told, seen = np.zeros(n_threads, np.int64), np.zeros((20, n_threads), np.int64)
    with hired(n_threads, MUCH) as team:
        team.run(gather, told, seen)
    total = n_threads * (n_threads + 1) // 2
    assert seen.tolist() == [[(turn + 1) * total] * n_threads for turn in range(20)]


@pytest.mark.parametrize("n_items", [0, 1, 2, 7, 100])
@pytest.mark.parametrize("n_threads", [1, 2, 3])
def test_shares_cover_all_items_once_and_are_fair(n_threads, n_items):
    marks = np.zeros((n_threads, n_items), np.int64)
    with hired(n_threads, MUCH) as team:
        team.run(mark_share, marks)
    assert (marks.sum(axis=0) == 1).all()
    sizes = marks.sum(axis=1)
    assert sizes.max() - sizes.min() <= 1


@pytest.mark.parametrize("call", ["run", "join"])
@pytest.mark.parametrize("n_threads", [1, 2, 3])
def test_each_item_is_worked_on_once_by_a_team_of_one(n_threads, call):
    done = []
    with hired(n_threads, MUCH) as team:
        work = lambda member, item: done.append((item, member.n_threads))  # noqa: E731
        team.run_each(work, range(20), getattr(team, call))
    assert sorted(done) == [(item, 1) for item in range(20)]


def test_a_caller_that_joins_takes_items_and_one_that_runs_takes_none():
    def who_takes(call):
        threads = set()
        with hired(2, MUCH) as team:
            work = lambda *_: (threads.add(threading.get_ident()), time.sleep(0.01))  # noqa: E731
            team.run_each(work, range(10), getattr(team, call))
        return threads

    assert threading.get_ident() in who_takes("join")
    assert threading.get_ident() not in who_takes("run")


def test_every_member_runs_in_a_thread_of_its_own():
    names = set()
    with hired(3, MUCH) as team:
        # They meet, so that none can do the work of another.
        team.run(lambda member: (names.add(threading.get_ident()), wait_here(member)))
    assert len(names) == 3
    assert threading.get_ident() not in names


@pytest.mark.parametrize("n_threads", [1, 2, 3])
def test_a_caller_that_joins_is_the_first_member(n_threads):
    told, seen = np.zeros(n_threads, np.int64), np.zeros((20, n_threads), np.int64)
    names = {}
    with hired(n_threads, MUCH) as team:
        team.join(gather, told, seen)
        team.join(lambda member: names.update({member.thread: threading.get_ident()}))
    total = n_threads * (n_threads + 1) // 2
    assert seen.tolist() == [[(turn + 1) * total] * n_threads for turn in range(20)]
    assert names[0] == threading.get_ident()
    assert len(set(names.values())) == n_threads


@pytest.mark.parametrize("call", ["run", "join"])
@pytest.mark.parametrize("who", [0, 1])
def test_an_error_of_one_member_ends_all_and_reaches_the_caller(call, who):
    def work(member):
        if member.thread == who:
            raise KeyError("lost")
        wait_here(member)  # for ever, if nobody told it to give up

    with hired(3, MUCH) as team:
        with pytest.raises(KeyError, match="lost"):
            getattr(team, call)(work)
        seen = np.zeros((1, 3), np.int64)
        team.run(gather, np.zeros(3, np.int64), seen)  # the team works on
        assert seen.tolist() == [[6, 6, 6]]


def test_an_error_in_an_item_leaves_the_others_undone():
    done = []

    def work(_, item):
        if item == 3:
            raise KeyError("lost")
        done.append(item)
        time.sleep(0.001)

    with hired(2, MUCH) as team, pytest.raises(KeyError, match="lost"):
        team.run_each(work, range(1000))
    assert len(done) < 1000


def test_an_error_of_the_only_thread_reaches_the_caller():
    with hired(1, 0.0) as team, pytest.raises(ZeroDivisionError):
        team.run(lambda _: 1 / 0)


def test_a_team_whose_members_all_failed_works_on():
    def fail(member):
        raise KeyError(member.thread)

    with hired(2, MUCH) as team:
        with pytest.raises(KeyError):
            team.run(fail)
        team.run(lambda _: None)


@pytest.mark.skipif(os.name != "posix", reason="sends a signal to the main thread")
def test_an_interrupt_of_the_caller_ends_the_kernel_and_the_team_works_on():
    started = np.zeros(2, np.int64)

    def interrupt():
        while not started.all():
            time.sleep(0.001)
        time.sleep(0.2)  # until the caller waits; what if it does not yet is tested below
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a job may ignore it
    with hired(2, MUCH) as team:
        team.run(wait_for_others)
        threading.Thread(target=interrupt).start()
        with pytest.raises(KeyboardInterrupt):
            team.run(work_until_cancelled, started)
        seen = np.zeros((1, 2), np.int64)
        team.run(gather, np.zeros(2, np.int64), seen)
        assert seen.tolist() == [[3, 3]]
    signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize("call", ["run", "join"])
def test_an_interrupt_while_members_are_being_started_ends_those_that_were(monkeypatch, call):
    started, ended = np.zeros(2, np.int64), []

    def work(member):
        work_here(member, started)
        ended.append(member.thread)

    n_asked = 2 if call == "run" else 1  # the caller itself has not begun
    with hired(2, MUCH) as team:
        last = team.helpers[-1]
        do = last.do

        def interrupted(task):
            monkeypatch.setattr(last, "do", do)  # only once
            do(task)
            raise KeyboardInterrupt

        monkeypatch.setattr(last, "do", interrupted)
        with pytest.raises(KeyboardInterrupt):
            getattr(team, call)(work)
        n_ended = len(ended)
        while len(ended) < n_asked:  # let them go before the test ends, in any case
            team.cancel()
            time.sleep(0.001)
        assert n_ended == n_asked


def test_brief_work_is_done_by_the_caller():
    threads = []
    with hired(2, 10.0) as team:
        assert team.n_threads == 1
        team.run(lambda _: threads.append(threading.get_ident()))
    assert threads == [threading.get_ident()]


def test_a_team_inside_a_team_has_the_threads_that_are_left():
    with hired(3, MUCH) as outer:
        assert outer.n_threads == 3
        with hired(3, MUCH) as inner:
            assert inner.n_threads == 1
        with hired(4, MUCH) as inner:
            assert inner.n_threads == 1
    with hired(3, MUCH) as again:
        assert again.n_threads == 3


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_a_forked_child_hires_its_own_threads():
    with hired(2, MUCH) as team:
        team.run(wait_for_others)
    child = os.fork()
    if child == 0:
        with hired(2, MUCH) as team:
            team.run(wait_for_others)
        os._exit(0)
    deadline = time.monotonic() + 60
    while (ended := os.waitpid(child, os.WNOHANG)) == (0, 0) and time.monotonic() < deadline:
        time.sleep(0.01)
    if ended == (0, 0):
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    assert ended == (child, 0)


@pytest.mark.parametrize("n_steps", [10, 10**7])
def test_few_steps_are_taken_by_the_caller_alone(n_steps):
    marks = np.zeros((3, 7), np.int64)
    with hired(3, MUCH) as team:
        team.sweep(n_steps, mark_share, marks)
    assert (marks.sum(axis=0) == 1).all()
    assert (marks[0].sum() == 7) == (n_steps == 10)


def test_helpers_come_whether_they_wait_or_have_fallen_asleep():
    with hired(3, MUCH) as team:
        for call in range(300):
            time.sleep((0.0, 0.0002, 0.0005, 0.001, 0.003)[call % 5])
            marks = np.zeros((3, 30), np.int64)
            team.join(mark_share, marks)
            assert marks.sum(axis=1).tolist() == [10, 10, 10]


@pytest.mark.parametrize("call", ["run", "join"])
def test_an_interrupt_before_a_kernel_begins_leaves_nobody_waiting(monkeypatch, call):
    with hired(3, MUCH) as team:
        expect = team._expect

        def interrupted(is_posted):
            monkeypatch.setattr(team, "_expect", expect)  # only once
            expect(is_posted)
            raise KeyboardInterrupt

        monkeypatch.setattr(team, "_expect", interrupted)
        with pytest.raises(KeyboardInterrupt):
            getattr(team, call)(mark_share, np.zeros((3, 30), np.int64))
        marks = np.zeros((3, 30), np.int64)
        getattr(team, call)(mark_share, marks)
        assert marks.sum(axis=1).tolist() == [10, 10, 10]


@helped_kernel
def come(team, came, least):
    """Note who has come; member 0 stays until so many of the others have."""
    atomic_add(came, team.thread, 1)
    while team.thread == 0 and atomic_load(came, 1) < least:
        pause()


@pytest.mark.skipif(bool(config.DISABLE_JIT), reason="in plain Python all members are asked")
def test_helpers_who_come_late_do_not_begin_but_come_to_the_next_call(monkeypatch):
    came = np.zeros(2, np.int64)
    with hired(2, MUCH) as team:
        for call in range(1, 30):
            with monkeypatch.context() as patch:
                patch.setattr(team, "_expect", lambda *_: None)
                team.join(come, came, 0)
                team.join(come, came, 0)
            team.join(come, came, came[1] + 1)
            assert came[0] == 3 * call
    assert 29 <= came[1] <= 3 * 29
