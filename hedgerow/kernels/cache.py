"""Where compiled kernels are kept between processes, and what happens when that place is bad.

Numba keys its on-disk cache on the file that defines a kernel, not on the files of the
functions that kernel calls. A formula edited in another file would go on returning the
old numbers. We therefore file every binary under a digest of all sources that kernels
can call: those of the rooms `kernels` and `losses`.

A kernel specialised on a class from outside the package, a user's loss, is never kept: no
digest would tell that its formula has changed.

The cache is a convenience: whatever is wrong with it (unwritable, full, damaged), kernels
are compiled in memory and the user is told once. A binary is only loaded if its SHA-256
is the one stored with it, and only from a directory that belongs to the user alone,
because loading it runs it.
"""

import contextlib
import hashlib
import os
import pickle
import stat
import sys
import warnings
from pathlib import Path
from typing import Any

import numba
from llvmlite import binding
from numba.core.caching import (
    CompileResultCacheImpl,
    FunctionCache,
    IndexDataCacheFile,
    NullCache,
    UserProvidedCacheLocator,
)

from hedgerow.kernels.announcing import announce

config: Any = numba.config
_PACKAGE = Path(__file__).parent.parent
_COMPILED_ROOMS = ("kernels", "losses")
_warned = False


def sources_digest() -> str:
    """Digest of every Python file that kernels are made of, in a fixed order."""
    digest = hashlib.sha256()
    rooms = [_PACKAGE / room for room in _COMPILED_ROOMS]
    for path in sorted(path for room in rooms for path in room.rglob("*.py")):
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
    try:
        directory = cache_root() / sources_digest()
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        _demand_privacy(directory)
    except (OSError, RuntimeError) as error:  # RuntimeError: the user has no home
        _warn_unusable(error)
        return None
    return directory


def _demand_privacy(directory: Path) -> None:
    """Raise unless only this user, or root, can put files into a directory or replace it."""
    if os.name != "posix":
        return
    state, above = directory.lstat(), directory.parent.stat()
    if state.st_uid not in (0, os.getuid()) or not stat.S_ISDIR(state.st_mode):
        raise PermissionError(f"{directory} is not a directory of this user's own")
    if state.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise PermissionError(f"{directory} can be written by other users")
    if above.st_mode & stat.S_IWOTH and not above.st_mode & stat.S_ISVTX:  # unlike /tmp
        raise PermissionError(f"{directory.parent} can be written by other users")


def _warn_once(message: str) -> None:
    """Warn of the cache, unless this process has done so: a user needs to hear it once."""
    global _warned  # noqa: PLW0603  one warning a process is the point
    if not _warned:
        _warned = True
        warnings.warn(message, RuntimeWarning, stacklevel=3)


def _warn_unusable(error: Exception) -> None:
    _warn_once(
        f"hedgerow's kernel cache cannot be used ({error}): kernels are compiled again in every "
        "process. Set HEDGEROW_CACHE_DIR to a directory that only you can write."
    )


def is_ours(kind: Any) -> bool:
    """Tell whether the code of an argument's type, and of its fields, is the package's own."""
    own = getattr(kind, "instance_class", None)
    if own is not None:
        room = own.__module__ if own.__module__.split(".")[0] == _PACKAGE.name else ""
        if getattr(sys.modules.get(room), own.__qualname__, None) is not own:
            return False  # a class made while the program runs is not ours either
    return all(map(is_ours, getattr(kind, "types", ())))


def kernel_cache(function: Any, directory: Path) -> Any:
    """Return the cache of one kernel, or one that keeps nothing if the directory is bad."""
    before = {name: getattr(config, name, "") for name in ("CACHE_DIR", "CACHE_LOCATOR_CLASSES")}
    config.CACHE_DIR, config.CACHE_LOCATOR_CLASSES = str(directory), ""
    try:
        return KernelCache(function, directory)
    except (OSError, RuntimeError) as error:
        _warn_unusable(error)
        return NullCache()
    finally:
        for name, value in before.items():
            setattr(config, name, value)


