"""The variance of an average of correlated models: its parts, by algebra and by simulation."""

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose

from hedgerow.ensembles.decomposition import Decomposition, decomposed, models_for


def correlated_models(n_sets, n_models, rho, sigma, seed):
    """f_b = sigma (sqrt(rho) shared + sqrt(1 - rho) own): the correlation of two is rho."""
    rng = np.random.default_rng(seed)
    shared, own = rng.normal(size=(n_sets, 1)), rng.normal(size=(n_sets, n_models))
    return sigma * (math.sqrt(rho) * shared + math.sqrt(1 - rho) * own)


def test_the_variance_of_an_average_is_the_floor_and_a_share_of_the_rest_exactly():
    rng = np.random.default_rng(0)
    predictions = rng.normal(size=(7, 5)) @ rng.normal(size=(5, 5)) + rng.normal(size=5)
    parts = decomposed(predictions)
    sigma2, rho, n_models = parts.model_variance, parts.correlation, 5
    observed = predictions.mean(axis=1).var(ddof=1)
    assert_allclose(rho * sigma2 + (1 - rho) * sigma2 / n_models, observed, rtol=1e-12)
    assert_allclose(parts.mean_variance, observed, rtol=1e-12)
    assert_allclose(sigma2, predictions.var(axis=0, ddof=1).mean(), rtol=1e-12)


def test_the_correlation_is_that_of_pairs_of_models():
    predictions = correlated_models(50, 4, 0.5, 1.0, seed=1)
    pairs = np.cov(predictions.T)[np.triu_indices(4, 1)]
    assert_allclose(decomposed(predictions).floor, pairs.mean(), rtol=1e-12)


@pytest.mark.parametrize("rho", [0.1, 0.5, 0.9])
def test_known_correlations_are_found_within_four_standard_errors(rho):
    sigma, n_sets, n_models = 2.0, 400, 10
    found = [
        decomposed(correlated_models(n_sets, n_models, rho, sigma, seed)) for seed in range(50)
    ]
    expected = {
        "floor": rho * sigma**2,
        "model_variance": sigma**2,
        "mean_variance": rho * sigma**2 + (1 - rho) * sigma**2 / n_models,
    }
    for name, value in expected.items():
        each = np.array([getattr(parts, name) for parts in found])
        error = each.std(ddof=1) / math.sqrt(len(each))
        assert abs(each.mean() - value) < 4 * error, name


def test_as_many_models_as_are_said_bring_the_variance_near_its_floor():
    floor, between = 0.3, 1.7
    n_models = models_for(floor, between, 0.05)
    assert floor + between / n_models <= 1.05 * floor < floor + between / (n_models - 1)


def test_models_that_do_not_vary_have_no_correlation_and_one_is_enough():
    parts = decomposed(np.ones((3, 4)))
    assert parts.correlation == 0.0
    assert models_for(float(parts.floor), float(parts.between)) == 1


def test_without_a_floor_no_number_of_models_is_enough():
    assert models_for(0.0, 1.0) == math.inf


def test_a_share_of_zero_is_refused():
    with pytest.raises(ValueError, match=r"share=0: pass a positive number, such as 0\.01"):
        models_for(1.0, 1.0, 0)


def test_parts_may_be_arrays():
    parts = Decomposition(np.array([1.0, 0.0]), np.array([3.0, 0.0]), 2)
    assert parts.correlation.tolist() == [0.25, 0.0]
    assert parts.mean_variance.tolist() == [2.5, 0.0]
