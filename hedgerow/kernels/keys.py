"""Keys: what is asked of the keys of 64 lanes at once, see `lanes`."""

from llvmlite import ir
from numba import types
from numba.core import cgutils

from hedgerow.kernels.lanes import CLASSES, KEYS, NO_KEY, WEIGHTS, WIDE, Lanes, bits_of
from hedgerow.kernels.machine import instruction

_SHORT, _WORD = ir.IntType(16), ir.IntType(64)


def _some(lanes, first):
    """Return the keys of 64 lanes: with the JIT off."""
    return lanes[KEYS, first : first + WIDE]


@instruction(lambda lanes, key: bits_of(_some(lanes, 0) == key))
def equal_to(_typing, lanes, key):  # noqa: ARG001
    """Return the first 64 lanes that have a key, as bits."""

    def generate(*given):
        lanes = Lanes(given, WIDE)
        key = lanes.spread(lanes.builder.trunc(given[3][1], _SHORT))
        return lanes.bits(lanes.builder.icmp_signed("==", lanes.load(_WORD(KEYS)), key))

    return types.int64(lanes, types.int64), generate


def _nearest(how, comparison, otherwise):
    """Return a code generator: the nearest of the keys that are so."""

    def generate(*given):
        lanes = Lanes(given, WIDE, given[3][2])
        keys, key = lanes.load(_WORD(KEYS)), lanes.builder.trunc(given[3][1], _SHORT)
        is_so = lanes.builder.icmp_signed(comparison, keys, lanes.spread(key))
        nearest = lanes.reduced(how, lanes.where(is_so, keys, otherwise))
        return lanes.builder.sext(nearest, _WORD)

    return generate


def _least_above(lanes, key, first):
    keys = _some(lanes, first)
    return int(keys[keys > key].min(initial=NO_KEY))


@instruction(_least_above)
def key_above(_typing, lanes, key, first):  # noqa: ARG001
    """Return the smallest key above this one, of 64 lanes from `first` on; or NO_KEY."""
    return types.int64(lanes, types.int64, types.int64), _nearest("smin", ">", NO_KEY)


def _largest_up_to(lanes, key, first):
    keys = _some(lanes, first)
    return int(keys[keys <= key].max(initial=-1))


@instruction(_largest_up_to)
def key_up_to(_typing, lanes, key, first):  # noqa: ARG001
    """Return the largest key that is at most this one, of 64 lanes from `first` on; or -1."""
    return types.int64(lanes, types.int64, types.int64), _nearest("smax", "<=", -1)


def _weigh_plain(lanes, key, first, n_classes, sums):
    some = slice(first, first + WIDE)
    for k in range(n_classes):
        is_left = (lanes[KEYS, some] <= key) & (lanes[CLASSES, some] == k)
        sums[k] += int(lanes[WEIGHTS, some][is_left].sum())


@instruction(_weigh_plain)
def weigh(_typing, lanes, key, first, n_classes, sums):  # noqa: ARG001
    """Add to `sums`, int64 [n_classes], the weight of 64 lanes whose keys are at most so large."""

    def generate(*given):
        lanes, (_, key, _, n_classes, sums) = Lanes(given, WIDE, given[3][2]), given[3]
        builder = lanes.builder
        start = given[0].make_array(given[2].args[4])(given[0], builder, sums).data
        key = lanes.spread(builder.trunc(key, _SHORT))
        is_left = builder.icmp_signed("<=", lanes.load(_WORD(KEYS)), key)
        weights = lanes.where(is_left, lanes.load(_WORD(WEIGHTS)), 0)
        classes = lanes.load(_WORD(CLASSES))
        with cgutils.for_range(builder, n_classes, intp=_WORD) as loop:
            own = lanes.spread(builder.trunc(loop.index, _SHORT))
            own = lanes.where(builder.icmp_signed("==", classes, own), weights, 0)
            place = builder.gep(start, [loop.index])
            more = builder.sext(lanes.reduced("add", own), _WORD)
            builder.store(builder.add(builder.load(place), more), place)
        return given[0].get_dummy_value()

    words = types.int64, types.int64, types.int64
    return types.void(lanes, *words, sums), generate
