"""A sitemap that is in the archive is asked for on condition that it has changed; 304 lets in more of the same."""

from __future__ import annotations

import asyncio
import contextlib
import random
import sqlite3
from dataclasses import dataclass, field
from pathlib import Path

from aiohttp import web

from spoor.events import Event, SitemapRead
from spoor.live.sitemap_archive import LOST, SitemapArchive, SitemapVersion, SitemapVersions
from spoor.records import Failure
from spoor.store.duplicates import Duplicates
from spoor.store.warc import WarcWriter, not_kept
from tests.html_site import answering, crawled_at, html, judged
from tests.kept_responses import response

SETTINGS = '[target]\npattern = "page"\n[crawl]\nstrategy = "breadth-first"\nsitemaps = true'
PAGES = 120
WORDS = [f"{first}{last}" for first in "bdfgklmnprst" for last in ("ane", "iro", "ulet", "emi", "ost")]
MAP = "http://a.test/sitemap.xml"


@dataclass
class Host:
    """Lists its pages in a sitemap and nowhere else. `asked` is what each request said of the known one."""

    asked: list[str | None] = field(default_factory=list)
    statuses: list[int] = field(default_factory=list)

    def answer(self, request: web.BaseRequest) -> web.Response:
        if request.path == "/robots.txt":
            return web.Response(status=404)
        if request.path != "/sitemap.xml":
            words = random.Random(request.path).choices(WORDS, k=60)
            return html(f"<title>page {words[0]}</title><p>{' '.join(words)}")
        self.asked.append(request.headers.get("If-None-Match"))
        status = 304 if self.asked[-1] else 200
        self.statuses.append(status)
        items = "".join(f"<url><loc>/page{number}</loc></url>" for number in range(PAGES))
        return web.Response(status=status, text=f"<urlset>{items}</urlset>" * (status == 200), headers={"ETag": '"1"'})


async def crawled(host: Host, folder: Path, *most: int) -> list[Event]:
    """Stopped and resumed after so many pages."""
    async with answering(host.answer) as address:
        return [event for pages in most for event in await crawled_at(address, folder, SETTINGS, pages)]


def test_a_sitemap_that_has_not_changed_is_read_from_the_archive_also_by_another_process(tmp_path: Path) -> None:
    host = Host()
    events = asyncio.run(crawled(host, tmp_path / "crawl", 10, 60, 200))
    assert len(judged(events)) == PAGES + 1
    assert host.asked == [None, '"1"', '"1"']
    assert [(read.listed, read.added) for read in events if isinstance(read, SitemapRead)] == [
        (PAGES, 50),
        (PAGES, 50),
        (PAGES, 20),
    ]


def test_a_copy_that_is_lost_is_asked_for_again_without_condition(tmp_path: Path) -> None:
    with contextlib.closing(sqlite3.connect(":memory:")) as db, WarcWriter(tmp_path, {}) as keeper:
        Duplicates.create(db)
        SitemapVersions.create(db)
        versions = SitemapVersions(db)
        archive = SitemapArchive(keeper, Duplicates(db), versions, not_kept)
        versions.remember(SitemapVersion(MAP, '"1"', "", "sha1:LOST"))
        versions.write(db)
        assert archive.conditions(MAP) == {"If-None-Match": '"1"'}
        unchanged = response(MAP, b"", b"HTTP/1.1 304 Not Modified\r\n\r\n")
        assert asyncio.run(archive.take_in(unchanged)) == Failure(LOST, 60.0)
        assert archive.conditions(MAP) == {}
