"""How much of a text was not there before? A short memory of texts, of fixed size."""

from __future__ import annotations

import zlib

import numpy as np
from numpy.typing import NDArray

Hashes = NDArray[np.uint64]

PASSAGE = 16
"""Characters of a passage: long enough that a language does not run out of them, whatever its script."""

KEPT = 64
"""Passages remembered of one text, those with the smallest hashes, so that like texts keep the same ones."""

READ = 50_000
"""Characters of a text that are looked at."""

_BASE = 0x9E3779B97F4A7C15
_BLANK, _ZERO, _NINE = map(ord, " 09")


class Memory:
    """Remembers hashes in a table of fixed size, where a later one may take the place of an earlier one: it forgets,
    but never takes the new for known (unless two passages have the same 64 bits)."""

    def __init__(self, slots: int) -> None:
        self._table: Hashes = np.zeros(slots, np.uint64)

    def unseen(self, hashes: Hashes) -> float:
        """The share that was not known, 0 of nothing. All are known from now on."""
        if not len(hashes):
            return 0.0
        places = hashes % np.uint64(len(self._table))
        share = float((self._table[places] != hashes).mean())
        self._table[places] = hashes
        return share


def passages(text: str, where: str) -> Hashes:
    """A sample of the passages of a text at a place, such as a host. Digits, blanks and capitals make no difference: a
    calendar says the same in every month."""
    codes = np.frombuffer(text[:READ].lower().encode("utf-32-le", "replace"), np.uint32)
    plain = codes[(codes > _BLANK) & ((codes < _ZERO) | (codes > _NINE))].astype(np.uint64)
    if len(plain) < PASSAGE:
        plain = np.pad(plain, (0, PASSAGE - len(plain)))
    return _sample(_windows(plain) ^ _spread(zlib.crc32(where.encode())))


def names(said: list[str], where: str) -> Hashes:
    """A sample of a list of names, to be remembered like passages."""
    codes = np.array([zlib.crc32(name.encode()) for name in said], np.uint64)
    return _sample(codes ^ _spread(zlib.crc32(where.encode())))


def _spread(number: int) -> np.uint64:
    return np.uint64(number * _BASE % 2**64)


def _windows(codes: Hashes) -> Hashes:
    """A hash of every `PASSAGE` characters in a row: of two, of four, of eight, of sixteen."""
    width, base = 1, _BASE
    while width < PASSAGE:
        codes = codes[:-width] * np.uint64(base) + codes[width:]
        width, base = 2 * width, base * base % 2**64
    return codes


def _sample(hashes: Hashes) -> Hashes:
    mixed = hashes * np.uint64(0xD6E8FEB86659FD93)
    mixed ^= mixed >> np.uint64(32)
    if len(mixed) > 16 * KEPT:  # hashes are spread evenly: those below a threshold hold the smallest, and are few
        few = mixed[mixed < np.uint64((1 << 64) // len(mixed) * 4 * KEPT)]
        mixed = few if len(few) > KEPT else mixed
    if len(mixed) > 2 * KEPT:  # sorting all of a long text would take most of the time
        mixed = np.partition(mixed, 2 * KEPT)[: 2 * KEPT]
    return np.unique(mixed)[:KEPT]
