"""Words of scripts that are written from right to left, in the order in which they are read.

A PDF says where each letter stands, not which comes first. pdfium guesses, and turns many words around: in such a word
the letters stand further and further to the right, where they should go to the left."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from itertools import pairwise

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
_LIGATURE = re.compile("[اأإآ]ل")
"""Lam with alef, which stand at one place, the wrong way round; that they be a word in this order is rare."""


def is_right_to_left(text: str) -> bool:
    return _LETTER.search(text) is not None


def repaired(placed: Sequence[Placed]) -> str:
    """The text with its words turned around where their letters stand in the order of reading from the left."""
    text = "".join(character for character, _ in placed)
    places = [place for _, place in placed]

    def turned(word: re.Match[str]) -> str:
        steps = [after - before for before, after in pairwise(places[word.start() : word.end()])]
        to_the_right, to_the_left = sum(step > 0 for step in steps), sum(step < 0 for step in steps)
        wrong = to_the_right > to_the_left or (to_the_right == to_the_left and _LIGATURE.fullmatch(word[0]))
        return word[0][::-1] if wrong else word[0]

    return _FORMS.sub(lambda found: unicodedata.normalize("NFKC", found[0]), _WORD.sub(turned, text))
