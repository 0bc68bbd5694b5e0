"""Derivatives of pairs and gains of lists, against the definitions."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from hedgerow.kernels.ranking import derive_pairs, room_for
from hedgerow.kernels.team import hired
from hedgerow.losses import LambdaRank, Pairwise
from hedgerow.losses.lists import listed, ndcg
from tests.oracle import ranking as oracle

# Few values, so that documents are often equal in score, in gain, or in both.
DOCUMENTS = st.tuples(st.sampled_from([0.0, 1.0, 3.0]), st.sampled_from([-1.5, 0.0, 0.25, 2.0]))
QUERIES = st.lists(st.lists(DOCUMENTS, min_size=1, max_size=5), min_size=1, max_size=4)
TRUNCATIONS = st.sampled_from([None, 1, 2, 3])
LOSSES = st.sampled_from([LambdaRank(1.0), LambdaRank(2.0), Pairwise(1.0), Pairwise(0.5)])


def columns(queries):
    """Query, gain and score of each row."""
    query = np.repeat(np.arange(len(queries)), [len(documents) for documents in queries])
    gains, scores = np.array([pair for documents in queries for pair in documents]).T
    return query, gains.copy(), scores.copy()


def derived(loss, truncation, query, gains, scores, weights=None, n_threads=1):
    lists = listed(query, gains, truncation)
    pairs = np.full((2, len(query)), np.nan, np.float32)
    weights = np.ones(1) if weights is None else weights
    units, ranks = loss.units(lists.queries.ideal), loss.ranks(lists.discounts)
    with hired(n_threads, 1e9) as team:
        room = room_for(lists.queries, n_threads)
        team.run(derive_pairs, loss, lists.queries, units, ranks, weights, scores, room, pairs)
    return pairs


def measured(truncation, query, gains, scores, n_threads=1):
    lists = listed(query, gains, truncation)
    with hired(n_threads, 1e9) as team:
        return ndcg(lists, scores, np.arange(query.max() + 1), team)


@given(QUERIES, LOSSES, TRUNCATIONS, st.integers(1, 3))
def test_derivatives_are_sums_over_pairs(queries, loss, truncation, n_threads):
    query, gains, scores = columns(queries)
    pairs = derived(loss, truncation, query, gains, scores, n_threads=n_threads)
    for number in range(len(queries)):
        own = query == number

        def worth(i, j, G=gains[own], s=scores[own]):
            is_equal = isinstance(loss, Pairwise)
            return 1.0 if is_equal else oracle.swap(G, s, i, j, truncation)

        exact = oracle.derivatives(gains[own], scores[own], loss.sigma, worth)
        assert_allclose(pairs[:, own], exact, rtol=1e-6, atol=1e-9)


@given(QUERIES, st.sampled_from([0.5, 1.0, 3.0]))
def test_the_slope_of_the_pairwise_loss_is_its_gradient(queries, sigma):
    query, gains, scores = columns(queries)
    pairs, step = derived(Pairwise(sigma), 3, query, gains, scores), 1e-5
    for row in range(len(query)):
        own, sides = query == query[row], []
        for sign in (1.0, -1.0):
            moved = scores.copy()
            moved[row] += sign * step
            sides.append(oracle.pairwise_loss(gains[own], moved[own], sigma))
        assert_allclose(pairs[0, row], (sides[0] - sides[1]) / (2 * step), rtol=1e-5, atol=1e-8)


@given(QUERIES, LOSSES, TRUNCATIONS)
def test_hessians_are_positive_where_there_is_a_gradient(queries, loss, truncation):
    g, h = derived(loss, truncation, *columns(queries))
    assert (h >= 0).all()
    assert (h[g != 0] > 0).all()


@given(QUERIES, LOSSES, TRUNCATIONS, st.randoms(use_true_random=False))
def test_the_order_of_rows_and_the_names_of_queries_make_no_difference(
    queries, loss, truncation, random
):
    query, gains, scores = columns(queries)
    order, names = list(range(len(query))), list(range(len(queries)))
    random.shuffle(order)
    random.shuffle(names)
    expected = derived(loss, truncation, query, gains, scores)
    found = derived(loss, truncation, np.array(names)[query][order], gains[order], scores[order])
    assert_array_equal(found, expected[:, order])


@given(QUERIES, TRUNCATIONS, st.integers(1, 3))
def test_ndcg_is_the_mean_over_all_orders_of_equal_scores(queries, truncation, n_threads):
    query, gains, scores = columns(queries)
    found = measured(truncation, query, gains, scores, n_threads)
    for number in range(len(queries)):
        own = query == number
        best = oracle.ideal(gains[own], truncation)
        exact = oracle.dcg(gains[own], scores[own], truncation) / best if best else 0.0
        assert_allclose(found[number], exact, rtol=1e-12, atol=1e-15)


def many(n_rows=600, n_queries=20, seed=0):
    rng = np.random.default_rng(seed)
    query = np.unique(rng.integers(0, n_queries, n_rows), return_inverse=True)[1]
    return query, rng.integers(0, 5, n_rows).astype(float), rng.normal(size=n_rows).round(2)


@pytest.mark.parametrize("loss", [LambdaRank(), Pairwise()])
@pytest.mark.parametrize("truncation", [None, 7])
def test_long_lists_have_the_same_bits_for_any_threads_and_order(loss, truncation):
    query, gains, scores = many()
    order = np.random.default_rng(1).permutation(len(query))
    first = derived(loss, truncation, query, gains, scores)
    for n_threads in (2, 3):
        again = derived(loss, truncation, query, gains, scores, n_threads=n_threads)
        assert_array_equal(again, first)
    shuffled = derived(loss, truncation, query[order], gains[order], scores[order])
    assert_array_equal(shuffled, first[:, order])
    assert (np.abs(first).max(axis=1) > 0).all()


def test_weights_multiply_derivatives():
    query, gains, scores = many(200, 5)
    weights = np.random.default_rng(2).random(5)[query]
    plain = derived(LambdaRank(), 10, query, gains, scores)
    weighted = derived(LambdaRank(), 10, query, gains, scores, weights)
    assert_allclose(weighted, weights * plain, rtol=3e-7)


@pytest.mark.parametrize("loss", [LambdaRank(), Pairwise()])
def test_far_scores_stay_finite(loss):
    scores = np.array([1e300, -1e300, 700.0, -700.0])
    pairs = derived(loss, None, np.zeros(4, int), np.array([0.0, 3.0, 0.0, 1.0]), scores)
    assert np.isfinite(pairs).all()
    assert pairs[0, 0] > 0 > pairs[0, 1]
