"""The kinds of search sources: SearXNG, web archives, feeds, OpenSearch, and files of results.

A web archive responds with a line of JSON for each capture, as in pywb and Common Crawl, or with a JSON table whose
first row has the names of the columns, as in the Wayback Machine.
"""

from __future__ import annotations

import csv
import io
import math
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, quote, urlencode
from xml.parsers import expat

from spoor.errors import UsageError
from spoor.ordering.correlation_degree import url_words
from spoor.parse.html import HTML_TYPES
from spoor.parse.words import Words
from spoor.records import Failure, Response
from spoor.seeding.asking import Ask, Listing, json_in, objects_in, page_url, pages, whole_body
from spoor.urls import host_of, normalise

# Results of a SearXNG instance or a compatible server: JSON with the URL and the engines of each result.


PAGES = 5
"""Maximum number of result pages requested."""
FORBIDDEN = "HTTP 403"


@dataclass(frozen=True)
class SearXng:
    """`url` is that of the instance or of its search, normalised; its parameters, such as `language=hi`, are kept."""

    url: str

    async def listings(self, query: str, most: int, ask: Ask) -> Sequence[Listing] | Failure:
        """Requests pages of results until there are enough or no more; after a failure, uses those already received."""
        results: list[dict[str, Any]] = []
        for number in range(1, PAGES + 1):
            page = _results(await ask(self._asked(query, number)))
            if isinstance(page, Failure):
                return page if number == 1 else by_engine(results, host_of(self.url), most)
            results += page
            if not page or len(results) >= most:
                break
        return by_engine(results, host_of(self.url), most)

    def _asked(self, query: str, page: int) -> str:
        url, _, given = self.url.partition("?")
        if not url.endswith("/search"):
            url = url.rstrip("/") + "/search"
        asked = urlencode({"q": query, "format": "json", "pageno": page})
        return f"{url}?{given}&{asked}" if given else f"{url}?{asked}"


def _results(answer: Response | Failure) -> list[dict[str, Any]] | Failure:
    body = whole_body(answer)
    if isinstance(body, Failure):
        return Failure(f"{body.reason}; many instances do not allow format=json") if body.reason == FORBIDDEN else body
    said = json_in(body)
    if isinstance(said, Failure):
        return said
    if not isinstance(said, dict) or not isinstance(said.get("results"), list):
        return Failure("returns JSON without a list of results")
    return objects_in(said["results"])


def by_engine(results: Iterable[dict[str, Any]], otherwise: str, most: int) -> list[Listing]:
    """A result of several engines counts for each; one without an engine counts for `otherwise`."""
    said: defaultdict[str, list[object]] = defaultdict(list)
    for result in results:
        for engine in _engines(result) or [otherwise]:
            said[engine].append(result.get("url"))
    return [Listing(engine, pages(urls, most)) for engine, urls in said.items()]


def _engines(result: dict[str, Any]) -> list[str]:
    named = result.get("engines") or [result.get("engine")]
    return list(dict.fromkeys(name for name in named if isinstance(name, str) and name.isprintable() and name))


# Pages in a web archive, by its index: those with words of the query in their URLs.


USUAL = {"output": ["json"], "filter": ["=status:200"]}
"""Default parameters, unless the URL has its own."""


@dataclass(frozen=True)
class CdxIndex:
    """`url` is that of the index, normalised, with the part to be searched: `?url=*.example.org` or
    `?url=example.org/courses/*`."""

    url: str

    def __post_init__(self) -> None:
        if "url" not in self._given:
            raise UsageError(f"cdx:{self.url} lacks a filter for captures; add ?url=*.example.org or the like")

    async def listings(self, query: str, most: int, ask: Ask) -> Sequence[Listing] | Failure:
        """Ranked by the number of query words in the URL; each page once, however many captures it has."""
        answer = await ask(self._asked())
        if isinstance(answer, Failure):
            return answer
        captures = _captures(answer)
        if isinstance(captures, Failure):
            return captures
        found = dict.fromkeys(url for capture in captures if (url := _html_page(capture)) is not None)
        relevant = frozenset(Words("en").of(query) or Words().of(query))
        matches = {url: len(relevant.intersection(Words().of(url_words(url)))) for url in found}
        best = sorted((url for url in found if matches[url]), key=lambda url: -matches[url])
        return [Listing(host_of(self.url), tuple(best[:most]))]

    @property
    def _given(self) -> Mapping[str, list[str]]:
        return parse_qs(self.url.partition("?")[2])

    def _asked(self) -> str:
        more = urlencode({name: value for name, value in USUAL.items() if name not in self._given}, doseq=True)
        return f"{self.url}&{more}" if more else self.url


