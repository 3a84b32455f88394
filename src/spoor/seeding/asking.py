"""A search source: the role, how one is asked over HTTP, and what an answer says."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from spoor.fetch.http import HttpFetcher
from spoor.records import Failure, Response
from spoor.urls import canonical, join, normalise

# Where result lists come from: the role that every kind of source plays.


Ask = Callable[[str], Awaitable[Response | Failure]]
"""Asks the web for a URL and follows where it leads; what comes back has a status of 200, or it is a Failure."""


@dataclass(frozen=True, slots=True)
class Listing:
    """What one engine answers: normalised URLs, the best first; one that it names twice is there twice."""

    engine: str
    urls: tuple[str, ...]


class ResultSource(Protocol):
    """Knows pages for a query. Whatever goes wrong, on the web or in a file, is a Failure and never raised."""

    async def listings(self, query: str, most: int, ask: Ask) -> Sequence[Listing] | Failure:
        """One for each engine behind the source, of at most `most` URLs each. What is no URL is left out."""
        ...


# What results say, as URLs of pages.


def pages(said: Iterable[object], most: int) -> tuple[str, ...]:
    """The first of them that are URLs, each in the one spelling of its page, so that engines can agree on it."""
    urls = (page_url(one) for one in said)
    return tuple([url for url in urls if url is not None][:most])


def page_url(said: object) -> str | None:
    url = normalise(said.strip()) if isinstance(said, str) else None
    return None if url is None else canonical(url)


# What does a source say? Bodies that are whole, and JSON that somebody else wrote.


_NOT_WHOLE = {"time": "timed out", "length": "sends a response that is too large"}


def whole_body(answer: Response | Failure) -> bytes | Failure:
    if isinstance(answer, Failure):
        return answer
    return Failure(_NOT_WHOLE.get(answer.cut, "sends an incomplete response")) if answer.cut else answer.body


def json_in(body: bytes) -> Any | Failure:
    """Or what the bytes are instead. Never fails."""
    try:
        return json.loads(body.decode("utf-8-sig", "replace"))
    except (ValueError, RecursionError):
        what = "HTML or XML" if body.lstrip()[:1] == b"<" else "something else" if body.strip() else "nothing"
        return Failure(f"returns {what} instead of JSON")


def objects_in(said: Any) -> list[dict[str, Any]]:
    """The objects in a list; none where there is no list."""
    return [one for one in said if isinstance(one, dict)] if isinstance(said, list) else []


# Asking a search source over HTTP: an answer that is whole and means yes, or why there is none.


REDIRECTS = 5
"""Followed one after another; more go in a circle."""


def asking(fetcher: HttpFetcher) -> Ask:
    """The fetcher is open, and its limits say how long an answer may take and how large it may be."""

    async def ask(url: str) -> Response | Failure:
        for _ in range(REDIRECTS + 1):
            answer = await fetcher.fetch(url, every_type=True)
            if isinstance(answer, Failure):
                return answer
            onward = _redirect(answer)
            if onward is None:
                return answer if answer.status == 200 else Failure(f"HTTP {answer.status}")
            url = onward
        return Failure("redirects in a loop")

    return ask


def _redirect(answer: Response) -> str | None:
    location = answer.headers.get("location", "") if 300 <= answer.status < 400 else ""
    return join(answer.url, location) if location else None
