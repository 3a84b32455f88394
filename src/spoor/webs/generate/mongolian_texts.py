"""What pages of the Mongolian web are written in: the traditional script in three codings, among other languages."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

from spoor.webs.generate.language_texts import Tongue
from spoor.webs.generate.prose import Vocabulary, vocabulary
from spoor.webs.generate.randomness import begin, chance, new_stream, seed_of
from spoor.webs.generate.request import Request
from spoor.webs.generate.word_list import CodedWords, own_words, words_in
from spoor.webs.generate.words import LANGUAGES, WITHOUT_SPACES

CODINGS = 201
"""The purpose of this stream of chance."""

MENKSOFT, UNICODE = 0.60, 0.25
"""Shares of the wanted pages in each coding; the rest is in the stand-in for Saiyin."""

ICONED = 0.12
"""Share of the other pages whose font has icons where Mongolian fonts have letters."""

ICONS = tuple(map(chr, range(0xE248, 0xE348, 0x18)))
ICON_SHARE = 0.04
"""Of the words of such a page: an icon here and there, never two letters' worth of text."""

LANGUAGES_OF = {
    "iso-8859-1": ("english",),
    "windows-1252": ("english",),
    "utf-8": ("mongolian", "chinese", "english"),
    "gb2312": ("chinese",),
    "windows-1251": ("mongolian",),
}
"""What the other pages are written in, by charset. Mongolian here is Cyrillic."""


def mongolian_tongue(request: Request, charsets: Sequence[str], relevant: NDArray[np.bool_]) -> Tongue:
    """What a page is written in follows from the seed and its number."""
    menksoft, unicode, saiyin = _wanted(words_in(request.words) if request.words else own_words())
    stream = new_stream()

    def tongue(page: int) -> Vocabulary:
        begin(stream, seed_of(request.seed), CODINGS, page)
        draw = chance(stream)
        if not relevant[page]:
            languages = LANGUAGES_OF[charsets[page]]
            return _other(languages[page % len(languages)], charsets[page] == "windows-1251", draw < ICONED)
        return menksoft if draw < MENKSOFT else unicode if draw < MENKSOFT + UNICODE else saiyin

    return tongue


def _wanted(words: CodedWords) -> list[Vocabulary]:
    codings = (words.menksoft, words.unicode, words.saiyin)
    return [vocabulary((1.0, coding), even=not words.by_frequency) for coding in codings]


@cache
def _other(language: str, in_windows_1251: bool, iconed: bool) -> Vocabulary:
    """Two letters of Cyrillic Mongolian are not in windows-1251; words that have them are left out there."""
    words = [word for word in LANGUAGES[language] if not (in_windows_1251 and {"ө", "ү"} & set(word))]
    icons = ICON_SHARE if iconed else 0.0
    return vocabulary((1.0 - icons, words), (icons, ICONS), between="" if language in WITHOUT_SPACES else " ")
