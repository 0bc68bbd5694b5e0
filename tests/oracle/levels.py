"""Finer bins by their definition: a bin of a small node is parted into pieces of its levels."""

from collections.abc import Sequence

from tests.oracle.split import Feature


def refined(
    feature: Feature,
    values: Sequence[float | None],
    weights: Sequence[int],
    rows: Sequence[int],
    n_levels: int,
) -> Feature:
    """Return a feature with pieces of the bins that some rows are in, instead of all bins.

    values and weights are those of the whole table. There are at most as many pieces as bins.
    """
    used = sorted({feature.codes[row] for row in rows} - {None})
    n_pieces = min(len(feature.bins) // max(len(used), 1), n_levels)
    if feature.n_categories or all(low == high for low, high in feature.bins) or n_pieces < 2:
        return feature
    column = list(zip(values, weights, feature.codes, strict=True))
    levels = [
        None if x is None else _level(x, [each[:2] for each in column if each[2] == code], n_levels)
        for x, _, code in column
    ]
    places = {(code, piece): i for i, (code, piece) in enumerate(_pieces(used, n_pieces))}

    def place(row: int) -> int | None:
        code = feature.codes[row]
        return None if code is None else places[code, levels[row] * n_pieces // n_levels]

    # What a piece holds is told by the whole table, also of bins that no row of the node is in.
    found = [
        ((code, level * n_pieces // n_levels), x)
        for x, level, code in zip(values, levels, feature.codes, strict=True)
        if x is not None
    ]
    bins = [
        (
            min((x for where, x in found if where >= piece), default=float("inf")),
            max((x for where, x in found if where <= piece), default=float("-inf")),
        )
        for piece in places
    ]
    codes = [place(row) if row in set(rows) else None for row in range(len(values))]
    return Feature(codes, bins, 0, feature.missing)


def _pieces(used: Sequence[int], n_pieces: int) -> list[tuple[int, int]]:
    return [(code, piece) for code in used for piece in range(n_pieces)]


def _level(x: float, own: Sequence[tuple[float, int]], n_levels: int) -> int:
    """Return how many of the first n_levels - 1 levels of a bin end below a value.

    Level j (from 1) ends at the smallest value up to which at least j / n_levels of the bin's
    weight lie.
    """
    total = sum(weight for _, weight in own)
    ends = [
        min(v for v, _ in own if sum(w for u, w in own if u <= v) * n_levels >= j * total)
        for j in range(1, n_levels)
    ]
    return sum(end < x for end in ends)
