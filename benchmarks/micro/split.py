"""Split search: nanoseconds for a bin, when the best cut of every feature is looked for."""

import math

import numpy as np

from benchmarks.micro.histogram import built, defined
from benchmarks.micro.kernel import Kernel, binned, pairs
from hedgerow.kernels.bins import search_bins
from hedgerow.kernels.codes import N_BINS
from hedgerow.kernels.desks import desk_of, desks_for
from hedgerow.kernels.jit import kernel
from hedgerow.kernels.menu import Menu
from hedgerow.kernels.newton import Newton
from hedgerow.kernels.search import forget
from hedgerow.kernels.split import SPLIT, Node
from hedgerow.kernels.tally import Rows
from hedgerow.kernels.workspace import Problem, Rules

G_UNIT, H_UNIT, L2 = 0.125, 0.0625, 1.0


@kernel
def searched(problem, total, records, desks, hist, found):
    """Search all features of a node."""
    desk = desk_of(desks, 0)
    node = Node(total, np.int64(0), Rows(records, desk.bounds, np.int64(records.shape[0])))
    forget(found[0])
    for feature in range(problem.codes.columns.shape[0]):
        cells = hist[feature * N_BINS : (feature + 1) * N_BINS]
        search_bins(problem, np.int64(feature), cells, node, desk.scratch, found[0])


def kernels(n_rows: int) -> list[Kernel]:
    table = binned(n_rows)
    steps, records, moments = pairs(n_rows)
    columns = table.codes.columns
    hist = np.empty(len(columns) * N_BINS, np.int64)
    built(table.codes, records, moments, hist)
    none = np.zeros(0, np.int64)
    menu = Menu(np.arange(len(columns)), 1, none, none)
    rules = Rules(2, 99, 2, 1, 1, -math.inf, len(columns), 0, 0, 0, 0, 0, 0, menu)
    problem = Problem(table.codes, moments, Newton(G_UNIT, H_UNIT, 0.0, L2), rules)
    total = np.array([(int(steps[0].sum()) << 32) + int(steps[1].sum())])
    found = np.zeros(1, SPLIT).view(np.recarray)
    given = problem, total, records, desks_for(1, len(columns), 255, 1), hist, found
    searched(*given)
    gains = np.stack([gains_of(own) for own in defined(columns, records, steps)])
    feature = int(found.feature[0])
    assert math.isclose(found.gain[0], gains.max(), rel_tol=1e-9)
    assert gains[feature, found.cut[0]] == gains.max()
    n_bins = int(table.codes.features.n_bins.sum())
    return [Kernel("split search", lambda: searched(*given), n_bins, "bin")]


def gains_of(cells):
    """Return the gain of each cut of a feature without missing values, by the formula."""
    G, H = np.cumsum((cells - (cells & 0x7FFFFFFF)) >> 32), np.cumsum(cells & 0x7FFFFFFF)
    sides = [(G, H), (G[-1] - G, H[-1] - H)]
    left, right = (score(*side) for side in sides)
    return np.where((H > 0) & (H[-1] > H), left + right - score(G[-1], H[-1]), -np.inf)


def score(G, H):
    return (G * G_UNIT) ** 2 / (2.0 * (H * H_UNIT + L2))
