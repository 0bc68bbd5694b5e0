"""The commands and their options. Exit codes: 0 done, 1 the work failed, 2 wrong usage.

What a command needs is imported when it runs: `hedgerow --help` needs none of it.
"""

import warnings
from typing import Annotated, Any

import typer

from hedgerow.cli.garbage import leave
from hedgerow.cli.problems import OneLineProblems, noted
from hedgerow.version import __version__

app = typer.Typer(
    name="hedgerow",
    cls=OneLineProblems,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    epilog="Exit codes: 0 done, 1 the work failed, 2 wrong usage.",
)

Data = Annotated[
    str,
    typer.Argument(
        metavar="DATA", help="CSV (also compressed), Parquet or Arrow file; - is CSV from stdin."
    ),
]
Model = Annotated[str, typer.Argument(metavar="MODEL", help="A file that `train` saved.")]
Target = Annotated[str, typer.Option("--target", "-t", help="The column to predict.")]
Task = Annotated[
    str | None, typer.Option(help="classification or regression; guessed from the target.")
]
Drop = Annotated[
    list[str] | None, typer.Option("--drop", help="A column to leave out; may be repeated.")
]
Delimiter = Annotated[
    str | None, typer.Option(help="What separates values of a CSV file; guessed from its header.")
]
Seed = Annotated[int, typer.Option(help="Of the choice of rows that judge.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON, for machines.")]
Debug = Annotated[bool, typer.Option("--debug", help="If it fails, show where.")]


def main() -> None:
    """Run the command that the user typed."""
    warnings.showwarning = noted
    try:
        app(prog_name="hedgerow")
    except SystemExit as end:
        leave(int(end.code or 0))


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
    """Tree ensembles and boosting that do not depend on the order of the rows."""


@app.command()
def train(
    data: Data,
    target: Target,
    model: Annotated[
        str, typer.Option("--model", "-m", help="boosting, forest, extra-trees, adaboost, ...")
    ] = "boosting",
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="A parameter; may be repeated."),
    ] = None,
    task: Task = None,
    drop: Drop = None,
    cv: Annotated[int | None, typer.Option(help="Judge by so many folds.")] = None,
    holdout: Annotated[float, typer.Option(help="Share of rows held out to judge.")] = 0.2,
    seed: Seed = 0,
    output: Annotated[str | None, typer.Option("--output", "-o", help="Where to save it.")] = None,
    checkpoint: Annotated[
        str | None, typer.Option(help="A file to go on from if training is stopped.")
    ] = None,
    delimiter: Delimiter = None,
    json: Json = False,
    debug: Debug = False,
) -> None:
    """Train a model, judge it by rows that it has not seen, and save it."""
    from hedgerow.cli import training
    from hedgerow.cli.sources import Source

    order = training.Order(
        source=Source(data, delimiter),
        target=target,
        kind=model,
        settings=settings or [],
        task=task,
        dropped=drop or [],
        n_folds=cv,
        share=holdout,
        seed=seed,
        output=output,
        checkpoint=checkpoint,
        quiet=json,
    )
    _print(training.train(order), json)


@app.command()
def predict(
    model: Model,
    data: Data,
    output: Annotated[
        str, typer.Option("--output", "-o", help=".csv, .parquet or .arrow; - is stdout.")
    ] = "-",
    probabilities: Annotated[
        bool, typer.Option("--probabilities", "-p", help="Of each class, instead of labels.")
    ] = False,
    keep: Annotated[
        list[str] | None, typer.Option("--keep", help="A column of DATA to copy; may be repeated.")
    ] = None,
    delimiter: Delimiter = None,
    json: Json = False,
    debug: Debug = False,
) -> None:
    """Predict the rows of a file of any length, some at a time."""
    from hedgerow.cli import predicting
    from hedgerow.cli.problems import UsageError
    from hedgerow.cli.sources import Source

    if json and output == "-":
        raise UsageError("--json says what was done, so predictions need a file: pass --output.")
    order = predicting.Order(model, Source(data, delimiter), output, probabilities, keep or [])
    report = predicting.predict(order)
    if json:
        _print(report, json)
    elif output != "-":
        typer.echo(predicting.sentence(report))  # without rich, which takes time to import


