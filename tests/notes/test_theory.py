"""The numbers that the notes print, or that follow from what they print, of their theorems."""

import math

from numpy.testing import assert_allclose

from hedgerow import theory


def test_the_bounds_after_two_rounds_of_the_ten_points():
    # T02, notes 3: errors 3/10 and 3/14; notes 0, page 15.
    product, exponential = theory.training_error_bounds([0.3, 3 / 14])
    assert_allclose(product, [0.9165, 0.9165 * 0.8207], atol=1e-4)
    assert_allclose(exponential[1], 0.7841, atol=5e-5)
    assert_allclose(0.5 * math.log(7 / 3), 0.4236, atol=5e-5)


def test_the_lipschitz_constants_of_page_two():
    # T08. The notes print 2.43 for the last; the formula beside it is this.
    constants = [theory.surrogate(name).lipschitz() for name in theory.SURROGATES]
    assert_allclose(constants, [1.0, math.e, math.e / (1 + math.e) * math.log2(math.e)])
    assert_allclose(constants[2], 1.0547, atol=5e-5)


def test_the_terms_of_the_theorem_of_page_seven():
    # T09: L = 1, 2 c = 1, exponent 1.
    for n, expected in ((10_000, (0.26042, 0.05432)), (1_000_000, (0.026042, 0.0054324))):
        terms = theory.excess_risk_bound(n, 100, 0.05, "hinge")
        assert_allclose(terms[1:], expected, rtol=1e-4)
        assert terms.approximation == 0.0
        assert_allclose(theory.risk_bound(n, 100, 0.05), sum(expected), rtol=1e-4)
        assert_allclose(theory.deviation_bound(n, 100, 0.05), sum(expected) / 2, rtol=1e-4)


def test_the_code_of_three_classes_of_page_twenty_one():
    # T07: y'f is K / (K - 1) for the right class, -K / (K - 1)^2 for a wrong one.
    code = theory.class_code(3)
    assert_allclose(code @ code.T, [[1.5, -0.75, -0.75], [-0.75, 1.5, -0.75], [-0.75, -0.75, 1.5]])
