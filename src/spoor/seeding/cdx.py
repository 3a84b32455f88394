"""Pages that a web archive holds, by its index: those whose URLs have words of the query in them.

The answer is a line of JSON for each capture, as pywb and Common Crawl give it, or a table in JSON whose first row
names the columns, as the Wayback Machine does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs, urlencode

from spoor.errors import UsageError
from spoor.parse.html import HTML_TYPES
from spoor.records import Failure, Response
from spoor.score.url_words import url_words
from spoor.seeding.answers import json_in
from spoor.seeding.pages import page_url
from spoor.seeding.source import Ask, Listing
from spoor.text.words import Words
from spoor.urls import host_of

USUAL = {"output": ["json"], "filter": ["=status:200"]}
"""Asked for unless the URL says otherwise."""


@dataclass(frozen=True)
class CdxIndex:
    """`url` is that of the index, normalised, with what to look through: `?url=*.example.org` or
    `?url=example.org/courses/*`."""

    url: str

    def __post_init__(self) -> None:
        if "url" not in self._given:
            raise UsageError(f"cdx:{self.url} does not say what to look through; add ?url=*.example.org or the like")

    async def listings(self, query: str, most: int, ask: Ask) -> Sequence[Listing] | Failure:
        """The more words of the query a URL has, the better; a page is one result, however often it was captured."""
        answer = await ask(self._asked())
        if isinstance(answer, Failure):
            return answer
        captures = _captures(answer)
        if isinstance(captures, Failure):
            return captures
        found = dict.fromkeys(url for capture in captures if (url := _html_page(capture)) is not None)
        wanted = frozenset(Words("en").of(query) or Words().of(query))
        matches = {url: len(wanted.intersection(Words().of(url_words(url)))) for url in found}
        best = sorted((url for url in found if matches[url]), key=lambda url: -matches[url])
        return [Listing(host_of(self.url), tuple(best[:most]))]

    @property
    def _given(self) -> Mapping[str, list[str]]:
        return parse_qs(self.url.partition("?")[2])

    def _asked(self) -> str:
        more = urlencode({name: value for name, value in USUAL.items() if name not in self._given}, doseq=True)
        return f"{self.url}&{more}" if more else self.url


def _captures(answer: Response) -> list[Mapping[str, Any]] | Failure:
    """Of an answer that was too long or took too long, those that came whole."""
    if answer.body.lstrip()[:1] == b"[":
        return _table(json_in(answer.body))
    whole = answer.body[: answer.body.rfind(b"\n") + 1] if answer.cut else answer.body
    read = [json_in(line) for line in whole.splitlines() if line.strip()]
    captures: list[Mapping[str, Any]] = [line for line in read if isinstance(line, dict)]
    if read and not captures:
        return read[0] if isinstance(read[0], Failure) else Failure("gives JSON that is no index of captures")
    return captures


def _table(rows: Any) -> list[Mapping[str, Any]] | Failure:
    if isinstance(rows, Failure):
        return rows
    if not all(isinstance(row, list) for row in rows):
        return Failure("gives JSON that is no index of captures")
    names = [str(name) for name in rows[0]] if rows else []
    return [dict(zip(names, row, strict=False)) for row in rows[1:]]


def _html_page(capture: Mapping[str, Any]) -> str | None:
    """None: the capture is of something else. Indexes call things by different names."""
    status = str(capture.get("status", capture.get("statuscode", "200")))
    mime = str(capture.get("mime", capture.get("mimetype", "text/html")))
    return page_url(capture.get("url", capture.get("original"))) if status == "200" and mime in HTML_TYPES else None
