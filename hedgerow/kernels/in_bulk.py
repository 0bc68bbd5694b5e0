"""In bulk: what parts do row by row, by NumPy, for kernels that are interpreted (see meanwhile.py).

Each function is the twin of the part that names it: the same numbers, to the bit. A twin that
returns NotImplemented leaves its part to be interpreted as it is written. Integer sums do not
depend on the order of rows; of floats nothing is summed here.
"""

import numpy as np

from hedgerow.kernels.exponential import exp, exp_below

_N_BINS = 256
_LAST_16, _ROW = 0xFFFF, 0xFFFFFFFF
_ROUNDING = 1.5 * 2.0**52
_ROUNDING_BITS = int(np.float64(_ROUNDING).view(np.int64))


def is_pair(moments):
    """Tell whether moments are packed pairs, a cell for each bin."""
    return type(moments).__name__ == "GradientPairs"


def pairs_of(moments, records):
    """Return what each record adds to a cell: moments.GradientPairs.load, of many."""
    pairs = ((records >> 48) << 32) + ((records >> 32) & _LAST_16)
    return moments.weights[records & _ROW & moments.mask] * pairs


def add_rows(codes, lane, records, moments, cells, n_columns):
    """Add records to columns of a histogram: histogram._add_rows."""
    if not is_pair(moments):
        return NotImplemented
    own = codes[records & _ROW, lane : lane + n_columns] + _N_BINS * np.arange(n_columns)
    np.add.at(cells, own.ravel(), np.repeat(pairs_of(moments, records), n_columns))
    return None


def take(hist, first, end, smaller):
    """Subtract a part of a histogram: histogram._take."""
    hist[first:end] -= smaller[first:end]


def add_up(moments, records, sums):
    """Sum records: nodes.add_up."""
    if not is_pair(moments):
        return NotImplemented
    sums[0] = pairs_of(moments, records).sum()
    return None


def part_in_two(goes_left, source, target):
    """Write left records first, right ones last; return how many are left."""
    n_left = int(np.count_nonzero(goes_left))
    target[:n_left], target[n_left:] = source[goes_left], source[~goes_left]
    return n_left


def by_byte(column, split, source, target):
    """Part records by a narrow code: partition._by_byte."""
    shift = split.missing_left
    codes = column[source & _ROW].astype(np.int64)
    return part_in_two(((codes + shift) & 255) <= split.cut + shift, source, target)


def by_cut(column, missing, split, source, target):
    """Part records by a wide code: partition._by_cut."""
    codes = column[source & _ROW]
    goes_left = np.where(codes == missing, split.missing_left != 0, codes <= split.cut)
    return part_in_two(goes_left, source, target)


def close(nodes, node, records, origin):
    """Note that records end in a node: nodes.close."""
    if nodes.leaf_of_row.shape[0] > 0:
        rows = records & _ROW
        nodes.leaf_of_row[origin[rows] if origin.shape[0] > 0 else rows] = node


def derive(loss, y, raw, g, h):
    """Set derivatives: derivatives._derive. A loss with a choice in it is asked row by row."""
    targets = y.astype(np.float64)
    try:
        g[:] = loss.gradient(targets, raw)
        h[:] = loss.hessian(targets, raw) + np.float32(0.0)
    except (TypeError, ValueError):  # there is no truth in many numbers at once
        return NotImplemented
    return None


def scale(weights, numbers):
    """Multiply by weights: derivatives._scale."""
    numbers[:] = numbers * weights


def largest(bits, mask):
    """Return the largest of masked bits: derivatives._largest."""
    return np.max(bits & mask, initial=np.uint32(0))


def raise_all(raw, largest, larger):
    """Set the larger of two: derivatives._raise."""
    larger[:] = np.maximum(largest, raw.astype(np.float32))


def set_below(raw, largest, below):
    """Set how far below the largest: derivatives._set_below."""
    below[:] = raw - largest


def add_odds(odds, total):
    """Replace by exponentials, and add: derivatives._add_odds."""
    odds[:] = exp_below(odds)
    total += odds


def divide(odds, total):
    """Divide: derivatives._divide."""
    odds /= total


