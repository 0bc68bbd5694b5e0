"""How good predicted numbers are, in one number."""

from typing import Any

import numpy as np
from sklearn.base import RegressorMixin

from hedgerow.losses import Quantiles


class ScoresNumbers(RegressorMixin):
    """A regressor that may predict several quantiles of one target."""

    _loss: Any

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return R^2; of several levels of "quantile" their mean `d2_pinball_score`.

        1 is perfect, 0 as good as a constant: the mean, or the quantile of each level.
        """
        levels = self._loss.levels if isinstance(self._loss, Quantiles) else ()
        if len(levels) < 2:
            # By its name, because a stage of a model (hedgerow.evaluation) has no bases.
            return float(RegressorMixin.score(self, X, y, sample_weight))
        from sklearn.metrics import d2_pinball_score  # noqa: PLC0415  a plain fit needs none

        shown = self.predict(X)
        scores = [
            d2_pinball_score(y, column, alpha=level, sample_weight=sample_weight)
            for column, level in zip(shown.T, levels, strict=True)
        ]
        return float(np.mean(scores))
