"""What goes wrong at the command line, as one line on stderr and an exit code.

0 done, 1 the work failed, 2 wrong usage, 130 interrupted. `--debug` shows where it failed.
"""

import difflib
import os
import sys
import traceback
from collections.abc import Iterable, Sequence
from typing import Any

import typer
from typer.core import TyperGroup

FAILED, MISUSED, INTERRUPTED = 1, 2, 130


class CommandError(Exception):
    """The work cannot be done; the message is for the user."""

    exit_code = FAILED


class UsageError(CommandError):
    """The command was not meant like this; the message says how it is."""

    exit_code = MISUSED


class OneLineProblems(TyperGroup):
    """The commands, each problem of which is told in a line."""

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,  # noqa: ARG002  (it is always we who leave)
        windows_expand_args: bool = True,
        **extra: Any,
    ) -> Any:
        """Run a command and leave with its exit code."""
        given = list(sys.argv[1:] if args is None else args)
        try:
            code = super().main(args, prog_name, complete_var, False, windows_expand_args, **extra)
        except (Exception, KeyboardInterrupt) as problem:  # the last door
            if "--debug" in given:
                traceback.print_exc()
            code = told(problem)
        else:
            if code == INTERRUPTED:
                typer.echo("hedgerow: interrupted.", err=True)
        sys.exit(code if isinstance(code, int) else 0)


def told(problem: BaseException) -> int:
    """Write a problem to stderr as one line; return the exit code."""
    if isinstance(problem, BrokenPipeError):  # whoever read our output has seen enough
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115  (until the end)
        return FAILED
    if isinstance(problem, KeyboardInterrupt | typer.Abort):
        typer.echo("hedgerow: interrupted.", err=True)
        return INTERRUPTED
    line, code = _words(problem)
    if line:
        typer.echo(f"hedgerow: {line}", err=True)
    return code


def noted(message: Warning | str, *_: object, **__: object) -> None:
    """Write a warning to stderr as one line, in place of Python's way."""
    typer.echo(f"hedgerow: note: {one_line(message)}", err=True)


def _words(problem: BaseException) -> tuple[str, int]:
    if isinstance(problem, CommandError):
        return one_line(problem), problem.exit_code
    if hasattr(problem, "format_message"):  # typer's own: an option or argument is wrong
        context = getattr(problem, "ctx", None)
        where = context.command_path if context is not None else "hedgerow"
        said = one_line(problem.format_message()).rstrip(".")  # nothing, if help was shown
        return said and f"{said}. See `{where} --help`.", MISUSED
    if isinstance(problem, MemoryError):
        return "there is not enough memory for this. Use fewer rows or columns.", FAILED
    if isinstance(problem, OSError) and problem.strerror:
        named = f"{problem.filename}: " if problem.filename else ""
        return f"{named}{problem.strerror.rstrip('.')}.", FAILED
    if isinstance(problem, ValueError | TypeError | OSError):  # the library's own words
        return one_line(problem), FAILED
    kind = type(problem).__name__
    return f"{kind}: {one_line(problem)} (`--debug` shows where)", FAILED


def one_line(message: object) -> str:
    """Write a message on one line."""
    return " ".join(str(message).split())


def meant(given: str, known: Iterable[object]) -> str:
    """Ask whether the known name that is most like the given one was meant.

    >>> meant("incone", ["age", "income"])
    " Did you mean 'income'?"
    >>> meant("x", ["age", "income"])
    ''
    """
    names = {str(name).lower(): str(name) for name in known}
    close = difflib.get_close_matches(given.lower(), list(names), n=1)
    return f" Did you mean {names[close[0]]!r}?" if close else ""


def listed(names: Iterable[object], most: int = 8) -> str:
    """List names, the first of many.

    >>> listed("abc", most=2)
    'a, b, ... 1 more'
    """
    texts = [str(name) for name in names]
    if len(texts) > most:
        texts[most:] = [f"... {len(texts) - most} more"]
    return ", ".join(texts)
