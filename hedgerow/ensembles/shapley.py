"""Shapley values of sums of trees: what a row's score owes to each of its features."""

from collections.abc import Iterable, Iterator

import numpy as np

from hedgerow.ensembles.additive import AdditiveModel, Floats
from hedgerow.ensembles.terms import Terms, terms_of_model
from hedgerow.kernels.contrast import add_contrasts, find_sets
from hedgerow.kernels.crowd import MAX_FEATURES, chances_for, counted, empty_crowd, room_for
from hedgerow.kernels.explained import Trees, trees_of
from hedgerow.kernels.shap import add_shap, gauss_rules, slate_for
from hedgerow.kernels.shap_sums import LANES, Pairs, Singles
from hedgerow.kernels.team import Team

_MANY_SETS = 2**22


class Shapley:
    """Explains a sum of trees: expected score + sum of a row's values = its score.

    See kernels.shap and kernels.contrast for what is computed. All trees of an output are
    explained together: the values of a sum are the sums of the values.

    Parameters
    ----------
    terms : iterable of Terms
        The trees, some at a time; read once, by one of the methods.
    start : float64 [n_outputs]
        What the trees are added to.
    """

    def __init__(self, terms: Iterable[Terms], start: Floats) -> None:
        self._terms, self._start = terms, start

    @classmethod
    def of_model(cls, model: AdditiveModel) -> "Shapley":
        """Explain a boosted model."""
        return cls([terms_of_model(model)], model.start)

    def _trees(self) -> Iterator[Trees]:
        """Yield trees that are worked on together."""
        for paths, offset, value, output in self._terms:
            if len(output) and value.shape[1]:
                yield trees_of(paths, offset, value, output)

    def expected(self) -> Floats:
        """Return the scores if no feature is known, float64 [n_outputs]."""
        total = self._start.copy()
        for trees in self._trees():
            leaves = np.flatnonzero(trees.paths.left < 0)
            first = np.repeat(trees.output, np.diff(trees.offset))[leaves]
            for k in range(trees.value.shape[1]):
                means = trees.value[leaves, k] * trees.ways.reach[leaves]
                total += np.bincount(first + k, means, len(total))
        return total

    def values(self, values: Floats, team: Team) -> Floats:
        """Return what each feature adds, float64 [n_rows, n_features, n_outputs]."""
        out = self._zeros(values, 1)
        self._add(values, Singles(self._sums(out, team)), team, out)
        return np.ascontiguousarray(out.transpose(2, 0, 1))

    def interactions(self, values: Floats, team: Team) -> Floats:
        """Return what pairs add, float64 [n_rows, n_features, n_features, n_outputs]."""
        out = self._zeros(values, 2)
        self._add(values, Pairs(self._sums(out, team)), team, out)
        return np.ascontiguousarray(out.transpose(3, 0, 1, 2))

    def _add(self, values: Floats, ledger: Singles | Pairs, team: Team, out: Floats) -> None:
        """Add the values of all trees."""
        for trees in self._trees():
            slate, rules = slate_for(trees, team.n_threads, values.shape[1]), gauss_rules(trees)
            team.run(add_shap, values, trees, rules, slate, ledger, out)

    def contrasts(self, values: Floats, background: Floats, team: Team) -> Floats:
        """Return what each feature adds to the mean score of a background, shaped as `values`."""
        out, rows = self._zeros(values, 1), np.lexsort(background.T)  # in an order of their content
        others = np.ascontiguousarray(background[rows].T)
        for trees in self._trees():
            most = int(trees.ways.n_features.max(initial=0))
            if most > MAX_FEATURES:
                raise ValueError(
                    f"A tree tests {most} different features on the way to a leaf, and a "
                    f"background is for at most {MAX_FEATURES}. Leave background out, or fit with "
                    f"max_depth={MAX_FEATURES}."
                )
            chances, room = chances_for(trees), room_for(trees, len(rows), team.n_threads)
            for first, end in _parts(trees, len(rows)):
                crowd = empty_crowd(trees, first, end, len(rows))
                team.run(find_sets, others, trees, first, end, room, crowd)
                crowd = counted(crowd, end - first)
                team.run(add_contrasts, values, trees, first, end, crowd, chances, room, out)
        return np.ascontiguousarray(out.transpose(2, 0, 1))

    def _zeros(self, values: Floats, n_axes: int) -> Floats:
        """Return room for numbers of features, or pairs, of each output, with rows last."""
        n_rows, n_features = values.shape
        return np.zeros((*[n_features] * n_axes, len(self._start), n_rows))

    def _sums(self, out: Floats, team: Team) -> Floats:
        """Return room for the sums of each thread's rows."""
        return np.zeros((team.n_threads, *out.shape[:-1], LANES))


def _parts(trees: Trees, n_others: int) -> list[tuple[int, int]]:
    """Part the trees, so that the sets of a background at their leaves fit into memory."""
    n_trees = len(trees.output)
    n_nodes = int(np.diff(trees.offset).max(initial=1))
    many = max(1, _MANY_SETS // (n_nodes * n_others))
    return [(first, min(first + many, n_trees)) for first in range(0, n_trees, many)]
