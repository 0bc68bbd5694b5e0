"""A heap of items with keys: the largest (key, item) on top, a total order."""

from hedgerow.kernels.jit import part


@part
def sift(keys, items, place, n_items):
    """Let the item at `place` sink until both heaps below it hang from larger ones."""
    key, item = keys[place], items[place]
    child = 2 * place + 1
    while child < n_items:
        if child + 1 < n_items and _below(keys, items, child, child + 1):
            child += 1
        if keys[child] < key or (keys[child] == key and items[child] < item):
            break
        keys[place], items[place] = keys[child], items[child]
        place, child = child, 2 * child + 1
    keys[place], items[place] = key, item


@part
def lift(keys, items, place):
    """Let the item at `place` rise until it hangs from a larger one."""
    key, item = keys[place], items[place]
    while place > 0:
        above = (place - 1) >> 1
        if keys[above] > key or (keys[above] == key and items[above] > item):
            break
        keys[place], items[place] = keys[above], items[above]
        place = above
    keys[place], items[place] = key, item


@part
def heapify(keys, items, n_items):
    """Make a heap of n_items in any order. Cost: n_items."""
    for place in range((n_items >> 1) - 1, -1, -1):
        sift(keys, items, place, n_items)


@part
def take_largest(keys, items, n_items):
    """Move the largest of n_items behind the others, which stay a heap; return it."""
    last = n_items - 1
    keys[0], keys[last] = keys[last], keys[0]
    items[0], items[last] = items[last], items[0]
    sift(keys, items, 0, last)
    return items[last]


@part
def heap_sort(keys, items, n_items):
    """Sort by (key, item), ascending."""
    heapify(keys, items, n_items)
    for end in range(n_items, 1, -1):
        take_largest(keys, items, end)


@part
def _below(keys, items, i, j):
    return keys[i] < keys[j] or (keys[i] == keys[j] and items[i] < items[j])
