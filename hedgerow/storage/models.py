"""A model as a file: its format, its version, and the way from a value to bytes and back."""

import json
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.errors import ModelFileError
from hedgerow.storage.container import Contents, packed, parsed, unpacked
from hedgerow.storage.numbers import demand
from hedgerow.storage.values import Kinds, Reader, Writer
from hedgerow.version import __version__

FORMAT_VERSION = 1
# What a malformed file may make Python say before a check has noticed.
_MALFORMED = (TypeError, ValueError, AttributeError, LookupError, ArithmeticError, RecursionError)


def contents_of(value: Any, kinds: Kinds, what: str) -> Contents:
    """Return a value as texts and arrays; what: "model" or "checkpoint"."""
    writer = Writer(kinds)
    tree = writer.tree(value, what)
    told = json.dumps(tree, separators=(",", ":"), allow_nan=False)
    texts = {
        "format": f"hedgerow {what}",
        "format_version": str(FORMAT_VERSION),
        "library": f"hedgerow {__version__}",
        "class": _class_of(tree),
        what: told,
    }
    return Contents(texts, writer.arrays)


def value_of(contents: Contents, kinds: Kinds, what: str) -> Any:
    """Return the value of texts and arrays, with everything checked. Raises ModelFileError."""
    texts = contents.texts
    if texts.get("format") != f"hedgerow {what}":
        raise ModelFileError(f"It is not a {what} of hedgerow: its format is {_told(texts)}.")
    version = texts.get("format_version", "")
    if not version.isascii() or not version.isdigit() or len(version) > 9:
        raise ModelFileError(f"It has no format version: {version!r:.40}.")
    if int(version) > FORMAT_VERSION:
        raise ModelFileError(
            f"It has format version {version}, written by {texts.get('library')!r:.40}, and this "
            f"is hedgerow {__version__}, which knows versions up to {FORMAT_VERSION}. Install a "
            "newer hedgerow."
        )
    if int(version) < 1 or set(texts) != {"format", "format_version", "library", "class", what}:
        raise ModelFileError("Its metadata are not those of any version.")
    try:
        reader = Reader(kinds, contents.arrays)
        tree = parsed(texts[what])
        value = reader.value(tree)
        reader.demand_all_used()
        demand(texts["class"] == _class_of(tree), "it names two classes")
    except ModelFileError:
        raise
    except _MALFORMED as problem:
        raise ModelFileError(f"It is no {what} that hedgerow wrote ({problem!r:.200}).") from None
    return value


def bytes_of(value: Any, kinds: Kinds, what: str) -> list[memoryview]:
    """Return the bytes of a value; what cannot be read again is not written."""
    contents = contents_of(value, kinds, what)
    value_of(contents, kinds, what)
    return packed(contents)


def read(data: NDArray[np.uint8], kinds: Kinds, what: str) -> Any:
    """Return the value that bytes hold. Raises ModelFileError."""
    return value_of(unpacked(data), kinds, what)


def _class_of(tree: Any) -> str:
    return str(tree.get("class", "")) if isinstance(tree, dict) else ""


def _told(texts: dict[str, str]) -> str:
    return f"{texts.get('format', 'not said')!r:.40}"
