"""Hypothesis profiles: `ci` tries the same examples every time, `search` looks for new ones."""

import os
import signal

import pytest
from hypothesis import settings

from hedgerow.kernels import team
from hedgerow.trees import grower

# No deadline: the first call of a kernel compiles it.
settings.register_profile("ci", max_examples=25, deadline=None, derandomize=True)
settings.register_profile("search", max_examples=500, deadline=None)
# Fits of tests wait for their kernels, and have no process compile them; see test_first_fits.py.
os.environ.setdefault("HEDGEROW_INTERPRET", "0")
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))
# A shell's background job ignores SIGINT, and so would all that it starts; tests interrupt fits.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="module")
def many_hands():
    """Let as many threads as are asked for share whatever little there is to do, and each leaf."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("_BRIEF", "_FEW_STEPS"):
            patch.setattr(team, name, 0)
        patch.setattr(grower, "_AHEAD", 0)
        yield
