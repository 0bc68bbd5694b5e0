"""Cells and sums: what moments are asked by those who read the cells of a tally or a histogram.

A cell is what rows are added to, sums are what criteria judge. For most moments they are the
same `width()` integers. Where a cell is packed more tightly (`class_counts`), its moments
have the methods below of their own.
"""

from typing import TypeVar

Moments = TypeVar("Moments")
LANES = 4  # cells that `add_up` adds rows to in turn


def cells_are_sums(moments: type[Moments]) -> type[Moments]:
    """Give moments the methods of those whose cells need no unpacking."""
    for method in (sum_width, add_up, read, occurs, widen, moves, moved, grow_below):
        if not hasattr(moments, method.__name__):
            setattr(moments, method.__name__, method)
    return moments


def added_in_turn(moments: type[Moments]) -> type[Moments]:
    """Give moments the `add_up` of those that know no faster way."""
    moments.add_up = add_up  # type: ignore[attr-defined]
    return moments


def sum_width(self):
    """Return how many integers the sums of a node are."""
    return self.width()


def add_up(self, records, cells):
    """Set the first cell to what all records add; there is room for LANES of them.

    Each row adds to another cell than the one before it, and need not wait for it.
    """
    width = self.width()
    for k in range(LANES * width):
        cells[k] = 0
    for i in range(records.shape[0]):
        self.put(self.load(records[i]), cells, i % LANES)
    for lane in range(1, LANES):
        for k in range(width):
            cells[k] += cells[lane * width + k]


def read(self, cells, first, sums):
    """Add the cell that begins at `first` to sums."""
    for k in range(self.width()):
        sums[k] += cells[first + k]


def occurs(self, cells, first):
    """Tell whether a row was added to the cell that begins at `first`."""
    return cells[first + self.width() - 1] != 0


def moves(self):  # noqa: ARG001
    """Tell whether the moments can be copied for some rows."""
    return False


def moved(self, rows, numbers):  # noqa: ARG001
    """Return the moments of some rows, numbered from 0; numbers: room for what they know."""
    return self


def grow_below(self, team, problem, space, desk, nodes, origin, floor):  # noqa: ARG001
    """Decline to grow what is below a small leaf: see `undergrowth`."""
    return -1


def widen(self, cells, n_cells):
    """Turn the first n_cells cells into sums, in their place."""
