"""Damage to model files, by accident and on purpose; on purpose with a checksum that is right."""

import hashlib
import json
import random
import struct
from collections.abc import Callable
from typing import Any

PREFIX = b'{"__metadata__":{"checksum":"'
STRANGE = [
    None,
    True,
    -1,
    0,
    1,
    2**31,
    2**53 + 1,
    -(2**63),
    10**30,
    1e308,
    -0.5,
    "",
    "model",
    "__import__('os').system('true')",
    "\ud800",
    [],
    {},
    [[]],
    {"tuple": []},
    {"dict": [[1, 2]]},
    {"float": "nan"},
    {"float": "inf"},
    {"bytes": "AP8="},
    {"array": "no such array"},
    {"labels": ["a"], "dtype": "<U999999"},
    {"labels": [1, "a"], "dtype": "|O"},
    {"class": "os.system", "fields": {}},
    {"class": "Tree", "fields": {}},
    {"class": "Bootstrap", "fields": {"n_draws": 2**61}},
]
NUMBERS: dict[str, list[bytes]] = {
    "F64": [struct.pack("<d", x) for x in (float("nan"), float("inf"), -1e308, -1.0, 0.0, 1e300)],
    "I64": [struct.pack("<q", x) for x in (-1, -(2**63), 2**63 - 1, 2**40, 0, 1, 7)],
    "U64": [struct.pack("<Q", x) for x in (2**64 - 1, 0, 1)],
    "I32": [struct.pack("<i", x) for x in (-1, -2, 2**31 - 1, -(2**31), 0, 1, 5)],
    "BOOL": [b"\x00", b"\x01", b"\x02", b"\xff"],
    "U8": [struct.pack("<i", x) for x in (-1, -2, 2**31 - 1, -(2**31), 0, 1, 5)],
}


def split(data: bytes) -> tuple[dict[str, Any], bytes]:
    """Return the header and the arrays' bytes."""
    n_header = int.from_bytes(data[:8], "little")
    return json.loads(data[8 : 8 + n_header]), data[8 + n_header :]


def sealed(header: dict[str, Any], body: bytes, n_header: int | None = None) -> bytes:
    """Return a file with a checksum that is right, whatever it holds."""
    metadata = {"checksum": "0" * 64} | {
        name: text for name, text in header["__metadata__"].items() if name != "checksum"
    }
    text = json.dumps({**header, "__metadata__": metadata}, separators=(",", ":")).encode()
    text = PREFIX + text.split(PREFIX, 1)[1] if PREFIX in text else text
    text += b" " * (-(8 + len(text)) % 64)
    data = (len(text) if n_header is None else n_header).to_bytes(8, "little") + text + body
    return resealed(data)


def resealed(data: bytes) -> bytes:
    """Return a file with the checksum of its bytes."""
    begin = 8 + len(PREFIX)
    blank = data[:begin] + b"0" * 64 + data[begin + 64 :]
    return blank[:begin] + hashlib.sha256(blank).hexdigest().encode() + blank[begin + 64 :]


