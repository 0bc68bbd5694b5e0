"""The rows of a fit: their targets, weights, raw scores and derivatives."""

from functools import cached_property
from operator import is_
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.ensembles.additive import Floats
from hedgerow.ensembles.start import start_beside
from hedgerow.kernels.derivatives import derive, derive_classes, largest_bits
from hedgerow.kernels.errands import Errand, Noted
from hedgerow.kernels.team import Team
from hedgerow.trees.quantise import Steps

_MANY = 2**24  # whole weights that add up to more are multiplied in before rounding
_INFINITE = 0x7F800000
CLASSES = np.dtype(np.uint8), np.dtype(np.int32)  # numbers of few classes, or of many


class Stage:
    """The rows of a fit: their targets, weights, raw scores and derivatives."""

    def __init__(
        self, y: NDArray[Any], weights: Steps, factors: Floats, loss: Any, rows: NDArray[np.int64]
    ) -> None:
        """Take all rows of a table; trees are grown from `rows`, or from all if it is empty.

        y is float64 [n_rows], or [n_rows, n_outputs]: the loss is then summed over outputs. Classes
        are uint8, or int32 if there are more of them: `numbers` says them as floats.
        factors, float64 [n_rows] or [1], multiply the weights.
        """
        counts, n_rows = weights.counts, len(y)
        is_whole = weights.exact and weights.unit == 1.0 and int(counts.sum()) <= _MANY
        self.y, self.loss, self.rows = y, loss, rows
        self.targets = np.ascontiguousarray(np.atleast_2d(y.T))
        has_classes = loss.n_outputs > 1 and not hasattr(loss, "of_output")
        self.labels = y if has_classes else np.zeros(0, np.int32)
        self._counts, self._factors = counts, weights.unit * factors
        # Whole weights multiply whole steps: three repeats of a row are three times its steps.
        repeats = is_whole and counts.max() > 1
        self.whole = np.ascontiguousarray(counts) if repeats else np.ones(1, np.int64)
        self.mask = 0 if len(self.whole) == 1 else -1
        self.real = factors if is_whole else self.weights
        self.total_weight = int(self.whole.sum()) if self.mask else n_rows
        own = slice(None) if not len(rows) else rows
        starts = [loss.start(floats(each[own]), self.weights[own]) for each in self.targets]
        self.start = np.concatenate([np.atleast_1d(start) for start in starts])
        if is_whole:
            del self.weights  # rounds do not ask for them
        self.raw = np.empty((len(self.start), n_rows))
        self.raw[:] = self.start[:, None]
        self.pairs = np.empty((len(self.start), 2, n_rows), np.float32)
        self._bits, self._pair_of = self.pairs.view(np.uint32), list(self.pairs)
        self.largest: NDArray[np.uint32] | None = None  # bits of each output's peaks, if known
        self._asked: dict[int | None, tuple[Any, ...]] = {}  # of outputs, what derives them
        self.offset = np.empty((0, n_rows))
        self.row_numbers: NDArray[np.signedinteger[Any]] | None = None

    @cached_property
    def weights(self) -> Floats:
        """What each row counts, float64 [n_rows]; made when it is asked for."""
        return np.asarray(self._counts * self._factors, np.float64)

    def loss_of(self, output: int) -> Any:
        """Return the loss of an output, where each has its own, or else that of all."""
        return self.loss.of_output(output) if hasattr(self.loss, "of_output") else self.loss

    def target_of(self, output: int) -> NDArray[Any]:
        """Return the targets of an output, [n_rows], as they are kept; outputs may share them."""
        return np.asarray(self.targets[output % len(self.targets)])

    def numbers(self, rows: NDArray[np.int64]) -> Floats:
        """Return the targets of some rows, of all if there are none, as losses read them."""
        return floats(self.y[rows] if len(rows) else self.y)

    def pair_of(self, output: int) -> NDArray[np.float32]:
        """Return the derivatives of an output, float32 [2, n_rows]: always the same array."""
        return self._pair_of[output]

    def number_of(self, row: int) -> int:
        """Return the number of a row in the user's table, where rows may have no weight."""
        return row if self.row_numbers is None else int(self.row_numbers[row])

    def begin_beside(self, offset: Floats, team: Team) -> None:
        """Begin again with scores of offset + start; offset is float64 [n_outputs, n_rows]."""
        self.start = start_beside(self, offset, team)
        self.raw, self.offset = offset + self.start[:, None], offset

    def derive(self, team: Team) -> None:
        """Set the derivatives at the current scores, of a loss that may adapt to them."""
        if hasattr(self.loss, "adapted"):
            own = slice(None) if not len(self.rows) else self.rows
            y = self.numbers(self.rows)
            self.loss = self.loss.adapted(y, self.raw[0, own], self.weights[own])
        self.differentiate(team)

    def differentiate(self, team: Team) -> None:
        """Set the derivatives of the loss as it is."""
        self.largest = None
        if hasattr(self.loss, "derive"):
            self.loss.derive(team, self)
        elif hasattr(self.loss, "derivatives"):
            for y, raw, pairs in zip(self.targets, self.raw, self.pairs, strict=True):
                np.multiply(self.loss.derivatives(floats(y), raw), self.real, out=pairs)
        elif len(self.labels):
            self.largest = self._derived(team, slice(None))
        else:
            outputs = (slice(output, output + 1) for output in range(len(self.raw)))
            self.largest = np.concatenate([self._derived(team, each) for each in outputs])

    def _derived(self, team: Team, outputs: slice) -> NDArray[np.uint32]:
        """Set the derivatives of some outputs; return the bits of their peaks."""
        known = self._asked.get(outputs.start)
        about = self.raw, self.loss, team.n_threads
        if known is None or not all(map(is_, known[0], about)):
            known = self._asked[outputs.start] = about, *self._question(outputs, team.n_threads)
        _, errand, found, given = known
        found[:] = 0
        team.repeat(given[-3].size, errand, *given, found)
        return np.asarray(found.max(axis=0))

    def note(self, team: Team) -> tuple[Noted, NDArray[np.uint32]]:
        """Write down what derives all outputs, and where it notes their peaks.

        Of a loss that has one output, or those of classes; others are derived one by one.
        """
        errand, found, given = self._question(slice(0, None), team.n_threads)
        return team.noted(given[-3].size, errand, *given, found), found

    def note_peaks(self, output: int, team: Team, found: NDArray[np.uint32]) -> Noted:
        """Write down what finds an output's peaks of the rows that trees are grown from."""
        given = self._bits[output], self.rows, found
        return team.noted(len(self.y), Errand(largest_bits), *given)

    def _question(self, outputs: slice, n_threads: int) -> tuple[Errand, Any, tuple[Any, ...]]:
        """Return what derives some outputs, where it notes their peaks, and from what."""
        arrays = [each[outputs] for each in (self.raw, self.pairs, self._bits)]
        found = np.zeros((n_threads, len(arrays[0]), 2), np.uint32)
        if len(self.labels):
            return Errand(derive_classes), found, (self.labels, self.real, *arrays)
        loss = self.loss_of(outputs.start)
        own = getattr(loss, "single", loss), self.target_of(outputs.start)
        return Errand(derive), found, (*own, self.real, *arrays)

    def peaks(self, output: int, team: Team, number: int) -> tuple[float, float]:
        """Return an output's largest |g| and h of the rows that trees are grown from.

        Raises if they are no derivatives to use.

        number: of the round, for the message.
        """
        if self.largest is not None and not len(self.rows):
            largest = self.largest[output]
        else:
            found = np.zeros((team.n_threads, 2), np.uint32)
            team.sweep(len(self.y), largest_bits, self._bits[output], self.rows, found)
            largest = found.max(axis=0)
        if max(largest.tolist()) >= _INFINITE:
            raise unusable(self, output, number)
        g, h = largest.view(np.float32).tolist()
        return g, h


def floats(targets: NDArray[Any]) -> Floats:
    """Return targets as losses read them."""
    return np.asarray(targets, np.float64)


def unusable(stage: Stage, output: int, number: int) -> FloatingPointError:
    """Build the error for derivatives that are not finite, or a Hessian below zero."""
    g, h = stage.pairs[output]
    own = stage.rows if len(stage.rows) else np.arange(len(g))
    row = int(own[np.flatnonzero(~(np.isfinite(g) & np.isfinite(h) & (h >= 0))[own])[0]])
    y = stage.target_of(output)[row]
    remedy = "Use a smaller learning_rate, or rescale y."
    if h[row] < 0:
        remedy = (
            "Give the loss a method `hessian(self, y, f)` that is never below zero, such as an "
            "upper bound of the second derivative."
        )
    return FloatingPointError(
        f"In round {number} {stage.loss} has gradient {g[row]:g} and Hessian "
        f"{h[row]:g} for row {stage.number_of(row)} (y = {y:g}, raw score "
        f"{stage.raw[output, row]:g}), and finite ones, Hessians not below zero, are needed. "
        f"{remedy}"
    )
