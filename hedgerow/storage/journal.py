"""Journals: a file that only grows, so that each part of a long work is written once.

    8 bytes    length n of a record, unsigned, little-endian
    8 bytes    the first of the SHA-256 of these 8
    n bytes    the record: a container, with a checksum of its own
    ...        more records

The first record says what the journal is about, and is written whole or not at all. A process that
dies while it writes leaves a last record that is too short: it is cut off, and the work goes on
from the one before it. Anything else that is not as it was written is damage, and is said so.
"""

import contextlib
import hashlib
import os
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from hedgerow.errors import CheckpointError, ModelFileError
from hedgerow.storage.models import bytes_of, read
from hedgerow.storage.values import Kinds
from hedgerow.storage.writing import explained, read_whole, write_whole

try:
    import fcntl
except ImportError:  # Windows: two processes are not kept apart
    fcntl = None  # type: ignore[assignment]

_WHAT = "checkpoint"
_NUMBER = 8


class Journal:
    """A file of records; the process that has it open is the only one."""

    def __init__(self, path: Any, kinds: Kinds) -> None:
        self._path, self._kinds = Path(os.path.realpath(os.fspath(path))), kinds
        self._file: Any = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            self._file.close()

    def opened(self, about: Any) -> list[Any]:
        """Return the records that are there, the first of them `about`; a new journal has that."""
        if not self._path.exists():
            write_whole(self._path, self._record(about))
        self._file = open(self._path, "r+b")  # noqa: SIM115  closed by __exit__
        self._lock()
        try:
            records, end = self._records(read_whole(self._path, False))
        except ModelFileError as problem:
            raise CheckpointError(f"{self._path} is damaged. {problem} {_REMEDY}") from None
        self._file.truncate(end)
        self._file.seek(end)
        return records

    def append(self, value: Any) -> None:
        """Write a record, and wait until the disk has it; if that fails, take it back."""
        pieces, end = self._record(value), self._file.tell()
        try:
            with explained(self._path):
                for piece in pieces:
                    self._file.write(piece)
                self._file.flush()
                os.fsync(self._file.fileno())
        except BaseException:  # an interrupt too: the fit may go on to write its last rounds
            with contextlib.suppress(OSError):
                self._file.seek(end)
                self._file.truncate(end)
            raise

    def _lock(self) -> None:
        if fcntl is None:
            return
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise CheckpointError(
                f"Another fit is writing to the checkpoint {self._path}. Wait until it ends, or "
                "pass another file."
            ) from None
        except OSError:
            with contextlib.suppress(OSError):  # a file system that knows no locks
                self._file.seek(0)

    def _record(self, value: Any) -> list[memoryview]:
        pieces = bytes_of(value, self._kinds, _WHAT)
        length = sum(len(piece) for piece in pieces).to_bytes(_NUMBER, "little")
        return [memoryview(length + _check_of(length)), *pieces]

    def _records(self, data: NDArray[np.uint8]) -> tuple[list[Any], int]:
        """Return all records, and where they end."""
        records: list[Any] = []
        end = 0
        while end < len(data):
            first = end + 2 * _NUMBER
            length = data[end : end + _NUMBER].tobytes()
            if first > len(data):
                break
            if data[end + _NUMBER : first].tobytes() != _check_of(length):
                raise ModelFileError(f"There is no record at byte {end} of {len(data)}.")
            stop = first + int.from_bytes(length, "little")
            if stop > len(data):
                break
            # A copy: records begin anywhere, and arrays must be aligned.
            records.append(read(data[first:stop].copy(), self._kinds, _WHAT))
            end = stop
        if not records:
            raise ModelFileError(f"Its first record is not whole; the file has {len(data)} bytes.")
        return records, end


_REMEDY = (
    "Nothing was done. Bring it back from a copy, or remove the file to begin from the first round."
)


def _check_of(length: bytes) -> bytes:
    return hashlib.sha256(length).digest()[:_NUMBER]
