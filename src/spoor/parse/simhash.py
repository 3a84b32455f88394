"""Fingerprints of a text, in one pass: SimHash to detect near-duplicates, and hashes of passages to detect known text.

Digits, spaces and case are ignored: a calendar has the same text in every month. Based on characters, not words,
because some scripts have no spaces between words.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from spoor.compiled import compiled
from spoor.records import TextFingerprint

Hashes = NDArray[np.uint64]

SHINGLE = 8
"""Length in characters of the shingles that vote for the bits of a fingerprint."""
PASSAGE = 2 * SHINGLE
"""Length of a passage in characters: long enough that most passages of a language, in any script, are distinct."""
SHORTEST = 48
"""Minimum length in characters of a text with a fingerprint; shorter ones have too little content."""
KEPT = 64
"""Number of passages per text: those with the smallest hashes, so that similar texts keep the same ones."""
READ = 200_000
"""Maximum characters read of a text."""

_BASE = np.uint64(0x9E3779B97F4A7C15)
_SPREAD = np.uint64(0xBF58476D1CE4E5B9)
_PLANE = 1 << 16


def text_fingerprint(text: str) -> TextFingerprint:
    codes = np.frombuffer(text[:READ].encode("utf-32-le", "surrogatepass"), np.uint32)
    letters, fingerprint, sample = _gathered(codes, _meaning())
    return TextFingerprint(fingerprint if letters >= SHORTEST else None, sample.tobytes())


@cache
def _meaning() -> NDArray[np.uint32]:
    """Maps each character of the basic plane to lower case, or to 0 if it is ignored."""
    characters = map(chr, range(_PLANE))
    return np.array([0 if c.isspace() or c.isdigit() or c < "!" else ord(c.lower()[0]) for c in characters], np.uint32)


@compiled
def _gathered(codes: NDArray[np.uint32], meaning: NDArray[np.uint32]) -> tuple[int, int, Hashes]:
    """The number of characters that count; the fingerprint, for each bit of which the hashes of all shingles vote; and
    the smallest hashes of passages, sorted, without duplicates."""
    plain = np.empty(len(codes) + PASSAGE, np.uint64)
    letters = 0
    for code in codes:
        meant = meaning[code] if code < _PLANE else code
        if meant:
            plain[letters] = meant
            letters += 1
    while letters < PASSAGE:  # Too short for one passage: padded with zeros.
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
    # Hashes are uniformly distributed: those below a threshold include the smallest ones, and are few.
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
    """The bits set in more than half of the hashes, given the counts of each byte value at each of 8 positions."""
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
