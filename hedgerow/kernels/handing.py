"""Handing over: between compiled functions our NamedTuples go by address, not field by field.

Numba hands over a NamedTuple as all of its fields, and those of the tuples and arrays in it: what a
tree is grown from would be some hundreds of arguments, written out at every call, and taken apart
and put together again in every function. Here a NamedTuple of ours is one address. A function reads
a field where it needs it, and hands on the address that it was given.

A NamedTuple never changes, and whoever calls waits for the call to end. So what is at an address
stays as it is for as long as a function that was given it can look there.
"""

from collections import Counter
from typing import Any, NamedTuple

from llvmlite import ir as llvm
from numba import types
from numba.core import cgutils, ir
from numba.core.datamodel.models import TupleModel, UniTupleModel
from numba.core.datamodel.registry import default_manager
from numba.core.lowering import Lower

_PACKAGE = __name__.partition(".")[0]
_BYTE, _OFFSET, _ADDRESS = llvm.IntType(8), llvm.IntType(32), llvm.PointerType()


def is_by_address(kind: Any) -> bool:
    """Tell whether values of a type are handed over by address: NamedTuples of the package."""
    if not isinstance(kind, types.BaseNamedTuple) or len(kind) == 0:
        return False
    return bool(kind.instance_class.__module__.partition(".")[0] == _PACKAGE)


class _Handed(NamedTuple):
    """Where a value is that is to be handed over."""

    pointer: Any


class _ByAddress:
    """How a NamedTuple is an argument and a result; those of others are what they were."""

    def get_argument_type(self: Any) -> Any:
        if not is_by_address(self._fe_type):
            return super().get_argument_type()  # type: ignore[misc]
        return _ADDRESS

    def as_argument(self: Any, builder: Any, value: Any) -> Any:
        if not is_by_address(self._fe_type):
            return super().as_argument(builder, value)  # type: ignore[misc]
        if isinstance(value, _Handed):
            return value.pointer
        pointer = cgutils.alloca_once(builder, self.get_value_type())
        builder.store(value, pointer)
        return pointer

    def from_argument(self: Any, builder: Any, value: Any) -> Any:
        if not is_by_address(self._fe_type):
            return super().from_argument(builder, value)  # type: ignore[misc]
        return builder.load(value, typ=self.get_value_type())


class _StructByAddress(_ByAddress, TupleModel):  # type: ignore[misc]  # numba is untyped
    pass


class _ArrayByAddress(_ByAddress, UniTupleModel):  # type: ignore[misc]  # numba is untyped
    pass


default_manager.register(types.NamedTuple, _StructByAddress)
default_manager.register(types.NamedUniTuple, _ArrayByAddress)


class _Place(NamedTuple):
    """A value in memory: of which argument, or None in a variable's own slot; bytes from there."""

    argument: int | None
    name: str
    offset: int


