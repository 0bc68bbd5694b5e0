"""The two libraries that read and write tables for the command line: pyarrow, or polars.

Each is a class with the same methods; `library()` returns one that is installed.
"""

from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from typing import Any, BinaryIO, Protocol

import numpy as np

from hedgerow.cli.problems import CommandError
from hedgerow.cli.text_tables import Layout
from hedgerow.data.arrow import arrow_array

ROWS = 65_536  # of a batch of Parquet


class Library(Protocol):
    """What the command line needs of a library of tables."""

    def from_text(self, layout: Layout, data: bytes, kinds: Mapping[str, str] | None) -> Any:
        """Return records as a table. kinds: "number" or "text" of the columns that are wanted.

        None guesses them all. Raises `problems` if the text is not like that.
        """

    def parquet(self, path: str, columns: list[str] | None) -> Iterator[Any]:
        """Yield the rows of a Parquet file, some at a time."""

    def parquet_names(self, path: str) -> list[str]:
        """Return the names of its columns."""

    def arrow(self, path: str) -> Iterator[Any]:
        """Yield the rows of an Arrow (Feather) file, some at a time."""

    def write(self, tables: Iterator[Any], file: BinaryIO, form: str) -> None:
        """Write tables, one behind another, as "parquet" or "arrow"."""

    def as_text(self, table: Any) -> bytes:
        """Return a table as CSV, with a header."""

    @property
    def problems(self) -> tuple[type[Exception], ...]:
        """What it raises if a file is not as it should be."""

    def table(self, columns: Mapping[str, Any]) -> Any:
        """Return a table of these columns."""


