"""The text of a page with normalised white space, and the context of an anchor.

In scripts without spaces between words, the context is cut between two letters, each with its marks.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from spoor.compiled import INT, array, compiled, kernel, kernels_in
from spoor.parse.walk import BORDER, Codes, Numbers
from spoor.parse.words import UNSPACED
from spoor.settings import ParseSettings

# The text of a page with normalised white space, and the mapping of positions to it.


_LINE_END, _BLANK = b"\n "


@dataclass(frozen=True, slots=True)
class TidyText:
    """`lines` are the blocks that contain words, with every run of white space as one space; `words` is the same in one
    line, and `codes` its code points, with line ends. For any position in the original text, `ends` is where the words
    before it end and `begins` where those after it begin, as positions in `words`; spaces belong to neither. `borders`
    are the positions of all borders in the original text, which has `length` code points."""

    lines: str
    words: str
    codes: Codes
    begins: Numbers
    ends: Numbers
    borders: Numbers

    @property
    def length(self) -> int:
        return self.ends.size - 1


def tidied(text: Codes) -> TidyText:
    tidy, begins, ends, borders = _tidied(text)
    lines = _string(tidy)
    return TidyText(lines, lines.replace("\n", " "), tidy, begins, ends, borders)


def _string(codes: Codes) -> str:
    """Faster than decoding them; numpy leaves out null characters at the end."""
    found: str = codes.view(f"U{codes.size}").item() if codes.size else ""
    return found + "\0" * (codes.size - len(found))


@compiled
def _is_white(code: np.uint32) -> bool:
    """As in `str.split`."""
    if code <= 0x20:
        return bool(code == 0x20 or 0x09 <= code <= 0x0D or 0x1C <= code <= 0x1F)
    if code < 0x1680:
        return bool(code == 0x85 or code == 0xA0)
    if code > 0x3000:
        return False
    return bool(
        code == 0x3000
        or 0x2000 <= code <= 0x200A
        or code == 0x2028
        or code == 0x2029
        or code == 0x202F
        or code == 0x205F
        or code == 0x1680
    )


@kernel(array(np.uint32))
def _tidied(text: Codes) -> tuple[Codes, Numbers, Numbers, Numbers]:
    tidy = np.empty(text.size, np.uint32)
    borders, known = np.empty(text.size, np.int32), np.uintp(0)
    begins = np.empty(text.size + 1, np.int32)
    ends = np.empty(text.size + 1, np.int32)
    # Unsigned, because for positions that may be negative numba adds tests.
    one = np.uintp(1)
    length = after_word = np.uintp(0)
    after_border = False
    for place in range(np.uintp(text.size)):
        code = text[place]
        ends[place] = length
        if _is_white(code):
            if code == BORDER:
                after_border = True
                borders[known] = place
                known += one
            continue
        if after_word < place:
            if length:
                tidy[length] = _LINE_END if after_border else _BLANK
                length += one
            for white in range(after_word, place):
                begins[white] = length
            after_border = False
        begins[place] = length
        tidy[length] = code
        length += one
        after_word = place + one
    ends[text.size] = length
    begins[after_word:] = length
    return tidy[:length], begins, ends, borders[:known].copy()


def crowded(borders: Numbers, length: int, starts: Numbers, stops: Numbers) -> NDArray[np.bool_]:
    """Which links are in blocks with more link text than other text, or start at the same position as such a link.
    Links are sorted by their starts. `length` is that of the text."""
    # Sorted here: numba takes two seconds to compile a sort.
    before, after = np.searchsorted(borders, starts), np.searchsorted(borders, stops)
    blocks = before * (borders.size + 1) + after
    order = np.argsort(blocks, kind="stable")
    found: NDArray[np.bool_] = _crowded(borders, length, starts, stops, before, after, blocks, order)
    return found


@kernel(array(np.int32), INT, array(np.int32), array(np.int32), *[array(np.int64)] * 4)
def _crowded(
    borders: Numbers,
    length: int,
    starts: Numbers,
    stops: Numbers,
    before: NDArray[np.int64],
    after: NDArray[np.int64],
    blocks: NDArray[np.int64],
    order: NDArray[np.int64],
) -> NDArray[np.bool_]:
    """`before` and `after` are the numbers of borders before the start and the end of each link; `order` sorts links by
    their blocks."""
    found = np.zeros(starts.size, np.bool_)
    first = 0
    while first < order.size:
        last, filled = first, 0
        while last < order.size and blocks[order[last]] == blocks[order[first]]:
            filled += stops[order[last]] - starts[order[last]]
            last += 1
        begin = borders[before[order[first]] - 1] + 1 if before[order[first]] else 0
        end = borders[after[order[first]]] if after[order[first]] < borders.size else length
        if 2 * filled > end - begin:
            for place in range(first, last):
                found[order[place]] = True
        first = last
    for link in range(1, found.size):
        found[link] |= found[link - 1] and starts[link] == starts[link - 1]
    for link in range(found.size - 2, -1, -1):
        found[link] |= found[link + 1] and starts[link] == starts[link + 1]
    return found


# The context of an anchor: a number of characters on each side, without cutting a word.


WINDOW = ParseSettings.context
"""Default maximum of characters on each side."""

_UNSPACED = re.compile(f"[{UNSPACED}]")
_FIRST_UNSPACED = 0x0E00
_SARA_AM = "\u0e33\u0eb3"
"""Signs of Thai and Lao that belong to the preceding letter, although Unicode classifies them as letters."""
_JOINER = "\u200d"
_TIES_LETTERS = 9
"""Combining class of signs that join two letters."""


def words_before(text: str, place: int, window: int = WINDOW) -> str:
    """The last words before a position in a text in which every run of white space is one space."""
    said = text[max(0, place - window - 2) : place].rstrip()
    return _without_first(said[-window - 1 :]) if len(said) > window else said.lstrip()


def words_after(text: str, place: int, window: int = WINDOW) -> str:
    """The first words after a position."""
    said = text[place : place + window + 2].lstrip()
    return _without_last(said[: window + 1]) if len(said) > window else said.rstrip()


@compiled
def _is_blank(code: np.uint32) -> bool:
    return bool(code in (_BLANK, _LINE_END))


@compiled
def start_before(codes: Codes, end: int, window: int) -> int:
    """Where `words_before` start, for a position after a word; -1 if the word to be cut may be of a script without
    spaces."""
    first = max(0, end - window - 2)
    if end - first <= window:
        while first < end and _is_blank(codes[first]):
            first += 1
        return first
    for place in range(end - window - 1, end):
        if _is_blank(codes[place]):
            return place + 1
        if codes[place] >= _FIRST_UNSPACED:
            return -1
    return end


@compiled
def end_after(codes: Codes, start: int, window: int) -> int:
    """Where `words_after` end, for a position before a word; -1 if the word to be cut may be of a script without
    spaces."""
    last = min(codes.size, start + window + 2)
    if last - start <= window:
        while last > start and _is_blank(codes[last - 1]):
            last -= 1
        return last
    for place in range(start + window, start - 1, -1):
        if _is_blank(codes[place]):
            return place
        if codes[place] >= _FIRST_UNSPACED:
            return -1
    return start


def _without_first(said: str) -> str:
    """Without the first character and the rest of its word."""
    blank = said.find(" ")
    word = said[:blank] if blank >= 0 else said
    if not word.isascii() and _UNSPACED.search(word) and (seam := _seam().search(word, 1)):
        return said[seam.start() :]
    return said[len(word) + 1 :]


def _without_last(said: str) -> str:
    begin = said.rfind(" ") + 1
    word = said[begin:]
    if not word.isascii() and _UNSPACED.search(word):
        for place in range(len(word) - 1, 0, -1):
            if _seam().match(word, place):
                return said[: begin + place]
    return said[: max(0, begin - 1)]


@cache
def _seam() -> re.Pattern[str]:
    """Where a run of letters may be cut: beside a letter of a script without spaces, but not before a mark, and not
    after a sign that joins it to the next letter."""
    marks = [chr(code) for code in range(0x300, 0x10000) if unicodedata.category(chr(code))[0] == "M"]
    ties = [mark for mark in marks if unicodedata.combining(mark) == _TIES_LETTERS]
    kept = f"(?<![{''.join(ties)}{_JOINER}])(?![{''.join(marks)}{_SARA_AM}{_JOINER}])"
    return re.compile(f"{kept}(?:(?=[{UNSPACED}])|(?<=[{UNSPACED}]))")


KERNELS = kernels_in(__name__)
