"""Which words stand around an anchor? So many characters of them on each side, and no word cut in two.

Where a script puts no blanks between words, the cut falls between two letters, each with its marks.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache

from spoor.text.words import UNSPACED

WINDOW = 100
"""Characters kept on each side at most."""

_UNSPACED = re.compile(f"[{UNSPACED}]")
_SARA_AM = "\u0e33\u0eb3"
"""Signs of Thai and Lao that belong to the letter before, although Unicode takes them for letters."""
_JOINER = "\u200d"
_TIES_LETTERS = 9
"""Combining class of signs that tie two letters into one."""


def words_before(text: str, place: int) -> str:
    """What is read last before a place in a text that has every run of white space as one blank."""
    said = text[max(0, place - WINDOW - 2) : place].rstrip()
    return _without_first(said[-WINDOW - 1 :]) if len(said) > WINDOW else said.lstrip()


def words_after(text: str, place: int) -> str:
    """What is read first after a place."""
    said = text[place : place + WINDOW + 2].lstrip()
    return _without_last(said[: WINDOW + 1]) if len(said) > WINDOW else said.rstrip()


def _without_first(said: str) -> str:
    """Without the first character and what is left of its word."""
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
    """Where a run of letters may be parted: beside a letter of a script without blanks, but not before a mark, and not
    after what ties the next letter to it."""
    marks = [chr(code) for code in range(0x300, 0x10000) if unicodedata.category(chr(code))[0] == "M"]
    ties = [mark for mark in marks if unicodedata.combining(mark) == _TIES_LETTERS]
    kept = f"(?<![{''.join(ties)}{_JOINER}])(?![{''.join(marks)}{_SARA_AM}{_JOINER}])"
    return re.compile(f"{kept}(?:(?=[{UNSPACED}])|(?<=[{UNSPACED}]))")
