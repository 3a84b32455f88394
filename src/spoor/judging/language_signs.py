"""Evidence about the language of a page before it is fetched: in its URL, and in the anchor of a link to it.

Each sign is a number from -1 to 1.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, lru_cache
from itertools import islice
from typing import NamedTuple
from urllib.parse import unquote

import numpy as np

from spoor.errors import UsageError
from spoor.judging import language_mentions, profile_search
from spoor.judging.language_mentions import (
    CODE,
    LETTERS,
    NAME,
    WORD,
    marked,
    may_name,
    names_among_others,
)
from spoor.judging.language_tags import (
    SMALL,
    WORDS,
    Meanings,
    is_small,
    languages,
    locale,
    matches,
    meanings,
    names,
    read_tag,
    spoken_in,
)
from spoor.judging.profile_search import Recogniser, recogniser

# Signs from -1 to 1; evidence of another language is negative.


COMMON = frozenset({"en"})
"""The lingua franca: where several languages occur, pages are often in this one, so it is weak evidence against
others."""

COMMON_SHARE = 0.25
"""Factor for evidence against the target by a common language."""

_SMALL_TARGET = 0.8
"""Confidence in a code or name of a small language if that language is the target."""


class Mention(NamedTuple):
    """What a part of a link says about its language: a sign, the confidence in its clearest meaning, and that meaning;
    0 and "" if it names no language."""

    sign: float
    sure: float
    tag: str


UNNAMED = Mention(0.0, 0.0, "")


def mention(target: str, means: Meanings) -> Mention:
    if not means:
        return UNNAMED
    tag = max(means, key=means.__getitem__)
    return Mention(sign(target, means), means[tag], tag)


def sign(target: str, means: Meanings) -> float:
    """Evidence for or against the target language from something that may mean the languages `means`. A small language
    counts only if it is the target."""
    if not means:
        return 0.0
    for_it = max((sure for tag, sure in means.items() if matches(target, tag)), default=0.0)
    if for_it:
        return for_it / SMALL * _SMALL_TARGET if for_it <= SMALL and is_small(target) else for_it
    against = max((sure for tag, sure in means.items() if not is_small(tag)), default=0.0)
    return -against * COMMON_SHARE if COMMON & means.keys() else -against


@lru_cache(1 << 12)
def claimed(target: str, text: str) -> Mention:
    """The language in a `lang` or `hreflang` attribute, if it is a known one."""
    tag = read_tag(text)
    return UNNAMED if tag is None else mention(target, {tag: 1.0})


# Evidence in a URL: the country of its domain, languages named in host, path and query.


QUERY_NAMES = frozenset(
    ("l", "lg", "ln", "lng", "lang", "langid", "language", "locale", "hl", "lr", "uselang", "setlang", "userlang")
)
"""Parameters whose value is a language."""

PAGE_ENDINGS = frozenset(
    (
        "html",
        "htm",
        "xhtml",
        "shtml",
        "phtml",
        "php",
        "asp",
        "aspx",
        "jsp",
        "cgi",
        "do",
        "cfm",
        "md",
        "txt",
        "xml",
        "pdf",
    )
)

_PIECE = 0.7
"""Factor for a code that is the last part of a longer name: guide-de."""


MOST_URLS = 1 << 14
"""URLs whose signs are remembered: about 4 MB."""

UrlSigns = tuple[Mention, float]
"""The clearest code or name of a language in host, path and query, of equals the last, which is closest to the page;
and the sign of the domain."""


def signs_in_url(target: str, url: str) -> UrlSigns:
    return signs_in_urls(target, [url])[0]


def signs_in_urls(target: str, urls: Sequence[str]) -> list[UrlSigns]:
    """Of many. Remembered, because the pages of a site repeat the same links."""
    known = _known_urls(target)
    signs = [known.get(url) for url in urls]
    new = [url for url, said in zip(urls, signs, strict=True) if said is None]
    if not new:
        return [said for said in signs if said]
    read = _read_urls(target, new)
    if len(known) + len(new) > MOST_URLS:
        for url in list(islice(known, MOST_URLS // 2)):
            del known[url]
    known.update(zip(new, read, strict=True))
    following = iter(read)
    return [said or next(following) for said in signs]


@lru_cache(4)
def _known_urls(target: str) -> dict[str, UrlSigns]:
    """Those that were read before, for `signs_in_urls`."""
    return {}


def _read_urls(target: str, urls: Sequence[str]) -> list[UrlSigns]:
    """Few names of files are read word by word."""
    parts = [_parts(url) for url in urls]
    marks = marked([name for _, name, _ in parts])
    return [_signs_in_parts(target, *each, mark) for each, mark in zip(parts, marks, strict=True)]


def _parts(url: str) -> tuple[str, str, str]:
    """Host and folders; the name of the file; the query."""
    before, _, query = url.partition("?")
    folder, _, name = before.rpartition("/")
    return folder, name, query


def _signs_in_parts(target: str, folder: str, name: str, query: str, mark: int) -> UrlSigns:
    signs = _signs_in_folder(target, folder)
    may_be_named = mark & (NAME | CODE) or "%" in name
    if not may_be_named and not query:
        return signs
    named, domain = signs
    if may_be_named:
        named = _clearer(named, _named_in_file(target, name))
    return (_clearer(named, _clearest(target, _words_of_query(query))) if query else named), domain


@lru_cache(1 << 13)
def _signs_in_folder(target: str, folder: str) -> tuple[Mention, float]:
    """Cached, because many pages share a folder."""
    host, *path = folder.partition("//")[2].lower().split("/")
    words = _words_of_host(host) + [word for part in path for word in _words_of_part(part)]
    return _clearest(target, words), _domain_sign(target, host)


@lru_cache(1 << 13)
def _named_in_file(target: str, name: str) -> Mention:
    """Cached, because many folders have files of the same name."""
    return _clearest(target, _words_of_name(name))


def _clearest(target: str, words: Iterable[tuple[str, float]]) -> Mention:
    clearest = UNNAMED
    for word, weight in words:
        if means := meanings(word):
            weighed = {tag: weight * sure for tag, sure in means.items()}
            clearest = _clearer(clearest, mention(target, weighed))
    return clearest


def _clearer(first: Mention, second: Mention) -> Mention:
    return second if second.sure >= first.sure else first


def _domain_sign(target: str, host: str) -> float:
    """By the share of the country's population who speak the language; 0 for domains without a country, and for a
    language defined by the user, for which no countries are known."""
    spoken = spoken_in().get(host.partition(":")[0].rpartition(".")[2])
    language = target.partition("-")[0]
    if spoken is None or language not in languages():
        return 0.0
    return spoken[language] / 100 if language in spoken else -max(spoken.values()) / 100


def _words_of_host(host: str) -> list[tuple[str, float]]:
    """All labels except those of the registered name; www-de counts as de."""
    return [word for label in host.partition(":")[0].split(".")[:-2] for word in _words_of_part(label)]


def _words_of_part(part: str) -> list[tuple[str, float]]:
    """A folder or a label of a host: the whole, and its last part if that may be a language."""
    word = unquote(part).lower() if "%" in part else part
    last = word.replace("_", "-").rpartition("-")[2]
    if last != word and last not in WORDS and meanings(last) and not locale(word):
        return [(word, 1.0), (last, _PIECE)]
    return [(word, 1.0)]


def _words_of_name(name: str) -> list[tuple[str, float]]:
    """The name of a file: index.ja.html, index.html.ja, guide-de.html."""
    stem, *parts = name.lower().split(".")
    if parts and parts[-1] in PAGE_ENDINGS:
        parts.pop()
    elif not (len(parts) > 1 and parts[-2] in PAGE_ENDINGS):
        parts = parts[:-1]
    words = [(word, weight * _PIECE) for word, weight in _words_of_part(stem)]
    return words + [(part, 1.0) for part in parts] if parts else words


def _words_of_query(query: str) -> Iterator[tuple[str, float]]:
    for parameter in query.lower().split("&"):
        name, _, value = parameter.partition("=")
        if name in QUERY_NAMES:
            yield value.removeprefix("lang_"), 1.0


# Evidence in an anchor: the name of a language, letters of its script, n-grams.


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
"""Scripts to the first words of the Unicode names of their letters."""

SHARED = frozenset({"Arab", "Beng", "Cyrl", "Deva"})
"""Scripts of several large languages, in which a letter is weaker evidence."""

_NAME_INSIDE = 0.7
_SHORT = 40
"""Maximum length of an anchor, in characters, in which the name of a language probably refers to the linked page."""

LEAST_LETTERS = 12
"""Minimum length of an anchor, in characters, for n-grams."""

_UNLIKE, _LIKE = 0.42, 0.67
"""Similarities of anchors: up to the first the sign is 0, because product names are the same in all languages; from the
second on it is 1."""

_FEW = 0.2
"""A smaller share of letters is a foreign name in a text of another script."""

_LATIN_IN_ANOTHER_SCRIPT = -0.2
"""Weak, because product names are in Latin letters everywhere."""


AnchorSigns = tuple[float, str]
"""The sign of the language that a short anchor names, or else of its letters; and the language that it names, "" if
none."""


def signs_in_anchor(target: str, anchor: str) -> AnchorSigns:
    return signs_in_anchors(target, [anchor])[0]


def signs_in_anchors(target: str, anchors: Sequence[str]) -> list[AnchorSigns]:
    """Of many, because few anchors are read word by word."""
    unnamed = {0: (0.0, ""), LETTERS: (_latin_sign(target), "")}
    return [
        _read_anchor(target, anchor)
        if may_name(mark) and len(anchor) <= _SHORT
        else unnamed[mark & LETTERS]
        if anchor.isascii()
        else (_script_sign(target, anchor), "")
        for anchor, mark in zip(anchors, marked(anchors), strict=True)
    ]


def named_in_anchors(target: str, anchors: Sequence[str]) -> list[str]:
    """Only the languages that they name."""
    return [
        _read_anchor(target, anchor)[1] if may_name(mark) and len(anchor) <= _SHORT else ""
        for anchor, mark in zip(anchors, marked(anchors), strict=True)
    ]


@lru_cache(1 << 13)
def _read_anchor(target: str, anchor: str) -> AnchorSigns:
    named = mention(target, _named_in_anchor(anchor.lower()))
    return named.sign or script_sign(target, anchor), named.tag


def _named_in_anchor(anchor: str) -> Meanings:
    """The language that it names, alone or among other words; empty if it names several."""
    said = " ".join(anchor.split()).strip("[](){}|<>«»·:;,.!?*-–— ")
    if means := meanings(said):
        return means
    known = names()
    inside = {known[word] for word in known.keys() & WORD.findall(said)}
    if not said.isascii() and _ends_of_names().search(said):
        inside |= {tag for name, tag in names_among_others().items() if name in said}
    return {tag: SMALL if is_small(tag) else _NAME_INSIDE for tag in inside} if len(inside) == 1 else {}


@cache
def _ends_of_names() -> re.Pattern[str]:
    """The last letters of these names, of which most anchors have none."""
    return re.compile(f"[{''.join({re.escape(name[-1]) for name in names_among_others()})}]")


def script_sign(target: str, text: str) -> float:
    """By the share of letters in a script of the language; 0 without evidence."""
    if text.isascii():
        return _latin_sign(target) if text.upper() != text.lower() else 0.0
    return _script_sign(target, text)


@cache
def _latin_sign(target: str) -> float:
    """The sign of a text in Latin letters, of any length."""
    return _script_sign(target, "a")


@lru_cache(1 << 13)
def _script_sign(target: str, text: str) -> float:
    """Cached, because the pages of a site repeat the same anchors."""
    alphabets = list(filter(None, map(_alphabet, text)))
    scripts = _scripts(target)
    if not alphabets or not scripts:
        return 0.0
    inside = {script: sum(map(alphabets.count, ALPHABETS[script])) / len(alphabets) for script in scripts}
    if max(inside.values()) < _FEW:
        return _LATIN_IN_ANOTHER_SCRIPT if "LATIN" in alphabets else -1.0
    return max((share * _certainty(script, alphabets) for script, share in inside.items()), key=abs)


@cache
def _scripts(target: str) -> list[str]:
    """The scripts that the tag allows and whose letters are known; empty for a language defined by the user."""
    tag, _, script = target.partition("-")
    known = languages().get(tag)
    if known is None:
        return []
    allowed = [script] if script else [known.script, *known.scripts_abroad.values()]
    return [script for script in dict.fromkeys(allowed) if script in ALPHABETS]


def _certainty(script: str, alphabets: list[str]) -> float:
    """Confidence that letters of a script mean the language: kana distinguishes Japanese from Chinese."""
    kana = "HIRAGANA" in alphabets or "KATAKANA" in alphabets
    if script in ("Hans", "Hant"):
        return -1.0 if kana else 0.7
    if script == "Jpan":
        return 1.0 if kana else 0.4
    if script == "Latn":
        return 0.0
    return 0.6 if script in SHARED else 1.0


def words_signs(target: str, anchors: Sequence[str]) -> list[float]:
    """By the n-grams of each anchor; 0 for short ones, and for all if no profile of the language is shipped."""
    long = list({anchor for anchor in anchors if len(anchor) >= LEAST_LETTERS})
    likeness = _recogniser(target) if long else None
    if likeness is None:
        return [0.0] * len(anchors)
    near = likeness.similarities(long, _UNLIKE)
    if near.max() <= _UNLIKE:
        return [0.0] * len(anchors)
    signs = np.clip((near - _UNLIKE) / (_LIKE - _UNLIKE), 0.0, 1.0).tolist()
    said = dict(zip(long, signs, strict=True))
    return [said.get(anchor, 0.0) for anchor in anchors]


@cache
def _recogniser(target: str) -> Recogniser | None:
    try:
        return recogniser(target)
    except UsageError:
        return None


@cache
def _alphabet(letter: str) -> str:
    """The first word of the Unicode name of a letter, "" for other characters; one object for each, which is faster to
    count."""
    return sys.intern(unicodedata.name(letter, "").split(" ")[0].split("-")[0]) if letter.isalpha() else ""


KERNELS = (*language_mentions.KERNELS, *profile_search.KERNELS)
