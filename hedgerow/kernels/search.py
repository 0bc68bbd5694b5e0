"""Search: the best split of one node over its candidate features, by a team or by one thread."""

import numpy as np

from hedgerow.kernels.bins import has_one_of_two, has_two, is_light, search_bins
from hedgerow.kernels.category_order import sort_categories
from hedgerow.kernels.codes import N_BINS
from hedgerow.kernels.drawing import FURTHER, draw_features
from hedgerow.kernels.heap import heapify, take_largest
from hedgerow.kernels.histogram import owner
from hedgerow.kernels.jit import inlined_part, interpreted_as, outlined_part, part
from hedgerow.kernels.marginals import clear_codes, read_column, read_node
from hedgerow.kernels.meeting import cancelled, meet
from hedgerow.kernels.menu import varies
from hedgerow.kernels.random import mixed, uniform
from hedgerow.kernels.random_cuts import draws_cut, search_drawn
from hedgerow.kernels.searched_in_bulk import search_some
from hedgerow.kernels.split import Node, search_feature
from hedgerow.kernels.tally import clear, is_shared, sweep, tally, tally_shared
from hedgerow.kernels.workspace import NEWEST, Problem


@part
def forget(found):
    """Nothing is found yet."""
    found.gain, found.margin, found.feature = -np.inf, -1.0, -1


@inlined_part
def search(team, whole, desk, n_active, hist, root, constant, found, search_one):
    """Find a node's best split; a thread takes the candidate features that it owns.

    desk.active[:n_active] are the features not known to be constant here. Candidates are
    `n_candidates` of all features on offer, drawn for the node, constant or not. If all of
    these are constant in it, further ones are drawn until one is not. Features found
    constant are moved behind the others, if anybody asks for them; returns how many are left:
    on a stack a leaf's children need not look at the rest.

    hist      int64 [n_cells * width], or [0]  read    the node's histogram; without one, and
              for wide features, sums come from the rows
    constant  int64 [n_features]               write   shared: candidate -> whether constant
    search_one                                 `search_codes`, or a faster way to the same
    """
    rules, first, place = whole.rules, np.int64(0), n_active
    # The menu's own features, or those offered to this node alone: both ascend.
    offered = desk.active[:n_active] if varies(rules.menu) else rules.menu.own
    sampled = rules.n_candidates < offered.shape[0]
    if sampled:
        first = n_active - _draw(desk, root.bits, offered, rules.n_candidates, n_active)
    n_left, is_ranked = n_active, False
    while True:
        _search_some(team, whole, desk, (first, place), hist, root, constant, found, search_one)
        if not sampled and rules.order != NEWEST:
            return n_active
        meet(team)
        n_found = _put_behind(desk.active, first, place, n_left, constant)
        n_left -= n_found
        if not sampled or n_found < place - first or first == 0:
            return n_left
        if not is_ranked:
            _rank(desk, root.bits, first)
            is_ranked = True
        place, first = first, first - 1
        take_largest(desk.ranks, desk.active, place)


@interpreted_as(search_some)
@inlined_part
def _search_some(team, whole, desk, some, hist, root, constant, found, search_one):
    """Search those of the active features some[0]..some[1]-1 that this thread owns."""
    problem, node = seen_from(whole, root, desk)
    full = whole.criterion.at(whole.moments, root.total)
    in_full = Problem(whole.codes, whole.moments, full, whole.rules)
    features, n_columns = whole.codes.features, hist.shape[0] // (N_BINS * whole.moments.width())
    n_some, turn = some[1] - some[0], np.int64(-1)
    n_turns = n_some
    # Values first: what they gain may be more than categories can.
    while turn + 1 < n_turns:
        turn += 1
        is_second = turn >= n_some
        feature = desk.active[some[0] + turn - n_some * is_second]
        if (features[feature].n_categories > 0) != is_second:
            n_turns = 2 * n_some
            continue
        mine = owner(whole.codes, feature, n_columns, team.n_threads) == team.thread
        if mine and not cancelled(team):
            about, view, seen, column = features[feature], problem, node, hist[:0]
            if hist.shape[0] > 0 and _reads_column(about, whole, problem, node):
                n_cells = N_BINS * in_full.moments.width()
                column = hist[about.column * n_cells : (about.column + 1) * n_cells]
                if about.n_categories == 0:
                    view, seen = in_full, root
            is_constant = search_one(view, feature, column, seen, desk, found)
            _note(constant, feature, is_constant)


@part
def _draw(desk, bits, offered, n_wanted, n_active):
    """Draw n_wanted of the features on offer; move those that are active behind other active ones.

    Returns how many these are.

    offered  int64 [n]   read   ascending
    """
    draw_features(desk, bits, offered, n_wanted)
    marks, active, n_drawn = desk.marks, desk.active, np.int64(0)
    for i in range(n_active - 1, -1, -1):
        feature = active[i]
        if marks[feature]:
            n_drawn += 1
            active[i], active[n_active - n_drawn] = active[n_active - n_drawn], feature
    for i in range(n_wanted):
        marks[desk.drawn[i]] = 0
    return n_drawn


