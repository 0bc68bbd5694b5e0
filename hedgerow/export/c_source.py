"""Outlines as C source: one file, C99, that needs the standard library only."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from hedgerow.export.c_text import CLASSES, CODES, HEAD, MEDIAN, NUMBERS, SCORED, SHOWN, SUMS
from hedgerow.export.kinds import demand_one_kind, is_text
from hedgerow.export.outline import Outline
from hedgerow.version import __version__

_PER_LINE = 12
_LABELS = {
    "shown": "highest(shown, N_CLASSES)",
    "sums": "highest(sums, N_CLASSES)",
    "boundary": "sums[0] > BOUNDARY",
    "leaf": "(int)sums[N_OUTPUTS - 1]",
}


def c_source(outline: Outline, name: str) -> str:
    """Return the source of a model; names of its functions begin with `name`."""
    demand_one_kind(outline, "C")
    head = HEAD.replace("FUNCTIONS_HERE", _FUNCTIONS[_asked(outline)])
    head = head.replace("KIND_HERE", f"{outline.kind} of hedgerow {__version__}")
    before, after = _named(head, name).split("FEATURES_HERE")
    features = "\n".join(
        f"   {place}  {_comment(each.name)}{_named(_kind(each), name)}"
        for place, each in enumerate(outline.features)
    )
    data = "\n".join(_data(outline, name))
    return before + features + after + data + _named(CODES + SUMS + _speech(outline), name)


def _asked(outline: Outline) -> str:
    """Return what users ask for: numbers, classes, or classes by a score."""
    if outline.classes is None:
        return "numbers"
    return "score" if outline.speech.link == "score" else "classes"


def _named(text: str, name: str) -> str:
    """Return a part of the source with the names of this model."""
    return text.replace("model_", f"{name}_")


def _speech(outline: Outline) -> str:
    """Return the functions that users call."""
    speech = outline.speech
    if speech.link == "median":
        return MEDIAN
    if outline.classes is None:
        return NUMBERS.replace("SHOWN_BY", SHOWN[speech.link])
    if speech.link == "score":
        return SCORED.replace("LABEL_BY", _LABELS[speech.label])
    link = "each" if speech.link == "identity" else speech.link
    shown = CLASSES.replace("SHOWN_BY", SHOWN[link])
    return shown.replace("LABEL_BY", _LABELS[speech.label])


_FUNCTIONS = {
    "numbers": "   void model_predict(const double *x, double *out);\n"
    "       sets the model_n_outputs numbers that are predicted",
    "classes": "   int model_predict(const double *x);\n"
    "       returns the number of the class, 0 to model_n_classes - 1, of model_classes\n"
    "   void model_predict_proba(const double *x, double *out);\n"
    "       sets the probability of each class",
    "score": "   int model_predict(const double *x);\n"
    "       returns the number of the class, 0 to model_n_classes - 1, of model_classes\n"
    "   double model_decision_function(const double *x);\n"
    "       returns the score, above 0 for the second class",
}


def _kind(feature: Any) -> str:
    if feature.categories is None:
        return ""
    return "  (a category: model_code)" if is_text(feature) else "  (a category: model_code_of)"


def _comment(text: str) -> str:
    """Return a text that cannot end a comment, in ASCII."""
    shown = text.encode("ascii", "backslashreplace").decode()
    return " ".join(shown.replace("*/", "* /").replace("/*", "/ *").split()).rstrip("\\")


def _data(outline: Outline, name: str) -> Iterable[str]:
    """Yield the numbers of the model, as C."""
    trees, speech, is_leaf = outline.trees, outline.speech, outline.trees.is_leaf
    categories = [each.categories or () for each in outline.features]
    yield f"#define N_FEATURES {len(categories)}"
    yield f"#define N_TREES {trees.n_trees}"
    yield f"#define N_OUTPUTS {outline.n_outputs}"
    yield f"#define WIDTH {trees.values.shape[1]}"
    yield f"#define DIVISOR {_number(speech.divisor)}"
    if outline.classes is None:
        yield f"const int {name}_n_outputs = {outline.n_outputs};"
    else:
        yield f"#define N_CLASSES {len(outline.classes)}"
        yield f"#define BOUNDARY {_number(speech.boundary)}"
        yield f"const int {name}_n_classes = {len(outline.classes)};"
        names = [_text(str(each)) for each in outline.classes]
        yield f"const char *const {name}_classes[] = {{{_lines(names)}}};"
    yield f"const int {name}_n_features = N_FEATURES;"
    yield _array(f"const char *const {name}_features", [_text(f.name) for f in outline.features])
    counts = [len(each) for each in categories]
    yield _array("static const long n_categories", counts)
    yield _array("static const long first_category", np.cumsum([0, *counts])[:-1].tolist())
    yield _array("static const char *const texts", _texts(outline))
    yield _array("static const double numbers", _numbers(outline))
    if speech.weights is None:
        yield _array("static const double start", map(_number, outline.start))
    else:
        yield _array("static const double weights", map(_number, speech.weights))
    right = np.where(is_leaf, trees.leaf_number, trees.right)
    splits = np.where(trees.category_start >= 0, trees.category_start, trees.threshold)
    yield _array("static const int32_t roots", trees.offset[:-1].tolist())
    yield _array("static const int32_t feature_of", trees.feature.tolist())
    yield _array("static const double split_at", map(_number, np.where(is_leaf, 0.0, splits)))
    yield _array("static const int32_t right_of", right.tolist())
    yield _array("static const unsigned char missing_left", trees.missing_left.astype(int).tolist())
    yield _array("static const uint64_t words", [f"{word}u" for word in trees.category_words])
    yield _array("static const double leaves", map(_number, trees.values.ravel()))


def _texts(outline: Outline) -> list[str]:
    """Return categories as texts, 0 where they are numbers."""
    own = [(is_text(each), name) for each in outline.features for name in each.categories or ()]
    return [_text(name) if text else "0" for text, name in own]


def _numbers(outline: Outline) -> list[str]:
    """Return categories as numbers, 0 where they are texts."""
    own = [(is_text(each), name) for each in outline.features for name in each.categories or ()]
    return ["0" if text else _number(name) for text, name in own]


def _number(value: float) -> str:
    """Return a number with all its bits: as a whole one, or in hexadecimal."""
    value = float(value)
    if np.isinf(value):
        return "INFINITY" if value > 0 else "-INFINITY"
    if value.is_integer() and abs(value) < 1e15:
        return f"{int(value)}.0"
    return value.hex()


def _text(value: str) -> str:
    """Return a text in ASCII; bytes outside it, and those with a meaning, in octal."""
    plain = set(range(32, 127)) - set(b'"\\?')
    shown = (chr(byte) if byte in plain else f"\\{byte:03o}" for byte in value.encode())
    return '"' + "".join(shown) + '"'


def _array(declared: str, values: Iterable[Any]) -> str:
    texts = list(map(str, values)) or ["0"]  # C has no empty arrays
    return f"{declared}[] = {{{_lines(texts)}}};"


def _lines(texts: Sequence[str]) -> str:
    lines = [", ".join(texts[k : k + _PER_LINE]) for k in range(0, len(texts), _PER_LINE)]
    return ",\n    ".join(lines)
