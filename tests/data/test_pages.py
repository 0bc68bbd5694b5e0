"""Pages: arrays that share them, and memory that goes back to the system."""

import subprocess
import sys

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from hedgerow.data.pages import Room, passing

KINDS = [((1000,), np.uint16), ((2, 77), np.int64), ((0,), np.float64), ((5,), np.int32)]


def written(room):
    """Return arrays of a room, and copies of what was written to each."""
    arrays = [room.array(shape, kind) for shape, kind in KINDS]
    random = np.random.default_rng(0)
    copies = [random.integers(0, 99, each.shape).astype(each.dtype) for each in arrays]
    for array, copy in zip(arrays, copies, strict=True):
        array[...] = copy
    return arrays, copies


@pytest.mark.parametrize("n_bytes", [0, 2100, 10_000])
def test_arrays_of_a_room_do_not_overlap(n_bytes):
    for array, copy in zip(*written(Room(n_bytes)), strict=True):
        assert_array_equal(array, copy)
        assert array.dtype == copy.dtype
        assert array.flags.c_contiguous
        assert array.flags.writeable


def test_what_is_given_up_is_used_again():
    room = Room(10_000)
    kept = room.array((10,), np.int64)
    used = room.used
    first = room.array((100,), np.float64)
    room.give_up(used)
    assert np.shares_memory(first, room.array((100,), np.float64))
    assert not np.shares_memory(kept, first)


def test_pages_are_aligned_and_can_be_written():
    array = passing((3, 1 << 20), np.float64)
    array[...] = 1.0
    assert array.ctypes.data % 64 == 0
    assert array.sum() == array.size


KEPT = """
import numpy as np
from pathlib import Path
from hedgerow.data.pages import give_back

def resident():
    lines = Path("/proc/self/status").read_text().splitlines()
    return int(next(line.split()[1] for line in lines if line.startswith("VmRSS:")))

for size in (20, 30):  # megabytes: after them malloc has smaller ones on its heap
    np.ones(size << 17)
before, arrays = resident(), []
for _ in range(8):
    arrays += [np.ones(1 << 20), bytearray(100_000)]
del arrays[::2]
kept = resident() - before
give_back(N_ROWS)
print(kept, resident() - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize(("n_rows", "gives"), [(1_000_000, True), (1000, False)])
def test_what_malloc_keeps_goes_back_after_many_rows_only(n_rows, gives):
    code = KEPT.replace("N_ROWS", str(n_rows))
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    kept, after = map(int, said.stdout.split())
    if kept < 40_000:
        pytest.skip("this malloc keeps nothing")
    assert (after < kept / 4) == gives
