"""What the words of a link say of the language of its target: the name of a language, letters of its script, n-grams.

Signs are numbers from -1 to 1.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import cache, lru_cache

from spoor.errors import UsageError
from spoor.language.meanings import SMALL, Meanings, is_small, meanings, names
from spoor.language.recogniser import Recogniser, recogniser
from spoor.language.tags import languages

ALPHABETS: dict[str, tuple[str, ...]] = {
    "Arab": ("ARABIC",),
    "Armn": ("ARMENIAN",),
    "Beng": ("BENGALI",),
    "Cyrl": ("CYRILLIC",),
    "Deva": ("DEVANAGARI",),
    "Ethi": ("ETHIOPIC",),
    "Geor": ("GEORGIAN",),
    "Grek": ("GREEK",),
    "Gujr": ("GUJARATI",),
    "Guru": ("GURMUKHI",),
    "Hans": ("CJK",),
    "Hant": ("CJK",),
    "Hebr": ("HEBREW",),
    "Jpan": ("HIRAGANA", "KATAKANA", "CJK"),
    "Khmr": ("KHMER",),
    "Knda": ("KANNADA",),
    "Kore": ("HANGUL",),
    "Laoo": ("LAO",),
    "Latn": ("LATIN",),
    "Mlym": ("MALAYALAM",),
    "Mong": ("MONGOLIAN",),
    "Mymr": ("MYANMAR",),
    "Orya": ("ORIYA",),
    "Sinh": ("SINHALA",),
    "Taml": ("TAMIL",),
    "Telu": ("TELUGU",),
    "Thaa": ("THAANA",),
    "Thai": ("THAI",),
    "Tibt": ("TIBETAN",),
}
"""Scripts to the first words of their letters' names in Unicode."""

SHARED = frozenset({"Arab", "Beng", "Cyrl", "Deva"})
"""Scripts of several large languages, so that a letter says less."""

_WORD = re.compile(r"[^\W\d_]+")
_NAME_INSIDE = 0.7
_SHORT = 40
"""Characters of an anchor in which the name of a language is likely to be about the target."""

LEAST_LETTERS = 12
"""An anchor of fewer characters has too few n-grams."""

_UNLIKE, _LIKE = 0.42, 0.67
"""Similarities of anchors: up to here it says nothing, for products have the same names everywhere; from there on 1."""

_FEW = 0.2
"""A smaller share of letters is a foreign name among others."""

_LATIN_IN_ANOTHER_SCRIPT = -0.2
"""Names of products are written in Latin letters everywhere."""


def named_in_anchor(anchor: str) -> Meanings:
    """The language that a short anchor names, alone or among other words; nothing when it names several."""
    return _named(anchor.lower()) if len(anchor) <= _SHORT else {}


@lru_cache(1 << 16)
def _named(anchor: str) -> Meanings:
    said = " ".join(anchor.split()).strip("[](){}|<>«»·:;,.!?*-–— ")
    if means := meanings(said):
        return means
    known = names()
    inside = {known[word] for word in _WORD.findall(said) if word in known}
    if not said.isascii():
        inside |= {tag for name, tag in _names_among_others().items() if name in said}
    return {tag: SMALL if is_small(tag) else _NAME_INSIDE for tag in inside} if len(inside) == 1 else {}


@cache
def _names_among_others() -> dict[str, str]:
    """Names that need no blanks around them: 日本語 in 日本語版."""
    return {name: tag for name, tag in names().items() if _alphabet(name[0]) == "CJK"}


def script_sign(wanted: str, text: str) -> float:
    """By the share of the letters that are in a script of the language; 0 when it says nothing."""
    if text.isascii():
        return _latin_sign(wanted) if text.upper() != text.lower() else 0.0
    return _script_sign(wanted, text)


@cache
def _latin_sign(wanted: str) -> float:
    """Of any number of Latin letters."""
    return _script_sign(wanted, "a")


def _script_sign(wanted: str, text: str) -> float:
    alphabets = list(filter(None, map(_alphabet, text)))
    scripts = _scripts(wanted)
    if not alphabets or not scripts:
        return 0.0
    inside = {script: sum(map(alphabets.count, ALPHABETS[script])) / len(alphabets) for script in scripts}
    if max(inside.values()) < _FEW:
        return _LATIN_IN_ANOTHER_SCRIPT if "LATIN" in alphabets else -1.0
    return max((share * _certainty(script, alphabets) for script, share in inside.items()), key=abs)


@cache
def _scripts(wanted: str) -> list[str]:
    """Those that the tag allows and whose letters are known; none for a language of one's own."""
    tag, _, script = wanted.partition("-")
    known = languages().get(tag)
    if known is None:
        return []
    allowed = [script] if script else [known.script, *known.scripts_abroad.values()]
    return [script for script in dict.fromkeys(allowed) if script in ALPHABETS]


def _certainty(script: str, alphabets: list[str]) -> float:
    """How surely letters of a script mean the language: kana settles what Chinese characters leave open."""
    kana = "HIRAGANA" in alphabets or "KATAKANA" in alphabets
    if script in ("Hans", "Hant"):
        return -1.0 if kana else 0.7
    if script == "Jpan":
        return 1.0 if kana else 0.4
    if script == "Latn":
        return 0.0
    return 0.6 if script in SHARED else 1.0


def words_signs(wanted: str, anchors: Sequence[str]) -> list[float]:
    """By the n-grams of each anchor; 0 for short ones, and for all when no profile of the language is shipped."""
    long = list(dict.fromkeys(anchor for anchor in anchors if len(anchor) >= LEAST_LETTERS))
    likeness = _recogniser(wanted) if long else None
    if likeness is None:
        return [0.0] * len(anchors)
    near = map(float, likeness.similarities(long))
    said = {anchor: (alike - _UNLIKE) / (_LIKE - _UNLIKE) for anchor, alike in zip(long, near, strict=True)}
    return [min(1.0, max(0.0, said.get(anchor, 0.0))) for anchor in anchors]


@cache
def _recogniser(wanted: str) -> Recogniser | None:
    try:
        return recogniser(wanted)
    except UsageError:
        return None


@cache
def _alphabet(letter: str) -> str:
    """The first word of the name of a letter, "" for other characters."""
    return unicodedata.name(letter, "").split(" ")[0].split("-")[0] if letter.isalpha() else ""
