"""Compiled kernels, as `hedgerow warmup` and `hedgerow cache` treat them."""

import os
import shutil
import time
from pathlib import Path
from typing import Any, NoReturn

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from hedgerow.cli.compiling import compiled
from hedgerow.cli.problems import CommandError
from hedgerow.cli.warmup import steps
from hedgerow.kernels.announcing import silence
from hedgerow.kernels.cache import cache_root, private_directory, sources_digest


def warmup(step: str | None = None) -> dict[str, Any]:
    """Compile every kernel, or those of one step, giving way; return how many there are."""
    if os.environ.get("NUMBA_DISABLE_JIT", "0") not in {"", "0"}:
        _fail("NUMBA_DISABLE_JIT is set, so there is nothing to compile. Unset it.")
    directory = private_directory()
    if directory is None:
        _fail(
            "Compiled kernels could not be kept (see the warning above). Set HEDGEROW_CACHE_DIR "
            "to a directory that only you can write."
        )
    names = list(steps())
    if step is not None and step not in names:
        _fail(f"--step={step!r} is none of the steps: {', '.join(names)}.")
    if step is not None and hasattr(os, "nice"):
        os.nice(10)
    silence()
    os.environ["HEDGEROW_INTERPRET"] = "0"
    n_before, start = _n_kernels(directory), time.perf_counter()
    _run_steps(names if step is None else [step])
    n_after, seconds = _n_kernels(directory), time.perf_counter() - start
    if n_after == 0:
        _fail(f"Nothing was written to {directory}: is the disk full?")
    return {
        "command": "warmup",
        "n_kernels": n_after,
        "n_compiled": n_after - n_before,
        "seconds": seconds,
        "directory": str(directory),
    }


def _run_steps(names: list[str]) -> None:
    """Compile, with a bar if somebody is watching."""
    console = Console(stderr=True)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    with Progress(
        *columns, console=console, transient=True, disable=not console.is_terminal
    ) as progress:
        task = progress.add_task("", total=len(names))
        for name in compiled(names):
            progress.update(task, description=name)
            progress.advance(task)


def kept(clear: bool) -> dict[str, Any]:
    """Return where compiled kernels are, after removing those of other versions if asked to."""
    try:
        root = cache_root()
        versions = _versions(root)
        removed = _cleared(versions) if clear else []
        sizes = [(each, _n_kernels(each), _bytes_used(each)) for each in versions]
        for directory in removed:
            shutil.rmtree(directory)
    except (OSError, RuntimeError) as error:
        _fail(f"The kernel cache cannot be read or cleared: {error}.")
    return {
        "command": "cache",
        "directory": str(root),
        "cleared": clear,
        "versions": [
            {
                "name": each.name,
                "n_kernels": n_kernels,
                "bytes": n_bytes,
                "is_this_version": each.name == sources_digest(),
                "removed": each in removed,
            }
            for each, n_kernels, n_bytes in sizes
        ],
    }


def _cleared(versions: list[Path]) -> list[Path]:
    """Return all versions but this one."""
    return [directory for directory in versions if directory.name != sources_digest()]


def _versions(root: Path) -> list[Path]:
    """List our directories, by name: the root may be one that the user has other things in."""
    if not root.exists():
        return []
    length = len(sources_digest())
    return sorted(
        path
        for path in root.iterdir()
        if path.is_dir()
        and not path.is_symlink()
        and len(path.name) == length
        and set(path.name) <= set("0123456789abcdef")
    )


def _n_kernels(directory: Path) -> int:
    return sum(1 for _ in directory.rglob("*.nbc"))


def _bytes_used(directory: Path) -> int:
    return sum(path.stat().st_size for path in directory.rglob("*") if path.is_file())


def _fail(message: str) -> NoReturn:
    raise CommandError(message)
