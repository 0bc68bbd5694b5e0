"""Files that hold tables: which kind they are, and their rows, all at once or some at a time."""

import bz2
import gzip
import lzma
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, cast

from hedgerow.cli.libraries import Library, library
from hedgerow.cli.problems import CommandError, UsageError, listed, meant
from hedgerow.cli.text_tables import Block, Layout, blame, blocks, header_of

Kinds = dict[str, str]  # of the columns that are wanted: "number" or "text"

_MAGIC = {
    b"PAR1": "parquet",
    b"ARROW1": "arrow",
    b"\x1f\x8b": "gzip",
    b"BZh": "bzip2",
    b"\xfd7zXZ": "xz",
    b"PK\x03\x04": "zip",
}
_COMPRESSED: dict[str, Callable[..., Any]] = {
    "gzip": gzip.open,
    "bzip2": bz2.open,
    "xz": lzma.open,
}


class Source(NamedTuple):
    """A file of a table, or stdin, as the user named it."""

    path: str
    delimiter: str | None = None

    @property
    def file(self) -> str:
        """What messages call it."""
        return "stdin" if self.path == "-" else self.path

    def whole(self) -> Any:
        """Return all rows, as a data frame of narwhals; kinds of columns are guessed."""
        import narwhals

        with _problems_named(self.file, library()) as reader, self._opened() as (form, stream):
            if form == "text":
                table = self._text_at_once(reader, stream)
            else:
                tables = reader.parquet(self.path, None)
                tables = tables if form == "parquet" else reader.arrow(self.path)
                parts = [narwhals.from_native(part, eager_only=True) for part in tables]
                return narwhals.concat(parts)
        return narwhals.from_native(table, eager_only=True)

    def chunks(self, wanted: Callable[[list[str]], Kinds]) -> Iterator[Any]:
        """Yield what `tables` does, as data frames of narwhals."""
        import narwhals

        for table in self.tables(wanted):
            yield narwhals.from_native(table, eager_only=True)

    def tables(self, wanted: Callable[[list[str]], Kinds]) -> Iterator[Any]:
        """Yield the rows of some columns, some rows at a time, as tables of a library.

        `wanted` is told the names of all columns; what it returns is read.
        """
        with _problems_named(self.file, library()) as reader, self._opened() as (form, stream):
            if form == "text":
                yield from self._text_in_blocks(reader, stream, wanted)
            elif form == "parquet":
                names = list(wanted(reader.parquet_names(self.path)))
                yield from reader.parquet(self.path, names)
            else:
                yield from _selected(reader.arrow(self.path), wanted)

    def _text_at_once(self, reader: Library, stream: BinaryIO) -> Any:
        data = stream.read()
        layout, rest = header_of(self.file, _first(self.file, Block(data, 1)), self.delimiter)
        return _table(reader, layout, rest, None)

    def _text_in_blocks(
        self, reader: Library, stream: BinaryIO, wanted: Callable[[list[str]], Kinds]
    ) -> Iterator[Any]:
        pieces = blocks(stream)
        first = _first(self.file, next(pieces, Block(b"", 1)))
        layout, rest = header_of(self.file, first, self.delimiter)
        kinds = wanted(list(layout.names))
        yield _table(reader, layout, rest, kinds)
        for block in pieces:
            yield _table(reader, layout, block, kinds)

    @contextmanager
    def _opened(self) -> Iterator[tuple[str, BinaryIO]]:
        """Return the form and a stream of its bytes, decompressed."""
        with self._bytes() as stream:
            first = stream.read(8)
            joined = cast(BinaryIO, _Joined(first, stream))
            form = next((name for magic, name in _MAGIC.items() if first.startswith(magic)), "text")
            if form == "zip":
                raise CommandError(
                    f"{self.file} is a zip archive or a spreadsheet. Save it as CSV or Parquet."
                )
            if form in ("parquet", "arrow") and self.path == "-":
                raise CommandError(f"{form} cannot be read from stdin. Pass a file, or pipe CSV.")
            if form in _COMPRESSED:
                with _COMPRESSED[form](joined, "rb") as text:
                    yield "text", text
            else:
                yield form, joined

    def _bytes(self) -> Any:
        """Return the file, or stdin, which is not ours to close."""
        if self.delimiter is not None and len(self.delimiter) != 1:
            raise UsageError(f"--delimiter {self.delimiter!r}: pass one character, such as ';'.")
        if self.path == "-":
            return nullcontext(sys.stdin.buffer)
        if Path(self.path).is_dir():
            raise CommandError(f"{self.path} is a directory. Pass a file.")
        if not Path(self.path).exists():
            raise CommandError(f"{self.path}: there is no such file.{_beside(self.path)}")
        return open(self.path, "rb")


