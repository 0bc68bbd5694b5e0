"""Hypothesis profiles: `dev` is quick, `ci` tries harder and always tries the same."""

import os

from hypothesis import settings

# No deadline: the first call of a kernel compiles it.
settings.register_profile("dev", max_examples=25, deadline=None)
settings.register_profile("ci", max_examples=500, deadline=None, derandomize=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "dev"))
