"""The best split of a node by its definition: try every cut, sum every side from its rows.

A column holds for each row None (missing) or a code: the number of a category, or of a
bin (low, high) of values; low and high are equal if every value has its own bin.
"""

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import combinations, pairwise
from typing import Any, NamedTuple

from tests.oracle.histogram import Moments, added
from tests.oracle.random import mixed, uniform


class Feature(NamedTuple):
    """One column: its codes, the bins they stand for, or the number of categories.

    `missing` is the code that random draws for None are named by.
    """

    codes: Sequence[int | None]
    bins: Sequence[tuple[float, float]]
    n_categories: int
    missing: int


class Data(NamedTuple):
    """What a tree is grown from: columns, each row's moments, and who judges sums of them."""

    features: Sequence[Feature]
    moments: Sequence[Moments]
    criterion: Any


class Limits(NamedTuple):
    """What both sides of a split must have, and whether cuts, and ties, are drawn at random."""

    min_rows: int
    min_weight: int
    random_cut: bool = False
    by_lot: bool = False


class Cut(NamedTuple):
    """One way to part a node: the rows that go left, and how a new row would be told its way."""

    left: frozenset[int]
    threshold: float | None  # None: categories
    categories: frozenset[int]  # codes of the node that go left
    missing_left: bool | None  # None: nothing is missing here
    margin: float = 0.0


class Split(NamedTuple):
    """The best cut of a node. Missing values and categories it has not go to the heavier side."""

    gain: float
    margin: float
    feature: int
    left: frozenset[int]
    threshold: float | None
    categories: frozenset[int]
    missing_left: bool


def best_split(
    data: Data, rows: Sequence[int], candidates: Sequence[int], limits: Limits, bits: int = 0
) -> Split | None:
    """Return the best split of a node, None if none is allowed.

    The order on ties: higher gain; wider margin, the share of the feature's bins that the
    cut of values leaves empty in the node; lower feature; lower order of categories;
    missing values right before left; earlier cut. If lots decide between features, the
    higher lot of the feature stands where its margin would.
    """
    total = sums_of(data, rows)
    best = None
    for number in sorted(candidates):
        criterion = data.criterion.at(total)
        if hasattr(criterion, "toward"):
            criterion = criterion.toward(number)
        for scan in scans(data, rows, number, limits, bits):
            allowed = [
                cut
                for cut in scan
                if _is_allowed(data, rows, cut, limits)
                and _both(data, criterion, rows, cut) > float("-inf")
            ]
            if not allowed:
                continue
            # The first of equals. Taking off the node's score may round two scores to one gain,
            # so it is done once a scan.
            cut = max(allowed, key=lambda cut: (_both(data, criterion, rows, cut), cut.margin))
            gain = _both(data, criterion, rows, cut) - _score(data, criterion, rows)
            lot = uniform(mixed(mixed(bits, number), 0))
            cut = cut._replace(margin=lot) if limits.by_lot else cut
            if best is None or (gain, cut.margin) > (best.gain, best.margin):
                best = _told(data, rows, number, cut, gain)
    return best


def whole_bins(data: Data, split: Split) -> Split:
    """Return the split with a threshold that no bin of the column lies across: above such a bin."""
    bins, threshold = data.features[split.feature].bins, split.threshold
    if threshold is not None:
        for (low, high), (above, _) in pairwise(bins):
            if low <= threshold < high:
                return split._replace(threshold=half_way(high, above))
    return split


def scans(
    data: Data, rows: Sequence[int], number: int, limits: Limits, bits: int = 0
) -> Iterator[list[Cut]]:
    """Return the cuts of one feature, scan by scan in the order on ties."""
    feature = data.features[number]
    draw = (lambda name: uniform(mixed(mixed(bits, number), name))) if limits.random_cut else None
    if feature.n_categories == 0:
        return _value_scans(feature, rows, draw)
    return _category_scans(data, feature, rows, draw)


def _value_scans(
    feature: Feature, rows: Sequence[int], draw: Callable[[int], float] | None
) -> Iterator[list[Cut]]:
    codes = {row: feature.codes[row] for row in rows}
    values = sorted({code for code in codes.values() if code is not None})
    has_missing = None in codes.values()
    cuts = list(pairwise(values))
    drawn = None
    if draw is not None and cuts:
        drawn = _drawn_threshold(draw(1), [feature.bins[code] for code in values])
        below = [pair for pair in cuts if feature.bins[pair[0]][1] <= drawn]
        cuts = below[-1:] or cuts[:1]
    present = [row for row in rows if codes[row] is not None]
    absent = [row for row in rows if codes[row] is None]
    sides = (False, True) if drawn is None else (bool(int(2 * draw(2))),)
    for missing_left in sides if has_missing else (None,):
        scan = []
        for last, following in cuts:
            left = [row for row in present if codes[row] <= last] + (absent if missing_left else [])
            threshold = _threshold(feature.bins[last][1], feature.bins[following][0], drawn)
            margin = (following - last) / len(feature.bins)
            scan.append(Cut(frozenset(left), threshold, frozenset(), missing_left, margin))
        if missing_left is False and values and (draw is None or len(values) == 1):
            scan.append(Cut(frozenset(present), float("inf"), frozenset(), False))
        yield scan


