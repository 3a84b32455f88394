"""A crawl of many hosts that do everything wrong, one behaviour each, in a process of its own."""

from __future__ import annotations

import asyncio
import contextlib
import json
import sqlite3
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from spoor import settings as config
from spoor.frontier.entry import State
from spoor.settings import Config, Crawling, FetchSettings, Politeness, ScopeSettings, Target
from tests.all_memory import sampled
from tests.chaos import HONEST, WRONG, Chaos, chaos
from tests.chaos.rules import CLOSED, OPEN, RULES, SLOW

PATHS = sorted((HONEST.keys() | WRONG.keys()) - RULES.keys())
RULED = [("/plain", rules) for rules in sorted((OPEN | CLOSED | SLOW) - {"/robots.txt"})]
HOSTS = [(path, "/robots.txt") for path in PATHS] + RULED
"""For each behaviour a host of its own: the page that is asked for, and how its robots.txt behaves."""


@dataclass(frozen=True)
class Crawled:
    """A crawl that was told to stop, and did after so many `seconds`. `told` is what the process says of itself;
    `memory` are the bytes that it and its processes had at most."""

    servers: list[Chaos]
    folder: Path
    code: int = 0
    errors: str = ""
    told: dict[str, float] = field(default_factory=dict)
    seconds: float = 0.0
    memory: int = 0

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

    def miscounted(self) -> dict[str, tuple[int, int]]:
        """States of links whose counter is not what the table holds, with both. What was under way when the time of
        grace was over is in transit, and waits again when the crawl is resumed."""
        states = dict(self.rows("SELECT state, count(*) FROM links GROUP BY state"))
        counters = dict(self.rows("SELECT name, value FROM counters"))
        both = {state.name: (states.get(state, 0), counters[state.name.lower()]) for state in State}
        return {name: pair for name, pair in both.items() if pair[0] != pair[1]}


@contextlib.asynccontextmanager
async def chaos_hosts() -> AsyncIterator[list[Chaos]]:
    async with contextlib.AsyncExitStack() as stack:
        servers: list[Chaos] = []
        for number, (_, rules) in enumerate(HOSTS):
            host, port = f"127.0.{77 + number // 250}.{1 + number % 250}", servers[0].port if servers else 0
            servers.append(await stack.enter_async_context(chaos(host, port, rules)))
        yield servers


async def crawl_until(
    crawled: Crawled, settings: Config, enough: Callable[[Crawled], Awaitable[bool]], fork: bool = False
) -> Crawled:
    """Creates or resumes a crawl in the folder; it is told to stop as soon as it has done enough. `fork`: its processes
    are forked from one that has imported everything, whose memory counts, too."""
    path = crawled.folder.with_suffix(".toml")
    path.write_text(config.dumps(settings), "utf8")
    command = (
        sys.executable,
        "-m",
        "tests.chaos.crawling",
        str(path),
        str(crawled.folder),
        *(["fork"] if fork else []),
    )
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(*command, stdout=pipe, stderr=pipe)
    async with sampled(process.pid) as peak:
        while process.returncode is None and not await enough(crawled):
            await asyncio.sleep(0.5)
        asked = time.monotonic()
        with contextlib.suppress(ProcessLookupError):
            process.terminate()
        output, errors = await process.communicate()
    code, told, seconds = process.returncode or 0, json.loads(output or "{}"), time.monotonic() - asked
    return replace(crawled, code=code, errors=errors.decode(), told=told, seconds=seconds, memory=peak.size)


def settings_for(seeds: list[str], pages_per_host: int | None, workers: int = 0) -> Config:
    return Config(
        Target(script="thai"),
        Crawling(seeds=tuple(seeds), connections=32, workers=workers, allow_private=True),
        ScopeSettings(pages_per_host=pages_per_host),
        Politeness(host_delay=0.0),
        FetchSettings(
            connect_seconds=3.0,
            read_seconds=2.0,
            whole_seconds=4.0,
            body_bytes=2_000_000,
            parse_seconds=1.0,
            links_per_page=200,
        ),
    )
