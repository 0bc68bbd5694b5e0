"""The command `hedgerow`: what is done outside a program, such as compiling ahead of time."""

from hedgerow.cli.commands import main

__all__ = ["main"]
