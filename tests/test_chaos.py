"""A live crawl of servers that do everything wrong: it goes on, holds its memory, and accounts for everything."""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
import time
from pathlib import Path

import pytest

from tests.chaos.crawled import HOSTS, Crawled, chaos_hosts, crawl_until, settings_for
from tests.chaos.rules import CLOSED, SLOW

LONGEST = 300.0
"""Seconds after which the crawl should have tried everything."""
PAGES_PER_HOST = 4


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Crawled:
    return asyncio.run(_crawl(tmp_path_factory.mktemp("chaos")))


async def _crawl(folder: Path) -> Crawled:
    until = time.monotonic() + LONGEST

    async def enough(crawled: Crawled) -> bool:
        return time.monotonic() >= until or _all_tried(crawled)

    async with chaos_hosts() as servers:
        crawled = Crawled(servers, folder / "crawl")
        return await crawl_until(crawled, settings_for(crawled.seeds(), PAGES_PER_HOST), enough, fork=True)


def _all_tried(crawled: Crawled) -> bool:
    """Whether every seed has had an outcome, or its host one of its robots.txt; a host whose robots.txt was only slow
    to come, on a machine that is busy, gets another try."""
    if _not_asked(crawled):
        return False
    with contextlib.suppress(sqlite3.OperationalError):
        tried = {url for (url,) in crawled.rows("SELECT url FROM links WHERE state = 4 OR tries > 0")}
        asked = {host for (host,) in crawled.rows("SELECT host FROM events WHERE kind = 'failed'")}
        asked |= {host for (host,) in crawled.rows("SELECT name FROM hosts WHERE free_at > unixepoch() + 30")}
        servers = zip(crawled.seeds(), crawled.servers, strict=True)
        return all(seed in tried or f"{server.host}:{server.port}" in asked for seed, server in servers)
    return False


def _not_asked(crawled: Crawled) -> list[tuple[str, str]]:
    """Hosts whose robots.txt can be read and lets the crawl in, and whose page was never asked for."""
    servers = zip(crawled.servers, HOSTS, strict=True)
    return [host for server, host in servers if host[1] not in CLOSED | SLOW and host[0] not in server.paths]


def test_there_are_many_kinds_of_chaos() -> None:
    assert len(HOSTS) >= 200 and len(set(HOSTS)) == len(HOSTS)


def test_the_crawl_goes_on_until_it_is_told_to_stop(crawled: Crawled) -> None:
    assert (crawled.code, crawled.errors) == (0, "")
    ((why,),) = crawled.rows("SELECT detail ->> 'because' FROM events WHERE kind = 'ended'")
    assert why == "it was told to"


def test_everything_was_tried(crawled: Crawled) -> None:
    assert _not_asked(crawled) == []


def test_robots_rules_were_asked_for_before_everything_else(crawled: Crawled) -> None:
    assert [server.host for server in crawled.servers if server.paths[0] != "/robots.txt"] == []


def test_where_rules_could_not_be_read_or_forbid_it_nothing_was_fetched(crawled: Crawled) -> None:
    for rules in CLOSED | SLOW:
        assert set(crawled.server("/plain", rules).paths) == {"/robots.txt"}, rules


def test_every_link_is_in_exactly_one_state_and_counted_there(crawled: Crawled) -> None:
    assert crawled.miscounted() == {}


def test_what_may_heal_waits_for_another_try(crawled: Crawled) -> None:
    assert crawled.failure("/unavailable")["again_at"] is not None
    assert crawled.failure("/redirect-nowhere")["again_at"] is None


def test_pages_that_cannot_be_read_fail_with_the_reason(crawled: Crawled) -> None:
    for name in ("poison", "attributes", "options"):
        reason = crawled.failure(f"/page/{name}")["reason"]
        assert reason in ("reading needed over 200 MB", "reading took over 1 s")


def test_an_endless_web_is_left(crawled: Crawled) -> None:
    for path in ("/calendar", "/sessions", "/redirect/growing"):
        assert len(crawled.server(path).paths) <= PAGES_PER_HOST + 7


def test_nothing_fills_the_memory(crawled: Crawled) -> None:
    assert crawled.memory < 600_000_000


def test_nothing_holds_the_loop(crawled: Crawled) -> None:
    assert crawled.told["held"] < 1.0
