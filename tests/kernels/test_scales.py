"""Scales: keys are in the order of the values and thresholds that they stand for."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from hedgerow.ensembles.scaling import Known, reading_of
from hedgerow.kernels.jit import kernel
from hedgerow.kernels.packed import PACKED, Thicket
from hedgerow.kernels.scales import FLOATS, LANES, WHOLE, cut_key
from hedgerow.kernels.team import hired

AFTER = np.nextafter(0.25, 1.0)
BELOW = np.array([-np.inf, -1e300, -70_000.0, -3.5, -3.0, -0.5, -1e-60, -0.0])
ABOVE = np.array([0.0, 1e-60, 0.1, 0.25, AFTER, 1.0, 1.5, 65_530.0, 65_534.5, 1e6, 1e300, np.inf])
THRESHOLDS = np.concatenate([BELOW, ABOVE])
COLUMNS = {
    "whole": (WHOLE, [-3.0, -1.0, 0.0, 1.0, 2.0, 65_530.0]),
    "one number": (WHOLE, [7.0] * 6),
    "floats": (FLOATS, [-3.5, -0.0, 0.25, 1.5, 1e6, float(np.float32(3e38))]),
    "whole, far apart": (FLOATS, [-3.0, 0.0, 65_531.0, 1e6, 1.0, 2.0]),
    "large": (FLOATS, [2.0**60, 2.0**60 + 2.0**40, 0.0, 1.0, 2.0, 3.0]),
    "doubles": (0, [0.1, 0.25, AFTER, -np.inf, np.inf, -1e300]),
}


def thicket():
    """One tree with all thresholds."""
    nodes = np.zeros(2 * len(THRESHOLDS) + 1, PACKED).view(np.recarray)
    nodes.feature[: len(THRESHOLDS)], nodes.feature[len(THRESHOLDS) :] = 0, -1
    nodes.number[: len(THRESHOLDS)] = THRESHOLDS
    first = np.array([[0, 0, 0], [len(nodes), 0, 0]])
    return Thicket(nodes, np.zeros(0, np.uint64), np.zeros((0, 3)), first)


@kernel
def cut_keys(scales, thresholds, keys):
    for i in range(thresholds.shape[0]):
        keys[i] = cut_key(scales, 0, thresholds[i], i)


def read(x, n_threads=1):
    """The scale of a column, its keys and those of all thresholds."""
    values = np.array(x).reshape(-1, 1)
    with hired(n_threads, 1e9) as team:
        reading = reading_of([thicket()], values, np.arange(len(x)), team, Known())
        groups = reading.keys(values, np.arange(len(x)), team).reshape(-1, reading.n_columns, LANES)
        keys = groups.swapaxes(1, 2).reshape(-1, reading.n_columns)[: len(x)]
    cuts = np.zeros(len(THRESHOLDS), np.int64)
    cut_keys(reading.scales(0), THRESHOLDS, cuts)
    return int(reading.scales(0).columns[0]), keys, cuts


@pytest.mark.parametrize("n_threads", [1, 2])
@pytest.mark.parametrize("name", COLUMNS)
def test_a_key_is_above_that_of_a_threshold_if_the_value_is(name, n_threads):
    scale, x = COLUMNS[name]
    found, keys, cuts = read(x, n_threads)
    assert found == scale
    above = keys[:, :1].astype(np.int64) > cuts[None]
    assert_array_equal(above, np.array(x)[:, None] > THRESHOLDS[None])
    assert_array_equal(keys[:, 1], 0)


@pytest.mark.parametrize("name", COLUMNS)
def test_a_missing_value_has_a_key_below_all_thresholds_and_one_above_them(name):
    scale, x = COLUMNS[name]
    found, keys, cuts = read([*x, np.nan])
    assert found == scale
    assert keys[-1, 0] == 0
    assert (cuts >= 0).all()
    assert (cuts < keys[-1, 1]).all()
    assert_array_equal(keys[:-1, 0], keys[:-1, 1])
    assert (keys[:-1, 0] > 0).all()
    assert_array_equal(keys[:, 2], 0)


def test_keys_have_16_bits_unless_floats_need_32():
    for scale, x in COLUMNS.values():
        assert read(x)[1].dtype == (np.uint32 if scale == FLOATS else np.uint16)
