"""Numbers as people read them."""


def duration(seconds: float) -> str:
    """Return a time in the unit that suits it.

    >>> duration(2.0), duration(0.0847), duration(97.4e-6), duration(3.6e-10)
    ('2 s', '84.7 ms', '97.4 us', '0.36 ns')
    """
    for unit, name in ((1.0, "s"), (1e-3, "ms"), (1e-6, "us")):
        if seconds >= 0.09995 * unit and (name != "us" or seconds >= unit):
            return f"{seconds / unit:.3g} {name}"
    return f"{seconds * 1e9:.3g} ns"
