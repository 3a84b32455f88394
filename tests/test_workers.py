"""Worker processes: what they fetch, store and read is as if the crawl had done it itself, whatever they die of."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from spoor.cli.main import main
from spoor.errors import SpoorError, UsageError
from spoor.events import Event, Failed, Visited
from spoor.lab.generate import generate
from spoor.lab.generate.chance import Request
from spoor.lab.web import Web
from spoor.live.from_settings import NO_OBJECTS, Objects
from spoor.live.running import OWN_ERRORS
from spoor.live.session import open_session
from spoor.roles import Judge
from spoor.settings import GIVEN_IN_PYTHON, Config, Crawling, FetchSettings, Politeness, StoreSettings, Target, dumps
from spoor.store.crawl_folder import open_for_crawling, open_for_reading
from spoor.store.journal import open_to_read
from tests.deadly_crawl import DeadlyJudge
from tests.forked import forked_workers
from tests.html_site import judged, site
from tests.kept_responses import passes_warcio_check, records_of, warcs_in
from tests.served import served
from tests.test_live import Crawler, rows, visits

PAGES = 120
HUB = {
    "/": " ".join(f"<a href=/{name}>{name}</a>" for name in ("one", "copy", "deadly", "two", "three")),
    "/one": "<p>the same words",
    "/copy": "<p>the same words",
    "/two": "<p>two",
    "/three": "<p>three",
}


@pytest.fixture(autouse=True)
def quick() -> Iterator[None]:
    with forked_workers():
        yield


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory) -> Web:
    folder = tmp_path_factory.mktemp("webs") / "thai"
    generate(Request("thai", 400, 21, text=True), folder, lambda pages: None)
    return Web.open(folder)


async def events_of(folder: Path, asked: Config, objects: Objects = NO_OBJECTS) -> list[Event]:
    with open_for_crawling(folder) as opened:
        opened.write_settings(dumps(asked))
        async with open_session(opened, asked, objects=objects) as session:
            return [event async for batch in session.run() for event in batch]


def crawled(web: Web, folder: Path, workers: int, keep: str = "all") -> list[Event]:
    seeds = tuple((web.folder / "seeds.txt").read_text().split())

    async def run() -> list[Event]:
        async with served(web) as proxy:
            crawling = Crawling(seeds, strategy="learned", max_pages=PAGES, connections=1, workers=workers, proxy=proxy)
            polite, store = Politeness(host_delay=0.0), StoreSettings(keep=keep)
            return await events_of(folder, Config(Target(charset="th"), crawling, politeness=polite, store=store))

    return asyncio.run(run())


def crawled_hub(folder: Path, workers: int, judge: Judge | None = None, pages: dict[str, str] = HUB) -> list[Event]:
    async def run() -> list[Event]:
        async with site(pages) as address:
            crawling = Crawling((f"{address}/",), strategy="breadth-first", allow_private=True, workers=workers)
            target = Target(pattern=".") if judge is None else Target(judge=(GIVEN_IN_PYTHON,))
            polite, limits = Politeness(host_delay=0.01), FetchSettings(parse_seconds=1.5)
            return await events_of(
                folder, Config(target, crawling, politeness=polite, limits=limits), Objects(judge=judge)
            )

    return asyncio.run(run())


@pytest.mark.parametrize("keep", ["all", "relevant"])
def test_a_crawl_stores_the_same_of_every_page_with_workers_as_without(keep: str, web: Web, tmp_path: Path) -> None:
    facts = "SELECT url, relevant, language, digest, simhash, duplicate_of, warc_file != '' FROM pages ORDER BY id"
    alone, away = crawled(web, tmp_path / "alone", 0, keep), crawled(web, tmp_path / "away", 2, keep)
    assert visits(away) == visits(alone) and len(visits(alone)) == PAGES
    assert rows(tmp_path / "away", facts) == rows(tmp_path / "alone", facts)
    kinds = [
        sorted((record.kind, record.headers.get("WARC-Target-URI", "")) for record in records_of(*files))
        for files in (warcs_in(tmp_path / "away" / "warc"), warcs_in(tmp_path / "alone" / "warc"))
    ]
    assert [kind for kind in kinds[0] if kind[0] != "warcinfo"] == [kind for kind in kinds[1] if kind[0] != "warcinfo"]


def test_the_files_of_workers_are_complete_and_every_page_is_found_in_them(
    web: Web, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    crawled(web, tmp_path / "crawl", 2)
    files = warcs_in(tmp_path / "crawl" / "warc")
    assert {file.name[:8] for file in files} == {"spoor-w1", "spoor-w2", "spoor-00"}
    assert passes_warcio_check(*files)
    assert main(["check", str(tmp_path / "crawl")]) == 0
    words = ["--all", "--format", "jsonl", "--out", str(tmp_path / "pages.jsonl"), "--json", "--workers", "1"]
    capsys.readouterr()
    assert main(["export", str(tmp_path / "crawl"), *words]) == 0
    said = json.loads(capsys.readouterr().out)
    assert (said["exported"], said["not_in_the_archive"]) == (PAGES, 0)


def test_a_payload_is_stored_once_although_the_database_is_another_processes(tmp_path: Path) -> None:
    events = crawled_hub(tmp_path / "crawl", 1)
    assert set(judged(events)) == set(HUB)
    stored = records_of(*warcs_in(tmp_path / "crawl" / "warc"))
    (again,) = (record for record in stored if record.kind == "revisit")
    assert again.headers["WARC-Target-URI"].endswith(("/one", "/copy"))
    with_page = rows(tmp_path / "crawl", "SELECT url, duplicate_of FROM pages WHERE duplicate_of != ''")
    assert [url for url, _ in with_page] == [again.headers["WARC-Target-URI"]]


def test_a_worker_dies_of_one_page_and_the_crawl_goes_on(tmp_path: Path) -> None:
    events = crawled_hub(tmp_path / "crawl", 1, DeadlyJudge(), {**HUB, "/deadly": "<p>dies"})
    (failed,) = (event for event in events if isinstance(event, Failed))
    assert failed.visit.url.endswith("/deadly") and failed.reason == "the reader crashed: Killed"
    assert set(judged(events)) == set(HUB)
    assert main(["check", str(tmp_path / "crawl")]) == 0


def test_a_page_that_takes_too_long_is_given_up_by_a_worker_and_the_next_is_read(tmp_path: Path) -> None:
    crossed = "".join(f"<b id={n}><div>" for n in range(4_900)) + "</b>" * 5_000
    many = "<p>words" * 3_100
    pages = {**{path: HUB[path] for path in ("/", "/one")}, "/copy": crossed, "/two": crossed, "/three": many}
    events = crawled_hub(tmp_path / "crawl", 1, pages=pages)
    failed = [event for event in events if isinstance(event, Failed) and event.reason.startswith("reading")]
    assert {event.visit.url.rpartition("/")[2] for event in failed} == {"copy", "two"}
    assert {event.reason for event in failed} == {"reading took over 1.5 s"}
    assert set(judged(events)) == {"/", "/one", "/three"}


def test_when_a_worker_is_killed_its_visits_are_made_again(web: Web, tmp_path: Path) -> None:
    """Whatever it was doing: nothing is lost, nothing fails but by the page that it was reading."""
    seeds = tuple((web.folder / "seeds.txt").read_text().split())
    killed: list[object] = []

    async def run() -> list[Event]:
        events: list[Event] = []
        async with served(web) as proxy:
            crawling = Crawling(seeds, strategy="breadth-first", connections=8, workers=2, proxy=proxy)
            asked = Config(Target(charset="th"), crawling, politeness=Politeness(host_delay=0.0))
            with open_for_crawling(tmp_path / "crawl") as opened:
                async with open_session(opened, asked) as session:
                    workers = session.driver.downloader.workers.workers  # type: ignore[attr-defined]
                    async for batch in session.run():
                        events += batch
                        if len(visits(events)) // 60 > len(killed):
                            process = workers[len(killed) % 2]._process
                            os.kill(process._process.pid, signal.SIGKILL)
                            killed.append(process)
        return events

    events = asyncio.run(run())
    assert len(killed) >= 3
    failed = [event for event in events if isinstance(event, Failed) and event.again_at is None]
    assert all(event.reason == "the reader crashed: Killed" or event.reason.startswith("HTTP") for event in failed)
    assert sum(event.reason.startswith("the reader crashed") for event in failed) <= len(killed)
    visited = [event.visit.url for event in events if isinstance(event, Visited)]
    assert len(visited) == len(set(visited))
    (waiting,) = rows(tmp_path / "crawl", "SELECT count(*) FROM links WHERE state IN (0, 1, 3)")
    assert waiting == (0,)
    with contextlib.closing(open_to_read(open_for_reading(tmp_path / "crawl").database)) as db:
        assert db.execute("SELECT count(*) FROM pages WHERE status = 200").fetchone()[0] >= len(visited)


def test_a_crawl_with_workers_is_killed_and_resumed_without_loss(web: Web, tmp_path: Path) -> None:
    flags = ("--strategy", "breadth-first", "--rest", "0", "--connections", "8", "--workers", "2")
    with Crawler(web, tmp_path / "crawl", *flags) as crawler:
        for _ in range(3):
            crawler.kill_in_work(0.05)
        assert crawler.start().wait(timeout=120) == 0
    counts = dict(rows(tmp_path / "crawl", "SELECT url, count(*) FROM pages GROUP BY url"))
    assert set(counts.values()) == {1}
    assert main(["check", str(tmp_path / "crawl")]) == 0
    whole = crawled_whole(web, tmp_path / "whole")
    assert set(counts) == whole


def crawled_whole(web: Web, folder: Path) -> set[str]:
    seeds = tuple((web.folder / "seeds.txt").read_text().split())

    async def run() -> list[Event]:
        async with served(web) as proxy:
            crawling = Crawling(seeds, strategy="breadth-first", proxy=proxy)
            return await events_of(
                folder, Config(Target(charset="th"), crawling, politeness=Politeness(host_delay=0.0))
            )

    return {event.visit.url for event in asyncio.run(run()) if isinstance(event, Visited)}


def test_a_judge_that_cannot_be_sent_judges_here_although_there_should_be_workers(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    class Local(DeadlyJudge):
        pass

    events = crawled_hub(tmp_path / "crawl", 2, Local())
    assert set(judged(events)) == set(HUB)
    assert [line for line in caplog.messages if line.startswith("pages are read and judged in this process")]


def test_no_machine_is_filled_with_processes(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"workers = 100000: 256 at most"):
        crawled_hub(tmp_path / "crawl", 100_000)


def refuse() -> DeadlyJudge:
    raise ValueError("not here")


class Unloadable(DeadlyJudge):
    """Can be sent, but not be made in another process."""

    def __reduce__(self) -> tuple[object, ...]:
        return refuse, ()


def test_a_worker_that_cannot_begin_ends_the_crawl_with_its_reason(tmp_path: Path) -> None:
    with pytest.raises(SpoorError, match="the judge cannot be loaded in a worker process: ValueError: not here"):
        crawled_hub(tmp_path / "crawl", 1, Unloadable())


UNFIT = """
import aiohttp

def connect(*_):
    return object().max_size

aiohttp.TCPConnector.connect = connect
"""
"""A module by which every new process has another version of a library, which does not fit."""


def test_errors_of_ours_in_every_request_of_a_worker_end_the_crawl(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "modules").mkdir()
    (tmp_path / "modules" / "sitecustomize.py").write_text(UNFIT)
    monkeypatch.syspath_prepend(tmp_path / "modules")
    monkeypatch.setattr("spoor.pools.Popen", subprocess.Popen)  # a new interpreter, which reads that module
    (tmp_path / "seeds.txt").write_text("\n".join(f"http://127.0.96.{n}:1/" for n in range(1, OWN_ERRORS + 20)))
    words = ["--keywords", "a", "--strategy", "breadth-first", "--allow-private", "--workers", "1"]
    words += ["--seeds", str(tmp_path / "seeds.txt"), "--max-minutes", "0.5"]
    assert main(["crawl", *words, "--out", str(tmp_path / "crawl")]) == 1
    said = capsys.readouterr().err
    assert "an error of spoor, not of the web" in said
    assert f"{OWN_ERRORS} requests in a row failed by an error of spoor: AttributeError" in said
