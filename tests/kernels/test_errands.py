"""Errands: kernels that are called again and again with the same arrays."""

import gc
import weakref
from typing import NamedTuple

import numpy as np
import pytest
from numba import config
from numpy.typing import NDArray

from hedgerow.kernels import errands
from hedgerow.kernels.calling import helped_kernel, team_kernel
from hedgerow.kernels.errands import Errand
from hedgerow.kernels.machine import atomic_add
from hedgerow.kernels.meeting import meet, share
from hedgerow.kernels.team import hired

N_STEPS = 1e9  # enough for all members to take part
MUCH = 1e9


class Many(NamedTuple):
    """More arrays than a note has room for at first."""

    first: NDArray[np.float64]
    others: tuple[NDArray[np.float64], ...]


@team_kernel
def add_times(team, times, numbers, out):
    begin, end = share(team, out.shape[0])
    for i in range(begin, end):
        out[i] += times[0] * numbers[i]
    meet(team)


@helped_kernel
def count_members(_team, counts):
    atomic_add(counts, 0, 1)


@team_kernel
def add_many(team, many, out):
    if team.thread == 0:
        out[0] = many.first[0]
        for other in many.others:
            out[0] += other[0]


@pytest.mark.parametrize("n_threads", [1, 2, 3])
@pytest.mark.parametrize("n_steps", [0, N_STEPS])
def test_an_errand_does_what_the_kernel_does(n_threads, n_steps):
    numbers, times = np.arange(1000.0), np.ones(1)
    errand, out = Errand(add_times), np.zeros(1000)
    with hired(n_threads, MUCH) as team:
        for k in range(1, 5):
            times[0] = k  # read when the errand is done, not when it was written down
            team.repeat(n_steps, errand, times, numbers, out)
    np.testing.assert_array_equal(out, 10 * numbers)


@pytest.mark.parametrize("n_threads", [1, 3])
def test_other_arrays_are_noticed(n_threads):
    errand, times = Errand(add_times), np.ones(1)
    with hired(n_threads, MUCH) as team:
        for size in (1000, 10, 500):
            out = np.zeros(size)
            for _ in range(2):
                team.repeat(N_STEPS, errand, times, np.ones(size), out)
            np.testing.assert_array_equal(out, 2.0)


def test_other_teams_are_noticed():
    errand, times, numbers, out = Errand(add_times), np.ones(1), np.ones(99), np.zeros(99)
    for n_threads in (1, 3, 2, 2):
        with hired(n_threads, MUCH) as team:
            team.repeat(N_STEPS, errand, times, numbers, out)
            team.repeat(0, errand, times, numbers, out)
    np.testing.assert_array_equal(out, 8.0)


@team_kernel
def set_then_double(team, numbers, out):
    begin, end = share(team, out.shape[0])
    for i in range(begin, end):
        out[i] = 2.0 * numbers[i]


@pytest.mark.parametrize("n_threads", [1, 3])
@pytest.mark.parametrize("n_steps", [0, N_STEPS])
@pytest.mark.parametrize("how", ["repeat", "sweep", "join", "run"])
def test_what_is_put_off_is_done_before_what_comes_next(n_threads, n_steps, how):
    times, numbers, first, then = np.ones(1), np.arange(99.0), Errand(add_times), np.zeros(99)
    with hired(n_threads, MUCH) as team:
        for k in (1.0, 2.0):
            between = np.zeros(99)
            team.put_off(n_steps, first, times, k * numbers, between)
            if how == "repeat":
                team.repeat(0, Errand(set_then_double), between, then)
            elif how == "sweep":
                team.sweep(0, set_then_double, between, then)
            else:
                getattr(team, how)(set_then_double, between, then)
            np.testing.assert_array_equal(then, 2.0 * k * numbers)
            np.testing.assert_array_equal(between, k * numbers)  # done once


def test_of_two_that_are_put_off_the_first_is_done_first():
    times, out, numbers = np.ones(1), np.zeros(9), np.ones(9)
    with hired(1, MUCH) as team:
        team.put_off(0, Errand(add_times), times, numbers, out)
        team.put_off(0, Errand(set_then_double), out, numbers)
        team.repeat(0, Errand(add_times), times, numbers, out)
    np.testing.assert_array_equal(out, 3.0)


def test_helpers_that_are_not_needed_may_come_late():
    errand, counts = Errand(count_members), np.zeros(1, np.int64)
    with hired(3, MUCH) as team:
        for _ in range(100):
            team.repeat(N_STEPS, errand, counts)
    assert 100 <= counts[0] <= 300


def test_a_note_has_room_for_any_number_of_arguments():
    arrays = tuple(np.full(1, float(k)) for k in range(300))
    out = np.zeros(1)
    with hired(1, MUCH) as team:
        team.repeat(0, Errand(add_many), Many(arrays[0], arrays), out)
    assert out[0] == sum(range(300))


@pytest.mark.skipif(config.DISABLE_JIT, reason="without the JIT nothing is written down")
def test_the_same_arguments_are_written_down_once(monkeypatch):
    written = []
    real = errands.Note

    def note(*given):
        written.append(given)
        return real(*given)

    monkeypatch.setattr(errands, "Note", note)
    errand, times, numbers, out = Errand(add_times), np.ones(1), np.ones(99), np.zeros(99)
    with hired(2, MUCH) as team:
        for _ in range(5):
            team.repeat(N_STEPS, errand, times, numbers, out)
    assert len(written) == 1


def test_nothing_is_kept_when_an_errand_is_forgotten():
    errand, out = Errand(add_times), np.zeros(99)
    with hired(2, MUCH) as team:
        team.repeat(N_STEPS, errand, np.ones(1), np.ones(99), out)
    kept = weakref.ref(out)
    del errand, out, team
    gc.collect()
    assert kept() is None
