"""Whatever holds the loop is told, with the URL and the place in the program."""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import sqlite3
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

from aiohttp import web

from spoor.events import Event, Held
from spoor.live.downloader import LiveDownloader
from spoor.live.session import open_session
from spoor.live.watchdog import LONGEST, Hold, watching, where
from spoor.parse.html import is_html
from spoor.records import Page, Verdict
from spoor.settings import Config, Crawling, Politeness, Target
from spoor.store.crawl_folder import open_for_crawling
from tests.thread_server import served_here


def hold_it(seconds: float) -> None:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        sum(range(1000))


async def _held(seconds: float) -> list[Hold]:
    holds: list[Hold] = []
    async with watching(lambda: "http://a.test/", holds.append):
        await asyncio.sleep(0.1)
        hold_it(seconds)
        await asyncio.sleep(0.2)
    return holds


def test_what_holds_the_loop_is_told_with_the_place_where_it_happens() -> None:
    longest = max(asyncio.run(_held(3 * LONGEST)), key=lambda hold: hold.seconds)
    assert longest.seconds > 2 * LONGEST and longest.cpu > 0.0
    assert longest.url == "http://a.test/"
    assert re.match(r"test_watchdog\.py:\d+ hold_it", longest.where)


def test_where_names_the_innermost_call_and_those_of_our_own() -> None:
    assert where(sys._getframe()).startswith("test_watchdog.py:")
    assert where(None) == ""


def test_where_names_the_modules_of_every_package_of_spoor() -> None:
    frames = []

    class Observed(str):
        def partition(self, sep: str) -> tuple[str, str, str]:
            frames.append(sys._getframe())
            return super().partition(sep)

    is_html(b"", Observed("text/html"))
    calls = where(frames[0]).split(" < ")
    assert re.fullmatch(r"test_watchdog\.py:\d+ partition", calls[0])
    assert re.fullmatch(r"parse/html\.py:\d+ _mime", calls[1]) and re.fullmatch(r"parse/html\.py:\d+ is_html", calls[2])


def test_no_thread_is_left_when_the_crawl_is_over() -> None:
    asyncio.run(_held(0.0))
    assert "watchdog" not in [thread.name for thread in threading.enumerate()]


@dataclass(frozen=True)
class Slow:
    """A judge that takes too long over one page."""

    reads_content: ClassVar[bool] = True

    def judge(self, pages: Sequence[Page]) -> list[Verdict]:
        hold_it(3 * LONGEST if pages[0].url.endswith("/slow") else 0.0)
        return [Verdict(1.0, True, "") for _ in pages]


async def _served(request: web.BaseRequest) -> web.Response:
    status = 404 if request.path == "/robots.txt" else 200
    return web.Response(text="<p><a href=/slow>x</a><a href=/quick>y</a>", content_type="text/html", status=status)


async def _crawl(folder: Path) -> list[Event]:
    events: list[Event] = []
    async with served_here(_served) as seed:
        crawling = Crawling(seeds=(f"{seed}/",), strategy="breadth-first", allow_private=True)
        asked = Config(Target(pattern="x"), crawling, politeness=Politeness(host_delay=0.1))
        with open_for_crawling(folder) as opened:
            async with open_session(opened, asked) as session:
                assert isinstance(session.driver.downloader, LiveDownloader)
                own = session.driver.downloader.own
                own.reader = replace(own.reader, judge=Slow())
                async for batch in session.run():
                    events += batch
    return events


def test_a_page_that_holds_the_loop_of_a_crawl_is_an_event(tmp_path: Path) -> None:
    told = [event for event in asyncio.run(_crawl(tmp_path / "crawl")) if isinstance(event, Held)]
    assert any(event.url.endswith("/slow") and "hold_it" in event.where for event in told)
    with contextlib.closing(sqlite3.connect(tmp_path / "crawl" / "crawl.db")) as db:
        rows = db.execute("SELECT detail FROM events WHERE kind = 'held' AND url LIKE '%/slow'").fetchall()
    assert max(json.loads(detail)["seconds"] for (detail,) in rows) > 2 * LONGEST