class AddressLower(Lower):  # type: ignore[misc]  # numba is untyped
    """Lowering of functions that own no memory, whose NamedTuples stay where they are.

    A variable that is set once, to (a field of) an argument, is a name of its place. Any other
    variable of a NamedTuple has a slot of its own, as variables of several blocks have in Numba.
    """

    def init(self) -> None:
        """Find out which variables are names of places."""
        super().init()
        self._is_handing = False
        assigned = [i for block in self.blocks.values() for i in block.find_insts(ir.Assign)]
        times = Counter(each.target.name for each in assigned)
        self._definitions = {
            each.target.name: each.value for each in assigned if times[each.target.name] == 1
        }
        self._places: dict[str, _Place | None] = {}
        for name in times:
            if is_by_address(self.typeof(name)):
                self._singly_assigned_vars.discard(name)

    def setup_function(self, fndesc: Any) -> None:
        """Let LLVM know that what is handed over does not change."""
        super().setup_function(fndesc)
        self._pointers = {}
        arguments = iter(self.call_conv.get_arguments(self.function))
        for index, kind in enumerate(fndesc.argtypes):
            width = len(self.context.get_arg_packer([kind]).argument_types)
            own = [next(arguments) for _ in range(width)]
            if is_by_address(kind):
                [pointer] = own
                for word in ("noalias", "captures(none)", "nonnull"):
                    pointer.add_attribute(word)
                pointer.attributes.dereferenceable = _layout(self.context, kind).size
                self._pointers[index] = pointer

    def extract_function_arguments(self) -> Any:
        """Take all arguments but addresses."""
        kinds = [
            types.Omitted(None) if index in self._pointers else kind
            for index, kind in enumerate(self.fndesc.argtypes)
        ]
        given = set(self._pointers.values())
        values = [each for each in self.call_conv.get_arguments(self.function) if each not in given]
        self.fnargs = self.context.get_arg_packer(kinds).from_arguments(self.builder, values)
        return self.fnargs

    def lower_inst(self, inst: Any) -> None:
        """Lower a statement, unless it gives a name to a place, or an end to a variable."""
        if isinstance(inst, ir.Del):
            return
        if isinstance(inst, ir.Assign) and self._is_name(inst.target.name):
            return
        super().lower_inst(inst)

    def lower_assign(self, ty: Any, inst: Any) -> Any:
        """Lower what is assigned: an argument that came by address is read."""
        if isinstance(inst.value, ir.Arg) and inst.value.index in self._pointers:
            kind = self.typeof("arg." + inst.value.name)
            value = self._load(_Place(inst.value.index, "", 0), 0, kind)
            return self.context.cast(self.builder, value, kind, ty)
        return super().lower_assign(ty, inst)

    def lower_expr(self, resty: Any, expr: Any) -> Any:
        """Lower an expression: of a NamedTuple only the field that is asked for is read."""
        field = self._field(expr)
        if field is None:
            return super().lower_expr(resty, expr)
        kind, offset = field
        value = self._load(self._place(expr.value.name), offset, kind)
        return self.context.cast(self.builder, value, kind, resty)

    def _lower_call_normal(self, fnty: Any, expr: Any, signature: Any) -> Any:
        of_ours = isinstance(fnty, types.BoundFunction) and is_by_address(fnty.this)
        self._is_handing = isinstance(fnty, types.Dispatcher) or of_ours
        try:
            return super()._lower_call_normal(fnty, expr, signature)
        finally:
            self._is_handing = False

    def _cast_var(self, var: Any, ty: Any) -> Any:
        is_handing = self._is_handing
        self._is_handing = is_handing and isinstance(var, ir.Var) and self.typeof(var.name) == ty
        try:
            return super()._cast_var(var, ty)
        finally:
            self._is_handing = is_handing

    def loadvar(self, name: str) -> Any:
        """Return the value of a variable, or where it is if it is to be handed over."""
        kind = self.typeof(name)
        kind = kind.this if isinstance(kind, types.BoundFunction) else kind
        if not is_by_address(kind):
            return super().loadvar(name)
        place = self._place(name)
        if self._is_handing:
            return _Handed(self._pointer(place))
        return self._load(place, 0, kind)

    def storevar(self, value: Any, name: str, argidx: Any = None) -> None:
        """Set a variable; nobody counts references to what it was before."""
        super().storevar(value, name, 0 if argidx is None else argidx)

    def _alloca_var(self, name: str, fetype: Any) -> None:
        if not self._is_name(name):
            super()._alloca_var(name, fetype)

    def _is_name(self, name: str) -> bool:
        place = self._named(name)
        return place is not None and (place.argument is not None or place.name != name)

    def _place(self, name: str) -> _Place:
        return self._named(name) or _Place(None, name, 0)

    def _named(self, name: str) -> _Place | None:
        """Return the place that a variable is a name of, or None."""
        if name not in self._places:
            self._places[name] = None  # of one that is set to itself
            self._places[name] = self._found(name)
        return self._places[name]

    def _found(self, name: str) -> _Place | None:
        kind, value = self.typeof(name), self._definitions.get(name)
        bound = isinstance(kind, types.BoundFunction)
        kind = kind.this if bound else kind
        if value is None or not is_by_address(kind):
            return None
        if isinstance(value, ir.Arg):
            is_same = self.typeof("arg." + value.name) == kind
            return _Place(value.index, "", 0) if is_same else None
        if isinstance(value, ir.Var):
            return self._inside(value.name, kind, 0)
        if not isinstance(value, ir.Expr):
            return None
        if bound and value.op == "getattr":
            source = value.value.name
            if self.typeof(source) != kind:
                return None
            return self._named(source) or _Place(None, source, 0)
        if value.op == "exhaust_iter":
            return self._inside(value.value.name, kind, 0)
        field = self._field(value)
        if field is None or field[0] != kind:
            return None
        above = self._named(value.value.name)
        if above is None or above.argument is None:
            return None
        return above._replace(offset=above.offset + field[1])

    def _inside(self, source: str, kind: Any, offset: int) -> _Place | None:
        place = self._named(source)
        if self.typeof(source) != kind or place is None or place.argument is None:
            return None
        return place._replace(offset=place.offset + offset)

    def _field(self, expr: Any) -> Any:
        """Return the type of the field that an expression asks for, and its offset; or None."""
        if expr.op not in ("getattr", "static_getitem"):
            return None
        kind = self.typeof(expr.value.name)
        if not is_by_address(kind):
            return None
        if expr.op == "getattr":
            if expr.attr not in kind.fields:
                return None
            index = kind.fields.index(expr.attr)
        else:
            index = expr.index
            if not isinstance(index, int) or not 0 <= index < len(kind):
                return None
        return kind[index], _layout(self.context, kind).offsets[index]

    def _pointer(self, place: _Place, offset: int = 0) -> Any:
        slot = place.argument is None
        pointer = self.getvar(place.name) if slot else self._pointers[place.argument]
        offset += place.offset
        if offset == 0:
            return pointer
        by = [llvm.Constant(_OFFSET, offset)]
        return self.builder.gep(pointer, by, inbounds=True, source_etype=_BYTE)

    def _load(self, place: _Place, offset: int, kind: Any) -> Any:
        pointer = self._pointer(place, offset)
        return self.builder.load(pointer, typ=self.context.get_value_type(kind))


