"""Fingerprints of a text, in one pass: SimHash to detect near-duplicates, and hashes of passages to detect known text.

Digits, spaces and case are ignored: a calendar has the same text in every month. Based on characters, not words,
because some scripts have no spaces between words.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from spoor.compiled import array, compiled, kernel, kernels_in
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
    sample.sort()  # Here: numba takes a second to compile a sort.
    later = sample[1:]
    sample = np.concatenate((sample[:1], later[later != sample[:-1]]))[:KEPT]
    return TextFingerprint(fingerprint if letters >= SHORTEST else None, sample.tobytes())


@cache
def _meaning() -> NDArray[np.uint32]:
    """Maps each character of the basic plane to lower case, or to 0 if it is ignored."""
    characters = map(chr, range(_PLANE))
    return np.array([0 if c.isspace() or c.isdigit() or c < "!" else ord(c.lower()[0]) for c in characters], np.uint32)


@kernel(array(np.uint32, read_only=True), array(np.uint32))
def _gathered(codes: NDArray[np.uint32], meaning: NDArray[np.uint32]) -> tuple[int, int, Hashes]:
    """The number of characters that count; the fingerprint, for each bit of which the hashes of all shingles vote; and
    the smallest hashes of passages, and perhaps more, unsorted."""
    plain = np.empty(len(codes) + PASSAGE, np.uint64)
    letters = 0
    for code in codes:
        meant = meaning[code] if code < _PLANE else code
        plain[letters] = meant
        letters += meant != 0
    while letters < PASSAGE:  # Too short for one passage: padded with zeros.
        plain[letters] = 0
        letters += 1
    # Polynomials in `_BASE` over 2, 4 and 8 characters, each from two of half the length.
    width, power = 1, _BASE
    while width < SHINGLE:
        for place in range(letters - 2 * width + 1):
            plain[place] = plain[place] * power + plain[place + width]
        width, power = 2 * width, power * power
    shingles = plain[: letters - SHINGLE + 1]
    # Hashes are uniformly distributed: those below a threshold include the smallest ones, and are few.
    passages = letters - PASSAGE + 1
    most = np.uint64(2**64 - 1)
    threshold = most if passages <= 4 * KEPT else most // np.uint64(passages) * np.uint64(4 * KEPT)
    sample = np.empty(passages, np.uint64)
    for place in range(passages):  # A loop of its own, which can be vectorised.
        sample[place] = _mixed(shingles[place] * power + shingles[place + SHINGLE])
    kept = 0
    for mixed in sample:
        if mixed <= threshold:
            sample[kept] = mixed
            kept += 1
    return letters, _elected(shingles), sample[:kept]


@compiled
def _elected(shingles: Hashes) -> int:
    """The bits set in more than half of the hashes, the lowest byte first. All 64 bits are counted at once, in binary:
    three numbers of a digit become their sum and a carry to the next digit, until two are left (carry-save adders)."""
    numbers = np.empty(len(shingles), np.uint64)
    for place in range(len(shingles)):
        numbers[place] = _mixed(shingles[place])
    votes = np.zeros(64, np.int64)
    count, digit = len(numbers), 0
    while count:
        carries, carried = np.empty(count // 2, np.uint64), 0
        while count > 2:
            third = count // 3
            for place in range(third):
                numbers[place], carries[carried + place] = _added(
                    numbers[place], numbers[third + place], numbers[2 * third + place]
                )
            for place in range(3 * third, count):
                numbers[place - 2 * third] = numbers[place]
            count, carried = count - 2 * third, carried + third
        for number in numbers[:count]:
            for bit in range(64):
                votes[bit] += np.int64(number >> np.uint64(bit) & np.uint64(1)) << np.int64(digit)
        numbers, count, digit = carries, carried, digit + 1
    bits = np.int64(0)
    for bit in range(64):
        if votes[bit] * 2 > len(shingles):
            bits |= np.int64(1) << np.int64(8 * (7 - bit // 8) + bit % 8)
    return int(bits)


@compiled
def _added(one: np.uint64, two: np.uint64, three: np.uint64) -> tuple[np.uint64, np.uint64]:
    """Sum and carry of three numbers of one digit, for each bit."""
    half = one ^ two
    return half ^ three, one & two | half & three


@compiled
def _mixed(number: np.uint64) -> np.uint64:
    number ^= number >> np.uint64(29)
    number *= _SPREAD
    number ^= number >> np.uint64(32)
    return number


KERNELS = kernels_in(__name__)
