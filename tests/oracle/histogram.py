"""Sums by their definition: a row adds its moments to the code it has."""

from collections.abc import Iterable, Sequence

Moments = tuple[int, ...]


def added(rows: Iterable[Moments], width: int) -> Moments:
    """Add the moments of some rows, each a tuple of `width` whole numbers."""
    total = [0] * width
    for moments in rows:
        for place, number in enumerate(moments):
            total[place] += number
    return tuple(total)


def sums_by_code(codes: Sequence[int], rows: Sequence[Moments]) -> dict[int, Moments]:
    """Return the summed moments of the rows of each code that occurs, by ascending code."""
    width = len(rows[0]) if rows else 0
    return {
        code: added((row for row, own in zip(rows, codes, strict=True) if own == code), width)
        for code in sorted(set(codes))
    }
