"""`[store] keep = "relevant"`: what is not relevant leaves a metadata record, and everything else is as before."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from pathlib import Path

import pytest
from warcio.archiveiterator import ArchiveIterator

import spoor
from spoor.cli.main import main
from spoor.events import Event
from spoor.lab.generate import generate
from spoor.lab.generate.chance import Request
from spoor.lab.web import Web
from spoor.live.session import open_session
from spoor.settings import Config, Crawling, Politeness, StoreSettings, Target
from spoor.store.crawl_folder import open_for_crawling
from tests.served import served

PAGES = 150


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory) -> Web:
    folder = tmp_path_factory.mktemp("webs") / "thai"
    generate(Request("thai", 400, 21, text=True), folder, lambda pages: None)
    return Web.open(folder)


def crawl(web: Web, folder: Path, keep: str, most: int = PAGES) -> list[Event]:
    seeds = tuple((web.folder / "seeds.txt").read_text().split())
    crawling = Crawling(seeds=seeds, connections=1, strategy="learned", max_pages=most)
    asked = Config(
        Target(charset="th"), crawling, politeness=Politeness(host_delay=0.0), store=StoreSettings(keep=keep)
    )

    async def run() -> list[Event]:
        events: list[Event] = []
        async with served(web) as proxy:
            with open_for_crawling(folder) as opened:
                settings = replace(asked, crawl=replace(asked.crawl, proxy=proxy))
                async with open_session(opened, settings) as session:
                    opened.write_settings(spoor.settings.dumps(settings))
                    async for batch in session.run():
                        events += batch
        return events

    return asyncio.run(run())


@pytest.fixture(scope="module")
def both(web: Web, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The same crawl, once with everything kept, and once with relevant pages alone, stopped and resumed on the way."""
    every, some = tmp_path_factory.mktemp("all") / "crawl", tmp_path_factory.mktemp("some") / "crawl"
    crawl(web, every, "all")
    crawl(web, some, "relevant", PAGES // 2)
    crawl(web, some, "relevant")
    return every, some


def records(folder: Path, kind: str) -> list[tuple[str, bytes]]:
    found = []
    for file in sorted((folder / "warc").glob("*.warc.gz")):
        with file.open("rb") as stream:
            for record in ArchiveIterator(stream):
                if record.rec_type == kind:
                    found.append((record.rec_headers["WARC-Target-URI"], record.raw_stream.read()))
    return found


def verdicts(folder: Path) -> list[tuple[str, bool, str]]:
    return [(page.url, page.relevant, page.reason) for page in spoor.open_crawl(folder).verdicts()]


def test_the_same_pages_are_visited_in_the_same_order_with_the_same_verdicts(both: tuple[Path, Path]) -> None:
    every, some = map(verdicts, both)
    assert every == some and len(some) == PAGES
    assert 0 < sum(relevant for _, relevant, _ in some) < PAGES


def test_relevant_pages_alone_are_in_the_archive(both: tuple[Path, Path]) -> None:
    every, some = both
    relevant = sorted(url for url, relevant, _ in verdicts(some) if relevant)
    kept = [url for kind in ("response", "revisit") for url, _ in records(some, kind)]
    assert sorted(kept) == relevant
    assert len(records(every, "response")) > len(kept)


def test_every_other_page_leaves_its_status_its_digest_its_verdict_and_the_reason(both: tuple[Path, Path]) -> None:
    _, some = both
    said = dict(records(some, "metadata"))
    others = [(url, because) for url, relevant, because in verdicts(some) if not relevant]
    for url, because in others:
        note = said[url].decode()
        assert note.startswith("not-kept: sha1:")
        assert "status: 200\r\n" in note and "verdict: not relevant\r\n" in note and because in note


def test_bytes_on_disk_fall_with_the_share_of_pages_that_are_kept(both: tuple[Path, Path]) -> None:
    """Each page that is not kept saves the bytes of its request and response."""
    sizes = [sum(file.stat().st_size for file in (folder / "warc").glob("*.warc.gz")) for folder in both]
    share = sum(relevant for _, relevant, _ in verdicts(both[1])) / PAGES
    assert sizes[1] < (share + 0.35) * sizes[0]


def test_report_export_and_built_web_say_what_was_not_kept(
    both: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _, some = both
    left = sum(not relevant for _, relevant, _ in verdicts(some))
    assert main(["report", str(some)]) == 0
    assert f"{left:,} not stored" in capsys.readouterr().out
    assert f"; {left:,} were not stored" in (some / "report.html").read_text()
    alone = ("--workers", "1")
    assert main(["export", str(some), "--all", "--format", "jsonl", "--out", str(tmp_path / "all.jsonl"), *alone]) == 0
    assert f"{left:,} not kept" in capsys.readouterr().out
    words = ["--format", "jsonl", "--out", str(tmp_path / "some.jsonl"), "--json", *alone]
    assert main(["export", str(some), *words]) == 0
    said = json.loads(capsys.readouterr().out)
    assert (said["exported"], said["not_kept"], said["not_in_the_archive"]) == (PAGES - left, 0, 0)
    assert main(["web", "build", str(some), "--out", str(tmp_path / "web"), "--json", *alone]) == 0
    assert json.loads(capsys.readouterr().out)["not_kept"] >= left


def test_the_folder_is_whole_and_why_answers(both: tuple[Path, Path], capsys: pytest.CaptureFixture[str]) -> None:
    _, some = both
    assert main(["check", str(some)]) == 0
    capsys.readouterr()
    for wanted in (True, False):
        url = next(url for url, relevant, _ in verdicts(some)[20:] if relevant == wanted)
        assert main(["why", str(some), url]) == 0
        assert url in (said := capsys.readouterr().out) and "log odds" in said


def test_a_warm_start_learns_from_it(both: tuple[Path, Path], web: Web, tmp_path: Path) -> None:
    """Learning takes what the database has of links and verdicts, not the archive."""
    visits = []
    for folder in both:
        seeds = tuple((web.folder / "seeds.txt").read_text().split())
        asked = Config(
            Target(charset="th"),
            Crawling(seeds=seeds, connections=1, max_pages=30, warm=str(folder.resolve())),
            politeness=Politeness(host_delay=0.0),
        )

        async def run(asked: Config = asked, out: Path = tmp_path / folder.parent.name) -> list[str]:
            async with served(web) as proxy:
                with open_for_crawling(out) as opened:
                    settings = replace(asked, crawl=replace(asked.crawl, proxy=proxy))
                    async with open_session(opened, settings) as session:
                        return [e.visit.url async for batch in session.run() for e in batch if hasattr(e, "visit")]

        visits.append(asyncio.run(run()))
    assert visits[0] == visits[1] and len(visits[0]) >= 30


def test_a_payload_that_was_not_kept_is_kept_when_it_turns_out_relevant_elsewhere(tmp_path: Path) -> None:
    """Judges may look at the URL: the same bytes are not relevant here and relevant there."""
    (tmp_path / "log.csv").write_text(
        "url\nhttp://a.test/\nhttp://a.test/copy\nhttp://a.test/good\nhttp://a.test/good2\n"
    )
    (tmp_path / "links.csv").write_text(
        "source,target,anchor\n"
        + "".join(f"http://a.test/,http://a.test/{name},x\n" for name in ("copy", "good", "good2"))
    )
    sources = [str(tmp_path / "log.csv"), str(tmp_path / "links.csv")]
    assert main(["web", "build", *sources, "--out", str(tmp_path / "web"), "--workers", "1"]) == 0
    asked = Config(
        Target(pattern="good"),
        Crawling(seeds=("http://a.test/",), connections=1, strategy="breadth-first"),
        politeness=Politeness(host_delay=0.0),
        store=StoreSettings(keep="relevant"),
    )

    async def run() -> None:
        async with served(Web.open(tmp_path / "web")) as proxy:
            with open_for_crawling(tmp_path / "crawl") as opened:
                async with open_session(opened, replace(asked, crawl=replace(asked.crawl, proxy=proxy))) as session:
                    async for _ in session.run():
                        pass

    asyncio.run(run())
    assert [url for url, _ in records(tmp_path / "crawl", "response")] == ["http://a.test/good"]
    assert [url for url, _ in records(tmp_path / "crawl", "revisit")] == ["http://a.test/good2"]
    assert main(["check", str(tmp_path / "crawl")]) == 0
