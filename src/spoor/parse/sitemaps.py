"""Sitemaps and feeds: sitemaps and their indexes in XML, lists of URLs in text, RSS and Atom.

A file is parsed as a stream, with limits on everything that its author controls: bytes, URLs, nesting depth. A file
that declares entities is rejected at the declaration, so none is ever expanded. URLs before a limit or an error are
kept, and `cut` is the reason why the rest is missing.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeVar
from xml.parsers import expat

from isal import isal_zlib

from spoor.parse.charset import codec, decode, meta_charset
from spoor.parse.published import date_in
from spoor.records import Failure, Listed, SitemapFile
from spoor.urls import canonical, first_within, join

MOST_BYTES = 50 << 20
"""Uncompressed size of a file: the limit of the protocol."""
MOST_URLS = 50_000
"""URLs per file, including other language versions of pages: the limit of the protocol."""
MOST_LISTED = 10_000
"""URLs per file that are returned, evenly spaced over those read."""
MAX_LISTED_CHARACTERS = 4_000_000
"""Characters of all URLs of a file that are returned; of more, the first are."""
DEEPEST = 200
"""Maximum nesting depth. A feed may contain whole pages."""
MOST_ALTERNATES = 500
"""Maximum number of other language versions of one page."""
LONGEST_URL = 8_000
"""In characters."""

_LONGEST_VALUE = 100
"""Maximum length of a date or a language in characters."""
_PIECE = 1 << 16
"""Bytes parsed at once."""
_LONGEST_TOKEN = 1 << 20
"""Maximum bytes of a tag or a comment: the parser restarts it with every chunk."""
_GZIP = b"\x1f\x8b"
_WITH_GZIP_HEADER = 31
_ZLIB_ERROR: type[Exception] = isal_zlib.error  # type: ignore[assignment]  # its stub takes the class for an instance
_MARKS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16le"), (codecs.BOM_UTF16_BE, "utf-16be"))
_NEITHER = "neither a sitemap nor a feed"
_HTTP = re.compile(r"https?://", re.IGNORECASE)

_KINDS = {
    "urlset": ("urlset", "url"),
    "sitemapindex": ("index", "sitemap"),
    "rss": ("feed", "item"),
    "rdf": ("feed", "item"),
    "feed": ("feed", "entry"),
}
"""By the name of the root element, with the name of its item elements."""
_LOCATIONS = ("loc", "origlink", "link", "guid", "about")
"""Fields with the URL of an item; the first that exists counts. `origlink` is the final URL in feeds that count
clicks, `about` the name of an item of RSS 1.0, an attribute."""
_OF_ITEMS = {"xml:lang": "language", "rdf:about": "about"}
"""Attributes of an item, with the fields that they are."""
_DATES = ("lastmod", "pubdate", "published", "updated", "date")
_OF_CHANNEL = 3
"""The depth of the language of a whole RSS feed."""
_FIELDS = frozenset({*_LOCATIONS, *_DATES, "language"})

T = TypeVar("T")


def read_sitemap(url: str, body: bytes) -> SitemapFile | Failure:
    """Never raises. `url` is normalised; `body` is without content encoding, but may be a gzip file."""
    listing = _Listing()
    pieces = _Unpacked(body)
    cut = _fill(listing, pieces)
    if not listing.kind:
        return Failure(cut or pieces.cut or _NEITHER)
    said = evenly(list(listing.found.items()), MOST_LISTED)
    found = [listed for item in said if (listed := _listed(url, *item)) is not None]
    count = first_within([listed.url for listed in found], MAX_LISTED_CHARACTERS)
    return SitemapFile(listing.kind, tuple(found[:count]), len(listing.found), pieces.cut or cut)


def is_packed(body: bytes) -> bool:
    return body.startswith(_GZIP)


def evenly(things: Sequence[T], most: int) -> list[T]:
    """At most `most` of them, evenly spaced, including the first."""
    if len(things) <= most:
        return list(things)
    return [things[place * len(things) // most] for place in range(most)]


def _listed(base: str, location: str, said: tuple[str, str]) -> Listed | None:
    url = join(base, location)
    if url is None or len(url) > LONGEST_URL:
        return None
    day = date_in(said[1])
    return Listed(canonical(url), said[0], day.isoformat() if day else "")


def _fill(listing: _Listing, pieces: _Unpacked) -> str:
    """Returns why the rest was not read, "" if all was."""
    try:
        first = next(texts := _texts(pieces), "")
        if (markup := first.lstrip()).startswith("<"):  # White space before the XML declaration is common.
            _XmlReader(listing).read(markup, texts)
        elif _HTTP.match(first.lstrip()):
            _read_lines(listing, first, texts)
    except _Stop as stop:
        return str(stop)
    return ""


class _Stop(Exception):
    """Raised by handlers to stop the parser; the message is the reason."""


class _Unpacked:
    """The bytes of a file in chunks, decompressed if it is gzip; `cut` is the reason if they end early."""

    def __init__(self, body: bytes) -> None:
        self._body = body
        self.cut = ""

    def __iter__(self) -> Iterator[bytes]:
        left = MOST_BYTES
        for piece in self._gunzipped() if is_packed(self._body) else self._as_it_is():
            yield piece[:left]
            left -= len(piece)
            if left < 0:
                self.cut = f"more than {MOST_BYTES:,} bytes"
                return

    def _as_it_is(self) -> Iterator[bytes]:
        for start in range(0, len(self._body), _PIECE):
            yield self._body[start : start + _PIECE]

    def _gunzipped(self) -> Iterator[bytes]:
        """The first stream of the file; the rest is ignored."""
        unpacking = isal_zlib.decompressobj(_WITH_GZIP_HEADER)
        try:
            for bite in self._as_it_is():
                while bite and not unpacking.eof:
                    yield unpacking.decompress(bite, _PIECE)
                    bite = unpacking.unconsumed_tail
        except _ZLIB_ERROR:
            self.cut = "broken gzip"
        else:
            self.cut = "" if unpacking.eof else "broken gzip"


def _texts(pieces: Iterable[bytes]) -> Iterator[str]:
    """Decoded in the declared charset; invalid bytes become U+FFFD."""
    decoder: codecs.IncrementalDecoder | None = None
    for piece in pieces:
        if decoder is None:
            decoder = codecs.getincrementaldecoder(_codec_of(piece))("replace")
            yield decoder.decode(piece).removeprefix("\ufeff")
        else:
            yield decoder.decode(piece)


def _codec_of(head: bytes) -> str:
    marked = next((name for mark, name in _MARKS if head.startswith(mark)), "")
    detected = marked or meta_charset(head) or decode(head[:_LONGEST_VALUE], "").detected
    return codec(detected if detected != "ascii" else "utf-8")


class _Listing:
    """What was read so far: `found` has each URL as written, in order, with its language and date."""

    def __init__(self) -> None:
        self.kind = ""
        self.found: dict[str, tuple[str, str]] = {}

    def add(self, location: str, language: str = "", date: str = "") -> None:
        """A known language or date is kept."""
        known = self.found.get(location)
        if known is None:
            if len(self.found) >= MOST_URLS:
                raise _Stop(f"more than {MOST_URLS:,} URLs")
            self.found[location] = (language, date)
        elif not (known[0] and known[1]):
            self.found[location] = (known[0] or language, known[1] or date)


def _read_lines(listing: _Listing, first: str, texts: Iterable[str]) -> None:
    listing.kind = "text"
    rest = first
    for text in texts:
        *lines, rest = (rest + text).replace("\r", "\n").split("\n")
        rest = rest[: LONGEST_URL + 1]
        _add_lines(listing, lines)
    _add_lines(listing, rest.replace("\r", "\n").split("\n"))


def _add_lines(listing: _Listing, lines: Iterable[str]) -> None:
    for line in map(str.strip, lines):
        if len(line) <= LONGEST_URL and _HTTP.match(line):
            listing.add(line)


class _XmlReader:
    """`_deep` counts the open elements. Inside an item, which is at depth `_item_depth`, `_item` is a dictionary, and
    in the text of one of its fields `_text` is a list. Namespace prefixes are ignored: few files declare them
    correctly."""

    def __init__(self, listing: _Listing) -> None:
        self._listing = listing
        self._names: dict[str, str] = {}
        self._items = ""
        self._deep = 0
        self._item: dict[str, str] | None = None
        self._item_depth = 0
        self._text: list[str] | None = None
        self._alternates: list[tuple[str, str]] = []
        self._language = ""
        self._fed = 0
        self._parser = self._new_parser()

    def _new_parser(self) -> expat.XMLParserType:
        parser = expat.ParserCreate("utf-8")
        parser.buffer_text = True
        # With these two, undeclared entities such as &nbsp; are skipped; nothing is ever loaded.
        parser.SetParamEntityParsing(expat.XML_PARAM_ENTITY_PARSING_ALWAYS)
        parser.UseForeignDTD(True)
        parser.EntityDeclHandler = self._refuse
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._read
        return parser

    def read(self, first: str, texts: Iterable[str]) -> None:
        try:
            self._feed(first)
            for text in texts:
                self._feed(text)
            self._parser.Parse("", True)
        except expat.ExpatError as error:
            raise _Stop(f"broken XML: {expat.ErrorString(error.code)}") from None

    def _feed(self, text: str) -> None:
        self._parser.Parse(text)
        self._fed += len(text)
        if self._fed - self._parser.CurrentByteIndex > _LONGEST_TOKEN:
            raise _Stop(f"broken XML: a tag or comment of more than {_LONGEST_TOKEN:,} bytes")

    def _refuse(self, *declared: object) -> None:
        raise _Stop("declares entities")

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        tag = self._names.get(name) or self._name(name)
        self._deep = deep = self._deep + 1
        if self._item is not None:
            if tag in _FIELDS and deep == self._item_depth + 1:
                self._start_field(tag, attributes)
        elif tag == self._items:
            self._item_depth = deep
            self._item = {field: attributes[name] for name, field in _OF_ITEMS.items() if name in attributes}
        elif deep == 1:
            self._start_file(tag, attributes)
        elif tag == "language" and deep == _OF_CHANNEL:
            self._text = []
        if deep > DEEPEST:
            raise _Stop(f"more than {DEEPEST} nested elements")

    def _name(self, name: str) -> str:
        """Without its prefix. Only some names are cached, because a file may have any number."""
        tag = name.rpartition(":")[2].lower()
        if len(self._names) < DEEPEST:
            self._names[name] = tag
        return tag

    def _start_file(self, tag: str, attributes: dict[str, str]) -> None:
        if tag not in _KINDS:
            raise _Stop(_NEITHER)
        self._listing.kind, self._items = _KINDS[tag]
        self._language = attributes.get("xml:lang", "")[:_LONGEST_VALUE]

    def _start_field(self, tag: str, attributes: dict[str, str]) -> None:
        assert self._item is not None
        if tag == "link" and "href" in attributes:
            if "alternate" in attributes.get("rel", "alternate").lower().split():
                self._start_link(attributes["href"].strip(), attributes.get("hreflang", "").strip()[:_LONGEST_VALUE])
        elif tag not in self._item and attributes.get("isPermaLink", "").lower() != "false":
            self._text = []

    def _start_link(self, href: str, language: str) -> None:
        """In a sitemap the URL of another language version, in a feed that of the page itself."""
        assert self._item is not None
        if self._listing.kind == "urlset":
            if len(self._alternates) < MOST_ALTERNATES:
                self._alternates.append((href, language))
        elif "link" not in self._item:
            self._item["link"] = href
            if language:
                self._item["language"] = language

    def _read(self, text: str) -> None:
        if self._text is not None:
            self._text.append(text)

    def _end(self, name: str) -> None:
        self._deep = deep = self._deep - 1
        if self._text is not None:
            self._end_field(self._names.get(name) or self._name(name), "".join(self._text).strip())
        elif self._item is not None and deep < self._item_depth:
            self._end_item(self._item)

    def _end_field(self, tag: str, text: str) -> None:
        """Only text directly in a field counts; a nested element ends it."""
        self._text = None
        if self._item is None:
            self._language = text[:_LONGEST_VALUE]
        elif text:
            self._item[tag] = text

    def _end_item(self, item: dict[str, str]) -> None:
        alternates, self._item, self._alternates = self._alternates, None, []
        location = _first(item, _LOCATIONS)
        language = item.get("language") or dict(alternates).get(location) or self._language
        self._add(location, language, _first(item, _DATES))
        for url, claim in alternates:
            self._add(url, claim, "")

    def _add(self, location: str, language: str, date: str) -> None:
        if 0 < len(location) <= LONGEST_URL:
            self._listing.add(location, language[:_LONGEST_VALUE], date[:_LONGEST_VALUE])


def _first(item: dict[str, str], names: Iterable[str]) -> str:
    for name in names:
        if name in item:
            return item[name]
    return ""
