"""The container: named arrays and a few texts as bytes, in the layout of safetensors.

    8 bytes     length n of the header, unsigned, little-endian
    n bytes     JSON: {"__metadata__": {texts}, name of an array: {dtype, shape, data_offsets}, ..}
    the rest    the arrays, one behind another in the order of the header, little-endian

The header ends with spaces, so that arrays begin at a multiple of 64 bytes; wide items come before
narrow ones, so that each array is aligned. `checksum` comes first of all texts. It is the SHA-256
of the whole file with 64 zeros in its place: no bit of a file can be changed unnoticed.
"""

import hashlib
import json
import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hedgerow.errors import ModelFileError

DTYPES = {
    "BOOL": "?",
    "U8": "<u1",
    "I8": "<i1",
    "U16": "<u2",
    "I16": "<i2",
    "F16": "<f2",
    "U32": "<u4",
    "I32": "<i4",
    "F32": "<f4",
    "U64": "<u8",
    "I64": "<i8",
    "F64": "<f8",
}
NAMES = {np.dtype(kind): name for name, kind in DTYPES.items()}

_PREFIX = b'{"__metadata__":{"checksum":"'
_ZEROS = b"0" * 64
_LENGTH, _ALIGNMENT = 8, 64
_MOST_HEADER = 100_000_000  # what other readers of safetensors accept
_MOST_DIMENSIONS = 4
# A value of the header takes up to a hundred bytes of memory: a million, or as many as arrays pay.
_FEW_VALUES, _BYTES_A_VALUE = 1 << 20, 32


class Contents(NamedTuple):
    """What a file holds: texts by name, and arrays by name."""

    texts: dict[str, str]
    arrays: dict[str, NDArray[Any]]


def packed(contents: Contents) -> list[memoryview]:
    """Return the bytes of a file, in pieces that are to be written one behind another."""
    by_width = sorted(contents.arrays.items(), key=lambda each: (-_width(each[1]), each[0]))
    ordered = {name: np.ascontiguousarray(array) for name, array in by_width}
    header: dict[str, Any] = {"__metadata__": {"checksum": _ZEROS.decode()} | contents.texts}
    end = 0
    for name, array in ordered.items():
        begin, end = end, end + array.nbytes
        shape, dtype = list(array.shape), NAMES[array.dtype.newbyteorder("<")]
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [begin, end]}
    text = json.dumps(header, separators=(",", ":"), ensure_ascii=True).encode()
    text += b" " * (-(_LENGTH + len(text)) % _ALIGNMENT)
    _demand_room(np.frombuffer(text, np.uint8), _LENGTH + len(text) + end)
    data = [_bytes_of(array) for array in ordered.values() if array.nbytes]
    head = len(text).to_bytes(_LENGTH, "little") + text
    place = _LENGTH + len(_PREFIX)
    digest = _digest([memoryview(head), *data])
    sealed = head[:place] + digest + head[place + len(_ZEROS) :]
    return [memoryview(sealed), *data]


def unpacked(data: NDArray[np.uint8]) -> Contents:
    """Return what the bytes of a file hold; arrays are views of them. Raises ModelFileError."""
    if len(data) < _LENGTH + len(_PREFIX) + len(_ZEROS):
        raise ModelFileError(f"It has {len(data)} bytes, which is too short for a model.")
    n_header = int.from_bytes(data[:_LENGTH].tobytes(), "little")
    first = _LENGTH + n_header
    if n_header > _MOST_HEADER or first > len(data):
        raise ModelFileError(
            f"It says that its header has {n_header} bytes, but the file has {len(data)}."
        )
    if data[_LENGTH : _LENGTH + len(_PREFIX)].tobytes() != _PREFIX:
        raise ModelFileError("It does not begin as files of hedgerow do.")
    _demand_seal(data)
    _demand_room(data[_LENGTH:first], len(data))
    header = parsed(_decoded(data[_LENGTH:first]))
    texts = header.pop("__metadata__")
    if not isinstance(texts, dict) or not all(isinstance(each, str) for each in texts.values()):
        raise ModelFileError("Its metadata are not texts.")
    texts.pop("checksum")
    return Contents(texts, dict(_arrays(header, data[first:])))


