"""A live crawl visits what the clocked simulation visits under the same conditions: through a served web, and by the
live driver with many connections."""

from __future__ import annotations

import asyncio
import random
import selectors
from collections.abc import Iterator
from dataclasses import dataclass, replace
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
from spoor.live.driver import LiveDriver
from spoor.live.from_settings import strategy_of
from spoor.live.session import open_session
from spoor.pricing import Limits
from spoor.records import Outcome, Visit
from spoor.settings import Config, Crawling, Politeness, Target
from spoor.store.crawl_folder import open_for_crawling
from spoor.store.incidents import SavedTroubles
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


def crawl_in_memory(asked: Config) -> Crawl:
    rules = HostRules(delay=asked.politeness.host_delay, ask_first=True)
    crawl = Crawl(strategy_of(asked), Frontier(MemoryStore(), rules), Limits(asked.crawl.max_pages))
    crawl.begin(asked.crawl.seeds)
    return crawl


def network(web: Web, conditions: Conditions) -> Network:
    world = RecordedWorld(web, np.zeros(web.pages, np.bool_), with_content=True, open_ended=True)
    return Network(ComparedWorld(world), conditions)


def crawl_simulated(web: Web, asked: Config, conditions: Conditions) -> list[Event]:
    return list(simulate(crawl_in_memory(asked), network(web, conditions), asked.crawl.connections))


class JumpingLoop(asyncio.SelectorEventLoop):
    """Its clock stands still while there is something to do, and then jumps to what is due next: what a busy machine
    adds is no part of it."""

    def __init__(self) -> None:
        self._now = 0.0
        selector = selectors.DefaultSelector()
        select = selector.select

        def jump(timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
            self._now += timeout or 0.0
            return select(0)

        selector.select = jump  # type: ignore[method-assign]
        super().__init__(selector)

    def time(self) -> float:
        return self._now


@dataclass(frozen=True)
class Latent:
    """Answers of a network, each after the time that it takes."""

    network: Network

    async def fetch(self, visit: Visit) -> Outcome:
        outcome, seconds = self.network.fetch(visit)
        await asyncio.sleep(seconds)
        return outcome


def crawl_by_the_live_driver(web: Web, asked: Config, conditions: Conditions) -> list[Event]:
    async def crawl() -> list[Event]:
        clock, downloader = asyncio.get_running_loop().time, Latent(network(web, conditions))
        connections = asked.crawl.connections
        driver = LiveDriver(crawl_in_memory(asked), downloader, connections, clock, SavedTroubles(None))
        return [event async for batch in driver.run() for event in batch]

    with asyncio.Runner(loop_factory=JumpingLoop) as runner:
        return runner.run(crawl())


def visits(events: list[Event]) -> list[tuple[str, str]]:
    """URLs and what they gave, in order."""
    over = (event for event in events if isinstance(event, Visited | Redirected | Failed))
    return [(event.visit.url, type(event).__name__) for event in over if event.visit.purpose == "page"]


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
def test_with_many_connections_and_host_delays_the_live_driver_visits_what_the_simulated_one_does(
    strategy: str, web: Web
) -> None:
    asked = settings(strategy, connections=8, budget=120, delay=0.2)
    conditions = Conditions(latency=0.04, bandwidth=1e7, delay=0.2, failures=0.02)
    live = visits(crawl_by_the_live_driver(web, asked, conditions))
    assert live == visits(crawl_simulated(web, asked, conditions))
    assert len(live) == 120
