"""Empirical phi-risk over combinations of a dictionary, and its minimiser with a duality gap.

    minimise R(b) = sum w phi(-y sum_j b_j h_j(x))    over |b|_1 <= radius,    sum w = 1

Notes 0, pages 1-2. The gap is a certificate: R(b) is above the least risk by no more.
"""

from typing import NamedTuple

import numpy as np
from scipy.linalg import LinAlgError, cholesky, solve_triangular
from scipy.optimize import linprog, nnls

from hedgerow.ensembles.additive import Floats
from hedgerow.ensembles.dictionary import Whole
from hedgerow.ensembles.line_search import least_step
from hedgerow.theory.surrogates import Surrogate

_INNER = 40  # Newton steps on a support before functions are looked for again
_RIDGE = 1e-13  # of the mean curvature: functions that say the same have none between them
_SUM = 1e5  # weight of the sum of shares among squares of order 1
_ADDED = 32  # functions that join a linear program at a time
_JOINING = 8  # functions that join a support


class Problem(NamedTuple):
    """What is minimised.

    signed   float64 [n_rows, q]   y h_j(x): what functions say, with the sign of being right
    weights  float64 [n_rows]      they add up to 1
    """

    signed: Floats
    weights: Floats
    phi: Surrogate
    radius: float

    def margins(self, support: Whole, coef: Floats) -> Floats:
        """Return y f(x) of each row, for coefficients of some functions."""
        return np.asarray(np.einsum("ij,j->i", self.signed[:, support], coef))

    def risk(self, margins: Floats) -> float:
        """Return the empirical phi-risk."""
        return float((self.weights * self.phi.phi(-margins)).sum())


class Solution(NamedTuple):
    """Coefficients, the risk that they have, and how far that is from the least at most."""

    coef: Floats
    risk: float
    gap: float
    n_iter: int


def minimised(problem: Problem, tol: float, max_iter: int) -> Solution:
    """Return coefficients whose duality gap is at most tol, or the best after max_iter rounds."""
    if problem.phi.name == "hinge":
        return _by_linear_programs(problem, tol, max_iter)
    return _by_frank_wolfe(problem, tol, max_iter)


def _solution(problem: Problem, support: Whole, coef: Floats, gap: float, number: int) -> Solution:
    coef = _within(coef, problem.radius)
    full = np.zeros(problem.signed.shape[1])
    full[support] = coef
    return Solution(
        full, problem.risk(problem.margins(support, coef)), max(float(gap), 0.0), number
    )


def _within(coef: Floats, radius: float) -> Floats:
    """Return coefficients that are beyond the ball by rounding on its surface."""
    size = float(np.abs(coef).sum())
    return coef if size <= radius else coef * (radius / size)


# ------------------------------------------------------------------ smooth surrogates


def _by_frank_wolfe(problem: Problem, tol: float, max_iter: int) -> Solution:
    """Minimise a smooth risk by the fully corrective method of Frank and Wolfe.

    Each round adds the functions with the largest inner products with the negative gradient, the
    first of which is the vertex of the ball that is lowest along the tangent, and minimises over
    those that there are, more exactly the smaller the gap is. With p_i = w_i phi'(-m_i), the gap is

        radius max_j |sum_i p_i y_i h_j(x_i)| - sum_i p_i m_i  >=  R(b) - min R

    Frank and Wolfe (1956); Jaggi (2013), section 2 and algorithm 4.
    """
    support, coef = np.zeros(0, np.int64), np.zeros(0)
    for number in range(max_iter + 1):
        m = problem.margins(support, coef)
        p = problem.weights * problem.phi.slope(-m)
        inner = np.einsum("ij,i->j", problem.signed, p)
        gaps = problem.radius * np.abs(inner) - float((p * m).sum())  # if a function were alone
        gap = float(gaps.max())
        if gap <= tol or number == max_iter:
            break
        order = np.argsort(-gaps, kind="stable")[: len(support) + _JOINING]
        fresh = order[~np.isin(order, support) & (gaps[order] > tol)][:_JOINING]
        support, coef = np.append(support, fresh), np.append(coef, np.zeros(len(fresh)))
        coef = _corrected(problem, support, coef, inner[support], max(0.25 * tol, 0.02 * gap))
        support, coef = support[coef != 0.0], coef[coef != 0.0]
    return _solution(problem, support, coef, gap, number)


def _corrected(problem: Problem, support: Whole, coef: Floats, inner: Floats, tol: float) -> Floats:
    """Minimise over the functions of a support: shares of its vertices, and of the centre.

    A function keeps its sign: one that should change it goes to zero, leaves, and comes again.
    """
    signs = np.sign(np.where(coef != 0.0, coef, inner))
    vertices = np.zeros((len(support) + 1, len(problem.weights)))
    np.multiply(problem.signed[:, support].T, (problem.radius * signs)[:, None], vertices[:-1])
    shares = np.append(np.abs(coef) / problem.radius, 0.0)
    shares[-1] = max(0.0, 1.0 - shares.sum())
    return _on_simplex(problem, vertices, shares, tol)[:-1] * signs * problem.radius


