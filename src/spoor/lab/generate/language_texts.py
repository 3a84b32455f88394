"""The texts of a language web: each page in its language and charset; Mongolian in three encodings."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from spoor.errors import BadInput
from spoor.judging.encodings import Encoding, collapse, encoded, share_inside, shipped
from spoor.lab.generate.chance import Request, begin, chance, new_stream, seed_of
from spoor.lab.generate.mongolian_words import MONGOLIAN_WORDS
from spoor.lab.generate.pages import Content, LinkWords, parted, write_pages
from spoor.lab.generate.prose import LANGUAGE, LANGUAGES, TEXT_WORDS, WITHOUT_SPACES, Author, Vocabulary, vocabulary
from spoor.lab.web import Web
from spoor.progress import Advance

# The words of traditional Mongolian pages in each encoding: built-in, or from a word list.


_MENKSOFT = re.compile("[\ue234-\ue34f]+")
_UNICODE = re.compile("[\u1800-\u18af\u202f]+")
_JOINTS = re.compile("[\u180b-\u180f\u202f]")
"""Characters that select between forms of a letter in Unicode; in fonts the glyph itself is the form."""


@dataclass(frozen=True)
class CodedWords:
    """The same words in three encodings, in the same order. `by_frequency`: the most frequent come first."""

    unicode: tuple[str, ...]
    menksoft: tuple[str, ...]
    saiyin: tuple[str, ...]
    by_frequency: bool


def own_words() -> CodedWords:
    return _coded([word for word, _ in MONGOLIAN_WORDS], [glyphs for _, glyphs in MONGOLIAN_WORDS], by_frequency=True)


def words_in(path: Path) -> CodedWords:
    """One word per line, in Menksoft glyphs or in Unicode. Such a list has no word frequencies.

    A word given in Unicode gets the first glyph of each letter in Menksoft, unlike real pages.
    """
    font = shipped()["menksoft"]
    words = [word for word in _lines(path) if share_inside(word, (*font.letters, *font.unicode))]
    if not words:
        raise BadInput(f"the word list {path} holds no words; give one a line, in Menksoft glyphs or in Unicode")
    unicode, menksoft = [collapse(word, font) for word in words], [_in_font(word, font) for word in words]
    return _coded(unicode, menksoft, by_frequency=False)


def _coded(unicode: Sequence[str], menksoft: Sequence[str], by_frequency: bool) -> CodedWords:
    saiyin = tuple(_in_font(word, shipped()["saiyin"]) for word in unicode)
    return CodedWords(tuple(unicode), tuple(menksoft), saiyin, by_frequency)


def _in_font(word: str, font: Encoding) -> str:
    return encoded(_JOINTS.sub("", word), font)


def _lines(path: Path) -> list[str]:
    try:
        lines = path.read_text("utf8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"cannot read the word list {path}: {getattr(error, 'strerror', None) or error}") from None
    for number, line in enumerate(lines, 1):
        word = line.strip()
        if word and not (_MENKSOFT.fullmatch(word) or _UNICODE.fullmatch(word)):
            raise BadInput(f"{path}, line {number}: {word!r} is not Mongolian, in Menksoft glyphs or in Unicode")
    return [line.strip() for line in lines]


# The texts of a language web: each page in its language and encoded in its charset.


LANGUAGES_OF = {
    "iso-8859-1": ("english", "german"),
    "windows-1252": ("german", "english"),
    "utf-8": ("english", "russian", "hindi", "german"),
    "shift_jis": ("japanese",),
    "gb2312": ("chinese",),
    "windows-1251": ("russian",),
}
"""Languages of pages that are not in the target language, by charset."""

NO_ANCHOR, ANCHOR_OF_TARGET = 0.15, 0.70
"""Probabilities that an anchor is empty (an image), and that it is in the language of the target; otherwise it is in
that of the page."""


PageVocabulary = Callable[[int], Vocabulary]
"""The vocabulary of a page, by its number."""

VocabularyFactory = Callable[[Request, Sequence[str], NDArray[np.bool_]], PageVocabulary]
"""Makes a `PageVocabulary` for a whole web, from the charsets of its pages and the mask of relevant pages."""


def language_vocabulary(request: Request, charsets: Sequence[str], relevant: NDArray[np.bool_]) -> PageVocabulary:
    """Relevant pages are in the language that the web is named after, others in one that their charset can encode."""

    def tongue(page: int) -> Vocabulary:
        if relevant[page]:
            return LANGUAGE[request.name]
        choices = LANGUAGES_OF[charsets[page]]
        return LANGUAGE[choices[page % len(choices)]]

    return tongue


def write_language_texts(request: Request, folder: Path, advance: Advance, tongue_of: VocabularyFactory) -> None:
    web = Web.open(folder)
    declared, true = web.array("meta_charset"), web.array("detected_charset")
    charsets = [web.about["charsets"][k] for k in np.where(true > 0, true, declared)]
    author = LanguageAuthor(request.seed, charsets, tongue_of(request, charsets, web.labelled("relevant")))
    write_pages(folder, author.compose, request.parsing, advance)


class LanguageAuthor:
    """Writes pages whose text surrounds their links. `charsets` has "" for URLs that are not pages."""

    def __init__(self, seed: int, charsets: Sequence[str], tongue: PageVocabulary) -> None:
        self._charsets = charsets
        self._tongue = tongue
        self._author = Author(seed)

    def compose(self, page: int, links: list[int]) -> Content:
        author, tongue = self._author, self._tongue(page)
        author.turn_to(page)
        title = author.write(tongue, 5)
        opening, *texts = author.write_parts(tongue, parted(TEXT_WORDS, len(links) + 1))
        words = [self._link_words(tongue, link, text) for link, text in zip(links, texts, strict=True)]
        return Content(title, title, opening, words)

    def _link_words(self, tongue: Vocabulary, link: int, text: str) -> LinkWords:
        author, draw = self._author, self._author.chance()
        of_target = draw < NO_ANCHOR + ANCHOR_OF_TARGET and self._charsets[link] != ""
        of_anchor = self._tongue(link) if of_target else tongue
        anchor = "" if draw < NO_ANCHOR else author.write(of_anchor, 4)
        left, right = (author.write(tongue, 6) for _ in range(2))
        return LinkWords(tongue.joined(text, left), anchor, right)


# The languages of the Mongolian web: the traditional script in three encodings, among other languages.


CODINGS = 201
"""The purpose of this random stream."""

MENKSOFT, UNICODE = 0.60, 0.25
"""Shares of the relevant pages in each encoding; the rest is in the substitute for Saiyin."""

ICONED = 0.12
"""Share of the other pages whose font has icons at the code points of Mongolian font letters."""

ICONS = tuple(map(chr, range(0xE248, 0xE348, 0x18)))
ICON_SHARE = 0.04
"""Share of icons among the words of such a page: single ones, never two letters' worth of text."""

