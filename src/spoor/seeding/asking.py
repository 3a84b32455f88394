"""Asking a search source over HTTP: an answer that is whole and means yes, or why there is none."""

from __future__ import annotations

from spoor.fetch.http import HttpFetcher
from spoor.records import Failure, Response
from spoor.seeding.source import Ask
from spoor.urls import join

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
        return Failure("redirects in a circle")

    return ask


def _redirect(answer: Response) -> str | None:
    location = answer.headers.get("location", "") if 300 <= answer.status < 400 else ""
    return join(answer.url, location) if location else None
