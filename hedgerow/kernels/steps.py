"""Steps of boosting: the values of a new tree's leaves, and what they add to raw scores."""

import numpy as np

from hedgerow.kernels import in_bulk
from hedgerow.kernels.calling import team_kernel
from hedgerow.kernels.exponential import exp, log
from hedgerow.kernels.jit import inlined_part, interpreted_as, part
from hedgerow.kernels.machine import bits_of_double
from hedgerow.kernels.meeting import share
from hedgerow.kernels.workspace import N_NODES

CHUNK = 512  # rows whose steps stay in the nearest cache
TURNS = 4  # sums of a leaf that a thread adds to in turn
_ROUNDING, _ONE = 1.5 * 2.0**52, np.uint64(1)
_ROUNDING_BITS = int(np.float64(_ROUNDING).view(np.int64))


@team_kernel
def sum_leaves(team, leaf_of_row, rows, pairs, weights, mask, scales, steps, sums):
    """Sum the derivatives of each leaf's rows in fine whole steps, each thread its own rows.

    leaf_of_row    int32 [n_rows]                   read    -1: the row is not in the tree
    rows           int64 [n] or [0]                 read    those that are; [0]: any may be
    pairs          float32 [2, n_rows]              read    gradients, Hessians
    weights, mask  as in GradientPairs              read
    scales         float64 [2]                      read    steps per 1.0
    steps          int64 [n_threads, 2, CHUNK]           write   of a chunk of rows
    sums           int64 [TURNS n_threads, 2 (max_nodes + 1)]  both    zero on entry

    G and H of leaf -1 come first, then those of node 0, and so on. A thread has several sums of
    a leaf, so that a row need not wait for the one before it, which often is in the same leaf.
    """
    mine = sums[TURNS * team.thread : TURNS * (team.thread + 1)]
    if rows.shape[0] > 0:
        begin, end = share(team, rows.shape[0])
        _sum_rows(rows[begin:end], leaf_of_row, pairs, weights, mask, scales, mine[0])
        return
    begin, end = share(team, leaf_of_row.shape[0])
    g, h = steps[team.thread, 0], steps[team.thread, 1]
    for first in range(begin, end, CHUNK):
        last = min(first + CHUNK, end)
        _set_steps(pairs[0, first:last], scales[0], g)
        _set_steps(pairs[1, first:last], scales[1], h)
        if mask != 0:
            _weigh(weights[first:last], g)
            _weigh(weights[first:last], h)
        _add_steps(leaf_of_row[first:last], g, h, mine)


@part
def _sum_rows(rows, leaf_of_row, pairs, weights, mask, scales, sums):
    g, h, g_scale, h_scale = pairs[0], pairs[1], scales[0], scales[1]
    for i in range(rows.shape[0]):
        row = np.uint64(rows[i])
        place, w = _place(leaf_of_row[row]), weights[rows[i] & mask]
        sums[place] += w * _nearest(g[row] * g_scale)
        sums[place + _ONE] += w * _nearest(h[row] * h_scale)


@interpreted_as(in_bulk.set_steps)
@part
def _set_steps(numbers, scale, steps):
    for i in range(numbers.shape[0]):
        steps[i] = _nearest(numbers[i] * scale)


@interpreted_as(in_bulk.weigh)
@part
def _weigh(weights, steps):
    for i in range(weights.shape[0]):
        steps[i] *= weights[i]


@interpreted_as(in_bulk.add_steps)
@part
def _add_steps(leaves, g, h, sums):
    first, second, third, fourth = sums[0], sums[1], sums[2], sums[3]
    for i in range(0, leaves.shape[0] - leaves.shape[0] % TURNS, TURNS):
        _add_step(_place(leaves[i]), g[i], h[i], first)
        _add_step(_place(leaves[i + 1]), g[i + 1], h[i + 1], second)
        _add_step(_place(leaves[i + 2]), g[i + 2], h[i + 2], third)
        _add_step(_place(leaves[i + 3]), g[i + 3], h[i + 3], fourth)
    for i in range(leaves.shape[0] - leaves.shape[0] % TURNS, leaves.shape[0]):
        _add_step(_place(leaves[i]), g[i], h[i], first)


@inlined_part
def _add_step(place, g, h, sums):
    sums[place] += g
    sums[place + _ONE] += h


@inlined_part
def _place(leaf):
    """Return where the sums of a leaf begin: a number without a sign needs no check."""
    return np.uint32(leaf + 1) * np.uint64(2)


@part
def _nearest(x):
    """Round a number below 2^51 to a whole one, which is then in the lowest bits of a double."""
    return bits_of_double(x + _ROUNDING) - _ROUNDING_BITS