BESIDE_MONGOLIAN = {
    "iso-8859-1": ("english",),
    "windows-1252": ("english",),
    "utf-8": ("mongolian", "chinese", "english"),
    "gb2312": ("chinese",),
    "windows-1251": ("mongolian",),
}
"""Languages of the other pages, by charset. Mongolian here is Cyrillic."""


def mongolian_tongue(request: Request, charsets: Sequence[str], relevant: NDArray[np.bool_]) -> PageVocabulary:
    """The language and encoding of a page depend only on the seed and its number."""
    menksoft, unicode, saiyin = _relevant(words_in(request.words) if request.words else own_words())
    stream = new_stream()

    def tongue(page: int) -> Vocabulary:
        begin(stream, seed_of(request.seed), CODINGS, page)
        draw = chance(stream)
        if not relevant[page]:
            languages = BESIDE_MONGOLIAN[charsets[page]]
            return _other(languages[page % len(languages)], charsets[page] == "windows-1251", draw < ICONED)
        return menksoft if draw < MENKSOFT else unicode if draw < MENKSOFT + UNICODE else saiyin

    return tongue


def _relevant(words: CodedWords) -> list[Vocabulary]:
    codings = (words.menksoft, words.unicode, words.saiyin)
    return [vocabulary((1.0, coding), even=not words.by_frequency) for coding in codings]


@cache
def _other(language: str, in_windows_1251: bool, iconed: bool) -> Vocabulary:
    """windows-1251 lacks two letters of Cyrillic Mongolian; words with them are left out there."""
    words = [word for word in LANGUAGES[language] if not (in_windows_1251 and {"ө", "ү"} & set(word))]
    icons = ICON_SHARE if iconed else 0.0
    return vocabulary((1.0 - icons, words), (icons, ICONS), between="" if language in WITHOUT_SPACES else " ")
