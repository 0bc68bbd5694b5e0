"""Tables as text: what separates values, where records end, and which line is wrong.

Records come in blocks, so that a file of any length is read in bounded memory. A library reads a
block; if it cannot, the block is read again here, slowly, to find the line and the column.
"""

import csv
import io
from collections.abc import Iterator
from typing import BinaryIO, NamedTuple

from hedgerow.cli.problems import CommandError

MISSING = ("", "NA", "N/A", "NaN", "nan", "null", "NULL", "?")
BLOCK_BYTES = 8 << 20
_LONGEST = 256 << 20  # bytes of a record: more is a quote that is not closed
_DELIMITERS = ",;\t|"


class Layout(NamedTuple):
    """How a text is laid out.

    Attributes
    ----------
    file : str
        For messages.
    names : tuple of str
        The header.
    delimiter : str
    missing : tuple of str
        What stands for no value.
    """

    file: str
    names: tuple[str, ...]
    delimiter: str
    missing: tuple[str, ...] = MISSING


class Block(NamedTuple):
    """Whole records, and the number of the line that they begin at."""

    data: bytes
    line: int


def blocks(stream: BinaryIO, block_bytes: int = BLOCK_BYTES) -> Iterator[Block]:
    """Cut a stream of text into blocks that end where a record does; quotes may hold newlines."""
    waiting, line = b"", 1
    while data := stream.read(block_bytes):
        waiting += data
        end = record_end(waiting)
        if end:
            yield Block(waiting[:end], line)
            line += waiting.count(b"\n", 0, end)
            waiting = waiting[end:]
        elif len(waiting) > _LONGEST:
            raise CommandError(f"a quote is opened after line {line} and not closed.")
    if waiting.strip():
        yield Block(waiting, line)


def record_end(data: bytes) -> int:
    r"""Return where the last whole record ends, 0 if none does.

    >>> record_end(b'1,2\n3,"a\nb')
    4
    """
    end, quotes = data.rfind(b"\n") + 1, data.count(b'"')
    behind = data.count(b'"', end)
    while end and (quotes - behind) % 2:  # inside quotes
        earlier = data.rfind(b"\n", 0, end - 1) + 1
        behind += data.count(b'"', earlier, end)
        end = earlier
    return end


def header_of(file: str, first: Block, delimiter: str | None) -> tuple[Layout, Block]:
    """Read the header; return the layout and the records behind it in the first block."""
    data = first.data.removeprefix(b"\xef\xbb\xbf")
    lines = data.splitlines(keepends=True)
    n_lines = next(
        (n for n in range(1, len(lines) + 1) if not b"".join(lines[:n]).count(b'"') % 2), 0
    )
    head = b"".join(lines[:n_lines])
    text = decoded(file, head, first.line)
    if not text.strip():
        raise CommandError(f"{file}, line 1: there is no header; the first line names the columns.")
    chosen = delimiter or sniffed(text, decoded(file, b"".join(lines[n_lines : n_lines + 20]), 2))
    names = next(csv.reader(io.StringIO(text), delimiter=chosen))
    names = [name.strip() or f"column_{number}" for number, name in enumerate(names, 1)]
    twice = [name for number, name in enumerate(names) if name in names[:number]]
    if twice:
        raise CommandError(
            f"{file}, line 1: two columns are called {twice[0]!r}. Give each a name of its own."
        )
    rest = Block(data[len(head) :], first.line + head.count(b"\n"))
    return Layout(file, tuple(names), chosen), rest


def sniffed(header: str, sample: str) -> str:
    r"""Guess what separates values: what the header has most of, outside of quotes.

    >>> sniffed('a;"b,c,d";e', "1;2;3")
    ';'
    """
    outside = "".join(header.split('"')[::2]) or sample
    counts = {each: outside.count(each) for each in _DELIMITERS}
    best = max(counts, key=lambda each: counts[each])
    return best if counts[best] else ","


def decoded(file: str, data: bytes, line: int) -> str:
    """Return text, which is UTF-8."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as problem:
        at = line + data.count(b"\n", 0, problem.start)
        raise CommandError(
            f"{file}, line {at}: byte 0x{data[problem.start]:02x} is not UTF-8. Convert the file "
            f"first, such as with `iconv -f latin1 -t utf-8`."
        ) from None


def blame(layout: Layout, block: Block, numeric: set[str]) -> CommandError | None:
    """Find the first line that cannot be read; None if all can."""
    text = decoded(layout.file, block.data, block.line)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=layout.delimiter)
    n_columns, places = len(layout.names), [layout.names.index(name) for name in numeric]
    begins = block.line
    for row in reader:
        where = f"{layout.file}, line {begins}"
        begins = block.line + reader.line_num
        if not row:
            continue
        if len(row) != n_columns:
            values = "1 value" if len(row) == 1 else f"{len(row)} values"
            return CommandError(f"{where}: there are {values}, but the header has {n_columns}.")
        for place in places:
            if not _is_number(row[place], layout.missing):
                column = layout.names[place]
                return CommandError(f"{where}, column {column!r}: {row[place]!r} is not a number.")
    return None


def _is_number(text: str, missing: tuple[str, ...]) -> bool:
    try:
        float(text)
    except ValueError:
        return text in missing
    return True
