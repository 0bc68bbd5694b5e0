"""How the site is built: `make docs`, by Sphinx, MyST and furo; see docs/decisions/0033."""

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

project = "hedgerow"
copyright = "the hedgerow developers"
extensions = ["myst_parser", "described", "pictures"]
source_suffix = {".md": "markdown"}
exclude_patterns = ["_build"]

nitpicky = True
myst_heading_anchors = 3
smartquotes = False  # "auto" is a value, not a quotation
add_module_names = False
python_maximum_signature_line_length = 88
maximum_signature_line_length = 88
toc_object_entries_show_parents = "hide"

html_theme = "furo"
html_title = "hedgerow"
html_copy_source = False
html_show_sphinx = False