class Arrow:
    """pyarrow."""

    @property
    def problems(self) -> tuple[type[Exception], ...]:
        """Errors of pyarrow."""
        import pyarrow

        return (pyarrow.ArrowException, OSError)

    def from_text(self, layout: Layout, data: bytes, kinds: Mapping[str, str] | None) -> Any:
        """See Library.from_text."""
        import pyarrow

        known = {"number": pyarrow.float64(), "text": pyarrow.string()}
        wanted = {name: known[kind] for name, kind in (kinds or {}).items()}
        table = self._read(layout, data, wanted, list(wanted))
        # No text is a date: it is a text in a later file, too.
        dates = [each.name for each in table.schema if pyarrow.types.is_temporal(each.type)]
        if not dates:
            return table
        return self._read(layout, data, dict.fromkeys(dates, pyarrow.string()), [])

    def _read(self, layout: Layout, data: bytes, types: dict[str, Any], columns: list[str]) -> Any:
        """Read some columns, or all if none is named; those without a type are guessed."""
        import pyarrow
        from pyarrow import csv

        return csv.read_csv(
            pyarrow.BufferReader(data),
            csv.ReadOptions(column_names=layout.names, block_size=max(len(data) // 8, 1 << 20)),
            csv.ParseOptions(delimiter=layout.delimiter, newlines_in_values=True),
            csv.ConvertOptions(
                column_types=types,
                include_columns=columns,
                null_values=layout.missing,
                strings_can_be_null=True,
                true_values=[],  # no word is a bool: "true" is a text, as it is in a later file
                false_values=[],
            ),
        )

    def parquet(self, path: str, columns: list[str] | None) -> Iterator[Any]:
        """See Library.parquet."""
        import pyarrow
        from pyarrow import parquet

        with parquet.ParquetFile(path) as file:
            schema = file.schema_arrow
            if columns is not None:
                schema = pyarrow.schema([schema.field(name) for name in columns])
            batches = file.iter_batches(ROWS, columns=columns)
            empty = True
            for batch in batches:
                empty = False
                yield pyarrow.Table.from_batches([batch])
            if empty:
                yield schema.empty_table()

    def parquet_names(self, path: str) -> list[str]:
        """See Library.parquet_names."""
        from pyarrow import parquet

        return list(parquet.read_schema(path).names)

    def arrow(self, path: str) -> Iterator[Any]:
        """See Library.arrow."""
        import pyarrow
        from pyarrow import ipc

        with pyarrow.memory_map(path) as source:
            reader = ipc.open_file(source)
            for number in range(reader.num_record_batches):
                yield pyarrow.Table.from_batches([reader.get_batch(number)])

    def write(self, tables: Iterator[Any], file: BinaryIO, form: str) -> None:
        """See Library.write."""
        from pyarrow import ipc, parquet

        first = next(tables)
        open_writer = parquet.ParquetWriter if form == "parquet" else ipc.new_file
        with open_writer(file, first.schema) as writer:
            writer.write_table(first)
            for table in tables:
                writer.write_table(table)

    def as_text(self, table: Any) -> bytes:
        """See Library.as_text."""
        import pyarrow
        from pyarrow import csv

        csv.write_csv(table, written := pyarrow.BufferOutputStream())
        text: bytes = written.getvalue().to_pybytes()
        return text

    def table(self, columns: Mapping[str, Any]) -> Any:
        """See Library.table."""
        import pyarrow

        held = [
            arrow_array(each) if isinstance(each, list | np.ndarray) else each
            for each in columns.values()
        ]
        return pyarrow.Table.from_arrays(held, names=list(columns))


class Polars:
    """polars."""

    @property
    def problems(self) -> tuple[type[Exception], ...]:
        """Errors of polars."""
        from polars import exceptions

        return (exceptions.PolarsError, OSError)

    def from_text(self, layout: Layout, data: bytes, kinds: Mapping[str, str] | None) -> Any:
        """See Library.from_text."""
        import polars

        how: dict[str, Any] = {
            "has_header": False,
            "separator": layout.delimiter,
            "null_values": list(layout.missing),
        }
        if kinds is None:
            guess = polars.read_csv(
                data, new_columns=list(layout.names), infer_schema_length=None, **how
            )
            # No word is a bool: "true" is a text, as it is in a later file.
            words = {
                n: polars.String if t == polars.Boolean else t for n, t in guess.schema.items()
            }
            same = words == dict(guess.schema)
            table = guess if same else polars.read_csv(data, schema=words, **how)
        else:
            types = {"number": polars.Float64, "text": polars.String}
            schema = {name: types[kinds.get(name, "text")] for name in layout.names}
            table = polars.read_csv(data, schema=schema, **how)
        # polars fills lines that are too short with missing values.
        outside = b"".join(data.split(b'"')[::2])
        if outside.count(layout.delimiter.encode()) < len(table) * (len(layout.names) - 1):
            raise polars.exceptions.ComputeError("there are lines with too few values")
        return table if kinds is None else table.select(list(kinds))

    def parquet(self, path: str, columns: list[str] | None) -> Iterator[Any]:
        """See Library.parquet."""
        import polars

        n_rows = polars.scan_parquet(path).select(polars.len()).collect().item()
        for first in range(0, max(n_rows, 1), ROWS):
            chosen = polars.scan_parquet(path).slice(first, ROWS)
            yield (chosen if columns is None else chosen.select(columns)).collect()

    def parquet_names(self, path: str) -> list[str]:
        """See Library.parquet_names."""
        import polars

        return list(polars.read_parquet_schema(path))

    def arrow(self, path: str) -> Iterator[Any]:
        """See Library.arrow."""
        import polars

        yield polars.read_ipc(path)

    def write(self, tables: Iterator[Any], file: BinaryIO, form: str) -> None:
        """See Library.write. What was predicted is in memory until all of it is."""
        import polars

        whole = polars.concat(list(tables))
        if form == "parquet":
            whole.write_parquet(file)
        else:
            whole.write_ipc(file)

    def as_text(self, table: Any) -> bytes:
        """See Library.as_text."""
        text: str = table.write_csv()
        return text.encode()

    def table(self, columns: Mapping[str, Any]) -> Any:
        """See Library.table."""
        import polars

        return polars.DataFrame(dict(columns))


def library() -> Library:
    """Return a library that is installed."""
    if find_spec("pyarrow") is not None:
        return Arrow()
    if find_spec("polars") is not None:
        return Polars()
    raise CommandError(
        "files are read by pyarrow or polars, and neither is installed. "
        "Install one: pip install pyarrow"
    )
