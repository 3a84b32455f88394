"""Actions reach crawls: those that run, those that do not, and those that are killed in between."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import random
import shutil
import signal
import sqlite3
import sys
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from string import ascii_lowercase
from types import FrameType
from typing import Any

import pytest
from aiohttp import web

from spoor import settings as config
from spoor.actions import (
    Action,
    AddSeeds,
    Block,
    Budget,
    Mark,
    Pause,
    SlowDown,
    Stop,
    Unblock,
    Unpause,
    action_of,
    as_json,
)
from spoor.cli.main import main
from spoor.crawl import Crawl
from spoor.crawling.guidance import Guidance
from spoor.errors import BadInput
from spoor.events import Event, Paused, Steered, Visited
from spoor.frontier.frontier import Frontier
from spoor.frontier.sqlite import SqliteStore
from spoor.lab.worlds import WrittenWorld
from spoor.live.action_applier import ActionApplier
from spoor.live.running import Session
from spoor.live.session import open_session
from spoor.ordering.simple import Arrival
from spoor.report.figures import figures
from spoor.report.page import html_of
from spoor.settings import Config, Crawling, Politeness, Target
from spoor.steering.inbox import Inbox
from spoor.steering.submitting import apply_pending, outcome, submit, wait_for
from spoor.store.crawl_folder import CrawlFolder, locked, open_for_crawling
from spoor.store.folder_check import check
from spoor.store.journal import Journal, events, open_to_read
from spoor.store.marks import mark_of, marks_since, newest_marks
from spoor.store.steered import SteeringLog, steered
from spoor.strategy import Strategy
from tests.kept_crawl import kept_crawl
from tests.tiny import truth

POINTS = 10
"""At which a process is killed, from its first call of ours to its last."""
PAGE = "http://a.test/0"


@pytest.fixture(scope="module")
def ended(tmp_path_factory: pytest.TempPathFactory) -> CrawlFolder:
    return kept_crawl(tmp_path_factory.mktemp("steering") / "ended", pages=12)


@pytest.fixture
def folder(ended: CrawlFolder, tmp_path: Path) -> CrawlFolder:
    """A crawl that has ended, with links that wait."""
    shutil.copytree(ended.path, tmp_path / "crawl")
    return CrawlFolder(tmp_path / "crawl")


@contextlib.contextmanager
def database(folder: CrawlFolder) -> Iterator[sqlite3.Connection]:
    with contextlib.closing(open_to_read(folder.database)) as db:
        yield db


def done(folder: CrawlFolder) -> list[tuple[Action, str]]:
    with database(folder) as db:
        return [(event.action, event.refused) for event in steered(db)]


# A crawl that does not run.


def test_what_is_asked_of_a_crawl_that_does_not_run_is_done_at_once(folder: CrawlFolder) -> None:
    asked: list[Action] = [
        Block("d.test"),
        Mark(PAGE, relevant=True),
        SlowDown("a.test", 30.0),
        Pause(),
        Unblock("d.test"),
    ]
    for action in asked:
        receipt = submit(folder, action, "anna")
        assert receipt.done is not None and receipt.done.who == "anna"
    assert done(folder) == [(action, "") for action in asked]
    assert not list(folder.inbox.iterdir())
    with database(folder) as db:
        assert [event.detail["action"] for event in events(db) if event.kind == "steered"] == [
            *("block", "mark", "slow down", "pause", "unblock")
        ]
        assert db.execute("SELECT delay FROM hosts WHERE name = 'a.test'").fetchone() == (30.0,)
    assert not check(folder).damage


def test_budget_and_seeds_are_in_its_settings_then(folder: CrawlFolder) -> None:
    submit(folder, Budget(max_pages=500))
    submit(folder, AddSeeds(("HTTP://New.test",)))
    asked = config.loads(folder.settings() or "").crawl
    assert (asked.max_pages, asked.seeds) == (500, ("http://a.test/0", "http://new.test/"))


@pytest.mark.parametrize(
    ("action", "said"),
    [
        (Stop(), "no crawl is running there"),
        (Unpause(), "it is not paused"),
        (Unblock("x.test"), "x.test is not blocked; nothing is"),
        (Budget(max_pages=3), "max_pages 3 is not above the 12 requests that were made"),
        (Budget(), "a budget needs max_pages, max_minutes or both"),
        (SlowDown("a.test", 0.1), "0.1 s is less than the 1 s that politeness requires for a.test"),
        (SlowDown("a b", 9.0), "'a b' is not the name of a host"),
        (AddSeeds(("ftp://a.test/",)), "'ftp://a.test/' is not an http or https URL"),
        (Mark("about:blank", relevant=None), "'about:blank' is not an http or https URL"),
        (Block("*/*"), "would block everything"),
        (Block("a b"), "'a b' is not a host or a URL pattern"),
    ],
)
def test_what_cannot_be_done_is_refused_in_one_line(folder: CrawlFolder, action: Action, said: str) -> None:
    with pytest.raises(BadInput) as refused:
        submit(folder, action)
    assert said in str(refused.value) and "\n" not in str(refused.value)
    assert done(folder) == [] and not list(folder.path.glob("inbox/*"))


def test_what_cannot_be_done_any_more_when_it_is_to_be_done_is_told(folder: CrawlFolder) -> None:
    inbox = Inbox(folder.inbox)
    inbox.leave(Pause(), "anna")
    inbox.leave(Pause(), "ben")
    apply_pending(folder)
    assert done(folder) == [(Pause(), ""), (Pause(), "it is already paused, by anna")]


def test_a_file_that_is_no_action_is_set_aside(folder: CrawlFolder) -> None:
    folder.inbox.mkdir()
    for name in ("1.json", "2.json"):
        (folder.inbox / name).write_text('{"id": "2", "at": 0, "who": "eve", "action": "pause"}')
    apply_pending(folder)
    assert done(folder) == [(Pause(), "")]
    assert [file.name for file in folder.inbox.iterdir()] == ["1.json.refused"]


def test_while_somebody_has_the_folder_open_an_action_waits(folder: CrawlFolder) -> None:
    with locked(folder):
        receipt = submit(folder, Block("d.test"))
        assert receipt.done is None and len(list(folder.inbox.iterdir())) == 1
    assert wait_for(folder, receipt, 60.0).done is not None


def test_the_last_mark_of_a_page_counts_until_it_is_taken_back(folder: CrawlFolder) -> None:
    with database(folder) as db:
        assert list(marks_since(db)) == [] and newest_marks(db) == {} and mark_of(db, PAGE) is None
    for relevant in (True, False):
        submit(folder, Mark(PAGE, relevant), "anna")
    with database(folder) as db:
        assert [mark.relevant for mark in marks_since(db)] == [True, False]
        assert [mark.relevant for mark in marks_since(db, after=1)] == [False]
        assert {url: (mark.relevant, mark.who) for url, mark in newest_marks(db).items()} == {PAGE: (False, "anna")}
    submit(folder, Mark(PAGE, None), "anna")
    with database(folder) as db:
        assert newest_marks(db) == {} and mark_of(db, PAGE) is None


@pytest.mark.parametrize(
    ("line", "action"),
    [
        ("pause", Pause()),
        ("budget --max-pages 99 --max-minutes 5", Budget(99, 5.0)),
        ("add-seeds http://x.test http://y.test", AddSeeds(("http://x.test/", "http://y.test/"))),
        ("block D.test", Block("d.test")),
        ("slow a.test 7", SlowDown("a.test", 7.0)),
        (f"mark {PAGE} not-relevant", Mark(PAGE, relevant=False)),
        (f"mark {PAGE} none", Mark(PAGE, relevant=None)),
    ],
)
def test_every_action_has_a_command(
    folder: CrawlFolder, line: str, action: Action, capsys: pytest.CaptureFixture[str]
) -> None:
    command, *rest = line.split()
    assert main([command, str(folder.path), *rest, "--who", "anna", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["done"] and action_of({name: said[name] for name in as_json(action)}) == action
    assert done(folder) == [(action, "")]


def test_a_command_that_takes_an_action_back_says_so(folder: CrawlFolder, capsys: pytest.CaptureFixture[str]) -> None:
    name = str(folder.path)
    assert [main([command, name]) for command in ("pause", "unpause", "unpause", "stop")] == [0, 0, 1, 1]
    assert main(["block", name, "d.test"]) == main(["unblock", name, "d.test"]) == 0
    said = capsys.readouterr()
    assert "unblock d.test; done" in said.out + said.err
    assert "it is not paused" in said.err and "no crawl is running there" in said.err


def test_why_and_report_tell_what_persons_asked_for(folder: CrawlFolder, capsys: pytest.CaptureFixture[str]) -> None:
    with database(folder) as db:
        (waiting,) = db.execute("SELECT url FROM links WHERE state = 0 AND url LIKE 'http://d.test/%'").fetchone()
    submit(folder, Block("d.test"), "anna")
    submit(folder, Mark(PAGE, relevant=True), "ben")
    assert main(["why", str(folder.path), waiting]) == main(["why", str(folder.path), PAGE]) == 0
    said = capsys.readouterr().out
    assert "by anna: block d.test" in said and "by ben: relevant" in said
    page = html_of(figures(folder))
    assert "Steered by persons" in page and f"{PAGE} is relevant" in page
    assert "has not ended" not in page


# Killed on the way.


def running(folder: CrawlFolder) -> None:
    """What a crawl that runs does about once a second."""
    world = WrittenWorld({})
    with locked(folder), contextlib.closing(SqliteStore(folder.database)) as store:
        journal = Journal.create(store.connection)
        store.write_along(journal.write)
        log, guidance = SteeringLog.create(store, journal), Guidance.of(steered(store.connection))
        crawl = Crawl(Strategy(truth(world), Arrival()), Frontier(store), None, log, None, guidance)
        settings = config.loads(folder.settings() or "", folder.path)
        ActionApplier(folder, store.connection, settings, crawl, time.time).apply_actions()


class Calls:
    """Counts calls of functions of ours, and kills the process at one of them."""

    def __init__(self, deadly: int = -1) -> None:
        self.count, self.deadly = 0, deadly

    def __call__(self, frame: FrameType, event: str, argument: Any) -> None:
        if "spoor" in frame.f_code.co_filename or event.startswith("c_"):
            if self.count == self.deadly:
                os.kill(os.getpid(), signal.SIGKILL)
            self.count += 1


def counted(do: Callable[[], object]) -> int:
    calls = Calls()
    sys.setprofile(calls)
    try:
        do()
    finally:
        sys.setprofile(None)
    return calls.count


def killed(do: Callable[[], object], at: int) -> None:
    child = os.fork()
    if not child:
        sys.setprofile(Calls(at))
        do()
        os._exit(0)
    os.waitpid(child, 0)


@pytest.mark.parametrize("finish", [apply_pending, running])
def test_an_action_is_done_once_or_not_at_all_wherever_the_process_is_killed(
    finish: Callable[[CrawlFolder], None], folder: CrawlFolder, tmp_path: Path
) -> None:
    asked: list[Action] = [Mark(PAGE, relevant=True), AddSeeds(("http://new.test/",)), Block("d.test")]

    def copied(name: str) -> CrawlFolder:
        return CrawlFolder(Path(shutil.copytree(folder.path, tmp_path / name)))

    def act(where: CrawlFolder) -> None:
        for action in asked:
            Inbox(where.inbox).leave(action, "anna")
        finish(where)

    act(whole := copied("whole"))
    calls = counted(lambda: act(copied("counted")))
    states = Counter[int]()
    for point in range(POINTS):
        where = copied(f"killed {point}")
        killed(lambda where=where: act(where), calls * point // (POINTS - 1))  # type: ignore[misc]
        left = len([file for file in where.path.glob("inbox/*") if file.suffix == ".json"])
        states[left] += 1
        finish(where)
        kept = done(where)
        assert kept == done(whole)[: len(kept)]
        with database(where) as db:
            assert len(list(marks_since(db))) == (len(kept) > 0)
            assert sum(event.kind == "steered" for event in events(db)) == len(kept)
        seeds = config.loads(where.settings() or "").crawl.seeds
        assert ("http://new.test/" in seeds) == (len(kept) > 1)
        assert not list(where.path.glob("inbox/*.json"))
        shutil.rmtree(where.path)
    assert states[0] and sum(states.values()) > states[0]


# A crawl that runs.


@dataclass
class Site:
    """Pages without end on two hosts of this machine, each of which links to more of both."""

    requests: list[tuple[str, str]] = field(default_factory=list)
    port: int = 0

    async def answer(self, request: web.Request) -> web.Response:
        self.requests.append((request.host, request.path))
        if request.path == "/robots.txt":
            return web.Response(status=404)
        number = int(request.path.strip("/") or 0)
        hosts = (self.host(1), self.host(2))
        links = [f"<a href='http://{host}/{number * 2 + more}'>x</a>" for more in (1, 2) for host in hosts]
        rng = random.Random(request.url.human_repr())
        words = " ".join("".join(rng.choices(ascii_lowercase, k=6)) for _ in range(60))
        return web.Response(text=f"<title>{number}</title>{words} {' '.join(links)}", content_type="text/html")

    def host(self, number: int) -> str:
        return f"127.0.0.{number}:{self.port}"

    def asked_of(self, number: int) -> int:
        return sum(host == self.host(number) for host, _ in self.requests)


@contextlib.asynccontextmanager
async def endless() -> AsyncIterator[Site]:
    site = Site()
    app = web.Application()
    app.router.add_get("/{path:.*}", site.answer)
    runner = web.AppRunner(app)
    await runner.setup()
    try:
        await web.TCPSite(runner, "0.0.0.0", 0).start()
        site.port = runner.addresses[0][1]
        yield site
    finally:
        await runner.cleanup()


class LiveCrawl:
    """One that is steered by a test, which waits for what it asked for to be done."""

    def __init__(self, folder: CrawlFolder, session: Session) -> None:
        self.folder, self.session = folder, session
        self.events: list[Event] = []
        self.running = asyncio.create_task(self._run())

    async def _run(self) -> None:
        async for batch in self.session.run():
            self.events += batch

    async def until(self, reached: Callable[[], object]) -> None:
        while not reached():
            assert not self.running.done(), self.session.ended()
            await asyncio.sleep(0.02)

    async def ask(self, *actions: Action) -> None:
        receipts = [submit(self.folder, action, "anna") for action in actions]
        assert all(receipt.done is None for receipt in receipts)
        waits_for = {receipt.id for receipt in receipts}
        await self.until(lambda: waits_for <= {event.id for event in self.events if isinstance(event, Steered)})

    async def more_pages(self, number: int) -> None:
        before = len(self.events)
        await self.until(lambda: sum(isinstance(event, Visited) for event in self.events[before:]) >= number)


async def steer_everything(path: Path, site: Site) -> list[Event]:
    crawling = Crawling(seeds=(f"http://{site.host(1)}/",), strategy="breadth-first", allow_private=True)
    asked = Config(Target(pattern="127"), crawling, politeness=Politeness(host_delay=0.01))
    with open_for_crawling(path) as folder:
        async with open_session(folder, asked) as session:
            folder.write_settings(config.dumps(asked))
            crawl = LiveCrawl(folder, session)
            await crawl.until(lambda: site.asked_of(2) > 3)
            await crawl.ask(Block(site.host(2)))
            await crawl.more_pages(10)
            blocked = site.asked_of(2)
            await crawl.more_pages(20)
            assert site.asked_of(2) == blocked
            await crawl.ask(Pause())
            await crawl.until(lambda: not session.driver.under_way)
            paused = len(site.requests)
            mark, seeds = Mark(f"http://{site.host(1)}/", False), AddSeeds((f"http://{site.host(1)}/999999",))
            await crawl.ask(mark, seeds, Budget(max_pages=100_000, max_minutes=600.0), SlowDown(site.host(1), 0.02))
            assert len(site.requests) == paused
            await crawl.ask(Unblock(site.host(2)), Unpause())
            await crawl.until(lambda: site.asked_of(2) > blocked + 3)
            submit(folder, Stop(), "anna")
            await crawl.running
            assert session.ended() == "anna stopped it"
            return crawl.events


@pytest.fixture(scope="module")
def steered_crawl(tmp_path_factory: pytest.TempPathFactory) -> tuple[CrawlFolder, list[Event], Site]:
    path = tmp_path_factory.mktemp("live") / "crawl"

    async def run() -> tuple[list[Event], Site]:
        async with endless() as site:
            return await asyncio.wait_for(steer_everything(path, site), 120), site

    return CrawlFolder(path), *asyncio.run(run())


Live = tuple[CrawlFolder, list[Event], Site]


def test_a_running_crawl_does_what_it_is_asked_for(steered_crawl: Live) -> None:
    folder, seen, site = steered_crawl
    asked = [event for event in seen if isinstance(event, Steered)]
    kinds = [Block, Pause, Mark, AddSeeds, Budget, SlowDown, Unblock, Unpause, Stop]
    assert [type(event.action) for event in asked] == kinds
    assert not any(event.refused for event in asked)
    assert not any(isinstance(event, Paused) for event in seen)
    with database(folder) as db:
        assert steered(db) == asked
        assert outcome(folder, asked[0].id) == asked[0]
    assert (site.host(1), "/999999") in site.requests


def test_what_holds_at_the_next_start_is_in_its_settings(steered_crawl: Live) -> None:
    folder, _, site = steered_crawl
    crawling = config.loads(folder.settings() or "").crawl
    assert (crawling.max_pages, crawling.max_minutes) == (100_000, 600.0)
    assert crawling.seeds == (f"http://{site.host(1)}/", f"http://{site.host(1)}/999999")


def test_a_crawl_that_was_steered_passes_its_check(steered_crawl: Live) -> None:
    folder, _, _ = steered_crawl
    assert not check(folder).damage
