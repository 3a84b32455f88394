"""Words of scripts that are written from right to left, in the order in which they are read.

A PDF says where each letter stands, not which comes first. pdfium guesses, and turns many words around: in such a word
the letters stand further and further to the right, where they should go to the left."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence

Placed = tuple[str, float]
"""A character, and how far to the right it stands."""

_LETTERS = (
    "\u0591-\u05f4\u0610-\u061a\u0620-\u065f\u066e-\u06d3\u06d5-\u06ef\u06fa-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u200c"
)
"""Of Hebrew, Arabic, Syriac, Thaana, N'Ko and others, with their marks; without digits and punctuation."""
_LETTER = re.compile(f"[{_LETTERS}]")
_WORD = re.compile(f"[{_LETTERS}]+")
_FORMS = re.compile("[\ufb1d-\ufdff\ufe70-\ufefc]+")
"""Letters as they look at a place in a word. Texts have them as they are everywhere."""
_MARK = re.compile(
    "[\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e8\u06ea-\u06ed]"
)
"""Above or below a letter of Hebrew or Arabic, without a width of its own."""
_MARKS = frozenset(filter(_MARK.match, map(chr, range(0x591, 0x6EE))))
_LIGATURE = re.compile("[اأإآ]ل")
"""Lam with alef, which stand at one place, the wrong way round; that they be a word in this order is rare."""

_NEAR = 0.5
"""Points by which a mark may stand before the edge of its letter."""


def is_right_to_left(text: str) -> bool:
    return _LETTER.search(text) is not None


def repaired(text: str, across: Callable[[int], float]) -> str:
    """The text with its words turned around where their letters stand in the order of reading from the left. `across`
    tells how far to the right a character of the text stands; to ask for all of them would take most of the time."""

    def in_order(word: re.Match[str]) -> str:
        return _in_order(word[0], word.start(), across)

    return _FORMS.sub(lambda found: unicodedata.normalize("NFKC", found[0]), _WORD.sub(in_order, text))


def _in_order(word: str, start: int, across: Callable[[int], float]) -> str:
    if not _MARK.search(word):
        return word[::-1] if len(word) > 1 and _is_turned(word, across(start), across(start + len(word) - 1)) else word
    glyphs = [(letter, across(start + place)) for place, letter in enumerate(word)]
    letters = [glyph for glyph in glyphs if glyph[0] not in _MARKS]
    if not letters:
        return word
    if _is_turned(word, letters[0][1], letters[-1][1]):
        glyphs.reverse()
        letters.reverse()
    return _marked(letters, [glyph for glyph in glyphs if glyph[0] in _MARKS])


def _is_turned(word: str, first: float, last: float) -> bool:
    """By the places of its first letter and its last."""
    return last > first or (last == first and _LIGATURE.fullmatch(word) is not None)


def _marked(letters: list[Placed], marks: Sequence[Placed]) -> str:
    """Letters from the right, each with the marks above or below it. A letter is drawn from its left edge."""
    letters = sorted(letters, key=lambda letter: -letter[1])
    said = [letter for letter, _ in letters]
    for mark, place in marks:
        under = (number for number, (_, left) in enumerate(letters) if left <= place + _NEAR)
        said[next(under, len(said) - 1)] += mark
    return "".join(said)
