"""The best splits of nodes by NumPy, all bins of all features at once: see in_bulk.py.

Of packed pairs and Newton's criterion, which boosting has. Nothing is estimated: every cut is
scored by the criterion's own operations, so that gains, margins and ties are the kernel's.
"""

import numpy as np

from hedgerow.kernels.codes import MISSING, N_BINS, high_of, low_of, threshold_between
from hedgerow.kernels.in_bulk import pairs_of
from hedgerow.kernels.moments import GradientPairs
from hedgerow.kernels.newton import Newton
from hedgerow.kernels.split import beats

MASS, ROW = 0x7FFFFFFF, 0xFFFFFFFF


def is_usual(problem):
    """Tell whether nodes of a problem can be searched here, by one thread."""
    rules = problem.rules
    is_plain = type(problem.criterion) is Newton and type(problem.moments) is GradientPairs
    return is_plain and not rules.by_lot and not rules.random_cut


def is_narrow(about):
    """Tell whether a feature is one of numbers with a byte for a code."""
    return about.n_categories == 0 and about.place >= 0


def search_some(team, whole, desk, some, hist, root, constant, found, search_one):
    """Search those of the active features some[0]..some[1]-1: search._search_some."""
    if not is_usual(whole) or team.n_threads > 1:
        return NotImplemented
    features, active = whole.codes.features, desk.active[some[0] : some[1]].tolist()
    numbers = [feature for feature in active if is_narrow(features[feature])]
    if numbers:
        cells = _cells(whole, numbers, hist, root)
        constant[numbers] = np.count_nonzero(cells, axis=1) < 2
        search_cells(whole, [(numbers, root.total[0], found)], cells)
    for feature in active:  # after numbers: what these gain may be more than categories can
        about = features[feature]
        if not is_narrow(about):
            has_column = len(hist) > 0 and about.column >= 0 and root.rows.n_rows >= about.n_bins
            column = hist[about.column * N_BINS :][:N_BINS] if has_column else hist[:0]
            constant[feature] = search_one(whole, feature, column, root, desk, found)
    return None


def _cells(whole, numbers, hist, root):
    """Return the sums of features' codes, int64 [n, N_BINS], those of missing values last."""
    codes = whole.codes
    if len(hist) > 0:
        return np.array([_marginal(codes.features[feature], hist) for feature in numbers])
    cells = np.zeros((len(numbers), N_BINS), np.int64)
    places = [codes.features[feature].place for feature in numbers]
    records = root.rows.records[root.rows.bounds[0, 0] : root.rows.bounds[0, 1]]
    own = codes.columns[places][:, records & ROW] + N_BINS * np.arange(len(numbers))[:, None]
    pairs = pairs_of(whole.moments, records)
    np.add.at(cells.reshape(-1), own.ravel(), np.tile(pairs, len(numbers)))
    return cells


def _marginal(about, hist):
    """Return the sums of a feature's codes from its column: see marginals.py."""
    column = hist[about.column * N_BINS : (about.column + 1) * N_BINS]
    if about.n_codes == N_BINS:
        return column
    n_high, n_codes, stride = int(about.n_high), int(about.n_codes), int(about.stride)
    joint = column[: n_high * n_codes * stride].reshape(n_high, n_codes, stride)
    digits, own = joint.sum(axis=(0, 2)), np.zeros(N_BINS, np.int64)
    if about.flag > 0:
        own[0], own[1] = digits.sum() - digits[about.flag], digits[about.flag]
        return own
    own[: about.n_bins] = digits[: about.n_bins]
    if about.n_codes > about.n_bins:
        own[MISSING] = digits[-1]
    return own


def search_cells(problem, asked, cells):
    """Set what was found of nodes to their best splits, if these beat it.

    asked  (features, packed sum, found: as a SPLIT) of each node
    cells  int64 [n, N_BINS]   of the first node's features, then of the second's, ..
    """
    newton, least = problem.criterion, problem.rules.min_weight
    sizes = [len(features) for features, _, _ in asked]
    totals = np.repeat([total for _, total, _ in asked], sizes)
    parents = _scores(newton, totals)
    values, absent = cells[:, :MISSING], cells[:, MISSING]
    running, occurs = np.cumsum(values, axis=1), values != 0
    for missing_left in range(1 + bool(absent.any())):
        below = running + absent[:, None] if missing_left else running
        above = totals[:, None] - below
        is_cut = occurs & (np.minimum(below & MASS, above & MASS) >= least)
        if missing_left:
            is_cut &= (absent != 0)[:, None]
        both = np.where(is_cut, _scores(newton, below) + _scores(newton, above), -np.inf)
        best = both.max(axis=1)
        gains, first = best - parents, 0
        for features, total, found in asked:
            end = first + len(features)
            order = first + np.argsort(-gains[first:end], kind="stable")
            for i in order.tolist():
                gain = float(gains[i])
                if gain < found.gain or gain == -np.inf:
                    break
                given = features[i - first], both[i] == best[i], occurs[i], gain, found
                if _note(problem.codes, *given):
                    left, whole = int(below[i, found.cut]) & MASS, int(total) & MASS
                    found.heavier_left = int(2 * left >= whole)
                    found.missing_left = missing_left if absent[i] else found.heavier_left
            first = end


def _scores(newton, packed):
    """Return the scores of packed sums: partings.score_of_pair, of many."""
    G = (packed >> 32) * newton.g_unit
    H = (packed & MASS) * newton.h_unit
    T = np.maximum(np.abs(G) - newton.l1, 0.0)
    return T * T / (2.0 * (H + newton.l2))


def _note(codes, feature, is_best, occurs, gain, found):
    """Set `found` to the widest of a feature's best cuts, the first of equals, if it beats it.

    is_best, occurs: whether a bin's cut is one, whether the bin has rows. Tells whether it did.
    """
    about, bins, cuts = codes.features[feature], np.flatnonzero(occurs), np.flatnonzero(is_best)
    n_bins, ends = about.n_bins, np.searchsorted(bins, cuts) + 1
    ends = np.append(bins, n_bins)[ends]
    margins = np.where(ends < n_bins, (ends - cuts) / n_bins, 0.0)
    widest = int(np.argmax(margins))
    cut, end, margin = int(cuts[widest]), int(ends[widest]), float(margins[widest])
    if not beats(gain, margin, feature, found):
        return False
    found.gain, found.margin, found.feature, found.order = gain, margin, feature, 0
    found.cut, found.threshold = cut, np.inf
    if end < n_bins:
        found.threshold = threshold_between(high_of(codes, about, cut), low_of(codes, about, end))
    return True
