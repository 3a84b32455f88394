"""Parses HTML in one pass: the text in one line, with the positions of the links; within limits, and with the robots
directives of the page."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from selectolax.lexbor import LexborHTMLParser, SelectolaxError

from spoor.parse import tags
from spoor.parse.scripted import Script
from spoor.parse.walk import INSIDE, VALUES, WHAT, Codes, Numbers, walk

# Limits of parsing: the size of a page and its nesting depth.


LONGEST = 5_000_000
"""Maximum characters of HTML parsed; the rest is ignored."""
DEEPEST = 10_000
"""Maximum nesting depth; parsers take quadratic time in it."""
_NESTING = re.compile(
    r"<(/?)(?!(?:area|base|br|col|dd|dt|embed|frame|hr|img|input|li|link|meta|option|p|param|t[bdhr]|tbody|tfoot|thead|wbr)\b)"
    r"[a-z]",
    re.IGNORECASE,
)


def bounded(html: str) -> str:
    """Cuts the HTML where it is nested deeper than real pages are; a trap could block the crawler for hours."""
    html = html[:LONGEST]
    if len(html) <= 2 * DEEPEST or html.count("<") <= DEEPEST:  # A tag has at least two characters that count.
        return html
    return html[: _too_deep_at(html, DEEPEST)]


def deeper_than(html: str, deepest: int) -> bool:
    """An approximation: elements with an optional end tag, or without one inside SVG, are guessed."""
    return _too_deep_at(html, deepest) is not None


def _too_deep_at(html: str, deepest: int) -> int | None:
    depth = 0
    for tag in _NESTING.finditer(html):
        depth = max(0, depth - 1) if tag[1] else depth + 1
        if depth > deepest:
            return tag.start()
    return None


# Robots directives of a page: noindex and nofollow.


ROBOT = "spoor"
"""The name by which pages and servers can address this crawler alone."""

_KNOWN = frozenset({"noindex", "nofollow"})
_BETWEEN = re.compile(r"[\s,;]+")
_ADDRESSED = re.compile(r"\s*([\w-]+)\s*:(.*)", re.DOTALL)
_WITH_VALUE = frozenset({"unavailable_after", "max-snippet", "max-image-preview", "max-video-preview"})


def robots_directives(content: str) -> frozenset[str]:
    """Which of `noindex` and `nofollow` a <meta name=robots> contains."""
    words = _BETWEEN.split(content.lower())
    return _KNOWN if "none" in words else _KNOWN.intersection(words)


def header_directives(value: str) -> frozenset[str]:
    """The directives of an X-Robots-Tag for all robots or for this one; a name applies until the next name."""
    ours: list[str] = []
    addressee = ROBOT
    for part in value.lower().split(","):
        named = _ADDRESSED.fullmatch(part)
        if named and named[1] not in _WITH_VALUE:
            addressee, part = named[1], named[2]
        if addressee in (ROBOT, "*"):
            ours.append(part)
    return robots_directives(",".join(ours))


# Parsing in one pass: the text in one line, with the positions of links, headings and tags.


_LONGEST_PATH = 200
"""Maximum length in characters of the tag path of a link, from the outermost element; deeper ones are omitted."""
_REFRESH = re.compile(r"[\s\d.]*+[;,]?\s*+url\s*=\s*[\"']?([^\"']*)", re.IGNORECASE)
_SECONDS = re.compile(r"\s*+(\d{0,9})(?!\d)")
LATEST_FORWARD = 30.0
"""A page that redirects within this many seconds counts as a redirect; with a longer delay it is meant to be read."""
DESCRIPTION, REL, HREFLANG, TYPE = 1, 2, 3, 4
"""The slots of link attributes; the last only in the head."""
_FEED_TYPES = frozenset({"application/rss+xml", "application/atom+xml", "application/rdf+xml"})
_SOURCE, _TYPE, _CONTENT = 0, 1, tags.SLOTS - 1
"""The slots of a script; the last is its content, not an attribute."""
_WHAT_AND_FIRST_VALUE = [WHAT, VALUES, VALUES + 1]


@dataclass(slots=True)
class Reading:
    """The result of parsing. `text` has a border (`walk.BORDER`) at the start and end of each block; `elements`,
    `spans` and `frames` are as in `Walked`. `links` are element numbers with their href; `refresh` is the href to which
    the page redirects, "" if it does not."""

    markup: str
    text: Codes
    elements: Numbers
    spans: Numbers
    frames: Numbers
    title: str = ""
    language: str = ""
    base: str = ""
    canonical: str = ""
    nofollow: bool = False
    noindex: bool = False
    metas: dict[str, str] = field(default_factory=dict)
    links: list[tuple[int, str]] = field(default_factory=list)
    feeds: list[str] = field(default_factory=list)
    refresh: str = ""
    _scripts: list[int] = field(default_factory=list)
    _paths: dict[int, str] = field(default_factory=lambda: {-1: ""})

    def read(self) -> None:
        """Interprets the elements in document order."""
        markup, links = self.markup, self.links
        columns = self.elements[:, _WHAT_AND_FIRST_VALUE].T.tolist()
        for number, (what, start, end) in enumerate(zip(*columns, strict=True)):
            if what <= tags.FRAME:
                href = markup[start:end]
                links.append((number, _plain(href) if "&" in href else href))
            else:
                _ACTS[what](self, number)

    def path(self, frame: int) -> str:
        """The tag path of a frame."""
        unknown = []
        while frame not in self._paths:
            unknown.append(frame)
            frame = self.frames.item(frame, 0)
        path = self._paths[frame]
        for frame in reversed(unknown):
            if len(path) < _LONGEST_PATH:
                name = self.markup[self.frames.item(frame, 1) : self.frames.item(frame, 2)]
                path = f"{path}/{name}" if path else name
            self._paths[frame] = path
        return path

    def value(self, start: int, end: int) -> str:
        """The value of an attribute; "" if it is missing."""
        return _plain(self.markup[start:end]) if start >= 0 else ""

    def _value(self, element: int, slot: int) -> str:
        return self.value(*self.elements[element, VALUES + 2 * slot : VALUES + 2 * slot + 2].tolist())

    def _read_html(self, number: int) -> None:
        self.language = self.language or (self._value(number, 0) or self._value(number, 1)).strip()

    def _read_base(self, number: int) -> None:
        self.base = self.base or self._value(number, 0)

    def _read_title(self, number: int) -> None:
        self.title = self.title or " ".join(self._value(number, 0).split())

    def _read_meta(self, number: int) -> None:
        places = self.elements[number, VALUES : VALUES + 6].tolist()
        name, content, claimed = map(self.value, places[::2], places[1::2])
        name, claimed = name.lower(), claimed.lower()
        if name in ("description", "keywords"):
            self.metas.setdefault(name, " ".join(content.split()))
        elif name in ("robots", ROBOT):
            directives = robots_directives(content)
            self.nofollow = self.nofollow or "nofollow" in directives
            self.noindex = self.noindex or "noindex" in directives
        elif claimed == "refresh" and (target := refresh_target(content)) is not None:
            self.links.append((number, target))
            if is_prompt(content) and "noscript" not in self.path(int(self.elements[number, INSIDE])):
                self.refresh = self.refresh or target
        elif claimed == "content-language":
            self.language = self.language or content.partition(",")[0].strip()

    def _read_script(self, number: int) -> None:
        self._scripts.append(number)

    def scripts(self) -> list[Script]:
        """In document order."""
        return [self._script(number) for number in self._scripts]

    def _script(self, number: int) -> Script:
        has_source = bool(self.elements[number, VALUES + 2 * _SOURCE] >= 0)
        start, end = self.elements[number, VALUES + 2 * _CONTENT : VALUES + 2 * _CONTENT + 2].tolist()
        return Script(self._value(number, _TYPE), has_source, self.markup[start:end])

    def _read_link(self, number: int) -> None:
        """From the head of a page: other language versions are links, and feeds list pages."""
        rel = self._value(number, REL).strip().lower()
        if rel == "canonical":
            self.canonical = self.canonical or self._value(number, 0).strip()
        elif "alternate" in rel.split() and self._value(number, HREFLANG) and self.elements[number, VALUES] >= 0:
            self.links.append((number, self._value(number, 0)))
        elif "alternate" in rel.split() and self._value(number, TYPE).strip().lower() in _FEED_TYPES:
            self.feeds.append(self._value(number, 0))


def refresh_target(refresh: str) -> str | None:
    """The href to which a <meta http-equiv=refresh> leads; None if it loads the page again."""
    found = _REFRESH.match(refresh)
    return found[1] if found else None


def is_prompt(refresh: str) -> bool:
    """Whether a <meta http-equiv=refresh> redirects before the page could be read."""
    seconds = _SECONDS.match(refresh)
    return seconds is not None and float(seconds[1] or 0) <= LATEST_FORWARD


def _plain(value: str) -> str:
    """Decodes the character references of the serialiser in an attribute value."""
    if "&" not in value:
        return value
    for written, meant in (("&nbsp;", "\xa0"), ("&quot;", '"'), ("&lt;", "<"), ("&gt;", ">"), ("&amp;", "&")):
        value = value.replace(written, meant)
    return value


_ACTS: dict[int, Callable[[Reading, int], None]] = {
    tags.HTML: Reading._read_html,
    tags.META: Reading._read_meta,
    tags.LINK: Reading._read_link,
    tags.BASE: Reading._read_base,
    tags.TITLE: Reading._read_title,
    tags.SCRIPT: Reading._read_script,
}


def read(html: str, utf8: bytes | None = None) -> Reading:
    """Raises only MemoryError: any HTML can be parsed, but some needs too much memory. `utf8`: the same in UTF-8, if it
    is known; the parser need not encode it then."""
    markup = _serialised(html, utf8)
    reading = Reading(markup, *walk(markup))
    reading.read()
    return reading


def _serialised(html: str, utf8: bytes | None) -> str:
    """The markup as the parser understood it. A function of its own, so that the tree, which needs most of the memory,
    is freed before the markup is read."""
    within = bounded(html)
    try:
        root = LexborHTMLParser(within if utf8 is None or len(within) < len(html) else utf8).root
        markup = "" if root is None else root.html
    except SelectolaxError:
        raise MemoryError("the parser ran out of memory") from None
    if markup is None:
        raise MemoryError("the parser ran out of memory")
    return markup
