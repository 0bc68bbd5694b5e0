"""The bars: what each measurement has to reach, in one place.

A *ratio* is the time of the fastest other library over ours, and has to be at least so much; where
no number was set it is 1: nobody is faster. A *limit* is for a number of ours, and must not be
exceeded. What has no bar is shown without one.
"""

import re
from typing import NamedTuple


class Bar(NamedTuple):
    """A ratio to reach, or a limit to keep."""

    number: float
    is_limit: bool = False

    def holds(self, figure: float) -> bool:
        return figure <= self.number if self.is_limit else figure >= self.number

    def __str__(self) -> str:
        return f"{'at most' if self.is_limit else 'at least'} {self.number:g}"


FOREST_PREDICTION = 5.0  # of large trees, also by a forest that was just grown

# Kind of result, pattern of its contest -> the bar; the first that fits counts.
RATIOS: tuple[tuple[str, str, float], ...] = (
    ("boosting", "^prediction", 1.5),
    ("boosting", "1M x 28|100k x 100|500k x 10", 2.5),
    ("boosting", "", 2.0),
    ("forests", "^extra-trees", 4.0),
    ("forests", "", 10.0),
    ("trees", "", 4.0),
    ("adaboost", "", 100.0),
    ("cross_validation", "", 3.0),
    ("prediction", "forest|extra-trees", FOREST_PREDICTION),
    ("prediction", "", 1.5),
    ("explaining", "", 5.0),
)
FASTEST = 1.0  # a ratio of everything else
ONE_ROW = 50e-6  # seconds of a call
STARTS = {"import": 0.4, "import, estimators": 0.4, "warm start": 1.0, "cold start": 10.0}
ROWS_EXPONENT = 1.05  # of the time of a fit, in rows
FIT_MEMORY = 1.5  # tables, above the table; and less than any other library


def ratio_bar(kind: str, contest: str, step: str | None = None) -> Bar:
    """Return how many times as fast as the others a contest has to be."""
    if (kind, step) == ("forests", "predict"):
        return Bar(FOREST_PREDICTION)
    fits = [n for own, pattern, n in RATIOS if own == kind and re.search(pattern, contest)]
    return Bar(fits[0] if fits else FASTEST)