@part
def _put_behind(active, first, end, n_left, constant):
    """Move the constant ones of the features first..end-1 behind the n_left; return how many."""
    n_found = np.int64(0)
    for i in range(end - 1, first - 1, -1):
        feature = active[i]
        if constant[feature]:
            n_found += 1
            active[i], active[n_left - n_found] = active[n_left - n_found], feature
    return n_found


@part
def _note(constant, feature, is_constant):
    """Write only what changes: other threads would wait for a store to the same cache line."""
    if constant[feature] != is_constant:
        constant[feature] = is_constant


@part
def _rank(desk, bits, n_active):
    """Make a heap of the active features, by numbers drawn for the node."""
    state = mixed(bits, FURTHER)
    for i in range(n_active):
        desk.ranks[i] = uniform(mixed(state, desk.active[i]))
    heapify(desk.ranks, desk.active, n_active)


@part
def _reads_column(about, whole, problem, node):
    """Tell whether a FEATURE is searched in a column of the histogram, if there is one.

    Categories are ordered by what the node sees of the moments, which must be all of them;
    and it costs as much as there are categories, a tally as there are rows.
    """
    sees_all = problem.moments.width() == whole.moments.width()
    if about.n_categories > 0:
        return about.column >= 0 and sees_all and node.rows.n_rows >= about.n_bins
    return about.column >= 0


@part
def seen_from(problem, node, desk):
    """Return the problem and the node's sums as the node sees them."""
    moments = problem.moments.seen(node.total, desk.room)
    total = desk.room[1, : moments.sum_width()]
    criterion = problem.criterion.at(moments, total)
    return Problem(problem.codes, moments, criterion, problem.rules), Node(
        total, node.bits, node.rows
    )


@inlined_part
def search_column(whole, number, column, node, desk, found):
    """Search one feature; one of values that has a column of a histogram, at once."""
    about, scratch, width = whole.codes.features[number], desk.scratch, whole.moments.width()
    if column.shape[0] == 0 or about.n_categories > 0:
        return search_codes(whole, number, column, node, desk, found)
    problem = Problem(whole.codes, whole.moments, whole.criterion.toward(number), whole.rules)
    cells, is_joint = column, about.n_codes < N_BINS
    if is_joint:
        read_node(whole.codes, about, column, width, scratch)
        cells = scratch.cells
    if has_two(about) and is_light(problem, cells, scratch):
        is_constant = has_one_of_two(whole.moments, cells)
    else:
        is_constant = search_bins(problem, number, cells, node, scratch, found)
    if is_joint:
        clear_codes(about, width, scratch.cells)
    return is_constant


@outlined_part
def search_codes(whole, number, column, node, desk, found):
    """Search one feature, of categories in a column of a histogram, or else from rows.

    Returns 1 if it is constant.
    """
    scratch = desk.scratch
    criterion = whole.criterion.toward(number)
    problem = Problem(whole.codes, whole.moments, criterion, whole.rules)
    feature, width = problem.codes.features[number], whole.moments.width()
    if column.shape[0] == 0 and is_shared(feature, node.rows, scratch):
        column = scratch.shared[feature.shared, : N_BINS * width]
        tally_shared(problem.codes, feature, node.rows, problem.moments, scratch, column)
    if column.shape[0] > 0:
        read_column(feature, column, width, scratch)
    if column.shape[0] == 0 and draws_cut(problem, number, node, scratch):
        is_constant = search_drawn(problem, number, node, scratch, found)
        if is_constant >= 0:
            return is_constant
    if column.shape[0] > 0:
        n_codes = sweep(scratch, feature, problem.moments)
    else:
        n_codes = tally(problem.codes, feature, node.rows, problem.moments, scratch)
    if n_codes > 1:
        search_feature(problem, number, n_codes, node, scratch, found)
    clear(scratch, n_codes, width)
    return np.int64(n_codes < 2)


@part
def choose_categories(whole, split, root, hist, desk, words):
    """Set `words` to the categories that go left, as bits; those absent go with the heavier child.

    split  LEAF                               read
    hist   int64 [n_cells * width], or [0]    read    the node's histogram
    words  int64 [n_categories // 64 + 1]     write
    """
    problem, node = seen_from(whole, root, desk)
    scratch = desk.scratch
    for word in range(words.shape[0]):
        words[word] = -split.heavier_left
    feature, n_cells = problem.codes.features[split.feature], N_BINS * whole.moments.width()
    if hist.shape[0] > 0 and _reads_column(feature, whole, problem, node):
        column = hist[feature.column * n_cells : (feature.column + 1) * n_cells]
        read_column(feature, column, whole.moments.width(), scratch)
        n_codes = sweep(scratch, feature, problem.moments)
    else:
        n_codes = tally(problem.codes, feature, node.rows, problem.moments, scratch)
    sort_categories(problem, split.feature, n_codes, node, split.order, scratch)
    for i in range(n_codes):
        code = scratch.order[i]
        bit = np.int64(1) << (code & 63)
        if code != feature.missing and i < split.cut:
            words[code >> 6] |= bit
        elif code != feature.missing:
            words[code >> 6] &= ~bit
    clear(scratch, n_codes, problem.moments.width())
