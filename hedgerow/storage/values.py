"""Values as JSON and arrays, and back: a fixed list of classes, and nothing else.

null, true, 3, 0.5, "text", [..]    themselves
{"float": "nan"}                    nan, inf or -inf
{"bytes": "AP8="}                   base64
{"tuple": [..]}
{"dict": [[key, value], ..]}
{"array": name}                     an array of the file
{"nodes": name}                     packed nodes, 16 bytes each: see kernels.packed
{"labels": [..], "dtype": "<U3"}    an array of texts, or of any values if dtype is "|O"
{"class": name, "fields": {..}}     a value of a class of the list
"""

import base64
import binascii
import math
import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hedgerow.errors import ModelFileError
from hedgerow.kernels.packed import PACKED
from hedgerow.storage.container import NAMES

_DEEPEST = 64
_LABELS = re.compile(r"<U[1-9][0-9]{0,5}|\|S[1-9][0-9]{0,5}|\|O")
_FLOATS = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}


class Kind(NamedTuple):
    """A class whose values files may hold.

    name    in files; it never changes
    fields  value -> its fields by name
    build   fields -> the value, or raises ModelFileError; fields are checked here
    """

    name: str
    fields: Callable[[Any], dict[str, Any]]
    build: Callable[[dict[str, Any]], Any]


Kinds = Mapping[type, Kind]


class Writer:
    """Turns values into JSON and arrays; each array is named after its way from the root."""

    def __init__(self, kinds: Kinds) -> None:
        self._kinds, self.arrays = kinds, dict[str, NDArray[Any]]()

    def tree(self, value: Any, way: str) -> Any:
        """Return what stands for a value in JSON."""
        if isinstance(value, np.ndarray):
            return self._array(value, way)
        if isinstance(value, np.generic) and not isinstance(value.item(), np.generic):
            return self.tree(value.item(), way)
        if value is None or type(value) in (bool, int, str):
            return value
        forms: dict[type, Callable[[Any, str], Any]] = {
            float: lambda own, _: own if math.isfinite(own) else {"float": str(own)},
            bytes: lambda own, _: {"bytes": base64.b64encode(own).decode()},
            list: self._items,
            tuple: lambda own, here: {"tuple": self._items(own, here)},
            dict: lambda own, here: {"dict": self._pairs(own, here)},
        }
        form = forms.get(type(value))
        return self._instance(value, way) if form is None else form(value, way)

    def _items(self, value: Any, way: str) -> list[Any]:
        return [self.tree(each, f"{way}.{place}") for place, each in enumerate(value)]

    def _pairs(self, value: dict[Any, Any], way: str) -> list[Any]:
        return [
            [self.tree(key, f"{way}.{place}"), self.tree(each, f"{way}.{key}")]
            for place, (key, each) in enumerate(value.items())
        ]

    def _instance(self, value: Any, way: str) -> dict[str, Any]:
        kind = self._kinds.get(type(value))
        if kind is None:
            raise foreign(value, way)
        fields = kind.fields(value)
        own = {name: self.tree(each, f"{way}.{name}") for name, each in fields.items()}
        return {"class": kind.name, "fields": own}

    def _array(self, value: NDArray[Any], way: str) -> dict[str, Any]:
        if value.dtype == PACKED:
            nodes = np.ascontiguousarray(np.asarray(value)).view(np.uint8).reshape(-1, 16)
            return {"nodes": self._kept(nodes, way)}
        if value.dtype.newbyteorder("<") in NAMES:
            return {"array": self._kept(np.asarray(value), way)}
        if value.dtype.kind not in "USO" or value.ndim != 1:
            raise foreign(value, way)
        items = value.tolist()
        if value.dtype.kind != "O" and not _fits(items, int(value.dtype.str[2:])):
            value = np.array(items)  # no wider than its texts
        return {"labels": self._items(items, way), "dtype": value.dtype.newbyteorder("<").str}

    def _kept(self, array: NDArray[Any], way: str) -> str:
        name, number = way, 1
        while name in self.arrays:  # keys of a dict may look alike
            name, number = f"{way}~{number}", number + 1
        self.arrays[name] = array
        return name


def foreign(value: Any, way: str) -> ModelFileError:
    """Build the error for a value that no file can hold."""
    told = f"{type(value).__module__}.{type(value).__qualname__}"
    return ModelFileError(
        f"{way} is a {told}, which a model file does not hold: files have numbers, texts and the "
        "library's own classes, and never code, so that a stranger's file is safe to load."
    )


def _fits(items: list[Any], width: int) -> bool:
    """Tell whether texts fit into so many places each, and are not lost in them."""
    lengths = [len(each) for each in items]
    return max(lengths, default=0) <= width and width * len(items) <= 4096 + 8 * sum(lengths)


