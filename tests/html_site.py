"""Pages of HTML served on this machine, and live crawls of them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

from aiohttp import web

from spoor import settings as config
from spoor.events import Event, Visited
from spoor.live.session import open_session
from spoor.store.crawl_folder import open_for_crawling
from tests.thread_server import served_here

Answer = Callable[[web.BaseRequest], web.Response]


@asynccontextmanager
async def site(pages: Mapping[str, str]) -> AsyncIterator[str]:
    """The address under which each path has its page; there are no robots.txt and no other pages."""

    def answer(request: web.BaseRequest) -> web.Response:
        body = pages.get(request.path)
        return web.Response(status=404) if body is None else html(body)

    async with answering(answer) as address:
        yield address


def html(body: str, **headers: str) -> web.Response:
    """Of headers, `_` stands for `-`."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return web.Response(text=body, content_type="text/html", headers=named)


@asynccontextmanager
async def answering(answer: Answer) -> AsyncIterator[str]:
    """The address of a server that answers so."""

    async def respond(request: web.BaseRequest) -> web.Response:
        return answer(request)

    async with served_here(respond) as address:
        yield address


async def crawled(pages: Mapping[str, str], folder: Path, settings: str, max_pages: int = 100) -> dict[str, bool]:
    """The paths that a live crawl from `/` visits, and whether each page is relevant. `settings` is TOML; its `[crawl]`
    comes last and may be continued."""
    async with site(pages) as address:
        return judged(await crawled_at(address, folder, settings, max_pages))


async def crawled_at(
    address: str, folder: Path, settings: str, max_pages: int = 100, host_delay: float = 0.0
) -> list[Event]:
    """The same from the first page of any server."""
    asked = f'seeds = ["{address}/"]\nallow_private = true\nmax_pages = {max_pages}\n'
    polite = f"[politeness]\nhost_delay = {host_delay}\n"
    return await events_of(folder, config.loads(f"{settings}\n{asked}{polite}", folder.parent))


async def events_of(folder: Path, settings: config.Config) -> list[Event]:
    with open_for_crawling(folder) as opened:
        opened.write_settings(config.dumps(settings))
        async with open_session(opened, settings) as session:
            return [event async for events in session.run() for event in events]


def judged(events: list[Event]) -> dict[str, bool]:
    """By path."""
    visited = [event for event in events if isinstance(event, Visited)]
    return {"/" + event.visit.url.split("/", 3)[3]: event.verdict.relevant for event in visited}
