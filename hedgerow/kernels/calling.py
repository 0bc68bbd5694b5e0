"""Calling: how all members of a team come to be in one kernel, with no Python but the caller's.

For a thread to get the GIL and unpack a kernel's arguments takes up to a tenth of a
millisecond, as long as a pass over a hundred thousand rows. So only member 0 does. It posts
where the unpacked arguments are, and what is to be done with them; its helpers `serve`, that
is wait for it inside a kernel, for some tenths of a millisecond after the last call.

A call can also be written down, unpacked as it is, and be made later, again and again: see
errands.py.
"""

from types import FunctionType
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils

from hedgerow.kernels.jit import Function, config, kernel, part
from hedgerow.kernels.machine import (
    atomic_add,
    atomic_load,
    atomic_raise,
    atomic_store,
    give_way,
    instruction,
    pause,
)
from hedgerow.kernels.meeting import CALLS, EXPECTED, HELPERS, PLACES, be_patient

_WORK, _GIVEN = CALLS + 1, CALLS + 2  # addresses of what was called for, and of its arguments
# Places in a helper's line, after the one that tells whether it is awake: numbers of the last
# call that it has done with, and of the last that it has begun or need not begin any more.
_DONE, _CLAIMED = 1, 2
# Places in a note: the address of what is to be done, how many bytes its arguments have (before it
# is written: how many there is room for), and from _FIRST on the arguments.
WORK, SIZE, FIRST = 0, 1, 2
# Pauses, about two tenths of a millisecond, and times that the core is offered to others, about a
# millisecond if nobody wants it: Python between two kernels takes less.
_MOMENT, _OFFERS = 20_000, 2_000

_WORD, _ADDRESS = ir.IntType(64), ir.IntType(8).as_pointer()
_WORDS = _WORD.as_pointer()
_WORK_KIND = ir.FunctionType(ir.VoidType(), [_ADDRESS, _WORD])


def _one_call(context: Any, module: Any, compiled: Any, signature: Any, given: Any) -> Any:
    """Return a function (address of arguments, thread): one member's call; a team is the first."""
    name = module.get_unique_name(f"{compiled.fndesc.mangled_name}.call")
    function = ir.Function(module, _WORK_KIND, name)
    function.linkage = "internal"
    builder = ir.IRBuilder(function.append_basic_block())
    address, thread = function.args
    place = builder.bitcast(address, given.as_pointer())
    places = [cgutils.gep_inbounds(builder, place, 0, i) for i in range(len(given))]
    arguments = [builder.load(each) for each in places]
    arguments[0] = builder.insert_value(arguments[0], thread, 0)
    context.call_internal_no_propagate(builder, compiled.fndesc, signature, arguments)
    builder.ret_void()
    return function


def _never(*_: Any) -> None:
    raise RuntimeError("With the JIT off each member calls a kernel itself: nothing is posted.")


@instruction(_never)
def post_and_do(typing, team, work, arguments):
    """Let every member call work(its team, *arguments), this one at once; or write it down.

    The arguments are on this thread's stack: it must not leave before all have ended. A team
    that has a note is to do nothing but write there what it would have done.
    """
    signature = work.get_call_type(typing, (team, *arguments.types), {})

    def generate(context, builder, _, values):
        compiled = work.dispatcher.get_compile_result(signature)
        context.add_linking_libs([compiled.library])
        thread, n_threads, meeting, note = (builder.extract_value(values[0], i) for i in range(4))
        member = builder.insert_value(values[0], _WORD(0), 3)
        own = [member, *cgutils.unpack_tuple(builder, values[2])]
        given = ir.LiteralStructType([value.type for value in own])
        function = _one_call(context, builder.module, compiled, signature, given)
        room = cgutils.alloca_once(builder, given)
        is_written = builder.icmp_signed("!=", note, _WORD(0))
        with builder.if_else(is_written) as (if_written, if_done):
            with if_written:
                _write(context, builder, builder.inttoptr(note, _WORDS), function, own, given)
            with if_done:
                _store(builder, own, room)
                room = builder.bitcast(room, _ADDRESS)
                with builder.if_then(builder.icmp_signed(">", n_threads, _WORD(1))):
                    words = context.make_array(team.types[2])(context, builder, meeting).data
                    _put(builder, words, _WORK, builder.ptrtoint(function, _WORD))
                    _put(builder, words, _GIVEN, builder.ptrtoint(room, _WORD))
                    number = builder.gep(words, [_WORD(CALLS)])
                    builder.atomic_rmw("add", number, _WORD(1), "seq_cst")
                builder.call(function, [room, thread])
        return context.get_dummy_value()

    return types.void(team, work, arguments), generate


def _write(context: Any, builder: Any, note: Any, function: Any, own: Any, given: Any) -> None:
    """Write a call into a note, if there is room for its arguments; and how many bytes they are."""
    n_bytes = _WORD(context.get_abi_sizeof(given))
    room = builder.load(builder.gep(note, [_WORD(SIZE)]))
    _put(builder, note, WORK, builder.ptrtoint(function, _WORD))
    _put(builder, note, SIZE, n_bytes)
    with builder.if_then(builder.icmp_signed(">=", room, n_bytes)):
        first = builder.gep(note, [_WORD(FIRST)])
        _store(builder, own, builder.bitcast(first, given.as_pointer()))


