"""The span of a dictionary as a space to descend in: one function of it in each round."""

from typing import Any

import numpy as np

from hedgerow.ensembles.additive import Floats
from hedgerow.ensembles.dictionary import Whole
from hedgerow.ensembles.stagewise import Direction

_ROUNDING = 2.0**-51  # of a sum, for each of its terms, four times over
_BLOCK = 2**20  # products that are made at a time
DIRECTIONS = ("least_squares", "collinear", "inner_product")


class DictionarySpace:
    """Functions h_1 .. h_q, each also with the other sign.

    r is the negative gradient, <r, h> = sum w r h, and the function of a round is

        least_squares   argmin ||r - h||^2       notes 2, step 2, second form
        collinear       argmax <r, h> / ||h||    notes 1, "Back to risk minimization"
        inner_product   argmax <r, h>            notes 2, step 2

    of equals the first. Ties are decided by sums of whole steps, which are exact for functions of
    -1 and 1: whether functions are equally near does not depend on rounding.
    """

    def __init__(self, said: Floats, direction: str, project: bool) -> None:
        """Take what functions say of rows, float64 [n_rows, q].

        project: several outputs have each its function at the length of its projection.
        """
        self._said, self._direction, self._project = said, direction, project
        self._squares = np.zeros(0)
        self._largest = float(np.abs(said).max(initial=0.0))

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
        """Return the nearest function: where rounding leaves it in question, by whole steps."""
        rough = np.abs(np.einsum("ij,i->j", self._said, pull))
        error = _ROUNDING * len(pull) * float(np.abs(pull).sum()) * self._largest
        everyone = np.arange(len(rough))
        least = self._score(np.maximum(rough - error, 0.0), everyone).max()
        near = np.flatnonzero(self._score(rough + error, everyone) >= least)
        inner = column_sums(self._said[:, near], pull)
        place = int(np.argmax(self._score(np.abs(inner), near)))
        best, product = int(near[place]), float(inner[place])
        if self._project and self._squares[best] > 0.0:
            return best, product / float(self._squares[best])
        return best, float(np.sign(product))

    def _score(self, size: Floats, which: Whole) -> Floats:
        """Return how near functions are, given |<r, h>|."""
        squares = self._squares[which]
        if self._direction == "least_squares":
            return 2.0 * size - squares  # ||r||^2 - ||r - h||^2
        if self._direction == "collinear":
            return np.asarray(size / np.sqrt(np.where(squares > 0.0, squares, np.inf)))
        return size


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