def _on_simplex(problem: Problem, vertices: Floats, shares: Floats, tol: float) -> Floats:
    """Minimise over the shares of vertices, float64 [k, n_rows], by Newton steps."""
    phi, w = problem.phi, problem.weights
    for _ in range(_INNER):
        m = np.einsum("ji,j->i", vertices, shares)
        g = -np.einsum("ji,i->j", vertices, w * phi.slope(-m))
        if shares @ g - g.min() <= tol:
            break
        curvature = w * phi.curvature(-m)
        target = _newton_shares(vertices, curvature, shares, g)
        if target is None or g @ (target - shares) >= 0.0:
            target = _paired(shares, g)
        shares = _stepped(problem, vertices, shares, target)
    return shares


def _newton_shares(vertices: Floats, curvature: Floats, shares: Floats, g: Floats) -> Floats | None:
    """Return the shares that minimise the second-order model, or None if it cannot be told.

    argmin over z >= 0, sum z = 1 of g (z - x) + (z - x)' Q (z - x) / 2, as a least-squares problem
    in the square root of Q. Lawson and Hanson (1974), chapter 23.
    """
    Q = np.einsum("ji,ki->jk", vertices * curvature, vertices)
    size = float(np.trace(Q)) / len(Q)
    if not size > 0.0:
        return None
    try:
        R = cholesky(Q / size + _RIDGE * np.eye(len(Q)))
        right = R @ shares - solve_triangular(R, g / size, trans="T")
        found, _ = nnls(np.vstack([R, np.full(len(Q), _SUM)]), np.append(right, _SUM))
    except (LinAlgError, RuntimeError):
        return None
    total = float(found.sum())
    return found / total if total > 0.0 and np.isfinite(total) else None


def _paired(shares: Floats, g: Floats) -> Floats:
    """Return the shares with all of the worst vertex's given to the best one."""
    worst = int(np.argmax(np.where(shares > 0.0, g, -np.inf)))
    moved = shares.copy()
    moved[worst] = 0.0
    moved[int(np.argmin(g))] += shares[worst]
    return moved


def _stepped(problem: Problem, vertices: Floats, shares: Floats, target: Floats) -> Floats:
    """Go from shares towards a target as far as the risk falls."""
    m = np.einsum("ji,j->i", vertices, shares)
    along = np.einsum("ji,j->i", vertices, target - shares)

    def slope(step: float) -> float:
        p = problem.weights * problem.phi.slope(-(m + step * along))
        return -float((p * along).sum())

    step = 1.0 if slope(1.0) <= 0.0 else min(1.0, least_step(slope))
    return np.asarray(np.maximum(shares + step * (target - shares), 0.0))


# ------------------------------------------------------------------ hinge


def _by_linear_programs(problem: Problem, tol: float, max_iter: int) -> Solution:
    """Minimise the hinge risk, a linear program, with some functions more in each round.

        minimise sum w_i s_i    over s >= 0, |b|_1 <= radius, m_i + s_i >= 1

    Its dual has a price 0 <= u_i <= w_i for each row and the value sum u - radius max_j |sum_i u_i
    y_i h_j(x_i)|, which is never above the least risk, whichever functions u was found with: the
    difference is the gap. Demiriz, Bennett and Shawe-Taylor (2002), LPBoost.
    """
    w, n_functions = problem.weights, problem.signed.shape[1]
    support, coef, u = np.zeros(0, np.int64), np.zeros(0), w.copy()
    best_dual, gap = -np.inf, np.inf
    for number in range(max_iter + 1):
        inner = np.abs(np.einsum("ij,i->j", problem.signed, u))
        best_dual = max(best_dual, float(u.sum()) - problem.radius * float(inner.max()))
        gap = problem.risk(problem.margins(support, coef)) - best_dual
        if gap <= tol or number == max_iter:
            break
        order = np.argsort(-inner, kind="stable")
        fresh = order[~np.isin(order, support)][:_ADDED]
        if not len(fresh) and len(support) == n_functions:
            break
        support = np.concatenate([support, fresh])
        coef, u = _linear_program(problem, support)
    return _solution(problem, support, coef, gap, number)


def _linear_program(problem: Problem, support: Whole) -> tuple[Floats, Floats]:
    """Return the coefficients of a support, and the prices of rows.

    The dual is solved: it has a constraint for each function, and not for each row.

        maximise sum u - radius t    over 0 <= u <= w, -t <= sum_i u_i y_i h_j(x_i) <= t
    """
    signed, w = problem.signed[:, support], problem.weights
    n_rows, k = signed.shape
    cost = np.append(np.full(n_rows, -1.0), problem.radius)
    rows = np.column_stack([np.vstack([signed.T, -signed.T]), np.full(2 * k, -1.0)])
    within = np.column_stack([np.zeros(n_rows + 1), np.append(w, np.inf)])
    found = linprog(cost, rows, np.zeros(2 * k), bounds=within, method="highs-ds")
    if found.x is None:
        raise RuntimeError(f"The linear program of the hinge was not solved: {found.message}")
    shares = np.maximum(-found.ineqlin.marginals, 0.0)
    coef = _within(shares[:k] - shares[k:], problem.radius)
    return coef, np.clip(found.x[:n_rows], 0.0, w)
