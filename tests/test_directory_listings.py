"""The listings of folders that servers make: each links to itself in other orders, which are the same page."""

from __future__ import annotations

import asyncio
from pathlib import Path

from aiohttp import web as http

from spoor.events import Visited
from spoor.live.session import open_session
from spoor.settings import Config, Crawling, Politeness, Target
from spoor.store.crawl_folder import open_for_crawling

FOLDERS = {"/": ["maps/", "texts/"], "/maps/": ["old/", "a.html"], "/maps/old/": ["b.html"], "/texts/": ["c.html"]}
APACHE = ("?C=N;O=D", "?C=M;O=A", "?C=S;O=A", "?C=D;O=A")


async def _answer(request: http.BaseRequest) -> http.Response:
    names = FOLDERS.get(request.path)
    if names is None and not request.path.endswith(".html"):
        return http.Response(status=404)
    links = [*APACHE, "../", *names] if names is not None else []
    return http.Response(text="".join(f"<a href='{link}'>{link}</a>" for link in links), content_type="text/html")


def test_a_folder_is_fetched_once_in_whatever_order_its_listing_can_be_had(tmp_path: Path) -> None:
    async def run() -> list[str]:
        runner = http.ServerRunner(http.Server(_answer))
        await runner.setup()
        await http.TCPSite(runner, "127.0.0.1", 0).start()
        home = f"http://127.0.0.1:{runner.addresses[0][1]}"
        crawling = Crawling(seeds=(f"{home}/",), strategy="breadth-first", allow_private=True, max_pages=100)
        asked = Config(Target(pattern="x"), crawling, politeness=Politeness(host_delay=0.0))
        with open_for_crawling(tmp_path / "crawl") as folder:
            async with open_session(folder, asked) as session:
                events = [event async for batch in session.run() for event in batch]
        await runner.cleanup()
        return [event.visit.url.removeprefix(home) for event in events if isinstance(event, Visited)]

    pages = [*FOLDERS, "/maps/a.html", "/maps/old/b.html", "/texts/c.html"]
    assert sorted(asyncio.run(run())) == sorted(pages)
