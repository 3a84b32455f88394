"""The example pages of `[target] like`: fetched once, as politely as any page, and stored with the crawl."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from spoor.errors import BadInput
from spoor.events import Event, Failed, HostOpened, Redirected, Refused
from spoor.files import read_bounded
from spoor.judging.training_pages import document
from spoor.live.driver import LiveDriver
from spoor.records import Judged, Page
from spoor.result_files import replacing
from spoor.urls import normalise

LARGEST = 1 << 28
"""Maximum size of the file, in bytes."""
PATIENCE = 120.0
"""Timeout in seconds for all examples together."""


async def keep_examples(
    file: Path, like: Sequence[str], fetch: Callable[[Sequence[str]], Awaitable[Mapping[str, Page]]]
) -> None:
    """Adds the examples that are missing in the file: URLs are fetched, local documents read. A resumed crawl starts
    from the same examples, even if the originals have changed."""
    known = read_examples(file)
    missing = [name for name in like if name not in known]
    if not missing:
        return
    documents = {name: document(Path(name)) for name in missing if "://" not in name}
    urls = [name for name in missing if "://" in name]
    write_examples(file, {**known, **documents, **(await fetch(urls) if urls else {})})


async def fetch_examples(urls: Sequence[str], driver: LiveDriver, came: Mapping[str, Judged]) -> dict[str, Page]:
    """Returns the pages by URL, once the delays of their hosts are over. The crawl of `driver` follows no links and
    puts its pages into `came`. Raises BadInput if a page cannot be fetched."""
    places = {url: _normalised(url) for url in urls}
    driver.crawl.begin(places.values())
    events: list[Event] = []
    try:
        async with asyncio.timeout(PATIENCE):
            async for batch in driver.run():
                events += batch
    except TimeoutError:
        pass
    elsewhere = {event.visit.url: event.to for event in events if isinstance(event, Redirected)}
    pages = {url: _page(url, place, elsewhere, came, _reasons(events)) for url, place in places.items()}
    await asyncio.sleep(max((event.delay for event in events if isinstance(event, HostOpened)), default=0.0))
    return pages


def _normalised(url: str) -> str:
    normalised = normalise(url)
    if normalised is None:
        raise BadInput(f"[target] like: not an http(s) URL: {url!r:.80}")
    return normalised


def _page(
    url: str, place: str, elsewhere: Mapping[str, str], came: Mapping[str, Judged], reasons: Mapping[str, str]
) -> Page:
    for _ in elsewhere:
        place = elsewhere.get(place, place)
    if place in came:
        return came[place].page
    reason = reasons.get(place, "it timed out")
    raise BadInput(f"[target] like: {url} cannot be fetched: {reason}; name another page, or a file that you saved")


def _reasons(events: Sequence[Event]) -> dict[str, str]:
    failed = {event.visit.url: event.reason for event in events if isinstance(event, Failed)}
    return failed | {event.refusal.url: event.refusal.because for event in events if isinstance(event, Refused)}


def write_examples(file: Path, pages: Mapping[str, Page]) -> None:
    """Replaces the file atomically. It contains what a student learns from: titles and main texts."""
    content = {url: [page.title, page.best_text] for url, page in pages.items()}
    with replacing(file, durable=True) as partial:
        partial.write_text(json.dumps(content, ensure_ascii=True, indent=1), "utf8")


def read_examples(file: Path) -> dict[str, Page]:
    """Returns the pages by URL; empty if the file does not exist."""
    if not file.exists():
        return {}
    try:
        content: Any = json.loads(read_bounded(file, LARGEST, "examples"))
        return {url: Page(url, title=title, text=text) for url, (title, text) in content.items()}
    except (ValueError, AttributeError, TypeError) as error:
        raise BadInput(f"cannot read the examples in {file}: {error}; delete it; they will be fetched again") from None
