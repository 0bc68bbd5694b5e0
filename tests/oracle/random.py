"""Random bits by their definition: splitmix64, named by whole numbers (Steele et al. 2014)."""

_GOLDEN = 0x9E3779B97F4A7C15
_WORD = 2**64


def mixed(state: int, more: int) -> int:
    """Return 64 bits, as a signed number, that depend on every bit of two signed numbers."""
    z = (state % _WORD ^ more * _GOLDEN % _WORD) + _GOLDEN
    z %= _WORD
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 % _WORD
    z = (z ^ z >> 27) * 0x94D049BB133111EB % _WORD
    z ^= z >> 31
    return z - _WORD if z >= _WORD // 2 else z


def uniform(bits: int) -> float:
    """Return the highest 53 of 64 bits as a fraction of 2^53."""
    return (bits % _WORD >> 11) / 2**53
