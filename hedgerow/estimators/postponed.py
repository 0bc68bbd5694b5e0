"""Modules that a library imports and may never use: they are imported when something is asked.

`import sklearn.base` imports scipy.stats, for one function that few call, and pandas, for
nobody. The two take more than half of its time.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import ModuleType
from typing import Any


class StandIn(ModuleType):
    """Stands where a module is looked for, and speaks for it as soon as anything is asked.

    Whoever imported the stand-in may keep it for ever: what it has is what the module has.
    """

    def __init__(self, spec: ModuleSpec) -> None:
        super().__init__(spec.name)
        self.__spec__ = spec

    def __getattr__(self, name: str) -> Any:
        self._step_aside()
        return getattr(import_module(self.__name__), name)

    def _step_aside(self) -> None:
        """Let the next import find the module itself."""
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]


@contextmanager
def postponed(*names: str) -> Iterator[None]:
    """Give stand-ins to whoever imports these modules meanwhile; after it, the modules.

    What is imported already, and what is not installed, stays as it is.
    """
    specs = [find_spec(name) for name in names if name not in sys.modules]
    placed = [StandIn(spec) for spec in specs if spec is not None]
    sys.modules.update({each.__name__: each for each in placed})
    try:
        yield
    finally:
        for each in placed:
            each._step_aside()
