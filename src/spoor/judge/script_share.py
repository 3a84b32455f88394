"""The language of a page by its script: what share of the letters is written in it."""

from __future__ import annotations

import re
import sys
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from spoor.errors import UsageError
from spoor.records import Page, Verdict

SCRIPTS: dict[str, str] = {
    "arabic": "\u0600-\u06ff\u0750-\u077f",
    "armenian": "\u0530-\u058f",
    "bengali": "\u0980-\u09ff",
    "cyrillic": "\u0400-\u052f",
    "devanagari": "\u0900-\u097f",
    "ethiopic": "\u1200-\u139f",
    "georgian": "\u10a0-\u10ff",
    "greek": "\u0370-\u03ff",
    "gujarati": "\u0a80-\u0aff",
    "gurmukhi": "\u0a00-\u0a7f",
    "hangul": "\u1100-\u11ff\uac00-\ud7af",
    "hebrew": "\u0590-\u05ff",
    "kana": "\u3040-\u30ff",
    "kannada": "\u0c80-\u0cff",
    "khmer": "\u1780-\u17ff",
    "lao": "\u0e80-\u0eff",
    "malayalam": "\u0d00-\u0d7f",
    "mongolian": "\u1800-\u18af",
    "myanmar": "\u1000-\u109f",
    "sinhala": "\u0d80-\u0dff",
    "tamil": "\u0b80-\u0bff",
    "telugu": "\u0c00-\u0c7f",
    "thai": "\u0e00-\u0e7f",
    "tibetan": "\u0f00-\u0fff",
}
"""Ranges of code points, as inside a character class."""


@cache
def _letters() -> NDArray[np.bool_]:
    """Which code points are letters; the vowel signs of the scripts above count as letters too."""
    letters = np.array([chr(code).isalpha() for code in range(sys.maxunicode + 1)], np.bool_)
    for ranges in SCRIPTS.values():
        for code in _codes(ranges):
            letters[code] |= unicodedata.category(chr(code)).startswith("M")
    return letters


@cache
def _kinds(script: str) -> NDArray[np.uint8]:
    """For each code point 0 when it is no letter, 2 when it is one of the script, 1 when it is another."""
    kinds = _letters().astype(np.uint8)
    kinds[list(_codes(SCRIPTS[script]))] *= 2
    return kinds


def _codes(ranges: str) -> Iterator[int]:
    for first, last in re.findall("(.)-(.)", ranges):
        yield from range(ord(first), ord(last) + 1)


@dataclass(frozen=True)
class ScriptShare:
    """Relevant from `least` on. The relevance is the share itself; vowel signs count as letters."""

    script: str
    least: float = 0.3

    reads_content: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.script not in SCRIPTS:
            raise UsageError(f"unknown script {self.script!r}; known are {', '.join(SCRIPTS)}")
        if not 0.0 <= self.least <= 1.0:
            raise UsageError(f"least={self.least:g} is not a share between 0 and 1")

    def judge(self, pages: Sequence[Page]) -> list[Verdict]:
        return [self._judge(page) for page in pages]

    def _judge(self, page: Page) -> Verdict:
        codes = np.frombuffer(page.text.encode("utf-32-le", "surrogatepass"), np.uint32)
        kinds = _kinds(self.script)[codes]
        letters = int(np.count_nonzero(kinds))
        if not letters:
            return Verdict(0.0, False, "no letters")
        share = int(np.count_nonzero(kinds == 2)) / letters
        return Verdict(share, share >= self.least, f"{share:.0%} of {letters} letters are {self.script}")
