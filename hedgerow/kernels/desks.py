"""Desks: what each thread has for itself while it searches the features of a node."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hedgerow.kernels.bed import Bed, beds_for
from hedgerow.kernels.codes import N_BINS
from hedgerow.kernels.jit import part
from hedgerow.kernels.lines import Line, lines_for
from hedgerow.kernels.tally import LANES, Scratch
from hedgerow.kernels.workspace import APART

_MOST_SHARED = 512  # integers of a cell of all shared columns from which there is no room for them
_MOST_LANES = 64  # integers of a cell from which there is no room for its lanes


class Desks(NamedTuple):
    """The threads' own tools: the fields of Scratch, and what a search over features needs.

    active  int64 [n_threads, n_features]     features that a node may try, others behind them
    ranks   float64 [n_threads, n_features]   what they are drawn by
    drawn   int64 [n_threads, n_features]     those drawn for a node
    marks   int64 [n_threads, n_features]     which are drawn, or may meet; zero between uses
    bounds  int64 [n_threads, n_threads, 2]   segments of a node's rows
    room    int64 [n_threads, 2, sum_width]   the node's view of the moments
    bed     Bed                               of seedlings
    """

    cells: NDArray[np.int64]
    order: NDArray[np.int64]
    keys: NDArray[np.float64]
    bits: NDArray[np.int64]
    sides: NDArray[np.int64]
    running: NDArray[np.int64]
    halves: NDArray[np.int32]
    rough: NDArray[np.float32]
    rough_bits: NDArray[np.int32]
    lines: NDArray[np.int64]
    line: Line
    shared: NDArray[np.int64]
    summed: NDArray[np.int64]
    active: NDArray[np.int64]
    ranks: NDArray[np.float64]
    drawn: NDArray[np.int64]
    marks: NDArray[np.int64]
    bounds: NDArray[np.int64]
    room: NDArray[np.int64]
    bed: Bed


class Desk(NamedTuple):
    """One thread's own tools."""

    scratch: Scratch
    active: NDArray[np.int64]
    ranks: NDArray[np.float64]
    drawn: NDArray[np.int64]
    marks: NDArray[np.int64]
    bounds: NDArray[np.int64]
    room: NDArray[np.int64]
    bed: Bed


@part
def desk_of(desks, thread):
    """Return the tools of one thread."""
    return Desk(
        Scratch(
            desks.cells[thread],
            desks.order[thread],
            desks.keys[thread],
            desks.bits[thread],
            desks.sides[thread],
            desks.running[thread],
            desks.halves[thread],
            desks.rough[thread],
            desks.rough_bits[thread],
            desks.lines[thread],
            Line(
                desks.line.codes[thread],
                desks.line.wide[thread],
                desks.line.records[thread],
                desks.line.keys[thread],
                desks.line.counts[thread],
                desks.line.left[thread],
                desks.line.squares[thread],
                desks.line.rough[thread],
                desks.line.rough_bits[thread],
            ),
            desks.shared[thread],
            desks.summed[thread],
        ),
        desks.active[thread],
        desks.ranks[thread],
        desks.drawn[thread],
        desks.marks[thread],
        desks.bounds[thread],
        desks.room[thread],
        Bed(
            desks.bed.lanes[thread],
            desks.bed.waiting[thread],
            desks.bed.sums[thread],
            desks.bed.right[thread],
            desks.bed.bit_of[thread],
            desks.bed.words[thread],
            desks.bed.rough[thread],
        ),
    )


def desks_for(
    n_threads: int,
    n_features: int,
    max_bins: int,
    sum_width: int,
    n_lines: int = 0,
    n_shared: int = 0,
) -> Desks:
    """Allocate every thread's tools, apart; n_lines: length of Scratch.lines, if needed.

    n_shared: columns of joint codes that tallies are to share, if there is room.
    """
    n_shared = n_shared if n_shared * sum_width <= _MOST_SHARED else 0
    n_codes, n_own = max(max_bins, N_BINS) + 3 + APART, n_features + APART
    n_lanes = LANES * N_BINS + APART if sum_width <= _MOST_LANES else 0
    running = np.zeros((n_threads, 2, N_BINS * sum_width + APART), np.int64)
    rough = np.zeros((n_threads, N_BINS + 2 * APART), np.float32)
    return Desks(
        cells=np.zeros((n_threads, max(n_codes, n_lanes) * sum_width), np.int64),
        order=np.zeros((n_threads, n_codes), np.int64),
        keys=np.zeros((n_threads, n_codes)),
        bits=np.zeros((n_threads, 2, (n_codes >> 6) + 2 + APART), np.int64),
        sides=np.zeros((n_threads, 2, sum_width + APART), np.int64),
        running=running,
        halves=running.view(np.int32),
        rough=rough,
        rough_bits=rough.view(np.int32),
        lines=np.zeros((n_threads, 5 if n_lines else 0, n_lines), np.int64),
        line=lines_for(n_threads),
        shared=np.zeros((n_threads, n_shared, N_BINS * sum_width + APART), np.int64),
        summed=np.zeros((n_threads, n_shared + APART), np.int64),
        active=np.tile(np.arange(n_own), (n_threads, 1)),
        ranks=np.zeros((n_threads, n_own)),
        drawn=np.zeros((n_threads, n_own), np.int64),
        marks=np.zeros((n_threads, n_own), np.int64),
        bounds=np.zeros((n_threads, n_threads, APART), np.int64),
        room=np.zeros((n_threads, 2, sum_width + APART), np.int64),
        bed=beds_for(n_threads, n_own),
    )