class CheckedFile(IndexDataCacheFile):  # type: ignore[misc]  # numba is untyped
    """Binaries with their SHA-256 in front, and what they were compiled for inside.

    Processes that compile a kernel for different types at once may choose the same file
    name. The index that stays then names a binary that is not its own.
    """

    def save(self, key: Any, data: Any) -> None:
        """Keep a binary."""
        super().save(key, (key, data))

    def load(self, key: Any) -> Any:
        """Return a binary, or None if there is none for this key."""
        compiled_for, data = super().load(key) or (None, None)
        return data if compiled_for == key else None

    def _save_data(self, name: str, data: Any) -> None:
        payload = self._dump(data)
        with self._open_for_write(self._data_path(name)) as file:
            file.write(hashlib.sha256(payload).digest() + payload)

    def _load_data(self, name: str) -> Any:
        content = Path(self._data_path(name)).read_bytes()
        if hashlib.sha256(content[32:]).digest() != content[:32]:
            raise ValueError(f"{name} is damaged")
        return pickle.loads(content[32:])


class _OurDirectory(UserProvidedCacheLocator):  # type: ignore[misc]  # numba is untyped
    """A directory that may be read-only, as in a container: what is there can be loaded."""

    def ensure_cache_path(self) -> None:
        """Raise if there is no such directory and none can be made."""
        Path(self.get_cache_path()).mkdir(parents=True, exist_ok=True)


class _OnlyOurDirectory(CompileResultCacheImpl):  # type: ignore[misc]  # numba is untyped
    """Numba would go on to `__pycache__`, where binaries are not filed under our digest.

    It would also keep, and load, the code of a kernel that others could be made of. No kernel is
    linked into another, and that code takes more memory than all else that is loaded.
    """

    _locator_classes = (_OurDirectory,)

    def reduce(self, data: Any) -> Any:
        """Return what is kept of a compiled kernel: of its code only which names it defines."""
        (name, kind, (binary, bitcode)), about, *rest = super().reduce(data)
        own = about.llvm_func_name, about.llvm_cpython_wrapper_name, about.llvm_cfunc_wrapper_name
        return (name, kind, (binary, _names_only(bitcode, own))), about, *rest

    def rebuild(self, target_context: Any, payload: Any) -> Any:
        """Return a kernel that can be called, not linked."""
        found = super().rebuild(target_context, payload)
        found.library._get_module_for_linking = _refuse_to_link
        return found


def _names_only(bitcode: bytes, own: tuple[str, ...]) -> bytes:
    """Return a module that defines what another does of its own names, and has no code.

    Whoever loads it reads one name after another, and asks for none of the parts'.
    """
    module = binding.parse_bitcode(bitcode)
    named = [*module.functions, *module.global_variables]
    names = [each.name for each in named if not each.is_declaration and each.name in own]
    lines = [f'@"{name}" = global i8 0' for name in names]
    return bytes(binding.parse_assembly("\n".join(lines)).as_bitcode())


def _refuse_to_link() -> None:
    raise NotImplementedError(
        "A kernel that was loaded from the cache cannot be called by another one: its code is not "
        "kept. Make what both need a part (hedgerow.kernels.jit.part)."
    )


class KernelCache(FunctionCache):  # type: ignore[misc]  # numba is untyped
    """Numba's cache of one function, except that it never makes a call fail."""

    _impl_class = _OnlyOurDirectory

    def __init__(self, function: Any, directory: Path) -> None:
        super().__init__(function)
        self._directory = directory
        stamp = self._impl.locator.get_source_stamp()
        self._cache_file: Any = CheckedFile(self._cache_path, self._impl.filename_base, stamp)

    def has(self, sig: Any, target_context: Any) -> bool:
        """Tell whether a compiled kernel is kept, as far as the index knows."""
        try:
            return self._index_key(sig, target_context.codegen()) in self._cache_file._load_index()
        except Exception:  # whoever loads it will say what is wrong
            return True

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the compiled kernel, or None if it must be compiled."""
        if not all(map(is_ours, sig)):
            return None
        found = None
        try:
            # Numba would prepare to compile first, which takes a hundred times as long as to load.
            with self._guard_against_spurious_io_errors():
                found = self._load_overload(sig, target_context)
        except Exception as error:  # a damaged pickle can raise anything
            with contextlib.suppress(OSError):
                Path(self._cache_file._index_path).unlink(missing_ok=True)
            _warn_once(
                f"hedgerow's kernel cache has a damaged entry ({type(error).__name__}: {error}). "
                "It is compiled again and replaced; nothing else needs to be done."
            )
        if found is None:
            announce(self._directory)
        return found

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep a compiled kernel, if the disk allows."""
        if not all(map(is_ours, sig)):
            return
        try:
            super().save_overload(sig, data)
        except Exception as error:
            _warn_unusable(error)
