"""Where compiled kernels are kept between processes, and what happens when that place is bad.

Numba keys its on-disk cache on the file that defines a kernel, not on the files of the
functions that kernel calls. A formula edited in another file would go on returning the
old numbers. We therefore file every binary under a digest of all sources that kernels
can call: those of the rooms `kernels` and `losses`.

The cache is a convenience: whatever is wrong with it (unwritable, full, damaged), kernels
are compiled in memory and the user is told once. A binary is only loaded if its SHA-256
is the one stored with it, and only from a directory that belongs to the user alone,
because loading it runs it.
"""

import hashlib
import os
import pickle
import stat
import sys
import warnings
from pathlib import Path
from typing import Any

from numba.core.caching import FunctionCache, IndexDataCacheFile

_PACKAGE = Path(__file__).parent.parent
_COMPILED_ROOMS = ("kernels", "losses")
_warned = False
_announced = False


def sources_digest() -> str:
    """Digest of every Python file that kernels are made of, in a fixed order."""
    digest = hashlib.sha256()
    for path in sorted(path for room in _COMPILED_ROOMS for path in (_PACKAGE / room).rglob("*.py")):
        digest.update(path.relative_to(_PACKAGE).as_posix().encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def cache_root() -> Path:
    """Return the directory of all cached kernels: $HEDGEROW_CACHE_DIR or the user's cache."""
    given = os.environ.get("HEDGEROW_CACHE_DIR")
    if given:
        return Path(given)
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "hedgerow"


def private_directory() -> Path | None:
    """Make this version's cache directory, mode 0700, or return None and warn once."""
    directory = cache_root() / sources_digest()
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not os.access(directory, os.W_OK):
            raise PermissionError(f"{directory} is not writable")
        state = directory.stat()
        if hasattr(os, "getuid") and state.st_uid != os.getuid():
            raise PermissionError(f"{directory} belongs to another user")
        if os.name == "posix" and state.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
            raise PermissionError(f"{directory} can be written by other users")
    except (OSError, RuntimeError) as error:
        warn_once(f"{error}")
        return None
    return directory


def warn_once(reason: str) -> None:
    """Say that the cache is not used for something; a user needs to hear it once."""
    global _warned  # noqa: PLW0603  one warning a process is the point
    if not _warned:
        _warned = True
        warnings.warn(
            f"hedgerow's kernel cache cannot be used ({reason}): kernels are compiled again in "
            "this process. Set HEDGEROW_CACHE_DIR to a directory that only you can write.",
            RuntimeWarning,
            stacklevel=2,
        )


def announce(directory: Path | None) -> None:
    """Say on stderr, once a process, that kernels are being compiled for the first time."""
    global _announced  # noqa: PLW0603  one line a process is the point
    if _announced or (directory is not None and any(directory.rglob("*.nbc"))):
        return
    _announced = True
    sys.stderr.write(
        "hedgerow: compiling kernels (once for this version; `hedgerow warmup` does it ahead)\n"
    )


class _CheckedFile(IndexDataCacheFile):  # type: ignore[misc]  # numba is untyped
    """Binaries with their SHA-256 in front."""

    def _save_data(self, name: str, data: Any) -> None:
        payload = self._dump(data)
        with self._open_for_write(self._data_path(name)) as file:
            file.write(hashlib.sha256(payload).digest() + payload)

    def _load_data(self, name: str) -> Any:
        content = Path(self._data_path(name)).read_bytes()
        if hashlib.sha256(content[32:]).digest() != content[:32]:
            raise ValueError(f"{name} is damaged")
        return pickle.loads(content[32:])


class KernelCache(FunctionCache):  # type: ignore[misc]  # numba is untyped
    """Numba's cache of one function, except that it never makes a call fail."""

    def __init__(self, function: Any, directory: Path) -> None:
        super().__init__(function)
        self._directory = directory
        plain = self._cache_file
        self._cache_file = _CheckedFile(
            plain._cache_path, plain._index_name.removesuffix(".nbi"), plain._source_stamp
        )

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the compiled kernel, or None if it must be compiled."""
        try:
            found = super().load_overload(sig, target_context)
        except Exception as error:  # a damaged pickle can raise anything
            Path(self._cache_file._index_path).unlink(missing_ok=True)
            warn_once(f"{type(error).__name__}: {error}; the entry was removed")
            found = None
        if found is None:
            announce(self._directory)
        return found

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep a compiled kernel, if the disk allows."""
        try:
            super().save_overload(sig, data)
        except Exception as error:
            warn_once(f"{type(error).__name__}: {error}")
