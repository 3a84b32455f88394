"""The memory of all processes of a crawl together, whatever its pages contain: docs/robustness.md."""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import sqlite3
import sys
from collections.abc import AsyncIterator
from pathlib import Path

from aiohttp import web

from spoor.fetch.http import LARGE_AT_ONCE
from spoor.live.page_reader import MAX_LINK_CHARACTERS, with_canonical_links
from spoor.parse.html import read_page
from spoor.parse.sitemaps import MAX_LISTED_CHARACTERS, read_sitemap
from spoor.records import SitemapFile
from spoor.settings import FetchSettings
from tests.all_memory import sampled

MAX_BYTES = 600_000_000
LARGE_PAGES = 16
"""More than there is room for in memory, each on a host of its own; they can be read in a moment."""
MANY_ATTRIBUTES = gzip.compress(gzip.compress(b"<p a b c d e f g h i j k l m n o p>" * 300_000))
LARGE_PAGE = b"<b>" * (FetchSettings.body_bytes // 3)


async def _answer(request: web.BaseRequest) -> web.StreamResponse:
    match request.path:
        case "/few-bytes":
            return web.Response(
                body=MANY_ATTRIBUTES, content_type="text/html", headers={"Content-Encoding": "gzip, gzip"}
            )
        case "/large":
            return web.Response(body=LARGE_PAGE, content_type="text/html")
    return web.Response(status=404)


@contextlib.asynccontextmanager
async def _served_on_all_addresses() -> AsyncIterator[int]:
    """The port."""
    runner = web.ServerRunner(web.Server(_answer), shutdown_timeout=0.1)
    await runner.setup()
    try:
        await web.TCPSite(runner, "0.0.0.0", 0).start()
        yield runner.addresses[0][1]
    finally:
        await runner.cleanup()


async def _crawl(folder: Path) -> int:
    """Crawls all pages at once in a process of its own; returns the most memory that it and its processes had."""
    async with _served_on_all_addresses() as port:
        seeds = [f"http://127.0.9.1:{port}/few-bytes"]
        seeds += [f"http://127.0.9.{number + 2}:{port}/large" for number in range(LARGE_PAGES)]
        (folder / "seeds").write_text("\n".join(seeds))
        words = ["crawl", "--keywords", "word", "--seeds", "seeds", "--out", "crawl", "--keep", "relevant"]
        words += ["--allow-private", "--host-delay", "0", "--max-pages", str(len(seeds)), "--quiet"]
        nowhere = asyncio.subprocess.DEVNULL
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "spoor", *words, cwd=folder, stdout=nowhere, stderr=nowhere
        )
        async with sampled(process.pid) as peak:
            await process.wait()
    return peak.size


def test_all_processes_of_a_crawl_stay_within_their_memory_whatever_its_pages_contain(tmp_path: Path) -> None:
    assert len(MANY_ATTRIBUTES) < 5_000 and LARGE_PAGES > 5 * LARGE_AT_ONCE
    assert asyncio.run(_crawl(tmp_path)) < MAX_BYTES
    with contextlib.closing(sqlite3.connect(tmp_path / "crawl" / "crawl.db")) as db:
        reasons = db.execute("SELECT detail ->> 'reason' FROM events WHERE kind = 'failed'").fetchall()
        (pages,) = db.execute("SELECT count(*) FROM pages").fetchone()
    assert reasons == [("reading needed over 200 MB",)]
    assert pages == LARGE_PAGES


def test_a_page_with_a_long_base_has_as_many_links_as_fit() -> None:
    html = f"<base href='http://a.test/{'x' * 7_000}/'>" + "".join(f"<a href={number}>x</a>" for number in range(2_000))
    page = with_canonical_links(read_page("http://a.test/", html.encode(), "text/html"))
    lengths = [len(link.url) for link in page.links]
    assert MAX_LINK_CHARACTERS - max(lengths) < sum(lengths) <= MAX_LINK_CHARACTERS
    assert page.out_degree == 2_000 and page.links[0].url.endswith("/0")


def test_a_sitemap_of_long_urls_lists_as_many_as_fit() -> None:
    urls = "\n".join(f"http://a.test/{number}/{'x' * 2_000}" for number in range(3_000))
    file = read_sitemap("http://a.test/sitemap.txt", urls.encode())
    assert isinstance(file, SitemapFile) and file.count == 3_000
    assert MAX_LISTED_CHARACTERS - 2_100 < sum(len(listed.url) for listed in file.listed) <= MAX_LISTED_CHARACTERS