@team_kernel
def set_columns(team, nodes, sums, scales, l1, l2, columns):
    """Set value, G and H of each node from the sums of the leaves below it; member 0 does.

    nodes    Nodes                                read    children have higher numbers than parents
    sums     int64 [n_sums, 2 (max_nodes + 1)]    both    of leaves, as in `sum_leaves`; zero after
    scales   float64 [2]                          read    steps per 1.0
    columns  float64 [3, max_nodes]               write
    """
    if team.thread > 0:
        return
    total, n_nodes = sums[0], nodes.counters[N_NODES]
    for node in range(n_nodes - 1, -1, -1):
        left = nodes.table[node].left
        for k in range(2):
            place = 2 * (node + 1) + k
            for i in range(1, sums.shape[0]):
                total[place] += sums[i, place]
            if left >= 0:
                total[place] = total[2 * (left + 1) + k] + total[2 * (left + 2) + k]
            columns[1 + k, node] = total[place] / scales[k]
        G, H = columns[1, node], columns[2, node]
        columns[0, node] = newton_step(G, H, l1, l2) if H > 0.0 else 0.0
    sums[:, : 2 * (n_nodes + 1)] = 0


@part
def newton_step(G, H, l1, l2):
    """Return the value of a leaf, -sign(G) max(|G| - l1, 0) / (H + l2)."""
    T = max(abs(G) - l1, 0.0)
    return (T if G < 0.0 else -T) / (H + l2)


@team_kernel
def add_values(team, codes, nodes, values, raw):
    """Add the value of its leaf to each row's raw score, whether or not it helped to grow it.

    codes   Codes               read
    nodes   Nodes               read
    values  float64 [max_nodes] read
    raw     float64 [n_rows]    both   a thread owns a range of rows
    """
    begin, end = share(team, raw.shape[0])
    for row in range(begin, end):
        leaf = np.int64(nodes.leaf_of_row[row])
        raw[row] += values[leaf if leaf >= 0 else leaf_of(codes, nodes, row)]


@part
def leaf_of(codes, nodes, row):
    """Return the leaf that a row reaches by its codes."""
    node = np.int64(0)
    while nodes.table[node].left >= 0:
        split = nodes.table[node]
        node = split.left + 1 - goes_left(codes, nodes, split, row)
    return node


@part
def goes_left(codes, nodes, split, row):
    """Return 1 if a NODE sends a row left by its code, else 0."""
    about = codes.features[split.feature]
    if about.place >= 0:
        code = np.int64(codes.columns[about.place, row])
    else:
        code = np.int64(codes.wide[-1 - about.place, row])
    if code == about.missing:
        return split.missing_left
    if about.n_categories > 0:
        return (nodes.words[split.category_start + (code >> 6)] >> (code & 63)) & 1
    return np.int64(code <= split.cut)


@team_kernel
def sum_slopes(team, pairs, along, weights, mask, rows, scale, totals):
    """Sum w g d over rows and outputs in whole steps, each thread its own rows.

    pairs          float32 [n_outputs, 2, n_rows]   read    gradients, Hessians
    along          float64 [n_outputs, n_rows]      read    the direction d
    weights, mask  as in GradientPairs              read
    rows           int64 [n] or [0]                 read    [0]: all
    scale          float64                          steps per 1.0
    totals         int64 [n_threads]                write
    """
    n_rows = rows.shape[0] if rows.shape[0] > 0 else along.shape[1]
    begin, end = share(team, n_rows)
    total = np.int64(0)
    for output in range(along.shape[0]):
        g, d = pairs[output, 0], along[output]
        for i in range(begin, end):
            row = rows[i] if rows.shape[0] > 0 else i
            total += weights[row & mask] * np.int64(np.rint(g[row] * d[row] * scale))
    totals[team.thread] = total


@team_kernel
def row_losses(team, loss, y, raw, out):
    """Set out to the loss of each row.

    y    float64 [n_rows]      read
    raw  float64 [1, n_rows]   read
    """
    begin, end = share(team, out.shape[0])
    targets, scores, own = y[begin:end], raw[0, begin:end], out[begin:end]
    for i in range(own.shape[0]):
        own[i] = loss.loss(targets[i], scores[i])


@team_kernel
def class_losses(team, labels, raw, out):
    """Set out to the multinomial loss of each row, log(sum e^raw) - raw of its class.

    labels  int32 [n_rows]        read
    raw     float64 [K, n_rows]   read
    """
    begin, end = share(team, out.shape[0])
    for row in range(begin, end):
        largest, total = raw[0, row], 0.0
        for k in range(1, raw.shape[0]):
            largest = max(largest, raw[k, row])
        for k in range(raw.shape[0]):
            total += exp(raw[k, row] - largest)
        out[row] = log(total) + (largest - raw[labels[row], row])
