"""A directive for Sphinx that shows what docstrings say: `{described} hedgerow.export_text`.

Docstrings here are Markdown in sections of numpydoc: indented formulas, `names` in backticks. So
they are given to the parser of the page they stand on, which is MyST's, and not to that of
reStructuredText, where a formula with |x| or two stars would be markup.
"""

import inspect
import re
from collections.abc import Iterator
from importlib import import_module
from typing import Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

_OF_ITEMS = ("Parameters", "Attributes")
_SECTION = re.compile(r"^([A-Z][A-Za-z ]*)\n-{3,}\n", re.M)
_RULE = re.compile(r"={3,}( +={3,})+")
_ITEM = re.compile(r"(?P<names>[\w*, ]+?)(?: : ?(?P<kind>.*))?")


class Described(SphinxDirective):
    """Show the signature and the docstring of a name, and of a class's methods."""

    required_arguments = 1
    option_spec: ClassVar[dict[str, Any]] = {"without-members": directives.flag}

    def run(self) -> list[nodes.Node]:
        """Return what the page shows."""
        room, _, name = self.arguments[0].rpartition(".")
        text = description(getattr(import_module(room), name), f"{room}.{name}")
        if inspect.isclass(getattr(import_module(room), name)):
            if "without-members" not in self.options:
                text += "".join(members(getattr(import_module(room), name)))
            text = fenced(text, 6)
        self.env.note_dependency(__file__)
        return list(self.parse_text_to_nodes(text))


def description(thing: Any, name: str) -> str:
    """Return the signature and docstring of a class or function."""
    if inspect.isclass(thing):
        return f"{{py:class}} {name}{signature(thing)}\n\n{markdown(thing.__doc__ or '')}\n"
    return fenced(f"{{py:function}} {name}{signature(thing)}\n\n{markdown(thing.__doc__ or '')}", 5)


def members(kind: type) -> Iterator[str]:
    """Yield the methods and properties of a class that the library wrote, as they are shown."""
    seen = set()
    for base in kind.__mro__:
        for name, member in vars(base).items():
            is_ours = not name.startswith("_") and base.__module__.startswith("hedgerow")
            if not is_ours or name in seen:
                continue
            seen.add(name)
            shown = getattr(kind, name)
            if isinstance(member, property) and member.__doc__:
                yield fenced(f"{{py:property}} {name}\n\n{markdown(member.__doc__)}", 5)
            elif callable(shown) and not inspect.isclass(shown) and shown.__doc__:
                call = f"{name}{signature(shown)}"
                yield fenced(f"{{py:method}} {call}\n\n{markdown(shown.__doc__)}", 5)


def signature(thing: Any) -> str:
    """Return the parameters of a function with their defaults, without types."""
    try:
        found = inspect.signature(thing)
    except ValueError:
        return ""
    shown = [
        each.replace(annotation=inspect.Parameter.empty)
        for each in found.parameters.values()
        if each.name != "self"
    ]
    return str(found.replace(parameters=shown, return_annotation=inspect.Signature.empty))


def fenced(text: str, n_ticks: int) -> str:
    """Return a text as a block of Markdown."""
    return f"{'`' * n_ticks}{text.rstrip()}\n{'`' * n_ticks}\n\n"


def markdown(docstring: str) -> str:
    """Return a docstring as Markdown, with a list for each section of items."""
    first, *rest = _SECTION.split(inspect.cleandoc(docstring))
    pieces = [prose(first)]
    for title, text in zip(rest[::2], rest[1::2], strict=True):
        pieces.append(f"**{title}**")
        pieces.append("\n".join(items(text)) if title in _OF_ITEMS else prose(text))
    return "\n\n".join(pieces)


def prose(text: str) -> str:
    """Return paragraphs, with examples and tables of numpydoc in blocks of their own."""
    shown = []
    for paragraph in re.split(r"\n{2,}", text.strip("\n")):
        if paragraph.lstrip().startswith(">>> "):
            shown.append(fenced("pycon\n" + inspect.cleandoc(paragraph), 3).strip())
        elif _RULE.match(paragraph):
            lines = [line for line in paragraph.splitlines() if not _RULE.match(line)]
            shown.append(fenced("text\n" + "\n".join(lines), 3).strip())
        else:
            shown.append(paragraph)
    return "\n\n".join(shown)


def items(text: str) -> Iterator[str]:
    """Yield the items of a section: a line of names and a kind, then what is said of them."""
    term, said = "", []
    for line in [*text.strip("\n").splitlines(), None]:
        if line is None or (line and not line.startswith(" ")):
            if term.endswith(",") and line is not None:
                term = f"{term} {line}"
                continue
            if term:
                yield item(term, said)
            term, said = line or "", []
        else:
            said.append(line)


def item(term: str, said: list[str]) -> str:
    """Return one item of a list."""
    match = _ITEM.fullmatch(term)
    head = term
    if match:
        names = ", ".join(f"`{name.strip()}`" for name in match["names"].split(","))
        head = f"{names} : {match['kind']}" if match["kind"] else names
    body = prose(inspect.cleandoc("\n".join(["", *said])))
    return "\n".join([f"- {head}", "", *(f"  {line}" for line in body.splitlines()), ""])


def setup(app: Sphinx) -> dict[str, bool]:
    """Tell Sphinx of the directive."""
    app.add_directive("described", Described)
    return {"parallel_read_safe": True}
