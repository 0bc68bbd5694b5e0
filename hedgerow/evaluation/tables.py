"""Tables of results as text, and as data frames if pandas is there."""

from collections.abc import Sequence
from typing import Any


def text_table(rows: Sequence[dict[str, Any]]) -> str:
    """Return rows as aligned columns.

    Examples
    --------
    >>> from hedgerow.evaluation.tables import text_table
    >>> print(text_table([{"model": "tree", "score": 0.51234}, {"model": "forest", "score": 1}]))
    model    score
    tree    0.5123
    forest       1
    """
    names = list(dict.fromkeys(name for row in rows for name in row))
    cells = [names] + [[shown(row.get(name, "")) for name in names] for row in rows]
    widths = [max(len(line[place]) for line in cells) for place in range(len(names))]
    is_text = [isinstance(row.get(name, ""), str) for row in rows[:1] for name in names]
    lines = []
    for line in cells:
        aligned = [
            cell.ljust(width) if left else cell.rjust(width)
            for cell, width, left in zip(line, widths, is_text, strict=True)
        ]
        lines.append("  ".join(aligned).rstrip())
    return "\n".join(lines)


def shown(value: Any) -> str:
    """Return a number with four digits, anything else as it is."""
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def frame_of(rows: Sequence[dict[str, Any]]) -> Any:
    """Return rows as a pandas DataFrame."""
    try:
        import pandas as pd  # noqa: PLC0415  (optional)
    except ImportError as error:
        raise ImportError(
            "to_frame needs pandas, which cannot be imported here. Install it with: pip install "
            '"hedgerow[frames]"; the same rows are in `table`.'
        ) from error
    return pd.DataFrame(list(rows))