@app.command()
def evaluate(
    model: Model,
    data: Data,
    target: Annotated[
        str | None,
        typer.Option("--target", "-t", help="The true values; else the only new column."),
    ] = None,
    delimiter: Delimiter = None,
    json: Json = False,
    debug: Debug = False,
) -> None:
    """Judge a model by rows whose true values are known, best ones that it has not seen."""
    from hedgerow.cli import evaluating
    from hedgerow.cli.sources import Source

    _print(evaluating.evaluate(model, Source(data, delimiter), target), json)


@app.command()
def compare(
    data: Data,
    target: Target,
    models: Annotated[
        list[str] | None,
        typer.Option("--model", "-m", help="One to compare; may be repeated. All by default."),
    ] = None,
    task: Task = None,
    drop: Drop = None,
    cv: Annotated[int, typer.Option(help="Judge by so many folds.")] = 5,
    seed: Seed = 0,
    delimiter: Delimiter = None,
    json: Json = False,
    debug: Debug = False,
) -> None:
    """Compare the ensembles of the library, side by side under the same folds."""
    from hedgerow.cli import comparing
    from hedgerow.cli.sources import Source

    source = Source(data, delimiter)
    order = comparing.Order(source, target, models or [], task, drop or [], cv, seed)
    _print(comparing.compare(order), json)


@app.command()
def explain(
    model: Model,
    data: Annotated[
        str | None, typer.Argument(metavar="[DATA]", help="Rows to explain predictions of.")
    ] = None,
    row: Annotated[int | None, typer.Option(help="Explain this row of DATA, from 1.")] = None,
    delimiter: Delimiter = None,
    json: Json = False,
    debug: Debug = False,
) -> None:
    """Say what a model looks at; with rows, how features move its predictions."""
    from hedgerow.cli import explaining
    from hedgerow.cli.sources import Source

    source = None if data is None else Source(data, delimiter)
    _print(explaining.explain(model, source, row), json)


@app.command()
def show(
    model: Model,
    tree: Annotated[int, typer.Option(help="The tree to draw, from 0.")] = 0,
    depth: Annotated[int, typer.Option(help="How deep to draw it.")] = 3,
    json: Json = False,
    debug: Debug = False,
) -> None:
    """Show what a model file holds: class, parameters, features, training log, a tree."""
    from hedgerow.cli import showing

    _print(showing.show(model, tree, depth), json)


@app.command()
def export(
    model: Model,
    output: Annotated[str, typer.Option("--output", "-o", help="Where: .onnx, .c or .py.")],
    to: Annotated[
        str | None, typer.Option(help="onnx, c or python; by the ending of --output.")
    ] = None,
    json: Json = False,
    debug: Debug = False,
) -> None:
    """Write a model as ONNX, C or Python that predicts without this library."""
    from hedgerow.cli import exporting

    _print(exporting.export(model, output, to), json)


@app.command()
def warmup(
    step: Annotated[
        str | None, typer.Option(help="Take this step only, such as 'boosting, log_loss'.")
    ] = None,
    json: Json = False,
    debug: Debug = False,
) -> None:
    """Compile every kernel now, so that no fit has to wait for it later.

    Takes some minutes the first time, on all cores, and seconds after that.

    HEDGEROW_CACHE_DIR says where kernels are kept: set it in a container image.
    """
    from hedgerow.cli import kernels_kept

    _print(kernels_kept.warmup(step), json)


@app.command()
def cache(
    clear: Annotated[
        bool, typer.Option("--clear", help="Remove the kernels of other versions of hedgerow.")
    ] = False,
    json: Json = False,
    debug: Debug = False,
) -> None:
    """Show where compiled kernels are kept, and how much room they take."""
    from hedgerow.cli import kernels_kept

    _print(kernels_kept.kept(clear), json)


def _print(report: dict[str, Any], as_json: bool) -> None:
    from hedgerow.cli.printing import printed

    printed(report, as_json)