def _store(builder: Any, own: Any, place: Any) -> None:
    for i, value in enumerate(own):
        builder.store(value, cgutils.gep_inbounds(builder, place, 0, i))


def _put(builder: Any, words: Any, place: int, word: Any) -> None:
    builder.store(word, builder.gep(words, [_WORD(place)]))


@instruction(_never)
def do_posted(_typing, work, given, thread):
    """Do what was posted: two addresses of the member who did."""

    def generate(context, builder, _, values):
        function = builder.inttoptr(values[0], _WORK_KIND.as_pointer())
        builder.call(function, [builder.inttoptr(values[1], _ADDRESS), values[2]])
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, types.int64), generate


# Each kernel has globals of these names: what its members do, and how member 0 waits for them.
work: Any = None
await_helpers: Any = None


def _call(team, *arguments):
    post_and_do(team, work, arguments)
    await_helpers(team)


@part
def _await_all(team):
    """Wait until all helpers have done what was posted."""
    n_calls = atomic_load(team.meeting, CALLS)
    for thread in range(1, team.n_threads):
        _await(team.meeting, HELPERS + PLACES * thread + _DONE, n_calls)


@part
def _await_begun(team):
    """Wait for the helpers that have begun with what was posted; others need not begin."""
    n_calls = atomic_load(team.meeting, CALLS)
    for thread in range(1, team.n_threads):
        theirs = HELPERS + PLACES * thread
        if atomic_raise(team.meeting, theirs + _CLAIMED, n_calls) == n_calls:
            _await(team.meeting, theirs + _DONE, n_calls)


@part
def _await(meeting, place, least):
    waited = 0
    while atomic_load(meeting, place) < least:
        waited += 1
        be_patient(waited)


def team_kernel(function: Function) -> Function:
    """Compile a function of (team, ...) that Python calls for member 0, and all members do.

    With the JIT off it stays as it is, and each member calls it.
    """
    return _posted(function, _await_all)


def helped_kernel(function: Function) -> Function:
    """As `team_kernel`, of a function that needs no helper: those who come late do not begin."""
    return _posted(function, _await_begun)


def _posted(function: Function, wait: Any) -> Function:
    if config.DISABLE_JIT:
        return function
    code = function.__code__
    named = _call.__code__.replace(
        co_name=code.co_name,
        co_qualname=code.co_qualname,
        co_filename=code.co_filename,
        co_firstlineno=code.co_firstlineno,
    )
    known = {"post_and_do": post_and_do, "await_helpers": wait, "work": part(function)}
    caller: Any = FunctionType(named, known)
    caller.__module__, caller.__doc__ = function.__module__, function.__doc__
    compiled: Any = kernel(caller)
    compiled.is_posted, compiled.needs_all = True, wait is _await_all
    if hasattr(compiled, "plain"):
        compiled.plain = lambda team, given: function(team, *given)
    return compiled


@kernel
def do_noted(team, work, given, needs_all):
    """Let every member do what was written down: see errands.py."""
    do_written(team, work, given, needs_all)


@part
def do_written(team, work, given, needs_all):
    """Let every member do work on what is given, two addresses; needs_all: latecomers, too."""
    if team.n_threads > 1:
        team.meeting[_WORK], team.meeting[_GIVEN] = work, given
        atomic_add(team.meeting, CALLS, 1)
    do_posted(work, given, team.thread)
    if team.n_threads > 1 and needs_all:
        _await_all(team)
    elif team.n_threads > 1:
        _await_begun(team)


@kernel
def serve(meeting, thread):
    """Do what member 0 posts, until nothing has come for a moment and nothing is expected."""
    mine = HELPERS + PLACES * thread
    atomic_store(meeting, mine, 1)
    n_done, waited = meeting[mine + _DONE], 0
    while True:
        n_calls = atomic_load(meeting, CALLS)
        if n_calls > n_done:
            if atomic_raise(meeting, mine + _CLAIMED, n_calls) < n_calls:
                do_posted(meeting[_WORK], meeting[_GIVEN], thread)
            n_done, waited = n_calls, 0
            atomic_store(meeting, mine + _DONE, n_done)
        elif waited < _MOMENT + _OFFERS and atomic_load(meeting, EXPECTED) >= 0:
            waited += 1
            if waited < _MOMENT:
                pause()
            else:
                give_way()
        elif atomic_load(meeting, EXPECTED) > n_done:
            give_way()
        else:
            # Say so before looking once more; a caller expects first, and then looks who is awake.
            atomic_add(meeting, mine, -1)
            if atomic_add(meeting, EXPECTED, 0) <= n_done:
                return
            atomic_store(meeting, mine, 1)


@kernel
def expect(meeting, n_threads):
    """Expect a call, so that no helper leaves. Returns the first that sleeps, or n_threads."""
    atomic_add(meeting, EXPECTED, meeting[CALLS] + 1 - meeting[EXPECTED])
    for thread in range(1, n_threads):
        if atomic_add(meeting, HELPERS + PLACES * thread, 0) == 0:
            return thread
    return n_threads
