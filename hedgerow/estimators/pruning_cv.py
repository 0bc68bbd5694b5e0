"""Choosing the cost of a leaf by cross-validation, as in notes 0, page 11."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Bunch

from hedgerow.estimators.folds import content_folds
from hedgerow.kernels.finished import N_LIMBS, add_products, step_of, summed_limbs
from hedgerow.kernels.predict import Paths, leaf_indices
from hedgerow.kernels.team import Team
from hedgerow.trees.pruning import collapse_alphas, pruned, pruning_path
from hedgerow.trees.tree import Tree


def pruned_by_cv(
    estimator: Any,
    values: NDArray[np.float64],
    sample: Any,
    grown: Callable[[NDArray[np.int64] | None], Tree],
    team: Team,
) -> tuple[Tree, Bunch]:
    """Prune the tree grown from all rows with the alpha of the smallest cross-validated loss.

    Candidates are the geometric means of neighbouring alphas of the whole tree's path,
    which stand for the intervals in which its pruned trees are optimal (Breiman,
    Friedman, Olshen and Stone 1984, section 3.4). Rows are dealt out to folds by their
    content, equal rows to the same fold: neither their order nor repetition matters.
    """
    whole = grown(None)
    links = np.unique(pruning_path(whole).alphas)
    alphas = np.append(np.sqrt(links[:-1] * links[1:]), links[-1])
    folds = content_folds(values.T, sample.targets, estimator.ccp_folds)
    counts = sample.plain.counts
    losses, weights = [], []
    for fold in range(int(folds.max()) + 1 if folds.max() > 0 else 0):
        held_out = np.flatnonzero(folds == fold)
        tree = grown(np.flatnonzero(folds != fold))
        leaves = np.empty(len(held_out), np.int64)
        paths = Paths(*(getattr(tree, name) for name in Paths._fields))
        team.run(leaf_indices, values[held_out], paths, leaves)

        def loss_in(nodes: NDArray[np.int64], rows: NDArray[np.int64]) -> NDArray[np.float64]:
            value, places = tree.value[nodes], held_out[rows]  # noqa: B023  called at once
            return np.asarray(estimator._fold_losses(value, sample.targets[places]))

        losses.append(loss_curve(tree, leaves, alphas, counts[held_out], loss_in))
        weights.append(float(counts[held_out].sum()))
    return _chosen(estimator, whole, alphas, np.array(losses), np.array(weights))


def _chosen(
    estimator: Any,
    whole: Tree,
    alphas: NDArray[np.float64],
    losses: NDArray[np.float64],
    weights: NDArray[np.float64],
) -> tuple[Tree, Bunch]:
    """Take the largest alpha of the smallest mean loss, or within one standard error of it."""
    if not len(losses):  # a single distinct row
        losses, weights = np.zeros((1, len(alphas))), np.ones(1)
    mean = losses.sum(axis=0) / weights.sum()
    each = losses / weights[:, None]
    spread = each.std(axis=0, ddof=1) if len(each) > 1 else np.zeros(len(alphas))
    error = spread / np.sqrt(len(each))
    best = int(np.argmin(mean))
    allowed = mean[best] + (error[best] if estimator.ccp_rule == "one_standard_error" else 0.0)
    choice = int(np.flatnonzero(mean <= allowed)[-1])
    path = Bunch(
        ccp_alphas=alphas, cv_losses=mean, cv_errors=error, ccp_alpha=float(alphas[choice])
    )
    return pruned(whole, float(alphas[choice])), path


def loss_curve(
    tree: Tree,
    leaves: NDArray[np.int64],
    alphas: NDArray[np.float64],
    counts: NDArray[np.int64],
    loss_in: Callable[[NDArray[np.int64], NDArray[np.int64]], NDArray[np.float64]],
) -> NDArray[np.float64]:
    """Return the total loss of the pruned trees of all alphas, from one walk down the tree.

    A row's prediction is a step function of alpha: a node t answers for it from the
    alpha at which t collapses to the smallest alpha at which one above t does. Losses
    are added as whole steps, so that the order of rows does not matter.
    """
    collapse = collapse_alphas(tree)
    rows = np.arange(len(leaves))
    node, until = np.zeros(len(leaves), np.int64), np.full(len(leaves), np.inf)
    pieces = []
    while len(rows):
        since = collapse[node]
        answers = since < until
        pieces.append((node[answers], rows[answers], since[answers], until[answers]))
        until = np.minimum(until, since)
        below = tree.left[node] >= 0
        rows, until, node = rows[below], until[below], node[below]
        goes_left = leaves[rows] < tree.right[node]  # preorder: the left subtree comes first
        node = np.where(goes_left, tree.left[node], tree.right[node]).astype(np.int64)
    nodes, rows, since, until = map(np.concatenate, zip(*pieces, strict=True))
    losses = loss_in(nodes, rows)
    unit = float(step_of(losses.max(initial=0.0, keepdims=True))[0])
    steps = np.rint(losses / (unit or 1.0)).astype(np.int64)
    change = np.zeros((len(alphas) + 1, N_LIMBS), np.int64)
    add_products(np.searchsorted(alphas, since), counts[rows], steps, change)
    add_products(np.searchsorted(alphas, until), -counts[rows], steps, change)
    return summed_limbs(np.cumsum(change, axis=0)[:-1]) * unit