def _captures(answer: Response) -> list[Mapping[str, Any]] | Failure:
    """Of a truncated response, the complete captures."""
    if answer.body.lstrip()[:1] == b"[":
        return _table(json_in(answer.body))
    whole = answer.body[: answer.body.rfind(b"\n") + 1] if answer.cut else answer.body
    read = [json_in(line) for line in whole.splitlines() if line.strip()]
    captures: list[Mapping[str, Any]] = [line for line in read if isinstance(line, dict)]
    if read and not captures:
        return read[0] if isinstance(read[0], Failure) else Failure("returns JSON that is not a CDX index")
    return captures


def _table(rows: Any) -> list[Mapping[str, Any]] | Failure:
    if isinstance(rows, Failure):
        return rows
    if not all(isinstance(row, list) for row in rows):
        return Failure("returns JSON that is not a CDX index")
    names = [str(name) for name in rows[0]] if rows else []
    return [dict(zip(names, row, strict=False)) for row in rows[1:]]


def _html_page(capture: Mapping[str, Any]) -> str | None:
    """None if the capture is not an HTML page. Field names differ between indexes."""
    status = str(capture.get("status", capture.get("statuscode", "200")))
    mime = str(capture.get("mime", capture.get("mimetype", "text/html")))
    return page_url(capture.get("url", capture.get("original"))) if status == "200" and mime in HTML_TYPES else None


# Links of the entries of a feed: RSS 0.9x, 1.0, 2.0 or Atom. A feed with a DOCTYPE, which could expand without limit,
# is refused.


BEGINNING = 2_000
"""Bytes in which HTML is detected."""
_ENTRIES = frozenset({"item", "entry"})


def links_in(body: bytes) -> list[str] | Failure:
    """In the order of the feed. Never raises."""
    reading = _Reading()
    try:
        reading.parser.Parse(body, True)
    except (_HasDoctype, expat.ExpatError, LookupError, ValueError) as error:
        return Failure(
            "returns HTML instead of a feed" if _is_html(body) else f"returns a feed that cannot be parsed: {error}"
        )
    return reading.links if reading.is_feed else Failure("returns XML that is not an RSS or Atom feed")


def _is_html(body: bytes) -> bool:
    return b"<html" in body[:BEGINNING].lower()


class _HasDoctype(Exception):
    """Raised inside the parser, to leave it."""


class _Reading:
    """Inside an entry while `_depth`, the number of open elements since its start, is above 0; inside the text of a
    link while `_said` is a list. Takes the first link of each entry."""

    def __init__(self) -> None:
        self.links: list[str] = []
        self.is_feed = False
        self._depth = 0
        self._taken = False
        self._said: list[str] | None = None
        self.parser = expat.ParserCreate(namespace_separator=" ")
        self.parser.buffer_text = True
        self.parser.StartDoctypeDeclHandler = self._refuse
        self.parser.StartElementHandler = self._open
        self.parser.EndElementHandler = self._close
        self.parser.CharacterDataHandler = self._read

    def _refuse(self, *doctype: object) -> None:
        raise _HasDoctype("it has a DOCTYPE, which could define endlessly expanding entities")

    def _open(self, name: str, attributes: Mapping[str, str]) -> None:
        name = name.rpartition(" ")[2]
        self.is_feed = self.is_feed or name in ("rss", "RDF", "feed")
        if self._depth:
            self._depth += 1
            if name == "link" and self._depth == 2 and not self._taken:
                self._open_link(attributes)
        elif name in _ENTRIES:
            self._depth, self._taken = 1, False

    def _open_link(self, attributes: Mapping[str, str]) -> None:
        """Atom has the URL in an attribute, RSS in the text."""
        if "href" not in attributes:
            self._said = []
        elif attributes.get("rel", "alternate") == "alternate":
            self._take(attributes["href"])

    def _read(self, text: str) -> None:
        if self._said is not None:
            self._said.append(text)

    def _close(self, name: str) -> None:
        if self._said is not None and name.rpartition(" ")[2] == "link":
            self._take("".join(self._said))
            self._said = None
        self._depth = max(0, self._depth - 1)

    def _take(self, link: str) -> None:
        self.links.append(link)
        self._taken = True


# Results of a site that answers searches with a feed, as described by OpenSearch: a URL template.


_PLACE = re.compile(r"\{([\w:]+)(\??)\}")