_layouts: dict[tuple[Any, int], "_Layout"] = {}
_sizes: dict[str, tuple[int, int]] = {}


class _Layout(NamedTuple):
    """How a NamedTuple lies in memory: bytes in all, and before each field."""

    size: int
    offsets: list[int]


def _layout(context: Any, kind: Any) -> _Layout:
    """Return how a NamedTuple lies in memory; its type has a number that no other ever has."""
    key = context, kind._code
    if key not in _layouts:
        found = context.get_value_type(kind)
        size, _, offsets = _laid_out(context, found)
        _layouts[key] = _Layout(size, offsets)
    return _layouts[key]


def _laid_out(context: Any, kind: Any) -> tuple[int, int, list[int]]:
    """Return the bytes of an LLVM type, which multiples it lies at, and the bytes before fields."""
    is_array = isinstance(kind, llvm.ArrayType)
    if not is_array and not isinstance(kind, llvm.LiteralStructType):
        word = str(kind)
        if word not in _sizes:
            _sizes[word] = context.get_abi_sizeof(kind), context.get_abi_alignment(kind)
        return *_sizes[word], []
    fields = [kind.element] * kind.count if is_array else kind.elements
    offsets, end, most = [], 0, 1
    for field in fields:
        size, multiple, _ = _laid_out(context, field)
        offsets.append(-(-end // multiple) * multiple)
        end, most = offsets[-1] + size, max(most, multiple)
    return -(-end // most) * most, most, offsets
