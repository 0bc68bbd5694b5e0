"""A season: rounds of boosting that are grown in one call, if nobody asks anything in between.

What a round does is written down once, as notes (see errands.py), and done again and again. So
Python, and the GIL, have no part in it: a round of ten thousand rows is half a millisecond.

    derive   g and h of all outputs, and their peaks
    peak     those of the rows that trees are grown from, if these are not all     |
    total    their sums, if steps might be too many                                |
    write    records of rows                                                       |  of each
    grow     a tree                                                                |  output
    sum      fine steps of its leaves' rows                                        |
    set      values of its nodes                                                   |
    route    what it adds to the scores of rows                                    |

`ensembles.boosting` says the same in Python, and is the definition.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hedgerow.kernels.barn import keep
from hedgerow.kernels.calling import do_posted, do_written
from hedgerow.kernels.codes import Records
from hedgerow.kernels.jit import config, kernel, part
from hedgerow.kernels.machine import atomic_add, float_of_bits
from hedgerow.kernels.meeting import CALLS, EXPECTED, cancelled
from hedgerow.kernels.random import mixed
from hedgerow.kernels.units import (
    COARSE,
    LEAST,
    STEPS,
    fine_scale,
    fitting_steps,
    least_steps,
    peak_of,
    rare_steps,
    scale_of,
)
from hedgerow.kernels.workspace import N_NODES

PEAK, TOTAL, WRITE, GROW, SUM, SET, ROUTE, N_NOTES = range(8)
_INFINITE, _LONG = np.uint32(0x7F800000), 1 << 40

# What rounds have in common. n_rows, max_leaves, seed: of the trees; is_totalled: whether steps
# might be too many; has_rows: whether trees are grown from some rows only; g_room, h_room: for the
# steps of all rows; min_weight, smooth, rare: sums of Hessians; fine: fine steps of the largest
# derivative; rate: times the values of nodes.
TERMS = np.dtype(
    [(name, "i8") for name in ("n_rows", "max_leaves", "seed", "is_totalled", "has_rows")]
    + [
        (name, "f8")
        for name in ("g_room", "h_room", "min_weight", "smooth", "rare", "fine", "rate")
    ],
    align=True,
)


class Season(NamedTuple):
    """What the rounds of a season share.

    derive   int64 [1, 4]             the note that derives all outputs
    notes    int64 [K, N_NOTES, 4]    the other notes of each output
    terms    TERMS [1]
    found    uint32 [n_threads, K, 2] bits of the peaks of g and h
    peaks    uint32 [K, n_threads, 2] the same of the rows of trees, if these are not all
    coarse   float32 [2]              steps of 1.0 that are summed to know how many there are
    totals   int64 [n_threads, 2]     their sums
    scales   float32 [2]              steps of 1.0 in records
    fine     float64 [2]              steps of 1.0 in the sums of leaves
    dials    DIALS [1]
    waiting  int64 [..]               counters of an outlook, zero before a tree
    counters int64 [24]               of the nodes
    table    int64 [max_nodes, n]     the nodes, as words
    words    int64 [max_words]        sets of categories
    columns  float64 [3, max_nodes]   value, G and H of nodes
    """

    derive: NDArray[np.int64]
    notes: NDArray[np.int64]
    terms: Records
    found: NDArray[np.uint32]
    peaks: NDArray[np.uint32]
    coarse: NDArray[np.float32]
    totals: NDArray[np.int64]
    scales: NDArray[np.float32]
    fine: NDArray[np.float64]
    dials: Records
    waiting: NDArray[np.int64]
    counters: NDArray[np.int64]
    table: NDArray[np.int64]
    words: NDArray[np.int64]
    columns: NDArray[np.float64]


class Sight(NamedTuple):
    """Rows whose scores are noted after each round.

    rows  int64 [n]
    raw   float64 [K, n_rows]         scores of all rows
    told  float64 [K, n_rounds, n]
    """

    rows: NDArray[np.int64]
    raw: NDArray[np.float64]
    told: NDArray[np.float64]


@kernel
def grow_season(team, begin, end, season, barn, sight, n_done):
    """Grow the rounds begin .. end, or those before one that Python has to look at.

    season  Season        both
    barn    Barn          write
    sight   Sight         write
    n_done  int64 [1]     write   rounds that are done

    Python looks at derivatives that are not finite, or of which none is above zero.
    """
    n_done[0] = 0
    if team.n_threads > 1:  # until the last call nobody may leave
        atomic_add(team.meeting, EXPECTED, _LONG)
    for number in range(begin, end):
        if not _grow_round(team, number, season, barn, n_done[0]):
            break
        _note_scores(sight, n_done[0])
        n_done[0] += 1
    if team.n_threads > 1:
        atomic_add(team.meeting, EXPECTED, team.meeting[CALLS] - team.meeting[EXPECTED])


if not config.DISABLE_JIT:
    grow_season.is_posted = True  # type: ignore[attr-defined]  # others do its notes


@part
def _grow_round(team, number, season, barn, n_before):
    season.found[:] = 0
    _do(team, season.derive[0])
    n_outputs, has_slope = season.notes.shape[0], False
    for output in range(n_outputs):
        if season.terms[0].has_rows:
            _do(team, season.notes[output, PEAK])
        g, h = _peak(season, output, 0), _peak(season, output, 1)
        if max(g, h) >= _INFINITE:
            return False
        has_slope = has_slope or float_of_bits(g) > LEAST
    if not has_slope:
        return False
    for output in range(n_outputs):
        _grow_tree(team, number, output, season)
        if cancelled(team):
            return False
        tree = n_before * n_outputs + output
        keep(barn, tree, season.counters, season.table, season.words, season.columns)
        _do(team, season.notes[output, ROUTE])
    return not cancelled(team)


@part
def _grow_tree(team, number, output, season):
    """Grow the tree of an output, and set the values of its nodes."""
    terms, notes = season.terms[0], season.notes[output]
    g = np.float64(float_of_bits(_peak(season, output, 0)))
    h = np.float64(float_of_bits(_peak(season, output, 1)))
    if terms.is_totalled:
        season.coarse[0], season.coarse[1] = COARSE / peak_of(g), COARSE / peak_of(h)
        _do(team, notes[TOTAL])
    _set_scale(season, 0, g, terms.g_room)
    _set_scale(season, 1, h, terms.h_room)
    n_outputs = season.notes.shape[0]
    _turn(season.dials[0], terms, season.scales, mixed(terms.seed, number * n_outputs + output))
    _do(team, notes[WRITE])
    season.waiting[:] = 0
    _do(team, notes[GROW])
    _do(team, notes[SUM])
    _do(team, notes[SET])
    values = season.columns[0, : season.counters[N_NODES]]
    for node in range(values.shape[0]):
        values[node] *= terms.rate


@part
def _set_scale(season, k, most, room):
    """Set the steps of g (k = 0) or h (k = 1)."""
    peak, steps = peak_of(most), STEPS[k]
    if season.terms[0].is_totalled:
        total = np.int64(0)
        for thread in range(season.totals.shape[0]):
            total += season.totals[thread, k]
        steps = fitting_steps(steps, peak, room, total, np.float64(season.coarse[k]))
    season.scales[k] = scale_of(steps, peak)
    season.fine[k] = fine_scale(season.terms[0].fine, most)


@part
def _turn(dial, terms, scales, seed):
    """Set the numbers that a tree is grown by."""
    dial.g_unit, dial.h_unit = 1.0 / np.float64(scales[0]), 1.0 / np.float64(scales[1])
    dial.n_rows, dial.max_leaves, dial.seed = terms.n_rows, terms.max_leaves, seed
    dial.min_weight = least_steps(terms.min_weight, dial.h_unit)
    dial.smooth = terms.smooth / dial.h_unit
    dial.least = rare_steps(terms.rare, dial.h_unit)


@part
def _peak(season, output, k):
    """Return the bits of the largest derivative of an output that any thread has found."""
    largest = np.uint32(0)
    for thread in range(season.found.shape[0]):
        if season.terms[0].has_rows:
            largest = max(largest, season.peaks[output, thread, k])
        else:
            largest = max(largest, season.found[thread, output, k])
    return largest


@part
def _note_scores(sight, number):
    """Note the scores after a round, of which `number` rounds of the season came before."""
    for output in range(sight.raw.shape[0]):
        raw, told = sight.raw[output], sight.told[output, number]
        for i in range(sight.rows.shape[0]):
            told[i] = raw[sight.rows[i]]


@part
def _do(team, note):
    """Do what a note says: all members, or member 0 alone."""
    work, given, is_alone, needs_all = note[0], note[1], note[2], note[3]
    if is_alone:
        do_posted(work, given, 0)
    else:
        do_written(team, work, given, needs_all)
