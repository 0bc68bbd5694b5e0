"""`hedgerow predict`: rows in, predictions out, some at a time."""

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from hedgerow.cli.fitted import loaded_to_predict, wanted_columns
from hedgerow.cli.libraries import library
from hedgerow.cli.problems import CommandError, UsageError
from hedgerow.cli.sources import Kinds, Source
from hedgerow.garbage import none_looked_for

_FORMS = {".csv": "text", ".parquet": "parquet", ".arrow": "arrow", ".feather": "arrow"}


class Order(NamedTuple):
    """What was asked for; see the options of `hedgerow predict`."""

    model: str
    source: Source
    output: str
    probabilities: bool
    kept: list[str]


def predict(order: Order) -> dict[str, Any]:
    """Predict the rows of a file; return how many there were."""
    form = _form(order)
    with none_looked_for():
        model = loaded_to_predict(order.model)
    if order.probabilities and not hasattr(model, "predict_proba"):
        raise UsageError(
            f"--probabilities: {order.model} is a {type(model).__name__}, which predicts numbers."
        )
    counted = _Counted(_answers(order, model))
    with _written(order.output) as file:
        if form == "text":
            for number, table in enumerate(counted):
                text = library().as_text(table)
                file.write(text if number == 0 else text.partition(b"\n")[2])
        else:
            library().write(iter(counted), file, form)
    return {
        "command": "predict",
        "model": order.model,
        "data": order.source.file,
        "n_rows": counted.n_rows,
        "output": order.output,
    }


def sentence(report: dict[str, Any]) -> str:
    """Say how many rows were predicted, and where the predictions are.

    >>> sentence({"n_rows": 1200, "data": "new.csv", "output": "out.csv"})
    'Predictions of 1,200 rows of new.csv are in out.csv.'
    """
    noun = "row" if report["n_rows"] == 1 else "rows"
    rows = f"{report['n_rows']:,} {noun} of {report['data']}"
    return f"Predictions of {rows} are in {report['output']}."


class _Counted:
    """Tables on their way out, and how many rows they had."""

    def __init__(self, tables: Iterator[tuple[int, Any]]) -> None:
        self._tables = tables
        self.n_rows = 0

    def __iter__(self) -> Iterator[Any]:
        for n_rows, table in self._tables:
            self.n_rows += n_rows
            yield table


def _answers(order: Order, model: Any) -> Iterator[tuple[int, Any]]:
    """Yield the number of rows and their predictions, chunk by chunk."""
    also: Kinds = dict.fromkeys(order.kept, "text")
    reader, first = library(), 1
    own: list[str] = []

    def wanted(names: list[str]) -> Kinds:
        kinds = wanted_columns(model, order.source.file, also, names)
        own[:] = wanted_columns(model, order.source.file, {}, names)
        return kinds

    for table in order.source.tables(wanted):
        kept = {name: table[name] for name in order.kept}
        try:
            said = columns_of(model, table.select(own), len(table), order.probabilities)
        except (ValueError, TypeError) as problem:
            rows = f"rows {first:,} to {first + len(table) - 1:,}"
            raise CommandError(f"{order.source.file}, {rows}: {problem}") from problem
        first += len(table)
        yield len(table), reader.table(kept | said)


def columns_of(model: Any, X: Any, n_rows: int, probabilities: bool) -> dict[str, Any]:
    """Return what a model predicts, as columns with names."""
    if probabilities:
        classes = model.classes_.tolist()
        said = model.predict_proba(X) if n_rows else np.zeros((0, len(classes)))
        return {f"probability_{name}": _column(said[:, k]) for k, name in enumerate(classes)}
    if not n_rows:
        return {"prediction": np.zeros(0)}
    said = np.asarray(model.predict(X))
    if said.ndim == 1:
        return {"prediction": _column(said)}
    return {f"prediction_{number}": _column(each) for number, each in enumerate(said.T)}


def _column(values: Any) -> Any:
    return values.tolist() if values.dtype.kind in "OU" else np.ascontiguousarray(values)


def _form(order: Order) -> str:
    if order.output == "-":
        return "text"
    suffix = Path(order.output).suffix.lower()
    if suffix not in _FORMS:
        raise UsageError(f"--output {order.output}: the name ends with {', '.join(_FORMS)}.")
    for other in (order.source.path, order.model):
        if Path(order.output).absolute() == Path(other).absolute():
            raise UsageError(f"--output {order.output} would overwrite {other}. Choose another.")
    return _FORMS[suffix]


@contextmanager
def _written(output: str) -> Iterator[BinaryIO]:
    """Open a file that is whole or not there, or stdout."""
    if output == "-":
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    path = Path(output)
    try:
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.absolute().parent)
    except OSError as problem:
        raise CommandError(f"{output} cannot be written: {problem.strerror}.") from problem
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
        mask = os.umask(0)
        os.umask(mask)
        Path(name).chmod(0o666 & ~mask)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
