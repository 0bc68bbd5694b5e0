"""The commands and what they say. Exit codes: 0 done, 1 it could not be done, 2 misuse."""

import os
import shutil
import time
from pathlib import Path
from typing import Annotated, NoReturn

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from hedgerow import __version__
from hedgerow.cli.compiling import compiled
from hedgerow.cli.warmup import steps
from hedgerow.kernels.cache import cache_root, private_directory, silence, sources_digest

app = typer.Typer(
    name="hedgerow", no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False
)


def main() -> None:
    """Run the command that the user typed."""
    app(prog_name="hedgerow")


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"hedgerow {__version__}")
        raise typer.Exit


@app.callback()
def hedgerow(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """Trees that do not depend on the order of the rows."""


@app.command()
def warmup() -> None:
    """Compile every kernel now, so that no fit has to wait for it later.

    Takes some minutes the first time, on all cores, and seconds after that.

    HEDGEROW_CACHE_DIR says where kernels are kept: set it in a container image.
    """
    if os.environ.get("NUMBA_DISABLE_JIT", "0") not in {"", "0"}:
        _fail("NUMBA_DISABLE_JIT is set, so there is nothing to compile. Unset it.")
    directory = private_directory()
    if directory is None:
        _fail(
            "Compiled kernels could not be kept (see the warning above). Set HEDGEROW_CACHE_DIR "
            "to a directory that only you can write."
        )
    silence()
    n_before, start = _n_kernels(directory), time.perf_counter()
    _run_steps()
    n_after, seconds = _n_kernels(directory), time.perf_counter() - start
    if n_after == 0:
        _fail(f"Nothing was written to {directory}: is the disk full?")
    typer.echo(
        f"{n_after} kernels are ready, {n_after - n_before or 'none'} of them compiled now, "
        f"in {seconds:.1f} s: {directory}"
    )


def _run_steps() -> None:
    """Compile, with a bar if somebody is watching."""
    console = Console(stderr=True)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    names = list(steps())
    with Progress(
        *columns, console=console, transient=True, disable=not console.is_terminal
    ) as progress:
        task = progress.add_task("", total=len(names))
        for name in compiled(names):
            progress.update(task, description=name)
            progress.advance(task)


@app.command()
def cache(
    clear: Annotated[
        bool, typer.Option("--clear", help="Remove the kernels of other versions of hedgerow.")
    ] = False,
) -> None:
    """Show where compiled kernels are kept, and how much room they take."""
    try:
        root = cache_root()
        versions = _versions(root)
        if clear:
            versions = _cleared(versions)
    except (OSError, RuntimeError) as error:
        _fail(f"The kernel cache cannot be read or cleared: {error}.")
    typer.echo(f"{root}")
    for directory in versions:
        note = "this version" if directory.name == sources_digest() else "another version"
        size = _size(_bytes_used(directory))
        typer.echo(f"  {directory.name}  {_n_kernels(directory):4} kernels {size:>9}  {note}")
    if not versions:
        typer.echo("  nothing yet: `hedgerow warmup` or the first fit fills it")


def _cleared(versions: list[Path]) -> list[Path]:
    """Remove all versions but this one; return what is left."""
    others = [directory for directory in versions if directory.name != sources_digest()]
    freed = _size(sum(map(_bytes_used, others)))
    for directory in others:
        shutil.rmtree(directory)
    typer.echo(f"Removed {len(others)} other version{'s' * (len(others) != 1)}, {freed}.")
    return [directory for directory in versions if directory not in others]


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


def _size(n_bytes: int) -> str:
    return f"{n_bytes / 1e6:.1f} MB"


def _fail(message: str) -> NoReturn:
    typer.echo(message, err=True)
    raise typer.Exit(1)
