"""A place in the queue as bytes that sort as the place does, so that a database can keep places in order."""

from __future__ import annotations

import struct

from spoor.errors import BrokenContract
from spoor.frontier.entry import Order

KEY_PARTS = 3
_PACKED = struct.Struct(f">{KEY_PARTS + 1}Q")
_FLOAT, _BITS = struct.Struct(">d"), struct.Struct(">Q")
_SIGN, _ALL = 1 << 63, (1 << 64) - 1
_MISSING = 0
"""Before every number: a key that has fewer parts comes first, as tuples do. No number is packed so."""


def packed(order: Order) -> bytes:
    key, arrival = order
    if len(key) > KEY_PARTS:
        raise BrokenContract(f"a key has at most {KEY_PARTS} parts, not {len(key)}: {key}")
    return _PACKED.pack(*map(_sortable, key), *[_MISSING] * (KEY_PARTS - len(key)), arrival)


def unpacked(place: bytes) -> Order:
    """ValueError where it is no place."""
    if len(place) != _PACKED.size:
        raise ValueError(f"not a place: {place!r}")
    *parts, arrival = _PACKED.unpack(place)
    return tuple([_number(part) for part in parts if part != _MISSING]), arrival


def place_of_row(key1: float, key2: float | None, key3: float | None, arrival: int) -> bytes | None:
    """Of a link as it stands in a database; None where it cannot be one."""
    try:
        return packed((tuple([-part for part in (key1, key2, key3) if part is not None]), arrival))
    except (TypeError, struct.error):
        return None


def _sortable(number: float) -> int:
    """Negative numbers, which sort backwards by their bits, are turned around; there is one zero."""
    (bits,) = _BITS.unpack(_FLOAT.pack(number + 0.0))
    return int(bits ^ _ALL if bits & _SIGN else bits | _SIGN)


def _number(bits: int) -> float:
    (number,) = _FLOAT.unpack(_BITS.pack(bits ^ _SIGN if bits & _SIGN else bits ^ _ALL))
    return float(number)
