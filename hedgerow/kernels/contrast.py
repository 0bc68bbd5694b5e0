"""Shapley values against a background: a row's features put in place of another row's.

Of a row x and a row z of the background, with the features of a set S taken from x,

    v(S) = value of the leaf that is reached with x_j for j in S and z_j for the others.

A leaf counts if x or z takes all steps on each of its features. If only x does on a of them,
and only z on b, then the leaf is reached when S has all the a and none of the b, and

    phi_i = + value (a - 1)! b! / (a + b)!    if only x takes the steps on i
            - value a! (b - 1)! / (a + b)!    if only z does

(Lundberg et al., 2020, "interventional"). The result is the mean over z. All that a leaf knows
of a row is a set of features: those on which the row takes all steps to it. Rows z of the same
set are counted together where there are few sets: in small trees. Sets are bits; bit k is the k-th
feature on the way from the root.

Of a large tree most leaves do not count, and most of these are below a step that neither x nor any
z takes, together with those before it on the same feature: there x turns back.
"""

import numpy as np

from hedgerow.kernels.calling import team_kernel
from hedgerow.kernels.jit import inlined_part
from hedgerow.kernels.machine import lowest_bit
from hedgerow.kernels.meeting import cancelled, share
from hedgerow.kernels.predict import next_node


@team_kernel
def find_sets(team, others, trees, first, end, room, crowd):
    """Set the features on which rows of a background take all steps to a leaf, and to a node.

    others  float64 [n_features, n_others]   read
    trees   Trees                            read    first .. end of them; a thread owns some
    room    Room                             write
    crowd   Crowd                            both    of empty_crowd: takes and sets
    """
    begin, last = share(team, end - first)
    sets, sides, base = room.sets[team.thread], room.sides[team.thread], trees.offset[first]
    for tree in range(first + begin, first + last):
        if cancelled(team):
            return
        for z in range(others.shape[1]):
            sets[0, z] = 0
        for node in range(trees.offset[tree], trees.offset[tree + 1]):
            level, feature = trees.ways.level[node], trees.paths.feature[node]
            if level > 0:
                _take(trees, node, sets, sides[level - 1], crowd.takes[node - base])
            if trees.paths.left[node] < 0:
                place = crowd.start[crowd.leaf[node - base]]
                for z in range(others.shape[1]):
                    crowd.sets[place + z] = sets[level, z]
                continue
            for z in range(others.shape[1]):
                child = next_node(trees.paths, node, others[feature, z])
                sides[level, z] = np.int64(child == trees.paths.left[node])


@inlined_part
def _take(trees, node, sets, sides, takes):
    """Set of rows of a background the sets at a node, and whether they take its feature's steps."""
    ways, level = trees.ways, trees.ways.level[node]
    place, is_right = ways.bit[node], np.int64(node != ways.parent[node] + 1)
    is_new = np.int64(ways.level[ways.above[node]] == 0)
    for z in range(sides.shape[0]):
        was_on = is_new | ((sets[level - 1, z] >> place) & 1)
        is_on = was_on & (sides[z] ^ is_right)
        sets[level, z] = (sets[level - 1, z] & ~(np.int64(1) << place)) | (is_on << place)
        takes[z >> 6] |= is_on << (z & 63)


@team_kernel
def add_contrasts(team, values, trees, first, end, crowd, chances, room, out):
    """Add to out[feature, output, row] the Shapley values of trees against a background.

    values   float64 [n_rows, n_features]              read
    trees    Trees                                     read    first .. end of them
    crowd    Crowd                                     read    of find_sets and counted
    chances  float64 [n + 1, n + 1]                    read    of chances_for
    room     Room                                      write
    out      float64 [n_features, n_outputs, n_rows]   both    a thread owns a range of rows

    Cost: n_rows * nodes that are not turned back from, and sets of their leaves.
    """
    begin, last = share(team, values.shape[0])
    for row in range(begin, last):
        if cancelled(team):
            return
        for tree in range(first, end):
            sums = out[:, :, row]
            _contrast(team.thread, values[row], trees, tree, first, crowd, chances, room, sums)