class Reader:
    """Turns JSON and arrays back into values. Raises ModelFileError for anything unknown."""

    def __init__(self, kinds: Kinds, arrays: dict[str, NDArray[Any]]) -> None:
        self._kinds = {kind.name: kind for kind in kinds.values()}
        self._arrays = dict(arrays)
        self._forms: dict[frozenset[str], Callable[[dict[str, Any], int], Any]] = {
            frozenset(["float"]): self._float,
            frozenset(["bytes"]): self._bytes,
            frozenset(["tuple"]): self._tuple,
            frozenset(["dict"]): self._dict,
            frozenset(["array"]): self._array,
            frozenset(["nodes"]): self._nodes,
            frozenset(["labels", "dtype"]): self._labels,
            frozenset(["class", "fields"]): self._instance,
        }

    def value(self, tree: Any, depth: int = 0) -> Any:
        """Return the value that JSON stands for."""
        if depth > _DEEPEST:
            raise ModelFileError(f"Its values are nested more than {_DEEPEST} deep.")
        if isinstance(tree, list):
            return [self.value(each, depth + 1) for each in tree]
        if not isinstance(tree, dict):
            return tree
        form = self._forms.get(frozenset(tree))
        if form is None:
            raise ModelFileError(f"It has a value of unknown form: {sorted(tree)[:4]}.")
        return form(tree, depth + 1)

    def demand_all_used(self) -> None:
        """Raise if there are arrays that no value has."""
        if self._arrays:
            raise ModelFileError(f"No value has the array {next(iter(self._arrays))!r}.")

    def _float(self, tree: dict[str, Any], _: int) -> float:
        name = tree["float"]
        if not isinstance(name, str) or name not in _FLOATS:
            raise ModelFileError("It has a number that is neither nan nor inf.")
        return _FLOATS[name]

    def _bytes(self, tree: dict[str, Any], _: int) -> bytes:
        try:
            return base64.b64decode(tree["bytes"], validate=True)
        except (TypeError, ValueError, binascii.Error):
            raise ModelFileError("It has bytes that are not base64.") from None

    def _items(self, tree: Any, depth: int) -> list[Any]:
        if not isinstance(tree, list):
            raise ModelFileError("It has no list where one is needed.")
        return [self.value(each, depth) for each in tree]

    def _tuple(self, tree: dict[str, Any], depth: int) -> tuple[Any, ...]:
        return tuple(self._items(tree["tuple"], depth))

    def _dict(self, tree: dict[str, Any], depth: int) -> dict[Any, Any]:
        pairs = self._items(tree["dict"], depth)
        if not all(isinstance(pair, list) and len(pair) == 2 for pair in pairs):
            raise ModelFileError("It has a dict that is not of pairs.")
        if not all(isinstance(key, (str, int, float, bytes, type(None))) for key, _ in pairs):
            raise ModelFileError("It has a dict with keys that are no plain values.")
        return dict(pairs)

    def _array(self, tree: dict[str, Any], _: int) -> NDArray[Any]:
        return self._taken(tree["array"])

    def _nodes(self, tree: dict[str, Any], _: int) -> NDArray[Any]:
        found = self._taken(tree["nodes"])
        if found.dtype != np.uint8 or found.ndim != 2 or found.shape[1] != PACKED.itemsize:
            raise ModelFileError("It has nodes that are not 16 bytes each.")
        return found.reshape(-1).view(PACKED).view(np.recarray)

    def _labels(self, tree: dict[str, Any], depth: int) -> NDArray[Any]:
        dtype, items = tree["dtype"], self._items(tree["labels"], depth)
        if not isinstance(dtype, str) or not _LABELS.fullmatch(dtype):
            raise ModelFileError("It has labels of unknown dtype.")
        plain = {"U": (str,), "S": (bytes,)}.get(dtype[1], (str, bytes, bool, int, float))
        if not all(type(each) in plain for each in items):
            raise ModelFileError("It has labels that are not of their dtype.")
        if dtype[1] != "O" and not _fits(items, int(dtype[2:])):
            raise ModelFileError("It has labels that do not fit their dtype, or fill little of it.")
        array = np.empty(len(items), dtype)
        array[:] = items
        return array

    def _instance(self, tree: dict[str, Any], depth: int) -> Any:
        kind = self._kinds.get(tree["class"]) if isinstance(tree["class"], str) else None
        if kind is None:
            raise ModelFileError(f"It names a class that is not known: {tree['class']!r:.80}.")
        if not isinstance(tree["fields"], dict):
            raise ModelFileError(f"It has a {kind.name} without fields.")
        fields = {name: self.value(each, depth) for name, each in tree["fields"].items()}
        return kind.build(fields)

    def _taken(self, name: Any) -> NDArray[Any]:
        if not isinstance(name, str) or name not in self._arrays:
            raise ModelFileError(f"It has no array {name!r:.80}, or names it twice.")
        return self._arrays.pop(name)
