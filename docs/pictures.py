"""Pictures of the guide are what its examples draw: they are run before pages are read."""

import doctest
import os
import tempfile
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.errors import ExtensionError

PAGE = Path("guide", "plots.md")
FOLDER = Path("guide", "pictures")


def draw(app: Sphinx) -> None:
    """Run the examples of the page of pictures, and keep what they save."""
    page, folder = Path(app.srcdir, PAGE), Path(app.srcdir, FOLDER)
    folder.mkdir(exist_ok=True)
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as apart:
        os.chdir(apart)
        try:
            failed, _ = doctest.testfile(
                str(page),
                module_relative=False,
                optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS,
            )
        finally:
            os.chdir(before)
        if failed:
            raise ExtensionError(f"{failed} examples of {PAGE} do not print what they say.")
        for picture in Path(apart).glob("*.png"):
            Path(folder, picture.name).write_bytes(picture.read_bytes())


def setup(app: Sphinx) -> dict[str, bool]:
    """Tell Sphinx when to draw."""
    app.connect("builder-inited", draw)
    return {"parallel_read_safe": True}
