"""Shapley values of sums of trees: what a row's score owes to each of its features."""

from collections.abc import Iterable, Iterator

import numpy as np

from hedgerow.ensembles.additive import AdditiveModel, Floats
from hedgerow.ensembles.terms import Terms, terms_of_model
from hedgerow.kernels.contrast import (
    MAX_FEATURES,
    add_contrasts,
    chances_for,
    crowd_of,
    find_sets,
    room_for,
)
from hedgerow.kernels.shap import Trees, add_interactions, add_shap, gauss_points, slate_for
from hedgerow.kernels.team import Team
from hedgerow.kernels.ways import ways_of

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

    def _trees(self) -> Iterator[list[Trees]]:
        """Yield trees that are worked on together; in a list, the same ones of several voices."""
        for paths, offset, voices in self._terms:
            if voices and len(offset) > 1:
                ways = ways_of(paths, offset)
                yield [Trees(paths, ways, value, offset, output) for value, output in voices]

    def expected(self) -> Floats:
        """Return the scores if no feature is known, float64 [n_outputs]."""
        total = self._start.copy()
        for several in self._trees():
            for trees in several:
                leaves = np.flatnonzero(trees.paths.left < 0)
                output = np.repeat(trees.output, np.diff(trees.offset))[leaves]
                means = trees.value[leaves] * trees.ways.reach[leaves]
                total += np.bincount(output, means, len(total))
        return total

    def values(self, values: Floats, team: Team) -> Floats:
        """Return what each feature adds, float64 [n_rows, n_features, n_outputs]."""
        out = self._zeros(values, 1)
        for several in self._trees():
            gauss = gauss_points(several[0])
            slate = slate_for(several[0], team.n_threads, gauss.shape[1])
            for trees in several:
                team.run(add_shap, values, trees, gauss, slate, out)
        return np.ascontiguousarray(out.transpose(2, 0, 1))

    def contrasts(self, values: Floats, background: Floats, team: Team) -> Floats:
        """Return what each feature adds to the mean score of a background, shaped as `values`."""
        out = self._zeros(values, 1)
        for several in self._trees():
            self._contrast(several, values, background, team, out)
        return np.ascontiguousarray(out.transpose(2, 0, 1))

    def _contrast(
        self, several: list[Trees], values: Floats, background: Floats, team: Team, out: Floats
    ) -> None:
        """Add what some trees say against a background."""
        shape = several[0]
        most = int(shape.ways.n_features.max(initial=0))
        if most > MAX_FEATURES:
            raise ValueError(
                f"A tree tests {most} different features on the way to a leaf, and a background "
                f"is for at most {MAX_FEATURES}. Leave background out, or fit with "
                f"max_depth={MAX_FEATURES}."
            )
        chances, room = chances_for(shape), room_for(shape, team.n_threads)
        for first, end in _parts(shape, len(background)):
            nodes = slice(shape.offset[first], shape.offset[end])
            n_leaves = int(np.count_nonzero(shape.paths.left[nodes] < 0))
            sets = np.empty((n_leaves, len(background)), np.int64)
            team.run(find_sets, background, shape, first, end, room, sets)
            crowd = crowd_of(sets)
            for trees in several:
                team.run(add_contrasts, values, trees, first, crowd, chances, room, out)

    def interactions(self, values: Floats, team: Team) -> Floats:
        """Return what pairs add, float64 [n_rows, n_features, n_features, n_outputs]."""
        out = self._zeros(values, 2)
        for several in self._trees():
            gauss = gauss_points(several[0])
            slate = slate_for(several[0], team.n_threads, gauss.shape[1])
            for trees in several:  # on zeros: the kernel makes what it finds symmetric
                columns = slice(int(trees.output.min()), int(trees.output.max()) + 1)
                own = np.zeros_like(out[:, :, columns])
                alone = trees._replace(output=trees.output - np.int32(columns.start))
                team.run(add_interactions, values, alone, gauss, slate, own)
                out[:, :, columns] += own
        return np.ascontiguousarray(out.transpose(3, 0, 1, 2))

    def _zeros(self, values: Floats, n_axes: int) -> Floats:
        """Return room for numbers of features, or pairs, of each output, with rows last."""
        n_rows, n_features = values.shape
        return np.zeros((*[n_features] * n_axes, len(self._start), n_rows))


def _parts(trees: Trees, n_others: int) -> list[tuple[int, int]]:
    """Part the trees, so that the sets of a background at their leaves fit into memory."""
    n_trees = len(trees.output)
    n_leaves = int(np.diff(trees.offset).max(initial=1)) // 2 + 1
    many = max(1, _MANY_SETS // (n_leaves * n_others))
    return [(first, min(first + many, n_trees)) for first in range(0, n_trees, many)]
