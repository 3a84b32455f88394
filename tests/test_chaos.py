"""A live crawl of servers that do everything wrong: it ends, holds its memory, and accounts for everything."""

from __future__ import annotations

import asyncio
import contextlib
import resource
import sqlite3
from pathlib import Path

import pytest

from spoor.config import Config, Crawling, FetchSettings, Politeness, ScopeSettings, Target
from spoor.events import Event, Failed, HostOpened, Visited
from spoor.frontier import State
from spoor.session import open_session, run_for
from spoor.store.crawl_folder import open_for_crawling
from tests.chaos import HONEST, WRONG, Chaos, chaos

PATHS = sorted((HONEST.keys() | WRONG.keys()) - {"/robots.txt", "/robots-500/robots.txt"})
SECONDS = 14.0


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[Event], list[Chaos], Path]:
    folder = tmp_path_factory.mktemp("chaos") / "crawl"
    events, servers = asyncio.run(_crawl(folder))
    return events, servers, folder


async def _crawl(folder: Path) -> tuple[list[Event], list[Chaos]]:
    """Every kind of chaos on a host of its own."""
    events: list[Event] = []
    async with contextlib.AsyncExitStack() as stack:
        hosts = [f"127.0.77.{number}" for number in range(1, len(PATHS) + 1)]
        servers = [await stack.enter_async_context(chaos(host)) for host in hosts]
        seeds = tuple(server.url(path) for server, path in zip(servers, PATHS, strict=True))
        with open_for_crawling(folder) as opened:
            async with open_session(opened, _settings(seeds)) as session:
                async for batch in run_for(session, SECONDS / 60):
                    events += batch
    return events, servers


def _settings(seeds: tuple[str, ...]) -> Config:
    return Config(
        Target(script="thai"),
        Crawling(seeds=seeds, strategy="breadth-first", connections=32, allow_private=True),
        ScopeSettings(pages_per_host=40),
        Politeness(rest=0.0),
        FetchSettings(connect_seconds=3.0, read_seconds=2.0, whole_seconds=4.0, body_bytes=2_000_000),
    )


def test_everything_was_tried(crawled: tuple[list[Event], list[Chaos], Path]) -> None:
    _, servers, _ = crawled
    missing = [path for server, path in zip(servers, PATHS, strict=True) if path not in server.paths]
    assert missing == []


def test_robots_rules_were_asked_for_before_everything_else(crawled: tuple[list[Event], list[Chaos], Path]) -> None:
    events, servers, _ = crawled
    assert all(server.paths[0] == "/robots.txt" for server in servers)
    assert sum(isinstance(event, HostOpened) for event in events) >= len(servers)


def test_every_link_is_in_exactly_one_state_and_none_is_left_in_transit(
    crawled: tuple[list[Event], list[Chaos], Path],
) -> None:
    events, _, folder = crawled
    with contextlib.closing(sqlite3.connect(folder / "crawl.db")) as db:
        states = dict(db.execute("SELECT state, count(*) FROM links GROUP BY state"))
        (known,) = db.execute("SELECT count(*) FROM links").fetchone()
    added = sum(event.added for event in events if isinstance(event, Visited))
    parked = sum(refusal.parked for event in events if isinstance(event, Visited) for refusal in event.refused)
    redirected = known - len(PATHS) - added - parked
    assert 0 <= redirected <= 8
    assert State.IN_TRANSIT not in states
    assert sum(states.values()) == known


def test_what_may_heal_waits_for_another_try(crawled: tuple[list[Event], list[Chaos], Path]) -> None:
    events, servers, _ = crawled
    by_path = {event.visit.url: event for event in events if isinstance(event, Failed)}
    unavailable = by_path[servers[PATHS.index("/unavailable")].url("/unavailable")]
    assert unavailable.again_at is not None
    nowhere = by_path[servers[PATHS.index("/redirect-nowhere")].url("/redirect-nowhere")]
    assert nowhere.again_at is None


def test_an_endless_calendar_is_left(crawled: tuple[list[Event], list[Chaos], Path]) -> None:
    _, servers, _ = crawled
    assert servers[PATHS.index("/calendar")].paths.count("/calendar") <= 1
    assert len(servers[PATHS.index("/calendar")].paths) <= 45


def test_bombs_and_endless_bodies_do_not_fill_the_memory(crawled: tuple[list[Event], list[Chaos], Path]) -> None:
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss < 1_500_000
