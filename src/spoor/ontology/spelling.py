"""When are two tokens the same word? Whatever punctuation clings to them, and however their letters were typed."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache, lru_cache

from spoor.text.words import any_letter, folded

REMEMBERED = 1 << 16
"""Tokens whose parts are kept at hand: few words make up most of a text."""

_HIDDEN = re.compile("[\u200b-\u200d\u2060\ufeff]")
_NASAL = re.compile("ङ्(?=[क-घ])|ञ्(?=[च-झ])|ण्(?=[ट-ढ])|न्(?=[त-ध])|म्(?=[प-भ])|ँ")
_ANUSVARA, _NUKTA = "ं", "\u093c"


@lru_cache(REMEMBERED)
def parts(token: str) -> tuple[str, str, str]:
    """The punctuation before the word, the word as it is compared, and the punctuation after it. A token of nothing
    but punctuation has no word, and all of it comes before."""
    if token.isalnum():
        return "", spelt(token), ""
    letters = [letter.span() for letter in any_letter().finditer(token)]
    if not letters:
        return token, "", ""
    start, end = letters[0][0], letters[-1][1]
    return token[:start], spelt(token[start:end]), token[end:]


def spelt(text: str) -> str:
    """In the one spelling in which words are compared. In Devanagari, a nasal before a consonant of its own kind is as
    often written as a dot above, `हिन्दी` as `हिंदी`; the dot below that marks sounds of Persian is as often left out."""
    text = folded(text)
    return text if text.isascii() else _NASAL.sub(_ANUSVARA, _HIDDEN.sub("", text)).replace(_NUKTA, "")


def spelt_terms(terms: Iterable[str]) -> list[tuple[str, ...]]:
    """The words of each term as `parts` would give them; all at once, which is quicker than one after the other."""
    text = _clinging().sub("", spelt("".join([f"{term}\n" for term in terms])))
    return [tuple(line.split()) for line in text.split("\n")[:-1]]


@cache
def _clinging() -> re.Pattern[str]:
    """Punctuation at either end of a token."""
    no_letter = rf"(?:(?!{any_letter().pattern})\S)+"
    return re.compile(rf"(?<!\S){no_letter}|{no_letter}(?!\S)")
