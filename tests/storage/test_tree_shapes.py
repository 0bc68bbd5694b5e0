"""The check of the shape of trees accepts trees in preorder, and nothing else."""

from itertools import product

import numpy as np
import pytest

from hedgerow.errors import ModelFileError
from hedgerow.storage.trees import check_shape


def end_of(node, is_split, right):
    """Return the node behind the subtree of a node in preorder, by the definition; None: none."""
    if node >= len(is_split):
        return None
    if not is_split[node]:
        return node + 1
    if end_of(node + 1, is_split, right) != right[node]:
        return None
    return end_of(right[node], is_split, right)


def accepted(first, is_split, right):
    try:
        check_shape(np.array(first), np.array(is_split, bool), np.array(right, np.int32))
    except ModelFileError:
        return False
    return True


@pytest.mark.parametrize("n_nodes", [1, 2, 3, 4, 5, 6, 7])
def test_a_tree_is_accepted_if_it_is_one_by_the_definition(n_nodes):
    n_accepted = 0
    for is_split in product([False, True], repeat=n_nodes):
        splits = np.flatnonzero(is_split)
        if len(splits) > 3:
            assert not accepted([0, n_nodes], is_split, [n_nodes - 1] * n_nodes)
            continue
        for children in product(range(-1, n_nodes + 1), repeat=len(splits)):
            right = np.full(n_nodes, -1)
            right[splits] = children
            expected = end_of(0, is_split, right) == n_nodes
            assert accepted([0, n_nodes], is_split, right) == expected, (is_split, right)
            n_accepted += expected
    assert n_accepted == {1: 1, 3: 1, 5: 2, 7: 5}.get(n_nodes, 0)  # Catalan's numbers


def random_tree(chance, n_splits):
    """Return a random tree in preorder."""
    is_split, right, waiting = [], [], [(-1, n_splits)]
    while waiting:
        parent, n_own = waiting.pop()
        if parent >= 0:
            right[parent] = len(is_split)
        is_split.append(n_own > 0)
        right.append(-1)
        if n_own > 0:
            n_left = int(chance.integers(n_own))
            waiting += [(len(is_split) - 1, n_own - 1 - n_left), (-1, n_left)]
    return is_split, right


@pytest.mark.parametrize("seed", range(20))
def test_of_many_trees_each_is_looked_at(seed):
    chance = np.random.default_rng(seed)
    trees = [random_tree(chance, int(chance.integers(40))) for _ in range(12)]
    first = np.cumsum([0, *(len(each[0]) for each in trees)])
    is_split, right = (np.concatenate([each[k] for each in trees]) for k in range(2))
    assert accepted(first, is_split, right)
    splits = np.flatnonzero(is_split)
    for _ in range(50):
        changed, place = right.copy(), chance.choice(splits)
        changed[place] += chance.choice([-2, -1, 1, 2])
        assert not accepted(first, is_split, changed)
        one, two = chance.choice(splits, 2)
        changed = right.copy()
        changed[one], changed[two] = right[two], right[one]
        assert accepted(first, is_split, changed) == (right[one] == right[two])


def test_a_chain_of_a_million_nodes_is_looked_at_without_recursion():
    n = 1_000_001
    is_split = np.arange(n) % 2 == 0
    is_split[-1] = False
    right = np.where(is_split, np.arange(n) + 2, -1)
    assert accepted([0, n], is_split, right)
    right[500_000] += 2
    assert not accepted([0, n], is_split, right)
