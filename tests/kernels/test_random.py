"""Random bits: the definition, compiled and plain; and that they look random."""

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.stats import chi2

from hedgerow.kernels.jit import kernel
from hedgerow.kernels.random import mixed, mixed_bits, uniform
from tests.oracle import random as oracle

WORDS = st.integers(-(2**63), 2**63 - 1)
EXTREMES = [0, 1, -1, 2**63 - 1, -(2**63), 2**32, -(2**31)]


@kernel
def mixed_by_kernel(state, more):
    return mixed(state, more)


@kernel
def fill(states, names, bits, floats):
    for i in range(states.shape[0]):
        bits[i] = mixed(states[i], names[i])
        floats[i] = uniform(bits[i])


def drawn(states, names):
    """Return the bits and floats that each pair of a state and a name gives."""
    states, names = (
        np.array(part, np.int64).ravel() for part in np.broadcast_arrays(states, names)
    )
    bits, floats = np.empty(len(states), np.int64), np.empty(len(states))
    fill(states, names, bits, floats)
    return bits, floats


def assert_uniform(floats, n_cells):
    """Chi-square of the counts of equal cells; the draws are fixed, so this never wavers."""
    counts = np.bincount((floats * n_cells).astype(int), minlength=n_cells)
    expected = len(floats) / n_cells
    statistic = ((counts - expected) ** 2 / expected).sum()
    low, high = chi2.ppf([1e-4, 1 - 1e-4], n_cells - 1)
    assert low < statistic < high


@given(WORDS, WORDS)
@example(2**63 - 1, 2**63 - 1)
@example(-(2**63), -(2**63))
def test_kernels_and_python_draw_the_bits_of_the_definition(state, more):
    expected = oracle.mixed(state, more)
    assert mixed_by_kernel(state, more) == expected
    assert mixed_bits(state, more) == expected


def test_extreme_names_draw_the_bits_of_the_definition():
    for state in EXTREMES:
        for more in EXTREMES:
            bits, floats = drawn([state], [more])
            assert bits[0] == oracle.mixed(state, more)
            assert floats[0] == oracle.uniform(oracle.mixed(state, more))


def test_floats_are_in_the_unit_interval_without_its_end():
    bits = np.array([0, -1, 2**63 - 1, -(2**63), 2047, 2048])
    floats = [oracle.uniform(int(word)) for word in bits]
    assert floats == [0.0, 1 - 2.0**-53, 0.5 - 2.0**-53, 0.5, 0.0, 2.0**-53]
    _, many = drawn(np.arange(4000), 1)
    assert (many >= 0).all()
    assert (many < 1).all()


def test_draws_are_uniform_over_features_nodes_and_seeds():
    features, seeds = np.arange(4000), np.arange(4000)
    root = mixed_bits(7, 0)
    path, nodes = root, []
    for level in range(4000):  # a path that turns left and right
        path = mixed_bits(path, 1 + level % 2)
        nodes.append(path)
    for states, names in ((root, features), (nodes, 3), (seeds, 0), (-seeds, 2)):
        assert_uniform(drawn(states, names)[1], 50)


def test_draws_of_neighbouring_names_are_independent():
    # The pair of a feature's and the next feature's draw falls evenly into a square of cells.
    _, floats = drawn(mixed_bits(3, 0), np.arange(5001))
    pairs = np.floor(floats[:-1] * 7) + np.floor(floats[1:] * 7) * 7
    assert_uniform(pairs / 49 + 1e-9, 49)


def test_a_changed_bit_of_a_name_changes_half_of_the_bits():
    names = [1 << bit for bit in range(63)]
    base = oracle.mixed(12345, 0)
    bits, _ = drawn(12345, names)
    changed = [(int(word) ^ base).bit_count() for word in bits]
    # 64 fair coins have a standard deviation of 4; five of them are never seen.
    assert min(changed) >= 12
    assert max(changed) <= 52
    assert abs(np.mean(changed) - 32) < 4 * 4 / np.sqrt(63)
