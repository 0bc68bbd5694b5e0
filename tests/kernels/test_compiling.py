"""Parts are linked once, into kernels; and compiling leaves Python as it was."""

import gc

import numba
import pytest
from numba.core.errors import TypingError

from hedgerow.kernels import jit
from hedgerow.kernels.jit import _OPTIONS, config, part

pytestmark = pytest.mark.skipif(bool(config.DISABLE_JIT), reason="nothing is compiled")


@part
def _doubled(x):
    return 2 * x


@part
def _raised(x):
    return _doubled(x) + 1


@part
def _both(x):
    return _doubled(x) + _raised(x) + _lowered(x)


@part
def _lowered(x):
    return _raised(x) - 3


def _asked(x):
    return _doubled(x) * _both(x)


def test_a_part_that_several_others_call_is_found_at_every_level():
    # Fails if libraries are linked in any order but that of calls: a symbol is then missing.
    kernel = numba.njit(**_OPTIONS)(_asked)
    assert kernel(5) == _asked(5) == 10 * (10 + 11 + 8)


def test_a_part_holds_its_own_code_only():
    numba.njit(**_OPTIONS)(_asked)(5)
    [compiled] = _both.compiled.overloads.values()
    assert [f.name for f in compiled.library.get_defined_functions()] == [
        compiled.fndesc.llvm_func_name
    ]


@pytest.mark.parametrize("is_good", [True, False])
def test_garbage_is_looked_for_seldom_while_compiling_and_then_as_before(is_good):
    before, during = gc.get_threshold(), []

    @numba.extending.overload(_watched)
    def _(_x):
        during.append(gc.get_threshold())
        return (lambda _x: _x + 1) if is_good else None

    kernel = numba.njit(**_OPTIONS)(_watching)
    if is_good:
        assert kernel(1) == 2
    else:
        with pytest.raises(TypingError):
            kernel("text")
    assert during[0][0] > before[0]
    assert gc.get_threshold() == before


def _watched(_x):
    raise NotImplementedError


def _watching(x):
    return _watched(x)


def test_a_kernel_that_cannot_be_kept_is_compiled_and_never_interpreted(monkeypatch):
    monkeypatch.setattr(jit, "_DIRECTORY", None)
    kernel = jit.interpreted_as(lambda _x: 7)(jit.kernel(_lonely))
    assert not hasattr(kernel, "plain")
    assert kernel(1) == 2


def _lonely(x):
    return x + 1


def test_python_calls_the_twin_of_a_part_and_kernels_the_part():
    assert (_twice(1), _twice(-1)) == (7, 0)
    assert numba.njit(**_OPTIONS)(_asking)(1) == 2


@jit.interpreted_as(lambda x: 7 if x > 0 else NotImplemented)
@part
def _twice(x):
    return x + 1


def _asking(x):
    return _twice(x)
