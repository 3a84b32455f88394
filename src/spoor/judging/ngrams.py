"""N-grams of a text: counted and ranked, in plain Python and compiled.

A text is represented by its n-grams ranked by frequency. Two texts are similar if their n-grams have similar ranks:

    distance of an n-gram   difference of its two ranks, `farthest` if the model does not have it
    mean distance           over the distinct n-grams of the text
    similarity              1 - mean distance / farthest, between 0 and 1; 0 if the text has no n-gram

A *window* is four consecutive units, padded with zeros at the end of a sentence; one begins at every unit of the text.
In sorted order, windows that begin with the same n units are adjacent, so one sort counts the n-grams for every n up to
four. A window is packed into 64 bits, 16 for each unit, the first unit highest.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from collections import Counter
from collections.abc import Sequence
from functools import cache
from itertools import accumulate, pairwise
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from spoor.compiled import compiled

# Preparation of a text: its units, and where its sentences end.


Unit = Literal["letter", "byte"]
UNITS: tuple[Unit, ...] = ("letter", "byte")

LINE_ENDS = "\n\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"
MONGOLIAN_STOPS = "\u1802\u1803\u1805\u1808\u1809"
MENKSOFT_STOPS = "\ue236\ue237\ue23c\ue23d"
BORDERS = LINE_ENDS + ".!?;。！？" + MONGOLIAN_STOPS + MENKSOFT_STOPS
"""Characters that end a sentence. No n-gram contains or crosses one."""

_BORDER = re.compile(f"[{re.escape(BORDERS)}]")
_UNIT, _BLANKS, _SENTENCE_END = 0, 1, 2


def sentences(text: str, unit: Unit = "letter") -> list[str]:
    """In NFC, case-folded, spaces collapsed; none is empty. A byte of UTF-8 is represented by the character with its
    number, so that the same code counts bytes and letters."""
    pieces = (" ".join(piece.split()) for piece in _BORDER.split(_folded(text)))
    whole = [piece for piece in pieces if piece]
    return [_as_bytes(piece) for piece in whole] if unit == "byte" else whole


def codes(text: str, unit: Unit = "letter") -> NDArray[np.uint32]:
    """The code points of the text that `sentences` splits. `kinds` classifies them."""
    return codes_of_texts([text], unit)[0]


def codes_of_texts(texts: Sequence[str], unit: Unit = "letter") -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
    """The code points of all texts in one array, and where each text begins and the last ends."""
    seen = ["\n".join(sentences(text, unit)) if unit == "byte" else _folded(text) for text in texts]
    ends = np.fromiter(accumulate(map(len, seen), initial=0), np.int64, len(texts) + 1)
    return np.frombuffer("".join(seen).encode("utf-32-le", "surrogatepass"), np.uint32), ends


@cache
def kinds(unit: Unit = "letter") -> NDArray[np.uint8]:
    """For every code point: 0 for a unit, 1 for white space, 2 for the end of a sentence."""
    table = np.zeros(sys.maxunicode + 1, np.uint8)
    if unit == "byte":
        table[[ord("\n")]] = _SENTENCE_END
        return table
    table[np.strings.isspace(np.arange(table.size, dtype=np.uint32).view("U1"))] = _BLANKS
    table[[ord(border) for border in BORDERS]] = _SENTENCE_END
    return table


def _folded(text: str) -> str:
    if text.isascii():
        return text.lower()
    return unicodedata.normalize("NFC", text).casefold()


def _as_bytes(piece: str) -> str:
    return piece.encode("utf8", "surrogatepass").decode("latin-1")


# The ranks of n-grams in plain Python, the reference. The compiled code below computes the same numbers.


Ranks = dict[str, int]
"""N-gram to its rank by frequency, from 1; ties are in order of code points."""


def plain_ranks(sentences: Sequence[str], n: int, top: int | None = None) -> Ranks:
    """`sentences` as prepared by the function of that name. `top`: keep only that many of the most frequent; None for
    all."""
    counts = Counter(sentence[k : k + n] for sentence in sentences for k in range(len(sentence) - n + 1))
    order = sorted(counts, key=lambda gram: (-counts[gram], gram))[:top]
    return {gram: place for place, gram in enumerate(order, 1)}


def calibrate(relevant: Sequence[float], irrelevant: Sequence[float]) -> float:
    """The threshold on the similarity with the best F1: relevant texts are above it. It is the middle of the gap
    between two neighbouring values; of equally good gaps, the widest."""
    gaps = pairwise(sorted({*relevant, *irrelevant, 0.0, 1.0}))
    best = max(gaps, key=lambda gap: (_f1(sum(gap) / 2, relevant, irrelevant), gap[1] - gap[0]))
    return sum(best) / 2


def _f1(threshold: float, relevant: Sequence[float], irrelevant: Sequence[float]) -> float:
    hits = sum(value > threshold for value in relevant)
    wrong = sum(value > threshold for value in irrelevant)
    return 2 * hits / (hits + wrong + len(relevant)) if hits else 0.0


# The n-grams of a text, counted and ranked by compiled code.


WIDTH: Final = 4
BITS: Final = 16
MOST_UNITS: Final = (1 << BITS) - 2
"""Maximum number of different units. They are numbered from 1; 0 is the end of a sentence, the last number is for
unknown units."""
_BLOCK: Final = 256
_BLANK, _END = 1, 2
_SPACE: Final = ord(" ") + 1


@compiled
def spelled(codes: NDArray[np.uint32], kinds: NDArray[np.uint8]) -> NDArray[np.uint32]:
    """Code points plus one, spaces collapsed, and a 0 after every sentence. `kinds` is the table of that name."""
    out = np.empty(len(codes) + 1, np.uint32)
    length = 0
    blank = False
    for code in codes:
        kind = kinds[code]
        inside = length > 0 and out[length - 1] != 0
        if kind == _BLANK:
            blank = True
            continue
        if inside and (kind == _END or blank):
            out[length] = 0 if kind == _END else _SPACE
            length += 1
        if kind != _END:
            out[length] = code + 1
            length += 1
        blank = False
    if length > 0 and out[length - 1] != 0:
        out[length] = 0
        length += 1
    return out[:length]


@compiled
def numbered(units: NDArray[np.uint32]) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
    """The distinct units in order, always with 0 first, and the text with each unit as its index among them."""
    # A table of all code points would be slow to clear, so only the blocks that occur are allocated.
    row = np.zeros((units.max() if len(units) else 0) // _BLOCK + 1, np.int32)
    row[0] = 1
    for unit in units:
        row[unit // _BLOCK] = 1
    blocks = np.flatnonzero(row)
    for k in range(len(blocks)):
        row[blocks[k]] = k
    place = np.zeros((len(blocks), _BLOCK), np.uint32)
    place[0, 0] = 1
    for unit in units:
        place[row[unit // _BLOCK], unit % _BLOCK] = 1
    alphabet = np.empty(len(blocks) * _BLOCK, np.uint32)
    count = 0
    for k in range(len(blocks)):
        for within in range(_BLOCK):
            if place[k, within] != 0:
                alphabet[count] = blocks[k] * _BLOCK + within
                place[k, within] = count
                count += 1
    places = np.empty(len(units), np.uint32)
    for k in range(len(units)):
        places[k] = place[row[units[k] // _BLOCK], units[k] % _BLOCK]
    return alphabet[:count], places


@compiled
def unit_at(places: NDArray[np.uint32], start: np.int64 | int, depth: int) -> int:
    """The unit at that depth of a window, 0 beyond the end of its sentence."""
    for k in range(start + 1, start + depth + 1):
        if places[k] == 0:
            return 0
    return np.int64(places[start + depth])  # type: ignore[return-value]  # numba needs one type on both ways out


@compiled
def sorted_windows(places: NDArray[np.uint32], size: int) -> NDArray[np.int64]:
    """The start positions of the windows of a numbered text, in sorted order; `size` is the length of its alphabet. A
    radix sort: stable, by one unit at a time, the last first."""
    order = np.flatnonzero(places)
    other = np.empty_like(order)
    starts = np.empty(size + 1, np.int64)
    for depth in range(WIDTH - 1, -1, -1):
        starts[:] = 0
        for k in order:
            starts[unit_at(places, k, depth) + 1] += 1
        for unit in range(size):
            starts[unit + 1] += starts[unit]
        for k in order:
            unit = unit_at(places, k, depth)
            other[starts[unit]] = k
            starts[unit] += 1
        order, other = other, order
    return order


@compiled
def packed(places: NDArray[np.uint32], order: NDArray[np.int64]) -> NDArray[np.uint64]:
    """The windows in that order, each packed into 64 bits."""
    out = np.empty(len(order), np.uint64)
    for k in range(len(order)):
        window = np.uint64(0)
        for depth in range(WIDTH):
            window = (window << np.uint64(BITS)) | np.uint64(unit_at(places, order[k], depth))
        out[k] = window
    return out


@compiled
def grams(places: NDArray[np.uint32], order: NDArray[np.int64], n: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The first position of each distinct n-gram, in the order of the sorted windows, and how often it occurs."""
    firsts, counts = np.empty(len(order), np.int64), np.empty(len(order), np.int64)
    found = 0
    for start in order:
        if unit_at(places, start, n - 1) == 0:
            continue
        if found > 0 and _same(places, firsts[found - 1], start, n):
            counts[found - 1] += 1
        else:
            firsts[found], counts[found] = start, 1
            found += 1
    return firsts[:found], counts[:found]


@compiled
def ranks(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """The rank of each n-gram by descending count, from 1; ties keep their order."""
    most = counts.max() if len(counts) else 0
    starts = np.zeros(most + 2, np.int64)
    for count in counts:
        starts[most - count + 1] += 1
    for k in range(most + 1):
        starts[k + 1] += starts[k]
    out = np.empty(len(counts), np.int64)
    for k in range(len(counts)):
        starts[most - counts[k]] += 1
        out[k] = starts[most - counts[k]]
    return out


@compiled
def _same(places: NDArray[np.uint32], one: int, other: int, n: int) -> bool:
    for depth in range(n):  # noqa: SIM110  # numba has no all() of a generator
        if places[one + depth] != places[other + depth]:
            return False
    return True
