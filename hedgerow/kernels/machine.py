"""The few machine instructions that Numba has no word for, each with a plain-Python twin.

With the JIT off (`NUMBA_DISABLE_JIT=1`) the twin takes the instruction's place, so that
every kernel runs, can be stepped through and is counted by coverage.
"""

import platform
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.extending import _Intrinsic

from hedgerow.kernels.jit import config

_BYTE, _INT, _WORD = ir.IntType(8), ir.IntType(32), ir.IntType(64)
_LOCK = threading.Lock()


class _Instruction(_Intrinsic):  # type: ignore[misc]  # numba is untyped
    """An intrinsic of Numba in kernels; called from Python, its twin."""

    def __init__(self, generator: Callable[..., Any], twin: Callable[..., Any]) -> None:
        super().__init__(generator.__name__, generator)
        self._twin = twin
        self._register()

    def __call__(self, *arguments: Any) -> Any:
        return self._twin(*arguments)


def instruction(twin: Callable[..., Any]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Make an intrinsic of a code generator, or its twin if the JIT is off."""
    return lambda generator: twin if config.DISABLE_JIT else _Instruction(generator, twin)


def address(context: Any, builder: Any, signature: Any, arguments: Any, item: Any) -> Any:
    """Pointer to `item` number arguments[1] of the array arguments[0]."""
    array = context.make_array(signature.args[0])(context, builder, arguments[0])
    start = builder.bitcast(array.data, item.as_pointer())
    return builder.gep(start, [arguments[1]])


def call_llvm(builder: Any, name: str, result: Any, arguments: Any = ()) -> Any:
    """Call a function of LLVM or of the system by its name."""
    kind = ir.FunctionType(result, [argument.type for argument in arguments])
    return builder.call(cgutils.get_or_insert_function(builder.module, kind, name), arguments)


def spread(builder: Any, number: Any, lane: Any) -> Any:
    """Return a vector, of the type `lane`, that has the same number everywhere."""
    nothing = ir.Constant(lane, ir.Undefined)
    first = builder.insert_element(nothing, number, _INT(0))
    return builder.shuffle_vector(
        first, nothing, ir.Constant(ir.VectorType(_INT, lane.count), None)
    )


def _load(kind):
    """Return a code generator: the integer that starts at a byte, as an int32."""

    def generate(context, builder, signature, arguments):
        place = address(context, builder, signature, arguments, _BYTE)
        loaded = builder.load(builder.bitcast(place, kind.as_pointer()), align=1)
        return loaded if kind is _INT else builder.zext(loaded, _INT)

    return generate


@instruction(lambda codes, byte: int(codes.reshape(-1)[byte : byte + 2].view(np.uint16)[0]))
def load_two(_typing, codes, byte):
    """Return the two codes that start at `byte` as one integer, the first one lowest."""
    return types.int32(codes, types.int64), _load(ir.IntType(16))


@instruction(lambda codes, byte: codes.reshape(-1)[byte : byte + 4].view(np.int32)[0])
def load_four(_typing, codes, byte):
    """Return the four codes that start at `byte` as one integer, the first one lowest."""
    return types.int32(codes, types.int64), _load(_INT)


@instruction(lambda codes, byte: None)
def prefetch(_typing, codes, byte):
    """Ask for the cache line of `byte`, which will be needed soon."""

    def generate(context, builder, signature, arguments):
        place = address(context, builder, signature, arguments, _BYTE)
        read, keep, is_data = _INT(0), _INT(3), _INT(1)
        call_llvm(builder, "llvm.prefetch.p0", ir.VoidType(), [place, read, keep, is_data])
        return context.get_dummy_value()

    return types.void(codes, types.int64), generate


@instruction(lambda bits: np.int32(bits).view(np.float32))
def float_of_bits(_typing, bits):
    """Return the float32 whose bit pattern is `bits`."""

    def generate(context, builder, signature, arguments):
        return builder.bitcast(arguments[0], ir.FloatType())

    return types.float32(types.int32), generate


@instruction(lambda x: np.float32(x).view(np.int32))
def bits_of_float(_typing, x):
    """Return the bit pattern of a float32."""

    def generate(context, builder, signature, arguments):
        return builder.bitcast(arguments[0], _INT)

    return types.int32(types.float32), generate


@instruction(lambda bits: np.asarray(bits, np.int64).view(np.float64)[()])
def double_of_bits(_typing, bits):
    """Return the float64 whose bit pattern is `bits`; in Python, also of an array."""

    def generate(context, builder, signature, arguments):
        return builder.bitcast(arguments[0], ir.DoubleType())

    return types.float64(types.int64), generate


@instruction(lambda x: np.asarray(x, np.float64).view(np.int64)[()])
def bits_of_double(_typing, x):
    """Return the bit pattern of a float64; in Python, also of an array."""

    def generate(context, builder, signature, arguments):
        return builder.bitcast(arguments[0], _WORD)

    return types.int64(types.float64), generate


def _change(how):
    """Return a code generator: change a cell so that no thread comes between; what was there."""

    def generate(context, builder, signature, arguments):
        target = address(context, builder, signature, arguments, _WORD)
        return builder.atomic_rmw(how, target, arguments[2], "seq_cst")

    return generate


def _change_under_lock(changed):
    def change(cells, place, value):
        with _LOCK:
            before = cells[place]
            cells[place] = changed(before, value)
            return before

    return change


@instruction(_change_under_lock(lambda before, step: before + step))
def atomic_add(_typing, cells, place, step):
    """Add `step` to cells[place] and return what was there before."""
    return types.int64(cells, types.int64, types.int64), _change("add")


@instruction(_change_under_lock(max))
def atomic_raise(_typing, cells, place, least):
    """Set cells[place] to `least` if it is below, and return what was there before."""
    return types.int64(cells, types.int64, types.int64), _change("max")


@instruction(lambda cells, place: cells[place])
def atomic_load(_typing, cells, place):
    """Return cells[place] as another thread last stored it."""

    def generate(context, builder, signature, arguments):
        target = address(context, builder, signature, arguments, _WORD)
        return builder.load_atomic(target, "acquire", 8)

    return types.int64(cells, types.int64), generate


@instruction(lambda cells, place, value: cells.__setitem__(place, value))
def atomic_store(_typing, cells, place, value):
    """Set cells[place]; a thread that sees it sees all that was written before it."""

    def generate(context, builder, signature, arguments):
        target = address(context, builder, signature, arguments, _WORD)
        builder.store_atomic(arguments[2], target, "release", 8)
        return context.get_dummy_value()

    return types.void(cells, types.int64, types.int64), generate


@instruction(lambda: None)
def pause(_typing):
    """Tell the core that this is a waiting loop."""

    def generate(context, builder, signature, arguments):
        if platform.machine() in ("x86_64", "AMD64"):
            call_llvm(builder, "llvm.x86.sse2.pause", ir.VoidType())
        return context.get_dummy_value()

    return types.void(), generate


@instruction(lambda: time.sleep(0))
def give_way(_typing):
    """Let another thread have the core."""

    def generate(context, builder, signature, arguments):
        call_llvm(builder, "sched_yield", _INT)
        return context.get_dummy_value()

    return types.void(), generate


@instruction(lambda word: (int(word) & -int(word)).bit_length() - 1)
def lowest_bit(_typing, word):
    """Return the place of the lowest bit that is set in a word that is not zero."""

    def generate(context, builder, signature, arguments):
        never_zero = ir.IntType(1)(1)
        return call_llvm(builder, "llvm.cttz.i64", _WORD, [arguments[0], never_zero])

    return types.int64(types.int64), generate
