"""A live crawl of servers that do everything wrong: it goes on, holds its memory, and accounts for everything."""

from __future__ import annotations

import asyncio
import contextlib
import json
import sqlite3
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from spoor import config
from spoor.config import Config, Crawling, FetchSettings, Politeness, ScopeSettings, Target
from spoor.frontier import State
from tests.chaos import HONEST, WRONG, Chaos, chaos
from tests.chaos.rules import CLOSED, OPEN, RULES, SLOW

PATHS = sorted((HONEST.keys() | WRONG.keys()) - RULES.keys())
RULED = [("/plain", rules) for rules in sorted((OPEN | CLOSED | SLOW) - {"/robots.txt"})]
HOSTS = [(path, "/robots.txt") for path in PATHS] + RULED
"""For each behaviour a host of its own: the page that is asked for, and how its robots.txt behaves."""
LONGEST = 100.0
"""Seconds after which the crawl should have tried everything."""
PAGES_PER_HOST = 4


@dataclass(frozen=True)
class Crawled:
    """A crawl that was told to stop. `told` is what the process says of itself."""

    servers: list[Chaos]
    folder: Path
    code: int
    errors: str
    told: dict[str, float]

    def server(self, path: str, rules: str = "/robots.txt") -> Chaos:
        return self.servers[HOSTS.index((path, rules))]

    def seeds(self) -> list[str]:
        return [server.url(path) for server, (path, _) in zip(self.servers, HOSTS, strict=True)]

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        with contextlib.closing(sqlite3.connect(f"file:{self.folder}/crawl.db?mode=ro", uri=True)) as db:
            return db.execute(query).fetchall()

    def failures(self) -> dict[str, dict[str, Any]]:
        """The last of each URL."""
        rows = self.rows("SELECT url, detail FROM events WHERE kind = 'failed' ORDER BY id")
        return {url: json.loads(detail) for url, detail in rows}

    def failure(self, path: str) -> dict[str, Any]:
        return self.failures()[self.server(path).url(path)]


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Crawled:
    return asyncio.run(_crawl(tmp_path_factory.mktemp("chaos")))


async def _crawl(folder: Path) -> Crawled:
    async with contextlib.AsyncExitStack() as stack:
        servers: list[Chaos] = []
        for number, (_, rules) in enumerate(HOSTS):
            host, port = f"127.0.{77 + number // 250}.{1 + number % 250}", servers[0].port if servers else 0
            servers.append(await stack.enter_async_context(chaos(host, port, rules)))
        crawled = Crawled(servers, folder / "crawl", 0, "", {})
        (folder / "crawl.toml").write_text(config.dumps(_settings(tuple(crawled.seeds()))), "utf8")
        command = (sys.executable, "-m", "tests.chaos.crawling", str(folder / "crawl.toml"), str(crawled.folder))
        pipe = asyncio.subprocess.PIPE
        process = await asyncio.create_subprocess_exec(*command, stdout=pipe, stderr=pipe)
        until = time.monotonic() + LONGEST
        while time.monotonic() < until and process.returncode is None and not _all_tried(crawled):
            await asyncio.sleep(0.5)
        with contextlib.suppress(ProcessLookupError):
            process.terminate()
        output, errors = await process.communicate()
        return Crawled(servers, crawled.folder, process.returncode or 0, errors.decode(), json.loads(output or "{}"))


def _settings(seeds: tuple[str, ...]) -> Config:
    return Config(
        Target(script="thai"),
        Crawling(seeds=seeds, connections=32, allow_private=True),
        ScopeSettings(pages_per_host=PAGES_PER_HOST),
        Politeness(rest=0.0),
        FetchSettings(
            connect_seconds=3.0,
            read_seconds=2.0,
            whole_seconds=4.0,
            body_bytes=2_000_000,
            parse_seconds=1.0,
            parse_bytes=300_000_000,
            links_per_page=200,
        ),
    )


def _all_tried(crawled: Crawled) -> bool:
    """Whether every seed has had an outcome, or its host one of its robots.txt."""
    with contextlib.suppress(sqlite3.OperationalError):
        tried = {url for (url,) in crawled.rows("SELECT url FROM links WHERE state = 4 OR tries > 0")}
        asked = {host for (host,) in crawled.rows("SELECT host FROM events WHERE kind = 'failed'")}
        asked |= {host for (host,) in crawled.rows("SELECT name FROM hosts WHERE free_at > unixepoch() + 30")}
        servers = zip(crawled.seeds(), crawled.servers, strict=True)
        return all(seed in tried or f"{server.host}:{server.port}" in asked for seed, server in servers)
    return False


def test_there_are_many_kinds_of_chaos() -> None:
    assert len(HOSTS) >= 200 and len(set(HOSTS)) == len(HOSTS)


def test_the_crawl_goes_on_until_it_is_told_to_stop(crawled: Crawled) -> None:
    assert (crawled.code, crawled.errors) == (0, "")
    ((why,),) = crawled.rows("SELECT detail ->> 'because' FROM events WHERE kind = 'ended'")
    assert why == "it was told to"


def test_everything_was_tried(crawled: Crawled) -> None:
    servers = zip(crawled.servers, HOSTS, strict=True)
    assert [host for server, host in servers if host[1] not in CLOSED | SLOW and host[0] not in server.paths] == []


def test_robots_rules_were_asked_for_before_everything_else(crawled: Crawled) -> None:
    assert [server.host for server in crawled.servers if server.paths[0] != "/robots.txt"] == []


def test_where_rules_could_not_be_read_or_forbid_it_nothing_was_fetched(crawled: Crawled) -> None:
    for rules in CLOSED | SLOW:
        assert set(crawled.server("/plain", rules).paths) == {"/robots.txt"}, rules


def test_every_link_is_in_exactly_one_state_and_none_is_left_in_transit(crawled: Crawled) -> None:
    states = dict(crawled.rows("SELECT state, count(*) FROM links GROUP BY state"))
    counters = dict(crawled.rows("SELECT name, value FROM counters"))
    assert State.IN_TRANSIT not in states
    for state in (State.WAITING, State.RETURNING, State.PARKED, State.SETTLED):
        assert states.get(state, 0) == counters[state.name.lower()]


def test_what_may_heal_waits_for_another_try(crawled: Crawled) -> None:
    assert crawled.failure("/unavailable")["again_at"] is not None
    assert crawled.failure("/redirect-nowhere")["again_at"] is None


def test_pages_that_cannot_be_read_fail_with_the_reason(crawled: Crawled) -> None:
    for name in ("poison", "attributes", "options"):
        reason = crawled.failure(f"/page/{name}")["reason"]
        assert reason in ("reading needed over 0.3 GB", "reading took over 1 s")


def test_an_endless_web_is_left(crawled: Crawled) -> None:
    for path in ("/calendar", "/sessions", "/redirect/growing"):
        assert len(crawled.server(path).paths) <= PAGES_PER_HOST + 7


def test_nothing_fills_the_memory(crawled: Crawled) -> None:
    assert crawled.told["kilobytes"] < 600_000


def test_nothing_holds_the_loop(crawled: Crawled) -> None:
    assert crawled.told["held"] < 1.0
