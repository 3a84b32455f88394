"""Which language does a word of a URL mean: a code, a country, a name? And what does it mean more often?"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from functools import cache, lru_cache

from spoor.language.tags import languages, read_tag, spoken_in


def _set_of(words: str) -> frozenset[str]:
    return frozenset(words.split())


Meanings = Mapping[str, float]
"""The languages that something may mean, by tag, and how surely."""

WORDS = _set_of("""
    am an as be co cs do ee el go he hi ho hr id ie ii in io is it la li me ml mr ms my na ne no or os pa pi ps sc so
    st su ti to ts tt us ve we bin cat dan est fin fra her ind lat may mon nor per run sin som sun tel ton
""")
"""Codes that are often something else in a URL: words, abbreviations, faculties."""

COUNTRIES = _set_of("br ch cr ee ie kg kr lu my ng rw se sg si tw za")
"""Codes of small languages that mostly stand for the country of the same letters: se is Sweden, not Northern Sami."""

SMALL = 0.3
"""How surely a code or name means a language that has no code of two letters: any three letters are one of them."""

_WORD, _COUNTRY, _NAME, _CODE = 0.5, 0.8, 0.8, 0.8
"""The same for a code that is also a word, a country, a name, and a code of three letters; a tag is sure: 1."""

_LOCALE = re.compile(r"([a-z]{2,3})[-_]([a-z]{4}|[a-z]{2})(?:[-_][a-z]{2})?")
_LONGEST_LOCALE = len("xxx-xxxx-xx")


def meanings(word: str) -> Meanings:
    """The languages that a word of a URL, in small letters, may mean."""
    may_be_code = len(word) <= _LONGEST_LOCALE and not word[-1:].isdigit()
    return _meanings(word) if may_be_code or word in names() else {}


@lru_cache(1 << 16)
def _meanings(word: str) -> Meanings:
    if word in names():
        return {names()[word]: SMALL if is_small(names()[word]) else _NAME}
    if len(word) == 2:
        return _of_two_letters(word)
    if len(word) != 3 or (tag := read_tag(word)) is None:
        return locale(word)
    return {tag: SMALL if is_small(tag) else _WORD if word in WORDS else _CODE}


def _of_two_letters(word: str) -> Meanings:
    """A language; or a country, whose language is meant. A country that is also a language is the language."""
    tag = read_tag(word)
    countries = _spoken_in(word) if tag is None or word in COUNTRIES else ()
    said = {} if tag is None else {tag: _WORD if word in WORDS or word in COUNTRIES else 1.0}
    return said | dict.fromkeys(countries, _WORD if word in WORDS else _COUNTRY)


def locale(word: str) -> Meanings:
    """de_DE, pt-br, zh-hant: a language with a country where it is spoken, or with a script."""
    parts = _LOCALE.fullmatch(word)
    tag = read_tag(word) if parts else None
    if parts is None or tag is None:
        return {}
    plausible = len(parts[2]) == 4 or _domain(parts[2]) in languages()[tag.partition("-")[0]].domains
    return {tag: 1.0} if plausible else {}


@cache
def names() -> Mapping[str, str]:
    """Names of languages in small letters, also without accents, to tags. Of two with one name the larger has it."""
    found: dict[str, str] = {}
    for tag in sorted(languages(), key=is_small):
        for name in map(str.lower, languages()[tag].names):
            plain = "".join(c for c in unicodedata.normalize("NFKD", name) if not unicodedata.combining(c))
            for spelling in (name, plain):
                if len(spelling) > 3 or not plain.isascii():
                    found.setdefault(spelling, tag)
    return found


def is_small(tag: str) -> bool:
    """Has no code of two letters."""
    return len(tag.partition("-")[0]) > 2


def _spoken_in(country: str) -> list[str]:
    """The languages of at least a third of the people of a country, English only where it is alone."""
    spoken = spoken_in().get(_domain(country), {})
    found = [tag for tag, percent in spoken.items() if percent >= 33 and not is_small(tag)]
    return found if found == ["en"] else [tag for tag in found if tag != "en"]


def _domain(country: str) -> str:
    return {"gb": "uk"}.get(country, country)