@dataclass(frozen=True)
class OpenSearch:
    """`template` contains {searchTerms}; placeholders with a question mark, such as {count?}, may stay empty."""

    template: str

    def __post_init__(self) -> None:
        if "{searchTerms}" not in self.template:
            raise UsageError(f"opensearch:{self.template} has no {{searchTerms}} for the query")
        unknown = [name for name, optional in _PLACE.findall(self.template) if not optional and name not in _filling()]
        if unknown:
            known = ", ".join(f"{{{name}}}" for name in _filling())
            raise UsageError(f"opensearch:{self.template}: unknown parameter {{{unknown[0]}}}; known are {known}")
        if normalise(self._asked("query", 1)) is None:
            raise UsageError(f"opensearch:{self.template}: not an http(s) URL")

    async def listings(self, query: str, most: int, ask: Ask) -> Sequence[Listing] | Failure:
        url = normalise(self._asked(query, most)) or ""
        body = whole_body(await ask(url))
        links = body if isinstance(body, Failure) else links_in(body)
        return links if isinstance(links, Failure) else [Listing(host_of(url), pages(links, most))]

    def _asked(self, query: str, most: int) -> str:
        filling = _filling(query, most)
        return _PLACE.sub(lambda place: filling.get(place[1], ""), self.template)


def _filling(query: str = "", most: int = 1) -> Mapping[str, str]:
    return {
        "searchTerms": quote(query, safe=""),
        "count": str(most),
        "startIndex": "1",
        "startPage": "1",
        "language": "*",
        "inputEncoding": "UTF-8",
        "outputEncoding": "UTF-8",
    }


# Saved results: one URL per line, a table with a column of URLs, or JSON.


DELIMITERS = {".csv": ",", ".tsv": "\t"}


@dataclass(frozen=True)
class ResultFile:
    """The suffix determines the format: `.json`, `.csv`, `.tsv`; any other has one URL per line."""

    path: Path

    async def listings(self, query: str, most: int, ask: Ask) -> Sequence[Listing] | Failure:
        """The query is the one for which the results were saved; no request is made."""
        try:
            body = self.path.read_bytes()
        except OSError as error:
            return Failure(f"cannot be read: {error.strerror}")
        found = self._listings(body, most)
        if not isinstance(found, Failure) and not any(listing.urls for listing in found):
            return Failure("holds no http(s) URL")
        return found

    def _listings(self, body: bytes, most: int) -> Sequence[Listing] | Failure:
        name, kind = str(self.path), self.path.suffix.lower()
        if kind == ".json":
            return _in_json(body, name, most)
        text = body.decode("utf-8-sig", "replace")
        if kind in DELIMITERS:
            return _in_table(text, DELIMITERS[kind], name, most)
        return [Listing(name, pages((line for line in text.splitlines() if not line.startswith("#")), most))]


def _in_json(body: bytes, name: str, most: int) -> Sequence[Listing] | Failure:
    """A list of URLs, a list of objects with a `url`, or such a list as the `results` of an object. Results that name
    their engine are grouped by it."""
    said = json_in(body)
    if isinstance(said, Failure):
        return said
    results = said.get("results") if isinstance(said, dict) else said
    listed = results if isinstance(results, list) else []
    return by_engine(objects_in([{"url": one} if isinstance(one, str) else one for one in listed]), name, most)


def _in_table(text: str, delimiter: str, name: str, most: int) -> Sequence[Listing] | Failure:
    try:
        rows = [[cell.strip() for cell in row] for row in csv.reader(io.StringIO(text), delimiter=delimiter) if row]
    except csv.Error as error:
        return Failure(f"is not a table: {error}")
    urls, ranks = _columns(rows)
    ranked = sorted(rows, key=lambda row: _rank(row[ranks : ranks + 1]))
    return [Listing(name, pages((cell for row in ranked for cell in row[urls : urls + 1]), most))]


def _columns(rows: Sequence[Sequence[str]]) -> tuple[int, int]:
    """The columns of URLs and ranks: as named in the first row, or else the first column that contains a URL and the
    one before it. A table without ranks is taken in its order."""
    names = [name.lower() for name in rows[0]] if rows else []
    if "url" in names:
        return names.index("url"), names.index("rank") if "rank" in names else len(names)
    urls = next((column for row in rows for column, cell in enumerate(row) if page_url(cell)), 0)
    return urls, urls - 1 if urls else len(names)


def _rank(cells: Sequence[str]) -> float:
    return int(cells[0]) if cells and cells[0].isdecimal() else math.inf
