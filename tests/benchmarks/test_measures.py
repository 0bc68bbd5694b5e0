"""What benchmarks measure by: memory, exponents, threads, and sets that may be absent."""

import os
import sys

import numpy as np
import pytest

from benchmarks.datasets import contested
from benchmarks.forest_accuracy import corrected
from benchmarks.growth import Point, exponent
from benchmarks.harness import pin
from benchmarks.macro.boosting import QUANTISED, equal_parameters
from benchmarks.memory import taken_by
from benchmarks.micro.split import gains_of

LINUX = pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells")


@LINUX
def test_memory_is_the_most_that_work_has_above_what_was_there_before():
    before = np.ones(5_000_000)  # 40 MB, which are not counted
    found = taken_by(lambda: float(np.ones(10_000_000).sum()))  # 80 MB, given back at the end
    assert 75e6 < found < 100e6
    assert taken_by(lambda: None) < 5e6
    assert before.nbytes == 40_000_000


@pytest.mark.parametrize("power", [0.5, 1.0, 2.0])
def test_an_exponent_is_the_power_of_the_size(power):
    sizes = [100, 200, 400, 800]
    assert exponent(sizes, [3.0 * size**power for size in sizes]) == pytest.approx(power)


def test_a_point_of_an_axis_has_the_size_that_grows():
    assert Point("rows", 700, "hedgerow", 1).shape() == (700, 28, 2)
    assert Point("classes", 5, "hedgerow", 1, 300).shape() == (300, 28, 5)
    assert Point("trees", 25, "hedgerow", 1, 300).shape() == (300, 28, 2)


@LINUX
def test_a_process_is_left_as_many_cores_as_it_has_threads():
    before = os.sched_getaffinity(0)
    try:
        pin(None)
        assert os.sched_getaffinity(0) == before
        pin(1)
        assert len(os.sched_getaffinity(0)) == 1
    finally:
        os.sched_setaffinity(0, before)


def test_adult_is_always_there_and_other_sets_are_left_out_if_they_are_not(tmp_path, capsys):
    (X, y), (X_test, y_test), n_classes = contested(tmp_path, "adult", 500)
    assert (len(X), len(y), n_classes) == (500, 500, 2)
    assert not set(X.index) & set(X_test.index)
    assert {str(kind) for kind in X.dtypes} >= {"category", "int8"}
    assert len(y_test) == 500
    assert contested(tmp_path, "covtype") is None
    assert "Left out covtype" in capsys.readouterr().out


def test_quantised_lightgbm_has_the_parameters_of_lightgbm():
    given = equal_parameters(of_classes=True)
    assert given[QUANTISED] == given["LightGBM"] | {"use_quantized_grad": True}


def test_gains_by_the_formula_are_those_of_two_sides_and_their_parent():
    pairs = [(-3, 2), (1, 1), (4, 3)]  # G and H of three bins
    gains = gains_of(np.array([(G << 32) + H for G, H in pairs]))
    assert gains[2] == -np.inf  # nothing is on the right
    halves = [(G * 0.125) ** 2 / (2 * (H * 0.0625 + 1)) for G, H in ((-3, 2), (5, 4), (2, 6))]
    assert gains[0] == pytest.approx(halves[0] + halves[1] - halves[2])


def test_p_of_several_tests_is_corrected_by_holms_steps():
    assert corrected([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert corrected([0.9, 0.8]) == [1.0, 1.0]
