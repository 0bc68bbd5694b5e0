"""Shapley values of additive models: the score of a row, shared out among its features."""

import numpy as np

from hedgerow.ensembles.additive import AdditiveModel, Floats
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
    """Explains a model: expected score + sum of a row's values = its score.

    See kernels.shap and kernels.contrast for what is computed. All trees of an output are
    explained together: the values of a sum are the sums of the values.
    """

    def __init__(self, model: AdditiveModel) -> None:
        grove, paths = model.grove, model.paths
        self._model = model
        self._trees = Trees(
            paths, ways_of(paths, grove.offset), grove.value, grove.offset, grove.output
        )

    def expected(self) -> Floats:
        """Return the scores if no feature is known, float64 [n_outputs]."""
        trees, leaves = self._trees, np.flatnonzero(self._trees.paths.left < 0)
        output = np.repeat(trees.output, np.diff(trees.offset))[leaves]
        means = trees.value[leaves] * trees.ways.reach[leaves]
        return self._model.start + np.bincount(output, means, self._model.n_outputs)

    def values(self, values: Floats, team: Team) -> Floats:
        """Return what each feature adds, float64 [n_rows, n_features, n_outputs]."""
        gauss, out = gauss_points(self._trees), self._zeros(values, 1)
        slate = slate_for(self._trees, team.n_threads, gauss.shape[1])
        team.run(add_shap, values, self._trees, gauss, slate, out)
        return np.ascontiguousarray(out.transpose(2, 0, 1))

    def contrasts(self, values: Floats, background: Floats, team: Team) -> Floats:
        """Return what each feature adds to the mean score of a background, shaped as `values`."""
        trees, out = self._trees, self._zeros(values, 1)
        most = int(trees.ways.n_features.max(initial=0))
        if most > MAX_FEATURES:
            raise ValueError(
                f"A tree tests {most} different features on the way to a leaf, and a background "
                f"is for at most {MAX_FEATURES}. Leave background out, or fit with "
                f"max_depth={MAX_FEATURES}."
            )
        chances, room = chances_for(trees), room_for(trees, team.n_threads)
        for first, end in self._parts(len(background)):
            nodes = slice(trees.offset[first], trees.offset[end])
            n_leaves = int(np.count_nonzero(trees.paths.left[nodes] < 0))
            sets = np.empty((n_leaves, len(background)), np.int64)
            team.run(find_sets, background, trees, first, end, room, sets)
            team.run(add_contrasts, values, trees, first, crowd_of(sets), chances, room, out)
        return np.ascontiguousarray(out.transpose(2, 0, 1))

    def _parts(self, n_others: int) -> list[tuple[int, int]]:
        """Part the trees, so that the sets of a background at their leaves fit into memory."""
        n_trees = len(self._trees.output)
        n_leaves = int(np.diff(self._trees.offset).max(initial=1)) // 2 + 1
        many = max(1, _MANY_SETS // (n_leaves * n_others))
        return [(first, min(first + many, n_trees)) for first in range(0, n_trees, many)]

    def interactions(self, values: Floats, team: Team) -> Floats:
        """Return what pairs add, float64 [n_rows, n_features, n_features, n_outputs]."""
        gauss, out = gauss_points(self._trees), self._zeros(values, 2)
        slate = slate_for(self._trees, team.n_threads, gauss.shape[1])
        team.run(add_interactions, values, self._trees, gauss, slate, out)
        return np.ascontiguousarray(out.transpose(3, 0, 1, 2))

    def _zeros(self, values: Floats, n_axes: int) -> Floats:
        """Return room for numbers of features, or pairs, of each output, with rows last."""
        n_rows, n_features = values.shape
        return np.zeros((*[n_features] * n_axes, self._model.n_outputs, n_rows))