@inlined_part
def _contrast(thread, x, trees, tree, first, crowd, chances, room, sums):
    """Go through a tree with a row, and turn back where no row of the background comes along."""
    paths, ways, base = trees.paths, trees.ways, trees.offset[first]
    sets, sides, features = room.sets[thread], room.sides[thread], room.features[thread]
    sets[0, 0] = 0
    for word in range(crowd.takes.shape[1]):
        room.alive[thread, 0, word] = -1
    node, last = trees.offset[tree], trees.offset[tree + 1]
    while node < last:
        level = ways.level[node]
        if level > 0:
            features[ways.bit[node]] = paths.feature[ways.parent[node]]
            alive = room.alive[thread, level - 1 : level + 1]
            if not _goes_on(trees, node, sets, sides, crowd.takes[node - base], alive):
                node = ways.after[node]
                continue
        if paths.left[node] >= 0:
            child = next_node(paths, node, x[paths.feature[node]])
            sides[level, 0] = np.int64(child == paths.left[node])
        else:
            held = sets[level, 0], ways.n_features[node]
            alive = room.alive[thread, level]
            gains = room.gains[thread, : ways.n_features[node]]
            _compare(held, crowd, crowd.leaf[node - base], alive, chances, gains)
            _note(trees.value[node], gains, features, trees.output[tree], sums)
        node += 1


@inlined_part
def _goes_on(trees, node, sets, sides, takes, alive):
    """Set a row's set at a node and who may come along; tell whether it is worth going on."""
    ways, level = trees.ways, trees.ways.level[node]
    place, is_right = ways.bit[node], np.int64(node != ways.parent[node] + 1)
    is_new = np.int64(ways.level[ways.above[node]] == 0)
    before = sets[level - 1, 0]
    is_on = (is_new | ((before >> place) & 1)) & (sides[level - 1, 0] ^ is_right)
    sets[level, 0] = (before & ~(np.int64(1) << place)) | (is_on << place)
    left = np.int64(0)
    for word in range(takes.shape[0]):
        alive[1, word] = alive[0, word] & (takes[word] | -is_on)
        left |= alive[1, word]
    is_heard = False
    for k in range(trees.is_heard.shape[1]):
        is_heard |= trees.is_heard[node, k]
    return left != 0 and is_heard


@inlined_part
def _compare(held, crowd, leaf, alive, chances, gains):
    """Set what a leaf of value 1 gives to each of its features, by bits.

    held: the features that x takes, and the number of all; alive: rows z that may count.
    """
    of_x, n_features = held
    every = (np.int64(1) << n_features) - 1
    lacking, loss = every & ~of_x, 0.0
    for bit in range(n_features):
        gains[bit] = 0.0
    begin = crowd.start[leaf]
    if crowd.is_counted:
        for place in range(begin, crowd.start[leaf + 1]):
            if crowd.sets[place] & lacking == lacking:
                only_x = every & ~crowd.sets[place]
                loss += _credit(only_x, lacking, crowd.share[place], chances, gains)
    else:
        for word in range(alive.shape[0]):
            rest = alive[word]
            while rest != 0:
                z = lowest_bit(rest)
                rest ^= np.int64(1) << z
                place = begin + 64 * word + z
                if place < crowd.start[leaf + 1]:  # if x takes all steps, bits of no row are left
                    only_x = every & ~crowd.sets[place]
                    loss += _credit(only_x, lacking, crowd.share[place], chances, gains)
    while lacking != 0:
        gains[lowest_bit(lacking)] -= loss
        lacking &= lacking - 1


@inlined_part
def _credit(only_x, only_z, weight, chances, gains):
    """Add what features that only x takes gain by a row z; return what each of z's loses."""
    a, b = _size(only_x), _size(only_z)
    gain, rest = weight * chances[a, b], only_x
    while rest != 0:
        gains[lowest_bit(rest)] += gain
        rest &= rest - 1
    return weight * chances[b, a]


@inlined_part
def _note(value, gains, features, first, sums):
    """Add a leaf's part of each output, to the columns from the first on."""
    for bit in range(gains.shape[0]):
        for k in range(value.shape[0]):
            sums[features[bit], first + k] += value[k] * gains[bit]


@inlined_part
def _size(bits):
    """Return the number of bits that are set, in two, four, eight, ... of them at once."""
    bits -= (bits >> 1) & 0x5555555555555555
    bits = (bits & 0x3333333333333333) + ((bits >> 2) & 0x3333333333333333)
    bits = (bits + (bits >> 4)) & 0x0F0F0F0F0F0F0F0F
    bits += bits >> 8
    bits += bits >> 16
    return (bits + (bits >> 32)) & 0x7F
