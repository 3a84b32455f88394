"""Legacy font encodings: fonts that keep the letters of a script at code points which Unicode gave to nobody."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

Compare = Callable[[Sequence[str]], NDArray[np.float64]]
"""Texts to numbers: one, or one row, for each."""

GOOD_SENSE = 0.5
"""How near a text must be to a language to be taken for a text in one of its fonts."""

Interval = tuple[int, int]
"""The first and the last code point."""


@dataclass(frozen=True)
class Encoding:
    """Where a font has the letters of a language, a BCP-47 tag.

    `letters` are the intervals of its letters, `unicode` those of the same letters in Unicode. A font has many glyphs
    for a letter: `blocks` names the first glyph of each and the Unicode letter; the block reaches to the next one or to
    the end of the interval, and "" means that its letter is not known. `ends` are the signs that end a sentence.
    """

    name: str
    language: str
    letters: tuple[Interval, ...]
    unicode: tuple[Interval, ...] = ()
    blocks: tuple[tuple[int, str], ...] = ()
    ends: str = ""


def share_inside(text: str, intervals: Iterable[Interval]) -> float:
    """Which part of the characters of a text, white space not counted, lies in one of the intervals."""
    characters = sum(map(len, text.split()))
    return len(_outside(tuple(intervals)).sub("", text)) / characters if characters else 0.0


def encodings_in(text: str, among: Sequence[Encoding]) -> list[Encoding]:
    """Those with a letter in the text. Intervals overlap: more may be named than the one it is written in."""
    return [encoding for encoding in among if share_inside(text, encoding.letters)]


def collapse(text: str, encoding: Encoding) -> str:
    """Every glyph as its Unicode letter. Letters only: which of its forms a glyph is, and so the exact spelling, is
    lost. What has no letter stays."""
    return text.translate(_letters(encoding))


def readings(text: str, among: Sequence[Encoding]) -> list[str]:
    """The text as it is, and in Unicode letters as each encoding with letters in it would have it. Of several, the one
    that makes sense is right; one page may hold both, letters of a font and of Unicode."""
    return [text, *(collapse(text, encoding) for encoding in encodings_in(text, among) if encoding.blocks)]


def best_reading(compare: Compare, texts: Sequence[str], among: Sequence[Encoding]) -> NDArray[np.float64]:
    """What `compare` gives for each text, in the way of reading it that gives most. That a text is written in a font is
    a guess; it must make good sense of the text, for icons are at the same code points."""
    ways = [readings(text, among) for text in texts]
    if all(len(way) == 1 for way in ways):
        return compare(texts)
    near = compare([text for way in ways for text in way])
    starts = np.cumsum([0, *map(len, ways)])[:-1]
    guessed = np.ones(len(near), np.bool_)
    guessed[starts] = False
    near[guessed] *= near[guessed] >= GOOD_SENSE
    best: NDArray[np.float64] = np.maximum.reduceat(near, starts, axis=0)
    return best


def encoded(text: str, encoding: Encoding) -> str:
    """Every Unicode letter as the first glyph of its block; a real font would choose among the glyphs by the place in
    the word. What has no block stays."""
    return text.translate(_glyphs(encoding))


def with_line_ends(text: str, encoding: Encoding) -> str:
    """Every sign that ends a sentence as a line end, so that no n-gram reaches across, whoever counts them."""
    return text.translate({ord(sign): "\n" for sign in encoding.ends})


@cache
def _outside(intervals: tuple[Interval, ...]) -> re.Pattern[str]:
    inside = "".join(f"{re.escape(chr(first))}-{re.escape(chr(last))}" for first, last in intervals)
    return re.compile(f"[^{inside}]+|\\s+")


@cache
def _letters(encoding: Encoding) -> dict[int, str]:
    last = {code: end for start, end in encoding.letters for code in range(start, end + 1)}
    starts = [code for code, _ in encoding.blocks]
    ends = [min(last[code], following - 1) for code, following in pairwise([*starts, max(last) + 1])]
    blocks = zip(encoding.blocks, ends, strict=True)
    return {code: letter for (start, letter), end in blocks if letter for code in range(start, end + 1)}


@cache
def _glyphs(encoding: Encoding) -> dict[int, str]:
    return {ord(letter): chr(code) for code, letter in reversed(encoding.blocks) if len(letter) == 1}