def flipped(data: bytes, chance: random.Random) -> bytes:
    """Flip some bits, and leave the checksum as it was."""
    changed = bytearray(data)
    for _ in range(chance.choice([1, 1, 2, 8])):
        changed[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    return bytes(changed)


def cut(data: bytes, chance: random.Random) -> bytes:
    """Cut the file off, or add to it; sometimes with a checksum of what is left."""
    changed = data[: chance.randrange(len(data))]
    if chance.random() < 0.3:
        changed = data + bytes(chance.randrange(1, 100))
    return resealed(changed) if len(changed) > 110 and chance.random() < 0.5 else changed


def changed_bytes(data: bytes, chance: random.Random) -> bytes:
    """Change bytes anywhere, with the checksum made right."""
    changed = bytearray(data)
    for _ in range(chance.choice([1, 2, 4])):
        changed[chance.randrange(len(data))] = chance.randrange(256)
    return resealed(bytes(changed))


def changed_number(data: bytes, chance: random.Random) -> bytes:
    """Set some numbers of arrays to what they should never be, or might be."""
    header, body = split(data)
    named = [each for name, each in header.items() if name != "__metadata__"]
    named = [each for each in named if each["data_offsets"][0] < each["data_offsets"][1]]
    changed = bytearray(body)
    for _ in range(chance.choice([1, 1, 2, 5])):
        about = chance.choice(named)
        number = chance.choice(NUMBERS[about["dtype"]])
        begin, end = about["data_offsets"]
        place = begin + chance.randrange((end - begin) // len(number)) * len(number)
        changed[place : place + len(number)] = number
    return sealed(header, bytes(changed))


def copied_number(data: bytes, chance: random.Random) -> bytes:
    """Copy numbers of an array to another place of it: each is one that may be there."""
    header, body = split(data)
    named = [each for name, each in header.items() if name != "__metadata__"]
    about = chance.choice([e for e in named if e["data_offsets"][0] < e["data_offsets"][1]])
    begin, end = about["data_offsets"]
    width = {"BOOL": 1, "I32": 4, "U8": 16}.get(about["dtype"], 8)
    one, two = (begin + chance.randrange((end - begin) // width) * width for _ in range(2))
    changed = bytearray(body)
    changed[one : one + width] = body[two : two + width]
    return sealed(header, bytes(changed))


def lying(data: bytes, chance: random.Random) -> bytes:
    """Lie about sizes, kinds or places of arrays, or about the header."""
    header, body = split(data)
    names = [name for name in header if name != "__metadata__"]
    about, other = header[chance.choice(names)], header[chance.choice(names)]
    way = chance.randrange(7)
    if way == 0:
        return sealed(header, body, chance.choice([0, 1, 2**40, 2**63, len(data), 50]))
    if way == 1:
        about["shape"] = chance.choice(
            [[], [0], [-1], [2**40], [2**62, 4], [1, *about["shape"]], about["shape"][::-1], "x"]
        )
    elif way == 2:
        about["dtype"] = chance.choice([*NUMBERS, "F16", "BF16", "C64", "", 3])
    elif way == 3:
        about["data_offsets"] = chance.choice([[0, 2**50], [-8, 0], [0], other["data_offsets"]])
    elif way == 4:
        about.update({key: other[key] for key in ("shape", "dtype", "data_offsets")})
    elif way == 5:
        kept = {"shape": about["shape"], "dtype": about["dtype"]}
        about.update(shape=other["shape"], dtype=other["dtype"])
        other.update(kept)
    else:
        del header[chance.choice(names)]
    return sealed(header, body)


def places_of(tree: Any, found: list[tuple[Any, Any]]) -> list[tuple[Any, Any]]:
    if isinstance(tree, (dict, list)):
        for key in tree if isinstance(tree, dict) else range(len(tree)):
            found.append((tree, key))
            places_of(tree[key], found)
    return found


def changed_value(data: bytes, chance: random.Random) -> bytes:
    """Change a value of the model's JSON: another, none, one too many, or two change places."""
    header, body = split(data)
    told = json.loads(header["__metadata__"]["model"])
    for _ in range(chance.choice([1, 1, 2])):
        places = places_of(told, [])
        (owner, key), (other, where) = chance.choice(places), chance.choice(places)
        way = chance.randrange(5)
        if way == 0 and isinstance(owner[key], int):
            owner[key] = owner[key] + chance.choice([-2, -1, 1, 2, 2**31])
        elif way <= 1:
            owner[key] = chance.choice(STRANGE)
        elif way == 2:
            copied = json.loads(json.dumps([owner[key], other[where]]))
            owner[key], other[where] = copied[1], copied[0]
        elif way == 3:
            del owner[key]
        elif isinstance(owner, dict):
            owner[chance.choice(["x", "_model", "__class__", "predict"])] = owner[key]
        else:
            owner.insert(key, owner[key])
    header["__metadata__"]["model"] = json.dumps(told)
    return sealed(header, body)


def changed_text(data: bytes, chance: random.Random) -> bytes:
    """Change what the file says of itself."""
    header, body = split(data)
    name = chance.choice(["format", "format_version", "library", "class", "model", "new"])
    header["__metadata__"][name] = chance.choice(
        ["", "2", "0", "-1", "1" * 20, "²", "hedgerow checkpoint", "[" * 100_000, "1e999", "NaN"]
    )
    return sealed(header, body)


WAYS: list[Callable[[bytes, random.Random], bytes]] = [
    flipped,
    cut,
    changed_bytes,
    changed_number,
    changed_number,
    copied_number,
    copied_number,
    lying,
    changed_value,
    changed_value,
    changed_text,
]


def mutated(data: bytes, seed: int) -> tuple[str, bytes]:
    """Return the name of a kind of damage, and a file that has it."""
    chance = random.Random(seed)
    way = chance.choice(WAYS)
    return way.__name__, way(data, chance)
