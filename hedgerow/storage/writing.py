"""Reading and writing whole files: a file is the old one or the new one, never a part of it."""

import contextlib
import errno
import mmap
import os
import secrets
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.errors import ModelFileError

_LARGE = 1 << 26  # bytes from which memory_map="auto" maps a file
_ANYBODY = 0o666  # may read a new file, unless the process's own mask says otherwise
_BINARY = getattr(os, "O_BINARY", 0)  # Windows


def write_whole(path: Any, pieces: Iterable[memoryview]) -> None:
    """Write a file that is whole or not there: beside its place, then renamed to it.

    Whatever fails, a file that was there before stays as it was.
    """
    target = Path(os.path.realpath(os.fspath(path)))  # through a link, to what it stands for
    if target.is_dir():
        raise IsADirectoryError(f"{target} is a directory. Pass the name of a file in it.")
    with explained(target), _beside(target) as (handle, temporary):
        for piece in pieces:
            handle.write(piece)
        handle.flush()
        os.fsync(handle.fileno())
        handle.close()
        os.replace(temporary, target)
        sync_directory(target)


@contextlib.contextmanager
def _beside(target: Path) -> Iterator[tuple[Any, Path]]:
    """Give a new file in the same directory, which is removed if the work on it fails."""
    temporary = target.with_name(f".{target.name[:100]}.{secrets.token_hex(8)}")
    number = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _BINARY, _ANYBODY)
    try:
        with os.fdopen(number, "wb") as handle:
            with contextlib.suppress(FileNotFoundError):
                os.chmod(temporary, stat.S_IMODE(target.stat().st_mode))
            yield handle, temporary
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise


@contextlib.contextmanager
def explained(target: Path) -> Iterator[None]:
    """Say what to do where the system says only what happened."""
    remedies = {
        errno.ENOENT: f"There is no directory {target.parent}. Make it first.",
        errno.ENOTDIR: f"{target.parent} is not a directory. Pass a file in one that is.",
        errno.EACCES: f"This process may not write to {target.parent}. Choose another directory.",
        errno.EROFS: f"{target.parent} can only be read. Choose another directory.",
        errno.ENOSPC: "The disk is full. Free some room; a file that was there is as it was.",
        errno.EDQUOT: "Your quota is used up. Free some room; a file that was there is as it was.",
        errno.ENAMETOOLONG: "The name is too long. Choose a shorter one.",
    }
    try:
        yield
    except OSError as problem:
        remedy = remedies.get(problem.errno or 0)
        if remedy is None:
            raise
        raise type(problem)(problem.errno, f"{target} was not written. {remedy}") from problem


def sync_directory(target: Path) -> None:
    """Let the directory know its new file even after a power cut, where systems can do that."""
    with contextlib.suppress(OSError):
        number = os.open(target.parent, os.O_RDONLY)
        try:
            os.fsync(number)
        finally:
            os.close(number)


def read_whole(path: Any, memory_map: bool | str) -> NDArray[np.uint8]:
    """Return the bytes of a file: read, or mapped so that they are read when they are looked at.

    A mapped file is private: what is written to the bytes never reaches the file.
    """
    # A pipe would be waited for: not to block says at once what it is.
    number = os.open(os.fspath(path), os.O_RDONLY | _BINARY | getattr(os, "O_NONBLOCK", 0))
    with os.fdopen(number, "rb") as handle:
        about = os.fstat(number)
        if not stat.S_ISREG(about.st_mode):
            raise ModelFileError(f"{path} is not a file but a directory, a pipe or a device.")
        if not about.st_size:
            return np.zeros(0, np.uint8)
        if memory_map is True or (memory_map == "auto" and about.st_size >= _LARGE):
            return np.frombuffer(mmap.mmap(number, 0, access=mmap.ACCESS_COPY), np.uint8)
        data = np.empty(about.st_size, np.uint8)
        if handle.readinto(data.data) != about.st_size:
            raise ModelFileError(f"{path} became shorter while it was read. Load it again.")
        return data