def _threshold(left: float, right: float, drawn: float | None) -> float:
    return drawn if drawn is not None and left <= drawn < right else half_way(left, right)


def half_way(left: float, right: float) -> float:
    """Return the middle of two neighbours, or the left one if the middle is not below the right."""
    if left in (float("-inf"), float("inf")) or right == float("inf"):
        return left
    middle = 0.5 * left + 0.5 * right
    return middle if left <= middle < right else left


def _drawn_threshold(u: float, values: Sequence[tuple[float, float]]) -> float:
    low, high = values[0][0], values[-1][1]
    if low > float("-inf") and high < float("inf"):
        drawn = (1.0 - u) * low + u * high
        if low <= drawn < high:
            return drawn
    return values[int(u * (len(values) - 1))][1]


def _category_scans(
    data: Data, feature: Feature, rows: Sequence[int], draw: Callable[[int], float] | None
) -> Iterator[list[Cut]]:
    found = {feature.codes[row] for row in rows}
    codes = sorted(found, key=lambda code: (code is None, code))
    members = {code: [row for row in rows if feature.codes[row] == code] for code in codes}
    keys, least = data.criterion.keys(sums_of(data, rows)), getattr(data.criterion, "rare", 0)
    least = least * min(len(codes), 32) // 32
    rare = {c for c in codes if data.criterion.mass(sums_of(data, members[c])) < least}
    pool = sums_of(data, [row for code in rare for row in members[code]])
    for key in keys if draw is None else [None]:
        if draw is None:
            mean = {c: key(pool if c in rare else sums_of(data, members[c])) for c in codes}
            ordered = sorted(codes, key=mean.__getitem__)
            chosen = [
                place
                for place, (one, next_one) in enumerate(pairwise(ordered))
                if least == 0 or mean[one] != mean[next_one]
            ]
        else:
            names = {code: 2 + (feature.missing if code is None else code) for code in codes}
            ordered = sorted(codes, key=lambda code: draw(names[code]))
            chosen = range(int(draw(1) * (len(codes) - 1)), len(codes) - 1)[:1]
        yield [_parted(ordered[: place + 1], members) for place in chosen]


def _parted(on_left: Sequence[int | None], members: dict[int | None, list[int]]) -> Cut:
    left = frozenset(row for code in on_left for row in members[code])
    missing_left = None in on_left if None in members else None
    return Cut(left, None, frozenset(code for code in on_left if code is not None), missing_left)


def subsets(feature: Feature, rows: Sequence[int]) -> Iterator[frozenset[int]]:
    """Return the left rows of every way to part the categories, missing among them, in two."""
    codes = list({feature.codes[row] for row in rows})
    for size in range(1, len(codes)):
        for on_left in combinations(codes, size):
            yield frozenset(row for row in rows if feature.codes[row] in on_left)


def exact_gain(data: Data, rows: Sequence[int], left: frozenset[int]) -> Fraction:
    """Return the gain of parting a node, without rounding."""
    right = [row for row in rows if row not in left]
    score = data.criterion.exact
    return score(sums_of(data, left)) + score(sums_of(data, right)) - score(sums_of(data, rows))


def sums_of(data: Data, rows: Any) -> Moments:
    return added((data.moments[row] for row in rows), len(data.moments[0]))


def _is_allowed(data: Data, rows: Sequence[int], cut: Cut, limits: Limits) -> bool:
    sides = [cut.left, [row for row in rows if row not in cut.left]]
    return all(
        len(side) >= max(limits.min_rows, 1)
        and data.criterion.mass(sums_of(data, side)) >= limits.min_weight
        for side in sides
    )


def _both(data: Data, criterion: Any, rows: Sequence[int], cut: Cut) -> float:
    right = [row for row in rows if row not in cut.left]
    if hasattr(criterion, "both"):
        return float(criterion.both(sums_of(data, cut.left), sums_of(data, right)))
    return _score(data, criterion, cut.left) + _score(data, criterion, right)


def _score(data: Data, criterion: Any, rows: Any) -> float:
    if criterion.judges_rows:
        return float(criterion.score([data.moments[row] for row in rows]))
    return float(criterion.score(sums_of(data, rows)))


def _told(data: Data, rows: Sequence[int], number: int, cut: Cut, gain: float) -> Split:
    """Say where missing values and absent categories go."""
    mass = data.criterion.mass
    heavier_left = 2 * mass(sums_of(data, cut.left)) >= mass(sums_of(data, rows))
    feature = data.features[number]
    categories = cut.categories
    if cut.threshold is None and heavier_left:
        present = {feature.codes[row] for row in rows}
        categories |= frozenset(range(feature.n_categories)) - present
    missing_left = heavier_left if cut.missing_left is None else cut.missing_left
    return Split(gain, cut.margin, number, cut.left, cut.threshold, categories, missing_left)
