"""What makes a text recognisable? One pass over it for two questions: is it like another, and was it there before?

Digits, spaces and capitals make no difference: a calendar says the same in every month. Characters are counted, not
words, because not every script writes spaces between them."""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from spoor.compiled import compiled
from spoor.records import TextFingerprint

Hashes = NDArray[np.uint64]

SHINGLE = 8
"""Characters in a row that vote for the bits of a fingerprint."""
PASSAGE = 2 * SHINGLE
"""Characters of a passage: long enough that a language does not run out of them, whatever its script."""
SHORTEST = 48
"""A text of fewer characters says too little to be called like another."""
KEPT = 64
"""Passages of one text, those with the smallest hashes, so that like texts keep the same ones."""
READ = 200_000
"""Characters of a text that are looked at."""

_BASE = np.uint64(0x9E3779B97F4A7C15)
_SPREAD = np.uint64(0xBF58476D1CE4E5B9)
_PLANE = 1 << 16


def text_fingerprint(text: str) -> TextFingerprint:
    codes = np.frombuffer(text[:READ].encode("utf-32-le", "surrogatepass"), np.uint32)
    letters, fingerprint, sample = _gathered(codes, _meaning())
    return TextFingerprint(fingerprint if letters >= SHORTEST else None, sample.tobytes())


@cache
def _meaning() -> NDArray[np.uint32]:
    """For each character of the basic plane the one that stands for it: small for capital, 0 for what is left out."""
    characters = map(chr, range(_PLANE))
    return np.array([0 if c.isspace() or c.isdigit() or c < "!" else ord(c.lower()[0]) for c in characters], np.uint32)


@compiled
def _gathered(codes: NDArray[np.uint32], meaning: NDArray[np.uint32]) -> tuple[int, int, Hashes]:
    """How many characters count; the fingerprint, for each bit of which the hashes of all shingles vote; and the
    smallest hashes of passages, in order, each once."""
    plain = np.empty(len(codes) + PASSAGE, np.uint64)
    letters = 0
    for code in codes:
        meant = meaning[code] if code < _PLANE else code
        if meant:
            plain[letters] = meant
            letters += 1
    while letters < PASSAGE:  # too short for one passage: made up with nothing
        plain[letters] = 0
        letters += 1
    power = np.uint64(1)
    for _ in range(SHINGLE):
        power *= _BASE
    shingles = np.empty(letters - SHINGLE + 1, np.uint64)
    rolling = np.uint64(0)
    for place in range(letters):
        rolling = rolling * _BASE + plain[place]
        if place >= SHINGLE:
            rolling -= plain[place - SHINGLE] * power
        if place >= SHINGLE - 1:
            shingles[place - SHINGLE + 1] = rolling
    counts = np.zeros((8, 256), np.int64)
    for shingle in shingles:
        mixed = _mixed(shingle)
        for byte in range(8):
            counts[byte, (mixed >> np.uint64(8 * byte)) & np.uint64(255)] += 1
    # Hashes are spread evenly: those below a threshold hold the smallest ones, and are few.
    passages = letters - PASSAGE + 1
    most = np.uint64(2**64 - 1)
    threshold = most if passages <= 4 * KEPT else most // np.uint64(passages) * np.uint64(4 * KEPT)
    sample = np.empty(passages, np.uint64)
    kept = 0
    for place in range(passages):
        mixed = _mixed(shingles[place] * power + shingles[place + SHINGLE])
        if mixed <= threshold:
            sample[kept] = mixed
            kept += 1
    ordered = np.sort(sample[:kept])
    distinct = 1
    for place in range(1, kept):
        if ordered[place] != ordered[distinct - 1]:
            ordered[distinct] = ordered[place]
            distinct += 1
    return letters, _elected(counts, len(shingles)), ordered[: min(distinct, KEPT)]


@compiled
def _elected(counts: NDArray[np.int64], voters: int) -> int:
    """The bits that more than half of the voters have, by how often each byte occurs at each of 8 places."""
    bits = np.int64(0)
    for place in range(8):
        for bit in range(8):
            votes = 0
            for byte in range(256):
                votes += counts[place, byte] * (byte >> bit & 1)
            if votes * 2 > voters:
                bits |= np.int64(1) << np.int64(8 * (7 - place) + bit)
    return int(bits)


@compiled
def _mixed(number: np.uint64) -> np.uint64:
    number ^= number >> np.uint64(29)
    number *= _SPREAD
    number ^= number >> np.uint64(32)
    return number
