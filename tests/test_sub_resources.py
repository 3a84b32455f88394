"""Requests that scripts make are requests of the crawl: what their servers ask for holds for the whole host."""

from __future__ import annotations

import asyncio

from aiohttp import web

from spoor.crawl import Crawl
from spoor.frontier.frontier import Frontier
from spoor.frontier.memory import MemoryStore
from spoor.live.driver import LiveDriver
from spoor.live.from_settings import fetcher_for, strategy_of
from spoor.live.sub_resources import SubResource, SubResourceFetcher
from spoor.live.watchdog import SteadyClock
from spoor.records import Outcome, SentRequest, SubRequest, Visit
from spoor.settings import Config, Crawling, Target
from spoor.store.incidents import SavedTroubles
from tests.thread_server import served_in_thread


async def busy(request: web.BaseRequest) -> web.Response:
    return web.Response(status=503, headers={"Retry-After": "120"})


class NoVisits:
    async def fetch(self, visit: Visit) -> Outcome:
        raise AssertionError(f"{visit.url} was not to be fetched")


async def when_a_page_comes_after_a_busy_script(site: str) -> tuple[list[SentRequest], float | None, float]:
    """The request of the script, when the crawl would fetch the next page of that host, and the time."""
    settings = Config(Target(script="thai"), Crawling((site,), strategy="breadth-first", allow_private=True))
    crawl, clock = Crawl(strategy_of(settings), Frontier(MemoryStore())), SteadyClock()
    crawl.begin([site])
    driver, sent = LiveDriver(crawl, NoVisits(), 1, clock, SavedTroubles(None)), list[SentRequest]()
    async with fetcher_for(settings, clock) as fetcher:
        resources = SubResourceFetcher(crawl, fetcher, driver, SavedTroubles(None))
        found = await resources.get(SubRequest(f"{site}data.json", "GET", {}, site), sent)
    assert isinstance(found, SubResource) and found.response.status == 503
    assert crawl.next_visit(clock()) is None
    return sent, crawl.wake_at(), clock()


def test_a_503_to_a_script_pauses_the_host() -> None:
    with served_in_thread(busy) as site:
        (sent,), wake_at, now = asyncio.run(when_a_page_comes_after_a_busy_script(f"{site}/"))
    assert sent.result == "503"
    assert wake_at is not None and 100.0 < wake_at - now <= 120.0
