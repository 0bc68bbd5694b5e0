"""Bounds are what their proofs say: constants by optimisation, capacities by counting."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize, minimize_scalar

from hedgerow import theory

ERRORS = st.lists(st.floats(0.001, 0.999), min_size=1, max_size=20)
SEEDS = st.integers(0, 2**32 - 1)


# ------------------------------------------------------------------ surrogates


@pytest.mark.parametrize("name", theory.SURROGATES)
@pytest.mark.parametrize("radius", [0.5, 1.0, 3.0])
def test_the_lipschitz_constant_is_the_steepest_chord(name, radius):
    phi = theory.surrogate(name)
    x = np.linspace(-radius, radius, 20_001)
    steepest = (np.diff(phi.phi(x)) / np.diff(x)).max()
    assert steepest <= phi.lipschitz(radius) * (1 + 1e-9)
    assert_allclose(steepest, phi.lipschitz(radius), rtol=1e-3)


@pytest.mark.parametrize("name", theory.SURROGATES)
def test_a_surrogate_is_one_at_zero_above_the_error_and_has_its_slope(name):
    phi = theory.surrogate(name)
    x = np.linspace(-4.0, 4.0, 801)
    assert phi.phi(0.0) == 1.0
    assert (phi.phi(x) >= (x >= 0)).all()
    away = np.abs(x + 1.0) > 1e-3  # from the corner of the hinge
    slope = (phi.phi(x + 1e-6) - phi.phi(x - 1e-6)) / 2e-6
    assert_allclose(phi.slope(x)[away], slope[away], atol=1e-7)


@pytest.mark.parametrize("name", theory.SURROGATES)
def test_zhangs_constants_bound_the_distance_from_one_half(name):
    phi = theory.surrogate(name)
    shares = np.concatenate([[0.5 + 1e-3], np.linspace(0.5, 0.999, 60)[1:]])
    ratios = []
    for eta in shares:

        def risk(a, eta=eta):
            return float(eta * phi.phi(-a) + (1 - eta) * phi.phi(a))

        least = minimize_scalar(risk, bounds=(-12, 12), method="bounded", options={"xatol": 1e-10})
        c, exponent = phi.zhang
        ratios.append((eta - 0.5) / (c * (1.0 - least.fun) ** exponent))
    assert max(ratios) <= 1 + 1e-6
    # Tight for hinge and exponential; of the logistic with log2, 1 / sqrt(2) is not the least.
    assert_allclose(max(ratios), math.sqrt(math.log(2)) if name == "logistic" else 1.0, rtol=1e-3)


# ------------------------------------------------------------------ training error


@given(ERRORS)
def test_the_product_is_below_the_exponential_bound_and_both_fall(errors):
    product, exponential = theory.training_error_bounds(errors)
    assert (product <= exponential * (1 + 1e-12)).all()
    assert (np.diff(product) <= 0).all()
    assert_allclose(exponential[-1], math.exp(-2 * (theory.edges(errors) ** 2).sum()))


@given(ERRORS, st.floats(0.05, 2.0))
def test_adaboosts_own_alphas_have_the_least_product(errors, rate):
    alphas = 0.5 * np.log((1 - np.array(errors)) / np.array(errors))
    own = theory.training_error_bounds(errors).product
    assert_allclose(theory.training_error_bounds(errors, alphas).product, own, rtol=1e-9)
    shrunk = theory.training_error_bounds(errors, rate * alphas).product
    assert (shrunk >= own * (1 - 1e-9)).all()


# ------------------------------------------------------------------ risk


@given(SEEDS, st.integers(1, 12), st.integers(1, 10))
def test_the_rademacher_complexity_is_below_its_bound(seed, n, M):
    # Exactly: over all signs; the largest combination is at a vertex.
    F = np.random.default_rng(seed).uniform(-1, 1, (n, M))
    signs = np.array(list(itertools.product([-1.0, 1.0], repeat=n)))
    exact = np.abs(signs @ F).max(axis=1).mean() / n
    assert exact <= theory.rademacher_bound(n, M)


def test_the_rademacher_bound_is_attained_up_to_a_constant():
    # All vectors of signs: the complexity is 1, and the bound sqrt(2 log 2) of 1 + 1 / n.
    n = 10
    F = np.array(list(itertools.product([-1.0, 1.0], repeat=n))).T
    bound = theory.rademacher_bound(n, F.shape[1])
    assert 1.0 <= bound <= 1.24


def test_a_radius_stretches_the_bounds():
    one, three = (theory.deviation_bound(500, 40, 0.1, "hinge", radius) for radius in (1.0, 3.0))
    assert_allclose(three, 3 * one)
    steeper = theory.deviation_bound(500, 40, 0.1, "exponential", 3.0)
    assert_allclose(steeper, 3 * one * math.exp(3))


def test_so_many_rows_are_needed_and_no_fewer():
    n = theory.rows_needed(0.05, 300, 0.01, "logistic", 2.0)
    assert theory.risk_bound(n, 300, 0.01, "logistic", 2.0) <= 0.05
    assert theory.risk_bound(n - 1, 300, 0.01, "logistic", 2.0) > 0.05


def test_terms_of_the_excess_risk_are_zhangs_power_of_each_part():
    terms = theory.excess_risk_bound(1000, 50, 0.05, "exponential", approximation=0.02)
    c, L = 1 / math.sqrt(2), math.e
    assert_allclose(terms.approximation, 2 * c * math.sqrt(0.02))
    assert_allclose(
        terms.complexity, 2 * c * math.sqrt(8 * L * math.sqrt(2 * math.log(100) / 1000))
    )
    assert_allclose(terms.confidence, 2 * c * math.sqrt(4 * L * math.sqrt(math.log(40) / 2000)))
    assert terms.total == sum(terms)


# ------------------------------------------------------------------ capacity


def dichotomies(points):
    """The different vectors of signs that stumps give points [m, p], counted by trying all."""
    said = {tuple([1.0] * len(points)), tuple([-1.0] * len(points))}
    for feature, sign in itertools.product(range(points.shape[1]), (-1.0, 1.0)):
        for t in points[:, feature]:
            said.add(tuple(np.where(points[:, feature] > t, sign, -sign)))
    return said


@given(SEEDS, st.integers(1, 6), st.integers(1, 5))
def test_stumps_tell_no_more_points_apart_than_their_vc_dimension(seed, m, p):
    points = np.random.default_rng(seed).normal(size=(m, p))
    said = dichotomies(points)
    assert len(said) <= 2 * p * (m - 1) + 2 <= 2 * theory.stump_count(p, m)
    if len(said) == 2**m:
        assert m <= theory.stump_vc_dimension(p)


def test_two_points_on_a_line_and_three_in_a_plane_are_told_apart():
    assert len(dichotomies(np.array([[0.0], [1.0]]))) == 4
    assert len(dichotomies(np.array([[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]]))) == 6
    assert len(dichotomies(np.array([[0.0, 1.0], [1.0, 2.0], [2.0, 0.0]]))) == 8


def test_the_vc_dimension_grows_as_rounds_times_their_logarithm():
    growth = [theory.vc_bound(10**k, 2) / (10**k * k) for k in (3, 4, 5, 6)]
    assert np.all(np.diff(growth) < 0)
    assert growth[-1] > 2 * 3 * math.log2(10)


# ------------------------------------------------------------------ margins


def test_margins_of_two_classes_are_those_of_two_opposite_scores():
    rng = np.random.default_rng(0)
    f, y = rng.normal(size=40), rng.integers(0, 2, 40)
    assert_allclose(theory.margins(np.column_stack([-f, f]) / 2, y), theory.margins(f, y))
    assert_array_equal(theory.margins(f, 2 * y - 1), theory.margins(f, y))
    names = np.array(["no", "yes"])
    assert_array_equal(theory.margins(f, names[y], classes=names), theory.margins(f, y))
    assert_array_equal(theory.margins(f, y, total=4.0), theory.margins(f, y) / 4)


def test_the_margin_error_at_zero_is_the_error_of_the_classifier():
    rng = np.random.default_rng(1)
    f, y = rng.normal(size=(50, 4)), rng.integers(0, 4, 50)
    wrong = np.mean(f.argmax(axis=1) != y)
    assert theory.margin_error(theory.margins(f, y)) == wrong
    found = theory.margin_distribution(theory.margins(f, y))
    assert found.share[np.searchsorted(found.margin, 0.0, side="right") - 1] == wrong
    assert found.share[-1] == 1.0


def test_a_row_of_weight_three_is_three_rows_of_a_distribution():
    once = theory.margin_distribution([0.1, 0.5, -0.2], [1, 3, 2])
    repeated = theory.margin_distribution([0.1, 0.5, 0.5, 0.5, -0.2, -0.2])
    assert_allclose(once.share, repeated.share)


# ------------------------------------------------------------------ several classes


@pytest.mark.parametrize("K", [2, 3, 5])
def test_the_population_minimiser_is_found_by_optimisation_too(K):
    p = np.random.default_rng(K).dirichlet(np.ones(K))

    def expected_loss(free):
        f = np.append(free, -free.sum())
        return p @ theory.exponential_loss(np.arange(K), np.tile(f, (K, 1)))

    found = minimize(expected_loss, np.zeros(K - 1), method="BFGS", options={"gtol": 1e-10})
    f = np.append(found.x, -found.x.sum())
    assert_allclose(theory.population_minimiser(p), f, atol=1e-6)


@given(st.lists(st.floats(1e-6, 1.0), min_size=2, max_size=8))
def test_the_posterior_of_the_population_minimiser_is_the_truth(given_shares):
    p = np.array(given_shares) / np.sum(given_shares)
    f = theory.population_minimiser(p)
    assert abs(f.sum()) < 1e-9
    assert_allclose(theory.posterior(f), p, rtol=1e-9)
    assert_allclose(theory.posterior(f), np.exp(f / (len(p) - 1)) / np.exp(f / (len(p) - 1)).sum())


def test_scores_beyond_the_range_of_exponentials_have_a_posterior():
    assert_array_equal(theory.posterior([1e4, -1e4]), [1.0, 0.0])
    assert theory.posterior([700.0, -700.0])[1] == 0.0
    assert_allclose(theory.posterior([-300.0, 300.0])[0], math.exp(-600), rtol=1e-12)


def test_two_classes_have_the_logistic_of_twice_the_score():
    f = np.linspace(-3, 3, 13)
    second = theory.posterior(np.column_stack([-f, f]))[:, 1]
    assert_allclose(second, 1 / (1 + np.exp(-2 * f)), rtol=1e-12)


# ------------------------------------------------------------------ bad arguments


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: theory.rademacher_bound(0, 10), "n=0 is not a whole number"),
        (lambda: theory.rademacher_bound(10, 2.5), "M=2.5 is not a whole number"),
        (lambda: theory.deviation_bound(10, 10, 1.0), "delta=1.0 is not between 0 and 1"),
        (lambda: theory.deviation_bound(10, 10, 0.1, "square"), "Pass one of 'hinge'"),
        (lambda: theory.deviation_bound(10, 10, 0.1, "hinge", 0.0), "radius=0.0"),
        (lambda: theory.excess_risk_bound(10, 10, approximation=-1), "below zero"),
        (lambda: theory.training_error_bounds([0.2, 1.2]), "not weighted errors"),
        (lambda: theory.training_error_bounds([0.2], [1.0, 2.0]), "Pass one a round"),
        (lambda: theory.vc_bound(10, 1), "2 or more"),
        (lambda: theory.population_minimiser([0.5, 0.5, 0.0]), "however small"),
        (lambda: theory.population_minimiser([1.0]), "two classes or more"),
        (lambda: theory.posterior(3.0), "pass \\[-f, f\\]"),
        (lambda: theory.margins([1.0], ["a"]), "Pass classes=model.classes_"),
        (lambda: theory.margins([1.0], ["c"], classes=["a", "b"]), "which is not one of"),
        (lambda: theory.margins([1.0, 2.0], [1]), "one class for each row"),
        (lambda: theory.margins([1.0], [1], total=0.0), "sum |alpha|"),
        (lambda: theory.margin_distribution([]), "at least one"),
        (lambda: theory.exponential_loss([3], [[0.0, 0.0]]), "0 to 1"),
        (lambda: theory.rows_needed(0.0, 10), "gap=0.0"),
    ],
)
def test_an_argument_out_of_range_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
