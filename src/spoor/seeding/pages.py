"""What results say, as URLs of pages."""

from __future__ import annotations

from collections.abc import Iterable

from spoor.urls import canonical, normalise


def pages(said: Iterable[object], most: int) -> tuple[str, ...]:
    """The first of them that are URLs, each in the one spelling of its page, so that engines can agree on it."""
    urls = (page_url(one) for one in said)
    return tuple([url for url in urls if url is not None][:most])


def page_url(said: object) -> str | None:
    url = normalise(said.strip()) if isinstance(said, str) else None
    return None if url is None else canonical(url)