def _decoded(text: NDArray[np.uint8]) -> str:
    try:
        return str(text.data, "utf-8")
    except UnicodeDecodeError as problem:
        raise ModelFileError(f"Its header cannot be read: {problem}.") from None


def parsed(text: str) -> Any:
    """Return what JSON says; each key once, and numbers that JSON knows."""
    try:
        return json.loads(text, object_pairs_hook=_once, parse_constant=_no_number)
    except (ValueError, RecursionError) as problem:
        raise ModelFileError(f"Its header cannot be read: {problem}.") from None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key stands there twice")
    return found


def _no_number(text: str) -> Any:
    raise ValueError(f"{text} is not a number of JSON")


def _arrays(header: dict[str, Any], data: NDArray[np.uint8]) -> Iterator[tuple[str, NDArray[Any]]]:
    """Yield arrays; they must lie one behind another and fill the file."""
    end = 0
    for name, about in header.items():
        dtype, shape, begin, stop = _described(name, about)
        size = dtype.itemsize * math.prod(shape)
        if begin != end or stop != begin + size or stop > len(data) or begin % dtype.itemsize:
            raise ModelFileError(
                f"Array {name!r} of {size} bytes is said to be at {begin} .. {stop}, and arrays "
                f"have {len(data)} bytes, of which {end} are taken."
            )
        own, end = data[begin:stop], stop
        if dtype.kind == "b" and size and own.max() > 1:
            raise ModelFileError(f"Array {name!r} of truth values has bytes other than 0 and 1.")
        yield name, own.view(dtype).reshape(shape)
    if end != len(data):
        raise ModelFileError(f"Its arrays end at byte {end} of {len(data)}.")


def _described(name: str, about: Any) -> tuple[np.dtype[Any], tuple[int, ...], int, int]:
    """Return dtype, shape, begin and end of an array."""
    if not isinstance(about, dict) or set(about) != {"dtype", "shape", "data_offsets"}:
        raise ModelFileError(f"Array {name!r} is not described as safetensors does.")
    shape, offsets, dtype = about["shape"], about["data_offsets"], about["dtype"]
    is_known = isinstance(dtype, str) and dtype in DTYPES
    if not is_known or not _counts(shape) or not _counts(offsets) or len(offsets) != 2:
        raise ModelFileError(f"Array {name!r} has dtype, shape or place that is not known.")
    if len(shape) > _MOST_DIMENSIONS:
        raise ModelFileError(f"Array {name!r} has {len(shape)} dimensions.")
    return np.dtype(DTYPES[dtype]), tuple(shape), offsets[0], offsets[1]


def _counts(given: Any) -> bool:
    """Tell whether something is a list of whole numbers that an array may have for sizes."""
    return isinstance(given, list) and all(
        type(each) is int and 0 <= each < 1 << 48 for each in given
    )


def _demand_seal(data: NDArray[np.uint8]) -> None:
    begin = _LENGTH + len(_PREFIX)
    end, seen = begin + len(_ZEROS), data.data
    if bytes(seen[begin:end]) != _digest([seen[:begin], memoryview(_ZEROS), seen[end:]]):
        raise ModelFileError("Its checksum is not that of its bytes: it is damaged.")


def _demand_room(header: NDArray[np.uint8], n_bytes: int) -> None:
    """Raise if a header has so many values that they would need more room than they deserve."""
    n_values = sum(int(np.count_nonzero(header == mark)) for mark in b",[{")
    if n_values > _FEW_VALUES + n_bytes // _BYTES_A_VALUE or len(header) > _MOST_HEADER:
        raise ModelFileError(
            f"Its header has {len(header)} bytes and about {n_values} names, categories and other "
            f"values, more than {_FEW_VALUES} and one for each {_BYTES_A_VALUE} bytes."
        )


def _digest(pieces: list[memoryview]) -> bytes:
    digest = hashlib.sha256()
    for piece in pieces:
        digest.update(piece)
    return digest.hexdigest().encode()


def _width(array: NDArray[Any]) -> int:
    """Return the bytes that an array should be aligned to."""
    wide = array.dtype == np.uint8 and array.ndim == 2 and array.shape[1] == 16  # packed nodes
    return 16 if wide else array.dtype.itemsize


def _bytes_of(array: NDArray[Any]) -> memoryview:
    little = array.astype(array.dtype.newbyteorder("<"), copy=False)
    return little.reshape(-1).view(np.uint8).data
