"""`hedgerow export`: a model in another language."""

from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape

from hedgerow.cli.fitted import loaded
from hedgerow.cli.problems import UsageError, meant
from hedgerow.export.door import ENDINGS, FORMATS, export_model


def export(path: str, output: str, to: str | None) -> dict[str, Any]:
    """Write the model of a file in another language; return what was written."""
    if to is not None and to not in FORMATS:
        raise UsageError(f"--to {to}: pass {', '.join(FORMATS)}.{meant(to, FORMATS)}")
    language = to or ENDINGS.get(Path(output).suffix.lower())
    if language is None:
        raise UsageError(
            f"--output {output}: the name ends in none of {', '.join(ENDINGS)}. Pass --to "
            "onnx, c or python."
        )
    if Path(path).exists() and Path(output).exists() and Path(path).samefile(output):
        raise UsageError(f"--output {output} is the model itself. Pass another name.")
    model = loaded(path)
    export_model(model, output, language)
    return {
        "command": "export",
        "file": path,
        "class": type(model).__name__,
        "language": language,
        "output": output,
        "bytes": Path(output).stat().st_size,
    }


def page(report: dict[str, Any], console: Console) -> None:
    """Print what was written."""
    console.print(
        f"[bold]{report['class']}[/] of {escape(report['file'])} as {report['language']}: "
        f"{escape(report['output'])}, {report['bytes']:,} bytes"
    )
