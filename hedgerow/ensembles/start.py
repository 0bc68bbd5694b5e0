"""The start of a model beside given offsets: the constant c that minimises sum w l(y, o + c)."""

from collections.abc import Callable
from typing import Any

import numpy as np

from hedgerow.ensembles.additive import Floats
from hedgerow.ensembles.curve import steady_sum
from hedgerow.kernels.team import Team

_HALVINGS = 80
_SCALINGS = 200
_MOST = 1e30


def start_beside(stage: Any, offset: Floats, team: Team) -> Floats:
    """Return the start, float64 [n_outputs], beside offsets, float64 [n_outputs, n_rows].

    Outputs with losses of their own: the slope sum w dl/df grows with c, so its zero is found
    by bisection. Several classes: c_k grows by log(share of class k / its mean probability)
    until these agree (Darroch and Ratcliff 1972). Sums are of whole steps: the order of rows
    does not matter.
    """
    own = slice(None) if not len(stage.rows) else stage.rows
    weights = (stage.whole if stage.mask else np.ones(offset.shape[1]))[own].astype(np.float64)

    def slopes(c: Floats) -> Floats:
        stage.raw = offset + c[:, None]
        stage.differentiate(team)
        g = np.clip(np.nan_to_num(stage.pairs[:, 0, own].astype(np.float64)), -_MOST, _MOST)
        return np.array([steady_sum(each * weights) for each in g])

    if not len(stage.labels):
        limit = 64.0 + 2.0 * float(np.abs(stage.y).max() + np.abs(offset).max())
        return _zero(slopes, np.full(len(offset), limit))
    real = weights * (stage.real if len(stage.real) == 1 else stage.real[own])
    totals = np.array([steady_sum((stage.y[own] == k) * real) for k in range(len(offset))])
    return _scaled(slopes, np.maximum(totals, 1e-15 * totals.sum()))


def _zero(slopes: Callable[[Floats], Floats], limit: Floats) -> Floats:
    """Return where slopes that grow become zero, each between -limit and limit."""
    low, high = -limit, limit
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        falls = slopes(middle) < 0.0
        low, high = np.where(falls, middle, low), np.where(falls, high, middle)
    return np.asarray(0.5 * (low + high))


def _scaled(slopes: Callable[[Floats], Floats], totals: Floats) -> Floats:
    """Return constants by which the probabilities of each class add up to its weight."""
    c = np.zeros(len(totals))
    for _ in range(_SCALINGS):
        found = np.maximum(slopes(c) + totals, 1e-15 * totals.sum())
        step = np.log(totals / found)
        c = c + step
        if np.abs(step).max() < 1e-9:
            break
    return np.asarray(c - np.sort(c).sum() / len(c))
