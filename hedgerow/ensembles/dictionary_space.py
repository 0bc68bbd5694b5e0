"""The span of a dictionary as a space to descend in: one function of it in each round."""

from typing import Any

import numpy as np

from hedgerow.ensembles.additive import Floats
from hedgerow.ensembles.stagewise import Direction

_BLOCK = 2**20  # products that are made at a time
DIRECTIONS = ("least_squares", "collinear", "inner_product")


class DictionarySpace:
    """Functions h_1 .. h_q, each also with the other sign.

    r is the negative gradient, <r, h> = sum w r h, and the function of a round is

        least_squares   argmin ||r - h||^2       notes 2, step 2, second form
        collinear       argmax <r, h> / ||h||    notes 1, "Back to risk minimization"
        inner_product   argmax <r, h>            notes 2, step 2

    of equals the first. Sums are of whole steps: the order of rows makes no difference.
    """

    def __init__(self, said: Floats, direction: str, project: bool) -> None:
        """Take what functions say of rows, float64 [n_rows, q].

        project: several outputs have each its function at the length of its projection.
        """
        self._said, self._direction, self._project = said, direction, project
        self._squares = np.zeros(0)

    def nearest(self, target: Floats, weights: Floats, number: int) -> Direction:  # noqa: ARG002
        """Return the nearest function for each output."""
        if not len(self._squares):
            self._squares = column_sums(self._said, weights, self._said)
        found = [self._nearest(each * weights) for each in target]
        chosen = np.array([place for place, _ in found])
        factors = np.array([factor for _, factor in found])
        said = np.ascontiguousarray(self._said[:, chosen].T) * factors[:, None]
        return Direction(tuple(chosen.tolist()), factors, said)

    def _nearest(self, pull: Floats) -> tuple[int, float]:
        inner, squares = column_sums(self._said, pull), self._squares
        size = np.abs(inner)
        if self._direction == "least_squares":
            score = 2.0 * size - squares  # ||r||^2 - ||r - h||^2
        elif self._direction == "collinear":
            score = size / np.sqrt(np.where(squares > 0.0, squares, np.inf))
        else:
            score = size
        best = int(np.argmax(score))
        factor = float(np.sign(inner[best]))
        if self._project and squares[best] > 0.0:
            factor = float(inner[best] / squares[best])
        return best, factor


def column_sums(matrix: Floats, weights: Floats, times: Any = None) -> Floats:
    """Return sum over rows of w times each column, exact but for steps of 2^-60 of its peak.

    times: a matrix of the same shape that columns are multiplied by.
    """
    n_rows, n_columns = matrix.shape
    sums = np.empty(n_columns)
    width = max(1, _BLOCK // max(1, n_rows))
    room = 61 - int(np.frexp(float(n_rows))[1])
    for first in range(0, n_columns, width):
        own = slice(first, first + width)
        products = matrix[:, own] * weights[:, None]
        if times is not None:
            products = products * times[:, own]
        bits = room - np.frexp(np.abs(products).max(axis=0))[1]
        steps = np.rint(np.ldexp(products, bits)).astype(np.int64)
        sums[own] = np.ldexp(steps.sum(axis=0).astype(np.float64), -bits)
    return sums
