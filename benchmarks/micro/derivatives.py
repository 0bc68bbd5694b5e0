"""Derivatives and records: nanoseconds for a row, of the log-loss in single precision."""

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import expit

from benchmarks.micro.kernel import Kernel, alone
from hedgerow.kernels.derivatives import derive, write_records
from hedgerow.losses import Bernoulli

SCALES = np.array([64.0, 128.0], np.float32)


def kernels(n_rows: int) -> list[Kernel]:
    random, team = np.random.default_rng(0), alone()
    raw = 2 * random.standard_normal((1, n_rows))
    y = (random.random(n_rows) < expit(raw[0])).astype(np.float64)
    out = np.empty((1, 2, n_rows), np.float32)
    peaks, none = np.zeros((1, 1, 2), np.uint32), np.zeros(0, np.int64)
    records = np.empty(n_rows, np.int64)
    derivatives = Bernoulli().single, y, np.ones(1), raw, out, out.view(np.uint32), peaks
    written = out[0, 0], out[0, 1], SCALES, none, records
    team.run(derive, *derivatives)
    team.run(write_records, *written)
    p = expit(raw[0])
    # Scores are in single precision: 2^-24 of a score, and of its exponential.
    assert_allclose(out[0], [p - y, p * (1.0 - p)], rtol=1e-5, atol=1e-6)
    steps = np.floor(out[0] * SCALES[:, None] + np.float32(0.5)).astype(np.int64)
    g, h = steps[0], np.maximum(steps[1], 1)
    assert_array_equal(records, (g << 48) | (h << 32) | np.arange(n_rows))
    return [
        Kernel("derivatives", lambda: team.run(derive, *derivatives), n_rows, "row"),
        Kernel("records", lambda: team.run(write_records, *written), n_rows, "row"),
    ]
