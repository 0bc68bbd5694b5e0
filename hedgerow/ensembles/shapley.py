"""Shapley values of additive models: the score of a row, shared out among its features."""

import numpy as np

from hedgerow.ensembles.additive import AdditiveModel, Floats
from hedgerow.kernels.contrast import add_contrasts, chances_for, contrast_for
from hedgerow.kernels.shap import Trees, add_interactions, add_shap, gauss_points, slate_for
from hedgerow.kernels.team import Team
from hedgerow.kernels.ways import ways_of


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
        chances, out = chances_for(self._trees, len(background)), self._zeros(values, 1)
        slates = contrast_for(self._trees, team.n_threads)
        team.run(add_contrasts, values, background, self._trees, chances, slates, out)
        return np.ascontiguousarray(out.transpose(2, 0, 1))

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
