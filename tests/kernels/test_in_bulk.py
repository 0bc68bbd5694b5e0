"""What is interpreted in bulk has the bits of the text that it stands for."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from hedgerow.kernels import (
    binning,
    codes,
    derivatives,
    histogram,
    links,
    partition,
    routes,
    steps,
)
from hedgerow.kernels.codes import FEATURE, MISSING, N_BINS
from hedgerow.kernels.fields import with_fields
from hedgerow.kernels.jit import config
from hedgerow.kernels.moments import GradientPairs, gradient_record
from hedgerow.kernels.split import SPLIT
from hedgerow.losses.classification import SingleBernoulli

pytestmark = pytest.mark.skipif(bool(config.DISABLE_JIT), reason="there is only the text")
N = 777


def same(part, *arguments):
    """Call a part in bulk and as it is written; demand the same of all that either has written."""
    in_bulk, as_written = ([_copied(each) for each in arguments] for _ in range(2))
    with np.errstate(all="ignore"):
        outcomes = part(*in_bulk), part.__wrapped__(*as_written)
    for one, other in zip(in_bulk, as_written, strict=True):
        if isinstance(one, np.ndarray):
            assert one.tobytes() == other.tobytes()
    return outcomes


def _copied(argument):
    return argument.copy() if isinstance(argument, np.ndarray) else argument


@pytest.fixture
def random():
    return np.random.default_rng(11)


@pytest.fixture
def records(random):
    rows = random.permutation(N)
    g, h = random.integers(-(2**15), 2**15, N), random.integers(1, 2**16, N)
    return np.array([gradient_record(*each) for each in zip(rows, g, h, strict=True)], np.int64)


@pytest.fixture(params=[0, -1])
def moments(request, random):
    weights = random.integers(1, 4, N) if request.param else np.ones(1, np.int64)
    return GradientPairs(weights, request.param, 10.0, 3)


@pytest.mark.parametrize("n_columns", [1, 2, 5, 16])
def test_histograms_are_summed(random, records, moments, n_columns):
    table = random.integers(0, 256, (N, 16)).astype(np.uint8)
    cells = np.zeros(n_columns * N_BINS, np.int64)
    same(histogram._add_rows, table, 16 - n_columns, records, moments, cells, n_columns)


@pytest.mark.parametrize("missing_left", [0, 1])
@pytest.mark.parametrize("cut", [0, 17, 254])
def test_records_are_parted(random, records, missing_left, cut):
    column = random.integers(0, 256, N).astype(np.uint8)
    split = with_fields(np.zeros(1, SPLIT))[0]
    split.cut, split.missing_left = cut, missing_left
    sides = []
    for part in (partition._by_byte, partition._by_byte.__wrapped__):
        target = np.zeros_like(records)
        n_left = part(column, split, records, target)
        sides.append((set(target[:n_left].tolist()), set(target[n_left:].tolist())))
    assert sides[0] == sides[1]


def test_derivatives_are_set(random):
    y, raw = random.integers(0, 2, N).astype(np.uint8), random.normal(size=N) * 40
    same(derivatives._derive, SingleBernoulli(), y, raw, *np.empty((2, N), np.float32))


def test_a_loss_with_a_choice_is_asked_row_by_row(random):
    class Pinball:
        def gradient(self, y, f):
            return 0.9 if f > y else -0.1

        def hessian(self, y, f):
            return 2.0 if f > y else 1.0

    y, raw = random.normal(size=(2, N))
    same(derivatives._derive, Pinball(), y, raw, *np.empty((2, N), np.float32))


def test_derivatives_of_classes_are_set(random):
    raw, labels = random.normal(size=N) * 9, random.integers(0, 3, N).astype(np.uint8)
    singles = random.normal(size=(3, N)).astype(np.float32)
    same(derivatives._raise, raw, singles[0], singles[1])
    same(derivatives._set_below, raw, singles[0], singles[1])
    same(derivatives._add_odds, -abs(singles[0]) * 50, abs(singles[1]))
    same(derivatives._divide, singles[0], abs(singles[1]) + np.float32(1))
    same(derivatives._subtract_class, labels, np.int32(1), 3, abs(singles[0]), singles[1])


def test_records_are_written(random):
    g, h = random.normal(size=(2, N)).astype(np.float32)
    scales, packed = np.array([900.3, 77.7], np.float32), np.zeros(N, np.int64)
    same(derivatives._set_records, 5, g, abs(h), scales, packed)


def test_steps_of_leaves_are_summed(random):
    numbers, room = random.normal(size=N).astype(np.float32), np.zeros(N, np.int64)
    same(steps._set_steps, numbers, np.float64(2.0**30), room)
    weights, own = random.integers(1, 5, N), random.integers(-99, 99, N)
    same(steps._weigh, weights, own)
    leaves, sums = random.integers(-1, 9, N).astype(np.int32), np.zeros((4, 20), np.int64)
    totals = []
    for part in (steps._add_steps, steps._add_steps.__wrapped__):
        mine = sums.copy()
        part(leaves, own, weights, mine)
        totals.append(mine.sum(axis=0))
    assert_array_equal(*totals)


def test_rows_are_routed(random):
    known, values = random.integers(0, 9, N).astype(np.int32), random.normal(size=9)
    same(routes._add_known, values, known, random.normal(size=N))
    column = random.integers(250, 256, N).astype(np.uint8)
    same(routes._set_codes, column, np.uint8(0), np.zeros(1024, np.uint8))
    for lowest in (-1, 0):
        assert np.equal(*same(routes._are_known, np.maximum(known - 1, lowest)))


def test_values_are_binned(random):
    values = random.normal(size=N)
    values[::9], high = np.nan, np.full(256, np.inf)
    high[:50] = np.sort(random.choice(values[~np.isnan(values)], 50))
    first = np.zeros(binning.N_BUCKETS, np.uint8)
    columns = []
    for part in (binning._bin, binning._bin.__wrapped__):
        columns.append(np.zeros(N, np.uint8))
        part(values, high, first, columns[-1])
    assert_array_equal(*columns)


@pytest.mark.parametrize("flag", [0, 2])
def test_digits_of_joint_codes_are_added(random, flag):
    about = with_fields(np.zeros(1, FEATURE))[0]
    about.n_codes, about.stride, about.flag, about.place, about.shared = 4, 3, flag, 0, 0
    columns = random.choice(np.array([0, 1, 2, MISSING], np.uint8), (1, N))
    for adds in (False, True):
        same(codes._add_digits, columns, about, 10, 500, adds, np.ones((1, N), np.uint8))


def test_probabilities_are_filled(random):
    scores = random.normal(size=(N, 3)) * 30
    for kernel, given in ((links.fill_logistic, scores[:, 0].copy()), (links.fill_softmax, scores)):
        in_bulk = given.copy()
        kernel.plain(in_bulk)
        kernel(given)
        assert in_bulk.tobytes() == given.tobytes()
