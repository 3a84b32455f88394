"""The live crawl over real sockets: the same strategy, the same order, everything kept."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from warcio.archiveiterator import ArchiveIterator

from spoor.cli.main import main
from spoor.crawl import Crawl
from spoor.errors import BadInput
from spoor.events import Event, Failed, Redirected, Visited
from spoor.frontier.entry import HostRules, State
from spoor.frontier.frontier import Frontier
from spoor.frontier.memory import MemoryStore
from spoor.lab.generate import generate
from spoor.lab.generate.chance import Request
from spoor.lab.simulated import simulate
from spoor.lab.web import Web
from spoor.lab.worlds import RecordedWorld, WrittenWorld
from spoor.live.downloader import LiveDownloader, PageFetcher
from spoor.live.from_settings import fetcher_for, strategy_of
from spoor.live.page_reader import Reader
from spoor.live.session import open_session
from spoor.ordering.language_order import ServerLanguage
from spoor.pricing import Limits
from spoor.records import Link, Page, Sighting, Verdict, Visit
from spoor.settings import Config, Crawling, Politeness, ScopeSettings, Target
from spoor.store.crawl_folder import open_for_crawling
from spoor.store.incidents import died_of
from spoor.store.journal import open_to_read
from spoor.strategy import hinted
from spoor.urls import host_of
from tests.forked import NOWHERE, Forked, spoor
from tests.served import served
from tests.small_disk import small_disk


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory) -> Web:
    folder = tmp_path_factory.mktemp("webs") / "thai"
    generate(Request("thai", 600, 21, text=True), folder, lambda pages: None)
    return Web.open(folder)


def settings(web: Web, **changed: object) -> Config:
    seeds = tuple((web.folder / "seeds.txt").read_text().split())
    crawling = replace(Crawling(seeds=seeds, connections=1, strategy="soft-focused", max_pages=150), **changed)  # type: ignore[arg-type]
    return Config(Target(charset="th"), crawling, politeness=Politeness(host_delay=0.0))


async def crawl_live(web: Web, folder: Path, asked: Config) -> list[Event]:
    events: list[Event] = []
    async with served(web) as proxy:
        with open_for_crawling(folder) as opened:
            async with open_session(opened, replace(asked, crawl=replace(asked.crawl, proxy=proxy))) as session:
                async for batch in session.run():
                    events += batch
    return events


def crawl_simulated(web: Web, asked: Config) -> list[Event]:
    crawl = Crawl(strategy_of(asked), Frontier(MemoryStore(), HostRules(ask_first=True)), Limits(asked.crawl.max_pages))
    crawl.begin(asked.crawl.seeds)
    world = RecordedWorld(web, np.zeros(web.pages, np.bool_), with_content=True, open_ended=True)
    return list(simulate(crawl, world))


def visits(events: list[Event]) -> list[str]:
    looked = (e for e in events if isinstance(e, Visited | Redirected | Failed))
    return [event.visit.url for event in looked if event.visit.purpose == "page"]


@pytest.mark.parametrize("strategy", ["breadth-first", "soft-focused", "prioritised-limited-distance:n=2", "random"])
def test_the_same_strategy_visits_the_same_pages_in_the_same_order(strategy: str, web: Web, tmp_path: Path) -> None:
    asked = settings(web, strategy=strategy)
    live = asyncio.run(crawl_live(web, tmp_path / "crawl", asked))
    assert visits(live) == visits(crawl_simulated(web, asked))
    assert len(visits(live)) == 150


async def as_served(web: Web, asked: Config) -> WrittenWorld:
    """Every page of a web as a live crawl reads it: it is served with other words around its links than it has."""
    reader = Reader.of(strategy_of(asked))
    async with served(web) as proxy, fetcher_for(replace(asked, crawl=replace(asked.crawl, proxy=proxy))) as fetcher:
        downloader = LiveDownloader(PageFetcher(fetcher, reader))
        urls = [web.urls[page] for page in range(web.pages)]
        return WrittenWorld({url: await downloader.fetch(Visit(url, host_of(url), 0, 0.0)) for url in urls})


@pytest.fixture(scope="module", params=[Target(language="th"), Target(keywords=("ข้าว",))], ids=["language", "topic"])
def learned(request: pytest.FixtureRequest, web: Web) -> tuple[Config, list[str]]:
    """What is asked for, and what is visited in a simulation of it."""
    asked = replace(settings(web, strategy="learned"), target=request.param)
    crawl = Crawl(strategy_of(asked), Frontier(MemoryStore(), HostRules(ask_first=True)), Limits(asked.crawl.max_pages))
    crawl.begin(asked.crawl.seeds)
    return asked, visits(list(simulate(crawl, asyncio.run(as_served(web, asked)))))


@pytest.mark.parametrize("workers", [0, 1])
def test_what_learns_from_every_visit_visits_the_same_pages_in_the_same_order(
    learned: tuple[Config, list[str]], workers: int, web: Web, tmp_path: Path
) -> None:
    asked, simulated = learned
    live = asyncio.run(crawl_live(web, tmp_path / "crawl", replace(asked, crawl=replace(asked.crawl, workers=workers))))
    assert visits(live) == simulated
    assert len(visits(live)) == 150


def test_https_pages_of_a_served_web_are_visited_in_the_same_order_too(tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_text("url\nhttp://a.test/\nhttps://b.test/\nhttps://b.test/2\nhttp://c.test/\n")
    links = [
        "http://a.test/,https://b.test/,b",
        "https://b.test/,https://b.test/2,two",
        "https://b.test/,http://c.test/,c",
    ]
    (tmp_path / "links.csv").write_text("\n".join(["source,target,anchor", *links, ""]))
    sources = [str(tmp_path / "log.csv"), str(tmp_path / "links.csv")]
    assert main(["web", "build", *sources, "--out", str(tmp_path / "web"), "--workers", "1"]) == 0
    web = Web.open(tmp_path / "web")
    crawling = Crawling(seeds=("http://a.test/",), connections=1, strategy="breadth-first")
    asked = Config(Target(charset="th"), crawling, politeness=Politeness(host_delay=0.0))
    live = visits(asyncio.run(crawl_live(web, tmp_path / "crawl", asked)))
    assert live == ["http://a.test/", "https://b.test/", "https://b.test/2", "http://c.test/"]
    assert live == visits(crawl_simulated(web, asked))


@pytest.fixture(scope="module")
def whole(web: Web, tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    """All that a crawl finds which nothing disturbs, by one connection."""
    asked = settings(web, max_pages=None, strategy="breadth-first")
    return set(visits(asyncio.run(crawl_live(web, tmp_path_factory.mktemp("whole") / "crawl", asked))))


def test_many_connections_and_workers_find_the_same_pages(web: Web, whole: set[str], tmp_path: Path) -> None:
    asked = settings(web, max_pages=None, strategy="breadth-first", connections=16, workers=2)
    assert set(visits(asyncio.run(crawl_live(web, tmp_path / "many", asked)))) == whole


def test_a_crawl_that_is_done_stays_done(web: Web, tmp_path: Path) -> None:
    asked = settings(web, max_pages=20)
    assert len(visits(asyncio.run(crawl_live(web, tmp_path / "crawl", asked)))) == 20
    assert visits(asyncio.run(crawl_live(web, tmp_path / "crawl", asked))) == []


def test_the_budget_of_a_host_holds_when_a_crawl_is_gone_on_with(web: Web, tmp_path: Path) -> None:
    asked = replace(settings(web, max_pages=15), scope=ScopeSettings(pages_per_host=5))
    asyncio.run(crawl_live(web, tmp_path / "crawl", asked))
    asyncio.run(crawl_live(web, tmp_path / "crawl", replace(asked, crawl=replace(asked.crawl, max_pages=80))))
    assert max(count for _, count in rows(tmp_path / "crawl", "SELECT host, count(*) FROM pages GROUP BY host")) == 5


def rows(folder: Path, query: str) -> list[Any]:
    with contextlib.closing(sqlite3.connect(folder / "crawl.db")) as db:
        return db.execute(query).fetchall()


def test_everything_is_accounted_for(web: Web, tmp_path: Path) -> None:
    events = asyncio.run(crawl_live(web, tmp_path / "crawl", settings(web)))
    added = sum(event.added for event in events if isinstance(event, Visited))
    parked = sum(r.parked for event in events if isinstance(event, Visited) for r in event.refused)
    (known,) = rows(tmp_path / "crawl", "SELECT count(*) FROM links")
    assert known == (5 + added + parked,)
    states = dict(rows(tmp_path / "crawl", "SELECT state, count(*) FROM links GROUP BY state"))
    assert states[4] == 150 and 3 not in states
    (why,) = rows(tmp_path / "crawl", "SELECT detail FROM events WHERE kind = 'ended'")
    assert json.loads(why[0])["because"] == "the budget of 150 visits is spent"


class Crawler:
    """A crawl in a process of its own, against a proxy in another."""

    def __init__(self, web: Web, folder: Path, *flags: str) -> None:
        """`flags` are those of a new crawl."""
        self.folder = folder
        self._flags = flags
        self._seeds = web.folder / "seeds.txt"
        self.log = folder.with_suffix(".log")
        said = folder.with_suffix(".said")
        self._server = spoor("web", "serve", str(web.folder), "--port", "0", "--log", str(self.log), stdout=said)
        while not (said.exists() and "\n" in said.read_text()):
            assert self._server.poll() is None
            time.sleep(0.005)
        self._proxy = said.read_text().split("proxy ")[1].split(";")[0]

    def __enter__(self) -> Crawler:
        return self

    def __exit__(self, *_: object) -> None:
        self._server.terminate()
        self._server.wait()

    def start(self, errors: Path = NOWHERE) -> Forked:
        """The first time with settings, later with what the folder says. `errors` is where it complains."""
        return spoor(*self.words(), stderr=errors)

    def words(self) -> list[str]:
        words = ["crawl", "--out", str(self.folder), "--proxy", self._proxy]
        if not (self.folder / "crawl.toml").exists():
            words += ["--charset", "th", "--seeds", str(self._seeds), *self._flags]
        return words

    def kill_in_work(self, seconds: float) -> bool | None:
        """So long after the first page came. Says whether pages were under way when it was killed; None: there was
        nothing left to do."""
        process, before = self.start(), self._pages()
        while process.poll() is None and (self._pages() == before or not self._under_way()):
            time.sleep(0.02)
        time.sleep(seconds)
        if process.poll() is not None:
            return None
        process.kill()
        process.wait()
        return self._under_way()

    def kill_at(self, pages: int) -> None:
        """As soon as so many pages have come in all, and while none is worked on: it waits for one. Not forked, so that
        each of its processes hashes in another way."""
        process = subprocess.Popen([sys.executable, "-m", "spoor", *self.words()], stdout=subprocess.DEVNULL)
        while process.poll() is None:
            time.sleep(0.02)
            process.send_signal(signal.SIGSTOP)
            if self._pages() >= pages and not died_of(self.folder / "in-work"):
                break
            process.send_signal(signal.SIGCONT)
        process.kill()
        process.wait()

    def _under_way(self) -> bool:
        return bool(rows(self.folder, f"SELECT 1 FROM links WHERE state = {State.IN_TRANSIT:d}"))

    def _pages(self) -> int:
        with contextlib.suppress(BadInput), contextlib.closing(open_to_read(self.folder / "crawl.db")) as db:
            return int(db.execute("SELECT count(*) FROM pages").fetchone()[0])
        return 0


KILLS = int(os.environ.get("SPOOR_KILLS", "8"))
DELAY = 0.02
CAREFUL = ("--strategy", "breadth-first", "--rest", str(DELAY), "--connections", "4")


def gaps(pages: list[tuple[str, float, float]]) -> list[float]:
    """Seconds between the end of a visit and the start of the next to the same host."""
    ended: dict[str, float] = {}
    found = []
    for host, started, end in pages:
        if host in ended:
            found.append(started - ended[host])
        ended[host] = end
    return found


def requests(log: Path) -> list[tuple[float, float, str]]:
    """As the server saw them: when each came, how long the answer took, the URL; in order."""
    lines = [line.split("\t") for line in log.read_text("utf8").splitlines()]
    return sorted((float(came), float(took), url) for came, took, _, url in lines)


@pytest.fixture(scope="module")
def large_web(tmp_path_factory: pytest.TempPathFactory) -> Web:
    """Large enough that no kill comes too late."""
    folder = tmp_path_factory.mktemp("webs") / "thai"
    generate(Request("thai", 400 + 32 * KILLS, 21, text=True), folder, lambda pages: None)
    return Web.open(folder)


def test_a_crawl_killed_at_random_moments_loses_nothing_and_repeats_nothing(large_web: Web, tmp_path: Path) -> None:
    asked = settings(large_web, max_pages=None, strategy="breadth-first", connections=16)
    whole = set(visits(asyncio.run(crawl_live(large_web, tmp_path / "whole", asked))))
    rng = random.Random(7)
    with Crawler(large_web, tmp_path / "crawl", *CAREFUL) as crawler:
        in_work = [crawler.kill_in_work(rng.random() / 10) for _ in range(KILLS)]
        assert crawler.start().wait(timeout=120 + KILLS) == 0
    assert None not in in_work and in_work.count(True) > KILLS // 10
    counts = dict(rows(tmp_path / "crawl", "SELECT url, count(*) FROM pages GROUP BY url"))
    assert set(counts) == whole
    assert set(counts.values()) == {1}
    assert (
        min(gaps(rows(tmp_path / "crawl", "SELECT host, started, ended FROM pages ORDER BY started"))) >= DELAY - 0.001
    )
    served = requests(crawler.log)
    assert min(gaps([(host_of(url), came, came + took) for came, took, url in served])) >= DELAY - 0.001
    assert {url for _, _, url in served} >= whole
    for file in sorted((tmp_path / "crawl" / "warc").glob("*.warc.gz")):
        with file.open("rb") as stream:
            kinds = [record.rec_type for record in ArchiveIterator(stream, check_digests="raise")]
        assert kinds[0] == "warcinfo"


def test_what_learns_from_every_visit_is_killed_and_goes_on_as_if_nothing_had_been(web: Web, tmp_path: Path) -> None:
    asked = settings(web, strategy="learned", max_pages=200)
    whole = asyncio.run(crawl_live(web, tmp_path / "whole", asked))
    with Crawler(web, tmp_path / "crawl", "--rest", "0", "--connections", "1", "--max-pages", "200") as crawler:
        for pages in (40, 120):
            crawler.kill_at(pages)
        assert crawler.start().wait(timeout=120) == 0
    assert [url for (url,) in rows(tmp_path / "crawl", "SELECT url FROM pages ORDER BY id")] == visits(whole)


def test_a_full_disk_ends_a_crawl_with_one_line_and_nothing_is_lost(web: Web, whole: set[str], tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    with small_disk(disk, "1m"), Crawler(web, disk / "crawl", *CAREFUL) as crawler:
        assert crawler.start(tmp_path / "said").wait(timeout=120) == 1
        said = (tmp_path / "said").read_text("utf8")
        assert f"resume the crawl with `spoor crawl --out {disk / 'crawl'}`" in said.splitlines()[-1]
        assert "free some disk space" in said and "Traceback" not in said
        with contextlib.closing(sqlite3.connect(disk / "crawl" / "crawl.db")) as db:
            assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        subprocess.run(["mount", "-o", "remount,size=64m", str(disk)], check=True)
        assert crawler.start().wait(timeout=120) == 0
        counts = dict(rows(disk / "crawl", "SELECT url, count(*) FROM pages GROUP BY url"))
    assert set(counts) == whole
    assert set(counts.values()) == {1}


def test_every_page_is_kept_with_its_language(web: Web, tmp_path: Path) -> None:
    asyncio.run(crawl_live(web, tmp_path / "crawl", settings(web, max_pages=60)))
    languages = dict(rows(tmp_path / "crawl", "SELECT language, count(*) FROM pages GROUP BY language"))
    assert languages["th"] > 20 and languages.keys() > {"th", "en"}


async def server_evidence(web: Web, folder: Path, asked: Config, url: str) -> tuple[float, float]:
    """What the strategy thinks of a link when a session begins and when it ends."""
    async with served(web) as proxy:
        with open_for_crawling(folder) as opened:
            async with open_session(opened, replace(asked, crawl=replace(asked.crawl, proxy=proxy))) as session:
                scorer = session.crawl.strategy.scorer
                assert isinstance(scorer, ServerLanguage)
                page = Page("http://elsewhere.test/", links=(Link(url),))
                seen = Sighting(Visit(page.url, "elsewhere.test", 0, 0.0), page, Verdict(0.0, False, ""), None)
                links = hinted(scorer, page, page.links)
                before = scorer.evidence(seen, links)[0]["server"]
                async for _ in session.run():
                    pass
                return before, scorer.evidence(seen, links)[0]["server"]


def test_what_a_strategy_learned_it_knows_when_a_crawl_is_gone_on_with(web: Web, tmp_path: Path) -> None:
    asked = settings(web, strategy="server-language", max_pages=60)
    seen = asked.crawl.seeds[0]
    unlearned, learned = asyncio.run(server_evidence(web, tmp_path / "crawl", asked, seen))
    recalled, _ = asyncio.run(server_evidence(web, tmp_path / "crawl", asked, seen))
    assert unlearned < learned == recalled
