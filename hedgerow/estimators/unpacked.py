"""Trees of a forest as estimators of their own."""

from collections.abc import Sequence
from typing import Any


class Unpacked(Sequence[Any]):
    """Trees of a forest as estimators, made when they are asked for."""

    def __init__(self, forest: Any) -> None:
        self._forest = forest

    def __len__(self) -> int:
        return int(self._forest._model.n_trees)

    def __getitem__(self, number: Any) -> Any:
        places = range(len(self))[number]
        if isinstance(places, range):
            return [self._forest._estimator(place) for place in places]
        return self._forest._estimator(places)
