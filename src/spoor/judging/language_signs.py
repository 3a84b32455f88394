"""Signs of a language that are seen before a page is fetched: in its URL, and in the words of a link to it.

Signs are numbers from -1 to 1.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, lru_cache
from urllib.parse import unquote

from spoor.errors import UsageError
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
from spoor.urls import host_of

# Signs of a language that are seen before a visit, as numbers from -1 to 1: another language is a sign against.


COMMON = frozenset({"en"})
"""Where several languages meet, pages are in this one: it says little against any other."""

COMMON_SHARE = 0.25
"""How much of a sign against remains of it."""

_SMALL_TARGET = 0.8
"""How surely a code or name of a small language means it when it is the target."""


def sign(target: str, means: Meanings) -> float:
    """For or against a language: of something that may mean the languages `means`. A small language is only ever meant
    where it is the target."""
    if not means:
        return 0.0
    for_it = max((sure for tag, sure in means.items() if matches(target, tag)), default=0.0)
    if for_it:
        return for_it / SMALL * _SMALL_TARGET if for_it <= SMALL and is_small(target) else for_it
    against = max((sure for tag, sure in means.items() if not is_small(tag)), default=0.0)
    return -against * COMMON_SHARE if COMMON & means.keys() else -against


@lru_cache(1 << 12)
def claimed(text: str) -> Meanings:
    """What a `lang` or `hreflang` attribute claims; nothing when it is no known language."""
    tag = read_tag(text)
    return {} if tag is None else {tag: 1.0}


# What a URL says of the language of its page: the country of its domain, languages named in host, path and
# query.


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
"""How much less a code says as the last piece of a longer name: guide-de."""


def domain_sign(target: str, url: str) -> float:
    """By the share of the country's people who speak the language; 0 for domains of no country, and for a language of
    one's own, of which nobody knows where it is spoken."""
    spoken = spoken_in().get(host_of(url).partition(":")[0].rpartition(".")[2])
    language = target.partition("-")[0]
    if spoken is None or language not in languages():
        return 0.0
    return spoken[language] / 100 if language in spoken else -max(spoken.values()) / 100


@lru_cache(1 << 12)
def named_in_url(url: str) -> Meanings:
    """What the clearest code or name of a language in host, path and query may mean; of equals the last, which is the
    closest to the page."""
    before, _, query = url.partition("?")
    folder, _, name = before.rpartition("/")
    means = _clearer(_named_in_folder(folder), _named_in_url(_words_of_name(name)))
    return _clearer(means, _named_in_url(_words_of_query(query))) if query else means


@lru_cache(1 << 13)
def _named_in_folder(folder: str) -> Meanings:
    """Many pages share a folder, so it is worked out once."""
    _, _, rest = folder.partition("//")
    host, *path = rest.lower().split("/")
    return _named_in_url(_words_of_host(host) + [word for part in path for word in _words_of_part(part)])


def _named_in_url(words: Iterable[tuple[str, float]]) -> Meanings:
    clearest: Meanings = {}
    for word, weight in words:
        if means := meanings(word):
            clearest = _clearer(clearest, {tag: weight * sure for tag, sure in means.items()})
    return clearest


def _clearer(first: Meanings, second: Meanings) -> Meanings:
    return second if max(second.values(), default=0.0) >= max(first.values(), default=0.0) and second else first


def _words_of_host(host: str) -> list[tuple[str, float]]:
    """All labels but those of the registered name; www-de counts as de."""
    return [word for label in host.partition(":")[0].split(".")[:-2] for word in _words_of_part(label)]


def _words_of_part(part: str) -> list[tuple[str, float]]:
    """A folder or a label of a host: the whole of it, or its last piece."""
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


# What the words of a link say of the language of its target: the name of a language, letters of its script,
# n-grams.


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
    return _named_in_anchor(anchor.lower()) if len(anchor) <= _SHORT else {}


@lru_cache(1 << 13)
def _named_in_anchor(anchor: str) -> Meanings:
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
    """Names that need no spaces around them: 日本語 in 日本語版."""
    return {name: tag for name, tag in names().items() if _alphabet(name[0]) == "CJK"}


def script_sign(target: str, text: str) -> float:
    """By the share of the letters that are in a script of the language; 0 when it says nothing."""
    if text.isascii():
        return _latin_sign(target) if text.upper() != text.lower() else 0.0
    return _script_sign(target, text)


@cache
def _latin_sign(target: str) -> float:
    """Of any number of Latin letters."""
    return _script_sign(target, "a")


def _script_sign(target: str, text: str) -> float:
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
    """Those that the tag allows and whose letters are known; none for a language of one's own."""
    tag, _, script = target.partition("-")
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


def words_signs(target: str, anchors: Sequence[str]) -> list[float]:
    """By the n-grams of each anchor; 0 for short ones, and for all when no profile of the language is shipped."""
    long = list(dict.fromkeys(anchor for anchor in anchors if len(anchor) >= LEAST_LETTERS))
    likeness = _recogniser(target) if long else None
    if likeness is None:
        return [0.0] * len(anchors)
    near = map(float, likeness.similarities(long))
    said = {anchor: (alike - _UNLIKE) / (_LIKE - _UNLIKE) for anchor, alike in zip(long, near, strict=True)}
    return [min(1.0, max(0.0, said.get(anchor, 0.0))) for anchor in anchors]


@cache
def _recogniser(target: str) -> Recogniser | None:
    try:
        return recogniser(target)
    except UsageError:
        return None


@cache
def _alphabet(letter: str) -> str:
    """The first word of the name of a letter, "" for other characters."""
    return unicodedata.name(letter, "").split(" ")[0].split("-")[0] if letter.isalpha() else ""