def subtract_class(labels, k, n_classes, g, h):
    """Set derivatives of a class: derivatives._subtract_class."""
    p = g.copy()
    h[:] = np.float32(n_classes / (n_classes - 1.0)) * p * (np.float32(1) - p)
    g[:] = p - (labels == k).astype(np.float32)


def set_records(first, g, h, scales, records):
    """Pack rows with their derivatives: derivatives._set_records."""
    half, rows = np.float32(0.5), np.arange(first, first + len(records))
    g_steps = np.floor(g * scales[0] + half).astype(np.int32).astype(np.int64)
    h_steps = np.maximum((h * scales[1] + half).astype(np.int32), np.int32(1)).astype(np.int64)
    records[:] = (g_steps << 48) | (h_steps << 32) | rows


def set_steps(numbers, scale, steps):
    """Round to whole steps: steps._set_steps."""
    steps[: len(numbers)] = (numbers * scale + _ROUNDING).view(np.int64) - _ROUNDING_BITS


def weigh(weights, steps):
    """Multiply by weights: steps._weigh."""
    steps[: len(weights)] *= weights


def add_steps(leaves, g, h, sums):
    """Add steps to the sums of leaves: steps._add_steps. Which of a thread's sums is the same."""
    places, n = 2 * (leaves.astype(np.int64) + 1), len(leaves)
    np.add.at(sums[0], places, g[:n])
    np.add.at(sums[0], places + 1, h[:n])


def add_known(values, known, raw):
    """Add the values of leaves that are known: routes._add_known."""
    raw += values[known]


def are_known(known):
    """Tell whether all leaves are known: routes._are_known."""
    return known.min(initial=0) >= 0


def set_codes(column, if_missing, test):
    """Set codes to be compared: routes._set_codes."""
    test[: len(column)] = np.where(column == _N_BINS - 1, if_missing, column)


def bin_all(values, high, _first, column):
    """Set codes: binning._bin."""
    column[:] = np.searchsorted(high, values, side="left")
    column[np.isnan(values)] = _N_BINS - 1


def add_digits(columns, about, first, last, adds, shared):
    """Set or add digits of joint codes: codes._add_digits."""
    digits = np.minimum(columns[about.place, first:last], np.uint8(about.n_codes - 1))
    unit, joint = np.uint8(about.stride * max(about.flag, 1)), shared[about.shared, first:last]
    joint[:] = joint + digits * unit if adds else digits * unit


def copy(column, lane, block):
    """Copy a column into a block: codes._copy."""
    block[:, lane] = column


def subtract(team, _problem, space, smaller, larger):
    """Take the smaller child's histogram from its parent's: shared_histogram._subtract."""
    if team.n_threads > 1:
        return NotImplemented
    space.hists[larger] -= space.hists[smaller]
    return None


def fill_logistic(scores):
    """Replace log-odds by probabilities: links.fill_logistic."""
    e = exp(-np.abs(scores))
    scores[:] = np.where(scores < 0.0, e, 1.0) * (1.0 / (1.0 + e))


def fill_softmax(scores):
    """Replace scores by probabilities: links.fill_softmax; sums go class by class, as there."""
    scores[:] = exp(scores - scores.max(axis=1, keepdims=True))
    total = np.zeros(len(scores))
    for k in range(scores.shape[1]):
        total += scores[:, k]
    scores /= total[:, None]


def count_cuts(first, lane, block, scorer, lanes):
    """Set the two lanes of each bank: scorer._count_cuts."""
    for number, bank in enumerate(scorer.banks):
        values, place = block[:, bank.feature], first + 2 * number * lane
        absent = np.isnan(values)
        below = np.searchsorted(scorer.cuts[number, : bank.n_cuts], values)
        lanes[place : place + len(values)] = np.where(absent, 0, below)
        lanes[place + lane : place + lane + len(values)] = np.where(absent, _N_BINS - 1, below)


def add_values(leaves, values, sums):
    """Add values of leaves: scorer._add_values; those beyond the rows may be of no leaf."""
    sums += np.take(values, leaves, mode="clip")
