"""Spread: what each tree of a forest says apart from the others, and quadratic forms of that."""

from hedgerow.kernels.calling import team_kernel
from hedgerow.kernels.meeting import cancelled, share
from hedgerow.kernels.walks import BLOCK, walk


@team_kernel
def tell_leaves(team, values, rows, thicket, way, walkers, out):
    """Add what the leaf of row rows[i] holds in tree t to out[i, :, t].

    values  float64 [n_rows, n_features]       read
    rows    int64 [n]                          read    a thread owns a range of them
    thicket Thicket                            read
    way     Proportions, Votes or Means        what is added
    walkers Walkers                            write   garbage
    out     float64 [n, n_values, n_trees]     both    zero on entry
    """
    begin, end = share(team, rows.shape[0])
    for tree in range(thicket.first.shape[0] - 1):
        first, first_row = thicket.first[tree, 0], thicket.first[tree, 2]
        for begin_block in range(begin, end, BLOCK):
            if cancelled(team):
                return
            block = rows[begin_block : min(begin_block + BLOCK, end)]
            walk(values, block, thicket, tree, walkers, team.thread)
            for i in range(block.shape[0]):
                leaf = thicket.nodes[first + walkers.leaves[team.thread, i]]
                way.add_leaf(leaf, thicket.extra, first_row, out[begin_block + i, :, tree])


@team_kernel
def quadratic_forms(team, vectors, matrix, room, out):
    """Set out[i] to v' M v, v = vectors[i].

    vectors  float64 [n, size]            read    a thread owns a range of them
    matrix   float64 [size, size]         read    symmetric
    room     float64 [n_threads, size]    write   garbage
    out      float64 [n]                  write

    Sums are added up in the order of the indices: no bit depends on the threads, nor on the
    other vectors. Cost: size^2 each.
    """
    begin, end = share(team, vectors.shape[0])
    product, size = room[team.thread], matrix.shape[0]
    for i in range(begin, end):
        if cancelled(team):
            return
        for k in range(size):
            product[k] = 0.0
        for j in range(size):
            factor = vectors[i, j]
            for k in range(size):
                product[k] += factor * matrix[j, k]
        total = 0.0
        for k in range(size):
            total += product[k] * vectors[i, k]
        out[i] = total
