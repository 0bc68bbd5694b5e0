"""Outlines as Python source that imports nothing but the standard library."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from hedgerow.export.outline import Outline
from hedgerow.version import __version__

_PER_LINE = 12

_HEAD = '''"""{kind} of hedgerow {version}, in plain Python: nothing has to be installed.

{promise}
A row is a sequence of cells in the order of FEATURES, or a dict by their names. None and NaN are
missing; {unseen}.

    python {file} < rows.csv     predicts rows of a CSV file whose first line has the names
"""

from math import exp, inf

'''

_CELLS = '''

def _cells(row):
    """Return a row as numbers, categories by their codes; NaN is missing."""
    if isinstance(row, dict):
        row = [row[name] for name in FEATURES]
    if len(row) != len(FEATURES):
        raise ValueError(f"a row has {len(FEATURES)} cells, and {len(row)} were given")
    cells = []
    for name, codes, cell in zip(FEATURES, _CODES, row):
        if cell is None or cell != cell:
            cells.append(_MISSING)
        elif codes is None:
            if isinstance(cell, (str, bytes)):
                raise TypeError(f"{name} is a number, and {cell!r} was given")
            cells.append(float(cell))
        elif cell in codes or not _REFUSES_UNSEEN:
            cells.append(codes.get(cell, _MISSING))
        else:
            raise ValueError(f"{name} has the category {cell!r}, which was not there at fit")
    return cells


def _said(row):
    """Return what the leaf of each tree says."""
    cells, said = _cells(row), []
    for node in _ROOTS:
        while _FEATURE[node] >= 0:
            cell = cells[_FEATURE[node]]
            if cell != cell:
                goes_left = _MISSING_LEFT[node]
            elif _CODES[_FEATURE[node]] is None:
                goes_left = cell <= _SPLIT[node]
            else:
                goes_left = cell in _SETS[_SPLIT[node]]
            node = node + 1 if goes_left else _RIGHT[node]
        said += _LEAVES[_RIGHT[node]]
    return said


def _sums(row):
    """Add up what trees say, in their order."""
    sums = list(_START)
    for number, value in enumerate(_said(row)):
        sums[number % len(sums)] += value
    return sums
'''

_MEDIAN = '''

def predict(row):
    """Return the prediction: the weighted median of what trees say."""
    said = _said(row)
    order = sorted(range(len(said)), key=said.__getitem__)
    below, total = [], 0.0
    for tree in order:
        total += _WEIGHTS[tree]
        below.append(total)
    return next(said[tree] for tree, reached in zip(order, below) if reached >= 0.5 * total)
'''

_NUMBERS = '''

def predict(row):
    """Return the prediction of a row{several}."""
    scores = [each / _DIVISOR for each in _sums(row)]
    return {shown}
'''

_CLASSES = '''

def predict_proba(row):
    """Return the probability of each class, in the order of CLASSES."""
    return _shown(_sums(row))


def predict(row):
    """Return the class of a row."""
    sums = _sums(row)
    return CLASSES[{label}]


def _shown(sums):
    """Return probabilities."""
    scores = [each / _DIVISOR for each in sums]
    {shown}
'''

_SCORED = '''

def decision_function(row):
    """Return the score of a row, above 0 for the second of CLASSES."""
    return _sums(row)[0] / _DIVISOR


def predict(row):
    """Return the class of a row."""
    sums = _sums(row)
    return CLASSES[{label}]
'''

_ODDS = """highest = max(scores)
    odds = [exp(score - highest) for score in scores]
    total = sum(odds)
    return [each / total for each in odds]"""

_MAIN = '''

def _read(feature, text):
    """Return a cell of a CSV file: empty is missing, unless that is a category."""
    codes = _CODES[feature]
    if codes is None:
        return float(text) if text else None
    if text in codes:
        return text
    try:
        return float(text) if text else None
    except ValueError:
        return text


if __name__ == "__main__":
    import csv
    import sys

    for line in csv.DictReader(sys.stdin):
        print(predict([_read(place, line[name]) for place, name in enumerate(FEATURES)]))
'''

_LABELS = {
    "shown": "(lambda shown: shown.index(max(shown)))(_shown(sums))",
    "sums": "sums.index(max(sums))",
    "boundary": "int(sums[0] > _BOUNDARY)",
    "leaf": "int(sums[-1])",
}


def python_source(outline: Outline, file: str) -> str:
    """Return the source of a model; file: its name, for the text that explains it."""
    classes = outline.classes
    promise = "predict(row) returns the prediction of a row."
    if classes is not None:
        more = "predict_proba(row) its probabilities"
        if outline.speech.link == "score":
            more = "decision_function(row) its score"
        promise = f"predict(row) returns the class of a row, {more}."
    unseen = "so are categories that were not there at fit"
    if outline.unseen == "error":
        unseen = "categories that were not there at fit raise ValueError"
    shown = file if file.replace("_", "").replace(".py", "").isalnum() else "model.py"
    head = _HEAD.format(
        kind=outline.kind, version=__version__, promise=promise, unseen=unseen, file=shown
    )
    return head + "\n".join(_data(outline)) + "\n" + _CELLS + _speech(outline) + _MAIN


def _speech(outline: Outline) -> str:
    """Return the functions that users call."""
    speech = outline.speech
    if speech.link == "median":
        return _MEDIAN
    if outline.classes is None:
        each = "exp(score)" if speech.link == "exp" else "score"
        shown = f"[{each} for score in scores]"
        shown = "sorted(scores)" if speech.link == "sorted" else shown
        several = "" if outline.n_outputs == 1 else f": a list of {outline.n_outputs} numbers"
        shown = f"{shown}[0]" if outline.n_outputs == 1 else shown
        return _NUMBERS.format(shown=shown, several=several)
    if speech.link == "score":
        return _SCORED.format(label=_LABELS[speech.label])
    shown = "return scores"
    if speech.label == "leaf":
        shown = "return scores[:-1]"
    elif speech.link == "logistic":
        shown = "scores = [0.0, scores[0]]\n    " + _ODDS
    elif speech.link == "softmax":
        shown = _ODDS
    return _CLASSES.format(label=_LABELS[speech.label], shown=shown)


def _data(outline: Outline) -> Iterable[str]:
    """Yield the numbers of the model, as Python."""
    trees, speech, is_leaf = outline.trees, outline.speech, outline.trees.is_leaf
    splits, sets = _splits(outline)
    codes = [
        None if each.categories is None else {name: k for k, name in enumerate(each.categories)}
        for each in outline.features
    ]
    yield f"FEATURES = {_listed([each.name for each in outline.features])}"
    if outline.classes is not None:
        yield f"CLASSES = {_listed(outline.classes)}"
    yield '\n_MISSING = float("nan")'
    yield f"_REFUSES_UNSEEN = {outline.unseen == 'error'}"
    yield f"_CODES = {_listed(codes)}"
    yield f"_START = {outline.start.tolist()}"
    yield f"_DIVISOR = {speech.divisor!r}"
    if speech.label == "boundary":
        yield f"_BOUNDARY = {speech.boundary!r}"
    if speech.weights is not None:
        yield f"_WEIGHTS = {_listed(speech.weights.tolist())}"
    right = np.where(is_leaf, trees.leaf_number, trees.right)
    yield f"_ROOTS = {_listed(trees.offset[:-1].tolist())}"
    yield f"_FEATURE = {_listed(trees.feature.tolist())}"
    yield f"_SPLIT = {_listed(splits)}"
    yield f"_SETS = {_listed([f'frozenset({sorted(each)})' for each in sets], str)}"
    yield f"_MISSING_LEFT = {_listed(trees.missing_left.astype(int).tolist())}"
    yield f"_RIGHT = {_listed(right.tolist())}"
    yield f"_LEAVES = {_listed(trees.values.tolist())}"


def _splits(outline: Outline) -> tuple[list[Any], list[tuple[int, ...]]]:
    """Return the threshold of each split, or the number of its set; and the sets."""
    trees = outline.trees
    splits: list[Any] = np.where(trees.is_leaf, 0.0, trees.threshold).tolist()
    sets: dict[tuple[int, ...], int] = {}
    for node in np.flatnonzero(trees.category_start >= 0).tolist():
        categories = outline.features[trees.feature[node]].categories or ()
        codes = tuple(trees.left_codes(node, len(categories)).tolist())
        splits[node] = sets.setdefault(codes, len(sets))
    return splits, list(sets)


def _listed(values: Iterable[Any], shown: Any = repr) -> str:
    """Return a list as source, some values to a line."""
    texts = [shown(value) for value in values]
    lines = [", ".join(texts[k : k + _PER_LINE]) for k in range(0, len(texts), _PER_LINE)]
    return "[" + ",\n    ".join(lines) + "]"
