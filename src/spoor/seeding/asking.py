"""A search source: the role, requests over HTTP, and parsing of responses."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from spoor.fetch.http import HttpFetcher
from spoor.records import Failure, Response
from spoor.urls import canonical, join, normalise

# The role of all kinds of search sources.


Ask = Callable[[str], Awaitable[Response | Failure]]
"""Requests a URL and follows redirects; returns a response with status 200, or a Failure."""


@dataclass(frozen=True, slots=True)
class Listing:
    """The results of one engine: normalised URLs, best first; may contain duplicates."""

    engine: str
    urls: tuple[str, ...]


class ResultSource(Protocol):
    """Finds pages for a query. All errors, of the web or of files, are returned as a Failure, never raised."""

    async def listings(self, query: str, most: int, ask: Ask) -> Sequence[Listing] | Failure:
        """One listing for each engine behind the source, with at most `most` URLs each. Invalid URLs are skipped."""
        ...


# Results as URLs of pages.


def pages(said: Iterable[object], most: int) -> tuple[str, ...]:
    """The first valid URLs, normalised so that engines can agree on them."""
    urls = (page_url(one) for one in said)
    return tuple([url for url in urls if url is not None][:most])


def page_url(said: object) -> str | None:
    url = normalise(said.strip()) if isinstance(said, str) else None
    return None if url is None else canonical(url)


# Parsing of responses: only complete bodies, and untrusted JSON.


_NOT_WHOLE = {"time": "timed out", "length": "sends a response that is too large"}


def whole_body(answer: Response | Failure) -> bytes | Failure:
    if isinstance(answer, Failure):
        return answer
    return Failure(_NOT_WHOLE.get(answer.cut, "sends an incomplete response")) if answer.cut else answer.body


def json_in(body: bytes) -> Any | Failure:
    """The parsed JSON, or a Failure that describes the bytes. Never raises."""
    try:
        return json.loads(body.decode("utf-8-sig", "replace"))
    except (ValueError, RecursionError):
        what = "HTML or XML" if body.lstrip()[:1] == b"<" else "something else" if body.strip() else "nothing"
        return Failure(f"returns {what} instead of JSON")


def objects_in(said: Any) -> list[dict[str, Any]]:
    """The objects in a list; none if it is not a list."""
    return [one for one in said if isinstance(one, dict)] if isinstance(said, list) else []


# Requests to a search source over HTTP: a complete response with status 200, or the reason why there is none.


REDIRECTS = 5
"""Maximum number of redirects in a row; more are taken for a loop."""


def asking(fetcher: HttpFetcher) -> Ask:
    """The fetcher must be open; its limits apply to the time and size of responses."""

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
