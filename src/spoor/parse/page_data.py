"""Extracts text and links from JSON in the scripts of a page: script elements of their own, as `__NEXT_DATA__` or
JSON-LD, or values assigned to a property of `window`. Within limits, and without data that is not for readers."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from spoor.parse.demanding import demanding
from spoor.parse.reading import read
from spoor.parse.scripted import Script
from spoor.parse.tidy_text import tidied
from spoor.parse.words import UNSPACED

LARGEST = 1_000_000
"""Maximum characters of JSON read per page."""
MOST_VALUES = 50_000
MOST_TEXT = 200_000
"""In characters."""
MOST_LINKS = 500
MOST_MARKUP = 300
"""Maximum number of strings with markup; starting a parser takes longer than parsing one."""
DEEPEST = 40
"""Maximum nesting depth of values."""

_JSON = re.compile(r"application/(?:[\w.-]+\+)?json\s*(?:;|\Z)", re.IGNORECASE)
_GIVEN = re.compile(
    r"\b(?:window|self|globalThis)\s*(?:\.\s*\w+|\[\s*[\"']\w+[\"']\s*\])\s*=\s*(?:(JSON\.parse\(\s*)(?=\")|(?=[{\[]))"
)
_MOST_GIVEN = 20
"""Per script, because each may reach to its end."""
_NAMES = """
    class classes classname style styles css image images img src srcset logo icon icons avatar thumbnail thumbnails
    @context @type sameas placeholder
"""
_UNREAD = frozenset(_NAMES.split())
"""Names, in lower case, whose values are not for readers, or are images and the like."""
_TITLES = ("headline", "title", "name", "label", "text")
"""Names whose values describe an object, the best first."""
_OF_ONE_WORD = frozenset({"headline", "title"})
"""Names under which a single word counts as text."""
_OF_PATHS = re.compile(r"url|href|link|path|uri|canonical|route|slug|@id|item", re.IGNORECASE)
_OF_RELATIVE_URLS = frozenset({"url", "href", "link", "permalink"})
_RELATIVE_URL = re.compile(r"(?=[^\s]*[/?.])[\w%~.-][^\s<>\"{}|\\^`]*")
_ABSOLUTE_URL = re.compile(r"(?:https?:)?//(?=[^\s/]*\.)[^\s<>\"{}|\\^`]+", re.IGNORECASE)
_PATH = re.compile(r"/(?!/)[^\s<>\"{}|\\^`]*")
_NO_PAGE = re.compile(
    r"(?:https?:)?//(?:www\.)?(?:schema\.org|w3\.org)\b|/_next/|/_nuxt/|/api/|"
    r"\.(?:m?js|css|map|png|jpe?g|gif|svg|webp|avif|ico|woff2?|ttf|otf|eot|mp[34]|m4[av]|webm|ogg|json|xml)(?:[?#]|\Z)",
    re.IGNORECASE,
)
_MARKUP = re.compile(r"<[a-zA-Z][^<>]*>")
_NOT_SAID = re.compile(r"[{}=<>|\\]|\(\)|://")
"""Characters of code, which do not occur in text."""
_UNSPACED_LETTERS = re.compile(f"[{UNSPACED}]{{2}}")
_WORD = re.compile(r"[^\w\s]*[^\W\d_]+(?:['\N{RIGHT SINGLE QUOTATION MARK}][^\W\d_]+)*[^\w\s]*")


@dataclass(slots=True)
class PageData:
    """The extracted data: `texts` and `links` (as written, each with its title) in their order, without duplicates;
    `title` is the first title of an object."""

    title: str = ""
    texts: dict[str, None] = field(default_factory=dict)
    links: dict[str, str] = field(default_factory=dict)
    _values: int = 0
    _characters: int = 0
    _markup: int = 0

    def take(self, value: Any, name: str = "", depth: int = 0) -> None:
        """`name` is the key of the value, or of the list that contains it."""
        self._values += 1
        if depth > DEEPEST or self._values > MOST_VALUES:
            return
        if isinstance(value, str):
            self._take_string(value.strip(), name, "", depth)
        elif isinstance(value, list):
            for one in value:
                self.take(one, name, depth + 1)
        elif isinstance(value, dict):
            self._take_object(value, depth)

    def _take_object(self, value: dict[str, Any], depth: int) -> None:
        named = (value.get(name) for name in _TITLES)
        called = next((" ".join(title.split()) for title in named if isinstance(title, str) and title.strip()), "")
        for name, inner in value.items():
            if name.lower() in _UNREAD:
                continue
            if isinstance(inner, str):
                self._values += 1
                self._take_string(inner.strip(), name, called, depth)
            else:
                self.take(inner, name, depth + 1)

    def _take_string(self, string: str, name: str, called: str, depth: int) -> None:
        if _is_link(string, name):
            self._take_link(string, called)
        elif string[:1] in ("{", "[") and (inner := _parsed(string)) is not None:
            self.take(inner, name, depth + 1)
        elif _MARKUP.search(string):
            self._take_markup(string)
        elif is_said(string) or (name in _OF_ONE_WORD and _WORD.fullmatch(string)):
            self.title = self.title or (string if name in _OF_ONE_WORD else "")
            self._take_text(string)

    def _take_markup(self, html: str) -> None:
        self._markup += 1
        if self._markup > MOST_MARKUP or demanding(html.encode("utf8", "surrogatepass")):
            return
        reading = read(html)
        self._take_text(tidied(reading.text).lines)
        for _, href in reading.links:
            self._take_link(href, "")

    def _take_text(self, text: str) -> None:
        if text and text not in self.texts and self._characters + len(text) <= MOST_TEXT:
            self._characters += len(text)
            self.texts[text] = None

    def _take_link(self, href: str, called: str) -> None:
        if href in self.links:
            self.links[href] = self.links[href] or called
        elif len(self.links) < MOST_LINKS:
            self.links[href] = called


def data_of(scripts: Sequence[Script]) -> PageData:
    """The data of all scripts of a page; empty if they contain none, or none that can be parsed."""
    data, room = PageData(), LARGEST
    for script in scripts:
        if len(script.content) <= room:
            room -= len(script.content)
            for value in _values(script):
                data.take(value)
    return data


def is_said(string: str) -> bool:
    """Whether a string is text for readers: in a script without spaces, or several words; not code or class names."""
    if _NOT_SAID.search(string):
        return False
    if _UNSPACED_LETTERS.search(string):
        return True
    words = string.split()
    return len(words) > 1 and 3 * sum(_WORD.fullmatch(word) is not None for word in words) >= 2 * len(words)


def _values(script: Script) -> Iterator[Any]:
    if _JSON.match(script.type.strip()):
        if (value := _parsed(script.content)) is not None:
            yield value
    elif script.is_code:
        for given in islice(_GIVEN.finditer(script.content), _MOST_GIVEN):
            value = _parsed(script.content, given.end())
            if (value := _parsed(value) if given[1] and isinstance(value, str) else value) is not None:
                yield value


def _parsed(text: str, start: int | None = None) -> Any:
    """The JSON value of the text, or the one that begins at `start`; None if there is none."""
    try:
        return json.loads(text) if start is None else json.JSONDecoder().raw_decode(text, start)[0]
    except (ValueError, RecursionError):
        return None


def _is_link(string: str, name: str) -> bool:
    if _NO_PAGE.search(string):
        return False
    if _ABSOLUTE_URL.fullmatch(string) or (_PATH.fullmatch(string) and _OF_PATHS.search(name)):
        return True
    return name.lower() in _OF_RELATIVE_URLS and _RELATIVE_URL.fullmatch(string) is not None
