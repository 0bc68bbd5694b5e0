"""Units: how many whole steps 1.0 of a derivative has, and what other numbers are in steps.

Formulas: Python sets up one tree by them, `season` one after another.
"""

import numpy as np

from hedgerow.kernels.formula import formula

LEAST = 2.0**-100  # derivatives below are zero: steps of smaller ones are beyond float32
STEPS = (2.0**15 - 1, 2.0**16 - 1)  # the most of g and h
COARSE = 2.0**20
_MOST, _MOST_RARE = 2.0**62, 2.0**50


@formula
def peak_of(most):
    """Return the largest derivative, or what stands for it if there is none to be rounded."""
    return max(most, LEAST) if most > 0.0 else 1.0


@formula
def fitting_steps(steps, peak, room, total, coarse):
    """Return how many steps the largest may have, at most `steps`, if those of all are to fit.

    room: for the steps of all; total: in coarse steps, of which 1.0 has `coarse`.
    """
    return min(steps, np.floor(room * peak / (total / coarse)))


@formula
def scale_of(steps, peak):
    """Return the steps of 1.0: the largest is a whole number of them, so equals stay exact."""
    return max(steps, 1.0) / peak


@formula
def fine_scale(fine, most):
    """Return the fine steps of 1.0, so that the largest has `fine`."""
    return fine / (most if most != 0.0 else 1.0)


@formula
def rare_steps(rare, unit):
    """Return a sum of Hessians in whole steps, as far as kernels can multiply it."""
    return int(min(rare / unit, _MOST_RARE))


@formula
def least_steps(weight, unit):
    """Return the least sum of Hessians in whole steps, at least one."""
    return max(int(np.ceil(min(weight / unit, _MOST))), 1)
