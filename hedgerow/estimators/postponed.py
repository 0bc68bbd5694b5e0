"""Modules that a library imports and may never use: they are imported when something is asked.

`import sklearn.base` imports scipy.stats, for one function that few call, pandas, for nobody, and
narwhals and scipy.special, for tables and arrays of other libraries; SciPy imports all that NumPy
has, its compiler of Fortran too. They take most of its time.
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

    def _step_in(self) -> None:
        """Be found by an import, and in the package: `import` looks there, and so does a star."""
        sys.modules[self.__name__] = self
        package, _, name = self.__name__.rpartition(".")
        if package and name not in vars(sys.modules[package]):
            setattr(sys.modules[package], name, self)

    def _step_aside(self) -> None:
        """Let the next import find the module itself."""
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]
        package, _, name = self.__name__.rpartition(".")
        if package in sys.modules and vars(sys.modules[package]).get(name) is self:
            delattr(sys.modules[package], name)


@contextmanager
def postponed(*names: str) -> Iterator[None]:
    """Give stand-ins to whoever imports these modules meanwhile; after it, the modules.

    names: packages before what is in them. What is imported already, and what is not installed,
    stays as it is.
    """
    placed: list[StandIn] = []
    for name in names:
        spec = None if name in sys.modules else _spec_of(name)
        if spec is not None:
            placed.append(StandIn(spec))
            placed[-1]._step_in()
    try:
        yield
    finally:
        for each in placed:
            each._step_aside()


def _spec_of(name: str) -> ModuleSpec | None:
    """Find a module; what is in a package that is not there yet is not looked for."""
    package = name.rpartition(".")[0]
    if isinstance(sys.modules.get(package), StandIn):
        return ModuleSpec(name, None)
    return find_spec(name) if find_spec(name.partition(".")[0]) else None
