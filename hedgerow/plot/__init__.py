"""Pictures, drawn with matplotlib: an optional dependency, imported when something is drawn."""

from hedgerow.plot.tree import draw_tree

__all__ = ["draw_tree"]
