"""How many words of a topic each of many short texts has, by their stems.

Computed in one pass over the code points of all texts, because this runs for every link found.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache

import numpy as np
from numpy.typing import NDArray

from spoor.compiled import compiled

Codes = NDArray[np.uint32]

_WORD = re.compile(r"[^\W_]+")
STEM = 5
"""Length of a stem in letters: biolo, of biology and biological."""
MOST = 3
"""Further words of a text are not counted."""


@dataclass(frozen=True)
class TopicWords:
    """Finds words that begin with a stem of one of `words`; a shorter stem must be a whole word."""

    words: Iterable[str]
    _stems: Codes = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        stems = sorted({word[:STEM] for word in self.words if _WORD.fullmatch(word[:STEM])})
        codes = [[ord(letter) for letter in stem.ljust(STEM, "\0")] for stem in stems]
        object.__setattr__(self, "_stems", np.array(codes, np.uint32).reshape(-1, STEM))

    def __bool__(self) -> bool:
        return len(self._stems) > 0

    def counts(self, texts: Sequence[str]) -> list[int]:
        """The number of different stems in each text, in any case; at most `MOST`."""
        said = "\0".join([text.lower() for text in texts])
        if said.count("\0") >= len(texts):
            said = "\0".join([text.lower().replace("\0", " ") for text in texts])
        codes = np.frombuffer(said.encode("utf-32-le", "surrogatepass"), np.uint32)
        counts: list[int] = _counts(codes, len(texts), _letters(), self._stems).tolist()
        return counts


@cache
def _letters() -> NDArray[np.bool_]:
    """For every code point whether it is a letter or a digit."""
    return np.strings.isalnum(np.arange(sys.maxunicode + 1, dtype=np.uint32).view("U1"))


@compiled
def _counts(codes: Codes, texts: int, letters: NDArray[np.bool_], stems: Codes) -> NDArray[np.int32]:
    """A 0 separates two texts."""
    found = np.zeros(texts, np.int32)
    last_with = np.full(len(stems), -1, np.int32)
    text = start = 0
    for place in range(len(codes) + 1):
        if place < len(codes) and letters[codes[place]]:
            continue
        if place > start:
            stem = _stem(codes, start, place, stems)
            if stem >= 0 and last_with[stem] != text:
                last_with[stem] = text
                found[text] = min(MOST, found[text] + 1)
        start = place + 1
        text += place < len(codes) and codes[place] == 0
    return found


@compiled
def _stem(codes: Codes, start: int, end: int, stems: Codes) -> int:
    """The stem of a word by binary search, -1 if it is none of these."""
    low, high = 0, len(stems)
    while low < high:
        middle = (low + high) // 2
        order = _order(codes, start, end, stems, middle)
        if order == 0:
            return middle
        if order > 0:
            low = middle + 1
        else:
            high = middle
    return -1


@compiled
def _order(codes: Codes, start: int, end: int, stems: Codes, stem: int) -> int:
    """0 if a word has the stem, below 0 if it comes before it, above 0 if after."""
    for letter in range(STEM):
        code = int(codes[start + letter]) if start + letter < end else 0
        if code != stems[stem, letter]:
            return code - int(stems[stem, letter])
    return 0
