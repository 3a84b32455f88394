"""A live crawl through a served web finds what the clocked simulation finds under the same conditions."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from spoor.cli.main import main
from spoor.crawl import Crawl
from spoor.events import Event, Failed, Redirected, Visited
from spoor.frontier.entry import HostRules
from spoor.frontier.frontier import Frontier
from spoor.frontier.memory import MemoryStore
from spoor.lab.generate.prose import LANGUAGE, Author
from spoor.lab.simulated import simulate
from spoor.lab.web import Web
from spoor.lab.worlds import ComparedWorld, Conditions, Network, RecordedWorld
from spoor.live.from_settings import strategy_of
from spoor.live.session import open_session
from spoor.pricing import Limits
from spoor.settings import Config, Crawling, Politeness, Target
from spoor.store.crawl_folder import open_for_crawling
from tests import warcs
from tests.served import served

SITES = ("thai", "english", "thai", "german", "thai", "english", "japanese", "thai", "english", "thai")
PAGES = 30
"""Of each site."""
DEAD = 2
"""Links of each page to hosts that have no pages, of eight or fewer in all."""
COPIED = 10
"""Of so many pages of a site, one says word for word what another says that was written before it."""
SEEDS = ("http://h0.test/0.html", "http://h1.test/0.html")
STRATEGIES = ("breadth-first", "soft-focused", "learned")


def documents() -> Iterator[tuple[str, str]]:
    """URLs and pages; most links to other sites lead to one in the same language."""
    rng, author = random.Random(5), Author(5)
    for site, language in enumerate(SITES):
        alike = [other for other, spoken in enumerate(SITES) if spoken == language and other != site]
        written = ""
        for page in range(PAGES):
            if page % COPIED == COPIED - 1:
                yield f"http://h{site}.test/{page}.html", written
                continue
            author.turn_to(site * PAGES + page)
            own = [(site, page * 2 + 1), (site, page * 2 + 2), (site, page // 2), (site, rng.randrange(PAGES))]
            abroad = [rng.choice(alike) if alike and rng.random() < 0.7 else rng.randrange(len(SITES)) for _ in "ab"]
            targets = [f"http://h{s}.test/{p}.html" for s, p in own if p < PAGES]
            targets += [f"http://h{there}.test/{rng.randrange(PAGES)}.html" for there in abroad]
            targets += [f"http://dead{rng.randrange(40)}.test/{rng.randrange(9)}" for _ in range(DEAD)]
            spoken = LANGUAGE[language]
            links = "".join(f"<li>{author.write(spoken, 4)} <a href={t}>{author.write(spoken, 2)}</a>" for t in targets)
            text = "".join(f"<p>{author.write(spoken, 40)}</p>" for _ in range(3))
            title = author.write(spoken, 4)
            written = f"<title>{title}</title><h1>{title}</h1>{text}<ul>{links}</ul>"
            yield f"http://h{site}.test/{page}.html", written


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory) -> Web:
    folder = tmp_path_factory.mktemp("recorded")
    kind = "text/html; charset=utf-8"
    (folder / "web.warc").write_bytes(
        b"".join(warcs.response(url, html, content_type=kind) for url, html in documents())
    )
    assert main(["web", "build", str(folder / "web.warc"), "--out", str(folder / "web"), "--workers", "1"]) == 0
    return Web.open(folder / "web")


def settings(strategy: str, connections: int, budget: int, delay: float) -> Config:
    crawling = Crawling(seeds=SEEDS, strategy=strategy, connections=connections, max_pages=budget)
    return Config(Target(language="th"), crawling, politeness=Politeness(host_delay=delay))


async def crawl_live(web: Web, folder: Path, asked: Config, conditions: Conditions) -> list[Event]:
    events: list[Event] = []
    async with served(web, conditions) as proxy:
        with open_for_crawling(folder) as opened:
            async with open_session(opened, replace(asked, crawl=replace(asked.crawl, proxy=proxy))) as session:
                async for batch in session.run():
                    events += batch
    return events


def crawl_simulated(web: Web, asked: Config, conditions: Conditions) -> list[Event]:
    rules = HostRules(delay=asked.politeness.host_delay, ask_first=True)
    crawl = Crawl(strategy_of(asked), Frontier(MemoryStore(), rules), Limits(asked.crawl.max_pages))
    crawl.begin(asked.crawl.seeds)
    world = RecordedWorld(web, np.zeros(web.pages, np.bool_), with_content=True, open_ended=True)
    return list(simulate(crawl, Network(ComparedWorld(world), conditions), asked.crawl.connections))


def visits(events: list[Event]) -> list[tuple[str, str]]:
    """URLs and what they gave, in order."""
    over = (event for event in events if isinstance(event, Visited | Redirected | Failed))
    return [(event.visit.url, type(event).__name__) for event in over if event.visit.purpose == "page"]


WITHIN, PAGES_WITHIN = 0.05, 8
"""How far a live crawl may be from the simulated one: a share of what that found, or a few pages on so small a web."""


def found(events: list[Event]) -> int:
    return sum(isinstance(event, Visited) and event.verdict.relevant for event in events)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_with_one_connection_both_visit_the_same_pages_in_the_same_order(
    strategy: str, web: Web, tmp_path: Path
) -> None:
    asked = settings(strategy, connections=1, budget=150, delay=0.0)
    conditions = Conditions(latency=0.0005, delay=0.0, failures=0.1, seed=2)
    live = asyncio.run(crawl_live(web, tmp_path / "crawl", asked, conditions))
    assert visits(live) == visits(crawl_simulated(web, asked, conditions))
    assert {kind for _, kind in visits(live)} == {"Visited", "Failed"}


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_with_many_connections_and_resting_hosts_both_find_as_much(strategy: str, web: Web, tmp_path: Path) -> None:
    """Hosts are slow beside what a busy machine adds."""
    asked = settings(strategy, connections=8, budget=120, delay=0.2)
    conditions = Conditions(latency=0.04, bandwidth=1e7, delay=0.2, failures=0.02)
    live = found(asyncio.run(crawl_live(web, tmp_path / "crawl", asked, conditions)))
    simulated = found(crawl_simulated(web, asked, conditions))
    assert simulated > 20
    assert abs(live - simulated) <= max(PAGES_WITHIN, WITHIN * simulated)
