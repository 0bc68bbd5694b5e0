"""How kernels and their parts are compiled: what is linked, and when it is optimised.

Numba would link all that a function calls into it, optimise the whole, and make machine code of it,
at every level of a call tree. A part is optimised by itself, and no more. A kernel links each part
of its tree once, and is optimised with them.
"""

import gc
from typing import Any

from numba.core import ir
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.compiler_machinery import register_pass
from numba.core.lowering import Lower
from numba.core.typed_passes import BaseNativeLowering, NativeLowering

# Compiling makes objects by the million, few of them garbage: it is looked for a hundredth as
# often.
_SELDOM = 100


class PartLibrary(JITCodeLibrary):  # type: ignore[misc]  # numba is untyped
    """Code that is only there to be linked into kernels."""

    def add_ir_module(self, ir_module: Any) -> None:
        """Take what was lowered; linkers may drop what nobody calls."""
        for function in ir_module.functions:
            if not function.is_declaration:
                function.linkage = "linkonce_odr"
        super().add_ir_module(ir_module)

    def add_llvm_module(self, ll_module: Any) -> None:
        """Keep the one module that a part has, each function of it optimised by itself."""
        self._optimize_functions(ll_module)
        self._final_module = ll_module

    def finalize(self) -> None:
        """Be ready to be linked."""
        self._raise_if_finalized()
        self._finalize_dynamic_globals()
        self._finalized = True


class OutlinedLibrary(PartLibrary):
    """A part that stays where it is when it is linked."""

    def add_ir_module(self, ir_module: Any) -> None:
        """Take what was lowered, and let it stay."""
        for function in ir_module.functions:
            if not function.is_declaration:
                function.attributes.add("noinline")
        super().add_ir_module(ir_module)


class KernelLibrary(JITCodeLibrary):  # type: ignore[misc]  # numba is untyped
    """Code of a kernel, with all parts of its call tree."""

    def finalize(self) -> None:
        """Link parts, those that call before those that are called; optimise; make machine code.

        A linker takes of a library only what is asked for by then.
        """
        found: dict[Any, None] = {}
        _collect(self, found)
        self._linking_libraries = [each for each in reversed(found) if each is not self]
        super().finalize()


def _collect(library: Any, found: dict[Any, None]) -> None:
    """Collect the libraries below one, each after all that it needs, and then itself."""
    if isinstance(library, (PartLibrary, KernelLibrary)):
        for below in library._linking_libraries:
            if below not in found and below is not library:
                _collect(below, found)
    found[library] = None


class _PlainLower(Lower):  # type: ignore[misc]  # numba is untyped
    """Lowering of functions that own no memory: nobody counts references to what variables were."""

    def lower_inst(self, inst: Any) -> None:
        """Lower a statement; the end of a variable is none."""
        if not isinstance(inst, ir.Del):
            super().lower_inst(inst)

    def storevar(self, value: Any, name: str, argidx: Any = None) -> None:
        """Set a variable, without a look at what it was."""
        if name in self._singly_assigned_vars:
            super().storevar(value, name, argidx)
        else:
            self._alloca_var(name, self.typeof(name))
            self.builder.store(value, self.getvar(name))


@register_pass(mutates_CFG=True, analysis_only=False)
class _Lowering(BaseNativeLowering):  # type: ignore[misc]  # numba is untyped
    _name = "hedgerow_lowering"

    @property
    def lowering_class(self) -> Any:
        return _PlainLower


class KernelCompiler(Compiler):  # type: ignore[misc]  # numba is untyped
    """Numba's compiler, with our library and our lowering."""

    _library: type[Any] = KernelLibrary

    def define_pipelines(self) -> Any:
        """Return Numba's pipelines, except for lowering."""
        if self.state.library is None:
            codegen = self.state.targetctx.codegen()
            self.state.library = self._library(codegen, self.state.func_id.func_qualname)
            self.state.library.enable_object_caching()
        managers = super().define_pipelines()
        for manager in managers:
            manager.passes = [
                (_Lowering, about) if each is NativeLowering else (each, about)
                for each, about in manager.passes
            ]
            manager.finalize()
        return managers

    def _compile_core(self) -> Any:
        before = gc.get_threshold()
        gc.set_threshold(_SELDOM * before[0], *before[1:])
        try:
            return super()._compile_core()
        finally:
            gc.set_threshold(*before)


class PartCompiler(KernelCompiler):
    """Compiles parts: there is no machine code of them."""

    _library = PartLibrary

    def define_pipelines(self) -> Any:
        """Return Numba's pipelines, of a function that is not called from Python."""
        managers = super().define_pipelines()
        self.state.flags.no_compile = True
        return managers

    def _compile_core(self) -> Any:
        # A dispatcher needs a function of its own to be known by and to call from Python;
        # that of an empty dictionary raises whatever it is called with.
        result = Compiler._compile_core(self)
        stub: Any = {}.__getitem__
        self.state.targetctx.insert_user_function(stub, result.fndesc, [result.library])
        return result._replace(entry_point=stub)


class OutlinedCompiler(PartCompiler):
    """Compiles parts of which there is one copy in a kernel."""

    _library = OutlinedLibrary