def _selected(tables: Iterator[Any], wanted: Callable[[list[str]], Kinds]) -> Iterator[Any]:
    import narwhals

    for table in tables:
        frame = narwhals.from_native(table, eager_only=True)
        yield frame.select(list(wanted(frame.columns))).to_native()


def _beside(path: str) -> str:
    folder = Path(path).parent
    return meant(
        Path(path).name, [each.name for each in folder.iterdir()] if folder.is_dir() else []
    )


class _Joined:
    """A stream whose first bytes were looked at."""

    def __init__(self, first: bytes, stream: Any) -> None:
        self._first, self._stream = first, stream

    def read(self, size: int = -1) -> bytes:
        """Read the first bytes again, then the others."""
        first, self._first = self._first, b""
        if 0 <= size < len(first):
            first, self._first = first[:size], first[size:]
            return first
        rest: bytes = self._stream.read(size if size < 0 else size - len(first))
        return first + rest

    def readable(self) -> bool:
        """Yes."""
        return True

    def seekable(self) -> bool:
        """No."""
        return False


def _first(file: str, block: Block) -> Block:
    if not block.data.strip():
        raise CommandError(f"{file} is empty. The first line names the columns, rows follow.")
    if b"\0" in block.data[:65536]:
        raise CommandError(
            f"{file} is not a table that can be read: neither text, nor Parquet, nor Arrow."
        )
    return block


def _table(reader: Library, layout: Layout, block: Block, kinds: Kinds | None) -> Any:
    """Read a block; if it cannot be read, say which line is wrong."""
    if not block.data.strip():
        return reader.table({name: [] for name in (layout.names if kinds is None else kinds)})
    try:
        return reader.from_text(layout, block.data, kinds)
    except reader.problems as problem:
        numeric = {name for name, kind in (kinds or {}).items() if kind == "number"}
        found = blame(layout, block, numeric)
        raise (found or CommandError(f"{layout.file}: {problem}")) from None


@contextmanager
def _problems_named(file: str, reader: Library) -> Iterator[Library]:
    """Let errors of reading name the file."""
    try:
        yield reader
    except (EOFError, gzip.BadGzipFile, lzma.LZMAError) as problem:
        raise CommandError(f"{file} is cut off or damaged: {problem}") from problem
    except BrokenPipeError:
        raise
    except reader.problems as problem:
        if isinstance(problem, OSError) and problem.strerror:
            raise CommandError(f"{file}: {problem.strerror}.") from problem
        raise CommandError(f"{file} cannot be read: {str(problem).splitlines()[0]}") from problem


def demand_columns(file: str, needed: list[str], names: list[str]) -> None:
    """Raise if a column is not there."""
    lacking = [name for name in needed if name not in names]
    if len(lacking) == 1:
        raise CommandError(
            f"{file} has no column {lacking[0]!r}.{meant(lacking[0], names)} "
            f"It has: {listed(names)}."
        )
    if lacking:
        raise CommandError(
            f"{file} lacks {len(lacking)} columns: {listed(map(repr, lacking))}. "
            f"It has: {listed(names)}."
        )
