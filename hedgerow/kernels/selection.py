"""Selection: the value at a level of weight, without sorting."""

import numpy as np

from hedgerow.kernels.calling import team_kernel
from hedgerow.kernels.jit import kernel, part
from hedgerow.kernels.meeting import share

N_CELLS = 4096
_DIGIT = np.uint64(N_CELLS - 1)
_SHIFTS = (52, 40, 28, 16, 4, 0)  # twelve bits at a time; the first are sign and exponent
_FEW = 32
_SIGN, _ALL = np.uint64(1 << 63), np.uint64(0xFFFFFFFFFFFFFFFF)


@kernel
def select(keys, masses, target, cells, out):
    """Find the smallest value below or at which there is at least `target` of the weight.

    keys    uint64 [n]       both    the memory of float64 values, no NaN, no -0.0; then garbage
    masses  float64 [n]      both    their weights, > 0, all sums exact; then garbage
    target  float64                  > 0 and at most the sum of the weights
    cells   float64 [4096]   write   garbage
    out     uint64 [2]       write   memory of that value, and of the next larger or equal one if
                                     exactly `target` is below or at it, else of itself

    The weight of the rows is summed by twelve bits of their values, then only the rows with
    those bits of the value wanted are kept. Cost: two or three passes over the rows.
    """
    for i in range(keys.shape[0]):
        keys[i] = ~keys[i] if keys[i] & _SIGN else keys[i] | _SIGN  # ordered as the values are
    n, below, beyond = keys.shape[0], 0.0, _ALL
    for shift in _SHIFTS:
        if n <= _FEW:
            break
        wanted, below = _digit_at(keys[:n], masses, np.uint64(shift), below, target, cells)
        n, beyond = _keep(keys[:n], masses, np.uint64(shift), wanted, beyond)
    _sort(keys[: min(n, _FEW)], masses)  # if there are more, they are equal
    place = 0
    while place < n - 1 and below + masses[place] < target:
        below += masses[place]
        place += 1
    found = keys[place]
    after = found
    if below + masses[place] == target:
        after = keys[place + 1] if place < n - 1 else beyond
    out[0] = _memory(found)
    out[1] = _memory(after if after != _ALL else found)


@part
def _memory(key):
    return key ^ _SIGN if key & _SIGN else ~key


@part
def _digit_at(keys, masses, shift, below, target, cells):
    """Return the digit of the value wanted, and the weight of smaller values."""
    for cell in range(N_CELLS):
        cells[cell] = 0.0
    for i in range(keys.shape[0]):
        cells[np.int64((keys[i] >> shift) & _DIGIT)] += masses[i]
    digit = 0
    while below + cells[digit] < target:
        below += cells[digit]
        digit += 1
    return np.uint64(digit), below


@part
def _keep(keys, masses, shift, wanted, beyond):
    """Move the rows of a digit to the front; return how many, and the smallest key above them."""
    n = 0
    for i in range(keys.shape[0]):
        key, digit = keys[i], (keys[i] >> shift) & _DIGIT
        keys[n], masses[n] = key, masses[i]
        n += digit == wanted
        beyond = min(beyond, key if digit > wanted else beyond)
    return n, beyond


@part
def _sort(keys, masses):
    for i in range(1, keys.shape[0]):
        key, mass, place = keys[i], masses[i], i
        while place > 0 and keys[place - 1] > key:
            keys[place], masses[place] = keys[place - 1], masses[place - 1]
            place -= 1
        keys[place], masses[place] = key, mass


@team_kernel
def count_leaves(team, leaf_of_row, counts):
    """Count each thread's rows of each leaf.

    leaf_of_row  int32 [n_rows]                 read    -1: the row is in no leaf
    counts       int64 [n_threads, n_nodes]     both    zero on entry
    """
    begin, end = share(team, leaf_of_row.shape[0])
    own = counts[team.thread]
    for row in range(begin, end):
        if leaf_of_row[row] >= 0:
            own[leaf_of_row[row]] += 1


@team_kernel
def group_rows(team, leaf_of_row, y, raw, weights, places, residual, grouped):
    """Write the residuals y - raw and the weights of each leaf's rows next to each other.

    leaf_of_row          int32 [n_rows]              read
    y, raw               float64 [n_rows]            read
    weights              float64 [n_rows] or [1]     read    [1]: the same for every row
    places               int64 [n_threads, n_nodes]  both    where a thread's first row goes
    residual, grouped    float64 [n]                 write
    """
    begin, end = share(team, leaf_of_row.shape[0])
    own, of_each = places[team.thread], np.int64(-1 if weights.shape[0] > 1 else 0)
    for row in range(begin, end):
        leaf = leaf_of_row[row]
        if leaf >= 0:
            place = own[leaf]
            residual[place] = y[row] - raw[row]
            grouped[place] = weights[row & of_each]
            own[leaf] = place + 1
