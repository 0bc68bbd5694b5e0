"""Hypothesis profiles: `ci` tries the same examples every time, `search` looks for new ones."""

import os

from hypothesis import settings

# No deadline: the first call of a kernel compiles it.
settings.register_profile("ci", max_examples=25, deadline=None, derandomize=True)
settings.register_profile("search", max_examples=500, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))
