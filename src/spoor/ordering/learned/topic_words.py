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

from spoor.compiled import INT, array, compiled, kernel, kernels_in

Codes = NDArray[np.uint32]

_WORD = re.compile(r"[^\W_]+")
STEM = 5
"""Length of a stem in letters: biolo, of biology and biological."""
MOST = 3
"""Further words of a text are not counted."""
_BEGINS = 64


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


@kernel(array(np.uint32, read_only=True), INT, array(np.bool_), array(np.uint32, 2))
def _counts(codes: Codes, texts: int, letters: NDArray[np.bool_], stems: Codes) -> NDArray[np.int32]:
    """A 0 separates two texts."""
    found = np.zeros(texts, np.int32)
    last_with = np.full(len(stems), -1, np.int32)
    begins = np.zeros(_BEGINS, np.bool_)
    for stem in range(len(stems)):
        begins[stems[stem, 0] % _BEGINS] = True
    text = 0
    in_word = False
    for place in range(len(codes)):
        code = codes[place]
        if letters[code]:
            # Few words begin like a stem.
            if not in_word and begins[code % _BEGINS]:
                stem = _stem(codes, place, letters, stems)
                if stem >= 0 and last_with[stem] != text:
                    last_with[stem] = text
                    found[text] = min(MOST, found[text] + 1)
            in_word = True
        else:
            in_word = False
            text += code == 0
    return found


@compiled
def _stem(codes: Codes, start: int, letters: NDArray[np.bool_], stems: Codes) -> int:
    """The stem of the word that starts there, by binary search; -1 if it is none of these."""
    end = start
    while end < min(start + STEM, len(codes)) and letters[codes[end]]:
        end += 1
    low, high = 0, len(stems)
    while low < high:
        middle = (low + high) // 2
        order = _order(codes[start:end], stems[middle])
        if order == 0:
            return middle
        if order > 0:
            low = middle + 1
        else:
            high = middle
    return -1


@compiled
def _order(word: Codes, stem: Codes) -> int:
    """0 if the first letters of a word are the stem, below 0 if they come before it, above 0 if after."""
    for letter in range(STEM):
        code = int(word[letter]) if letter < len(word) else 0
        if code != stem[letter]:
            return code - int(stem[letter])
    return 0


KERNELS = kernels_in(__name__)
