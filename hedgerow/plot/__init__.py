"""Pictures, drawn with matplotlib: an optional dependency, imported when something is drawn."""

from hedgerow.plot.boosting import (
    draw_margins,
    draw_regions,
    draw_row_weights,
    draw_training_error,
)
from hedgerow.plot.evaluation import draw_comparison, draw_curve
from hedgerow.plot.tree import draw_tree

__all__ = [
    "draw_comparison",
    "draw_curve",
    "draw_margins",
    "draw_regions",
    "draw_row_weights",
    "draw_training_error",
    "draw_tree",
]
