"""A live crawl through pages in another language, translated by a server: nothing waits that need not."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from spoor import crawl
from spoor import settings as config
from spoor.cli.main import main
from spoor.live.downloader import LiveDownloader, PageFetcher
from spoor.live.from_settings import fetcher_for, strategy_of
from spoor.live.page_reader import Reader
from spoor.live.session import open_session
from spoor.records import Judged, Visit
from spoor.report.figures import figures
from spoor.settings import Config, Crawling
from spoor.store.crawl_folder import CrawlFolder, open_for_crawling
from tests.html_site import crawled, events_of, judged, site
from tests.thread_server import in_thread
from tests.translation_server import translating
from tests.warcs import response

WORDS = {"मशीन": "machine", "लर्निंग": "learning", "खेल": "sports", "विभाग": "department"}
PAGES = {
    "/": "<p>मशीन लर्निंग <a href='/one'>विभाग</a></p>" + "<p>खेल</p>" * 99 + "<p><a href='/two'>खेल</a></p>",
    "/one": "<h1>मशीन लर्निंग</h1><p>मशीन लर्निंग विभाग मशीन लर्निंग</p>",
    "/two": "<p>खेल</p>",
}
ML_CORE = """[target]
ontology = "topic.csv"
[translate]
endpoint = "{}"
answer_seconds = {}
[crawl]
strategy = "ml-core:min_ont=0.5:min_rules=9"
workers = {}
"""


@pytest.fixture(autouse=True)
def topic(tmp_path: Path) -> None:
    (tmp_path / "topic.csv").write_text("term,importance\nmachine learning,1\n")


@pytest.mark.parametrize("workers", [0, 1])
def test_pages_and_links_are_read_as_if_they_were_translated(workers: int, tmp_path: Path) -> None:
    with translating(WORDS) as server:
        asked = ML_CORE.format(server.url, 5.0, workers)
        verdicts = asyncio.run(crawled(PAGES, tmp_path / "crawl", asked))
    assert verdicts == {"/": False, "/one": True}
    assert {text for text in server.texts if "मशीन" in text} >= {"मशीन लर्निंग", "मशीन लर्निंग विभाग मशीन लर्निंग"}
    assert config.load(tmp_path / "crawl" / "crawl.toml").translate.endpoint == server.url


def test_what_was_translated_before_a_stop_is_not_sent_again(tmp_path: Path) -> None:
    with translating(WORDS) as server:

        async def twice() -> tuple[set[str], dict[str, bool]]:
            async with site(PAGES) as address:
                asked = f'seeds = ["{address}/"]\nallow_private = true\nmax_pages = 1\n[politeness]\nrest = 0'
                settings = config.loads(ML_CORE.format(server.url, 5.0, 1) + asked, tmp_path)
                await events_of(tmp_path / "crawl", settings)
                before = set(server.texts)
                server.asked.clear()
                further = replace(settings, crawl=replace(settings.crawl, max_pages=9))
                return before, judged(await events_of(tmp_path / "crawl", further))

        before, verdicts = asyncio.run(twice())
        assert verdicts == {"/one": True}
        assert server.texts and before.isdisjoint(server.texts)


WAYS: dict[str, Callable[[Path, Path, int], object]] = {
    "command": lambda toml, folder, pages: main(["crawl", str(toml), "--out", str(folder), "--max-pages", str(pages)]),
    "API": lambda toml, folder, pages: list(crawl(folder, settings=toml, max_pages=pages)),
}


@pytest.mark.parametrize("way", WAYS)
def test_a_crawl_keeps_what_was_translated_and_reports_what_was_not(way: str, tmp_path: Path) -> None:
    """By the command and the API as the docs show them."""
    folder, toml = tmp_path / "crawl", tmp_path / "crawl.toml"
    with translating(WORDS) as server, in_thread(site(PAGES)) as address:
        asked = f'seeds = ["{address}/"]\nallow_private = true\n[politeness]\nhost_delay = 0\n'
        toml.write_text(ML_CORE.format(server.url, 5.0, 0) + asked)
        WAYS[way](toml, folder, 1)
        sent = set(server.texts)
        assert sent and (folder / "translations.db").exists()
        server.asked.clear()
        server.mood = "broken"
        assert main(["crawl", "--out", str(folder), "--max-pages", "9"]) == 0
        assert server.texts and sent.isdisjoint(server.texts)
    incidents = [incident.what for incident in figures(CrawlFolder(folder)).incidents]
    assert any(what.startswith("a text was used untranslated, because ") for what in incidents)


def test_a_server_that_is_down_costs_no_page_and_the_report_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ML_CORE.format("http://127.0.0.1:9", 0.3, 0)
    verdicts = asyncio.run(crawled(PAGES, tmp_path / "crawl", asked))
    assert verdicts == {"/": False}
    incidents = {incident.what: incident.times for incident in figures(CrawlFolder(tmp_path / "crawl")).incidents}
    (untranslated,) = (what for what in incidents if what.startswith("a text was used untranslated, because "))
    assert "the translator cannot be reached: " in untranslated and incidents[untranslated] > 2
    assert main(["report", str(tmp_path / "crawl")]) == 0
    assert "a text was used untranslated" in (tmp_path / "crawl" / "report.html").read_text()


def test_a_slow_server_does_not_hold_the_event_loop_up(tmp_path: Path) -> None:
    async def longest_step() -> float:
        loop, longest = asyncio.get_running_loop(), [0.0]

        async def tick() -> None:
            while True:
                before = loop.time()
                await asyncio.sleep(0.01)
                longest[0] = max(longest[0], loop.time() - before)

        async with site(PAGES) as address:
            asked = f'seeds = ["{address}/"]\nallow_private = true\n[politeness]\nrest = 0'
            settings = config.loads(ML_CORE.format(server.url, 2.5, 0) + asked, tmp_path)
            with open_for_crawling(tmp_path / "crawl") as opened:
                ticking = asyncio.create_task(tick())
                async with open_session(opened, settings) as session:
                    longest[0] = 0.0
                    events = [event async for batch in session.run() for event in batch]
                ticking.cancel()
        assert judged(events) == {"/": False}
        return longest[0]

    with translating(WORDS, "slow") as server:
        assert asyncio.run(longest_step()) < 1.0
        assert server.asked


def test_a_judge_that_cannot_be_sent_away_waits_in_a_thread(tmp_path: Path) -> None:
    with translating(WORDS) as server:
        settings = config.loads(ML_CORE.format(server.url, 5.0, 0) + 'seeds = ["http://a.test/"]', tmp_path)
        reader = Reader.of(strategy_of(settings))
        assert reader.waits
        assert asyncio.run(verdicts_of(reader)) == {"/": False, "/one": True, "/two": False}


async def verdicts_of(reader: Reader) -> dict[str, bool]:
    async with site(PAGES) as address, fetcher_for(Config(crawl=Crawling(allow_private=True))) as fetcher:
        downloader = LiveDownloader(PageFetcher(fetcher, reader))
        verdicts = {}
        for path in PAGES:
            outcome = await downloader.fetch(Visit(address + path, "127.0.0.1", 0, 0.0))
            assert isinstance(outcome, Judged)
            verdicts[path] = outcome.verdict.relevant
        return verdicts


def test_the_same_file_judges_a_recorded_web(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    records = [response(f"http://a.test{path}", body) for path, body in PAGES.items()]
    (tmp_path / "a.warc").write_bytes(b"".join(records))
    (tmp_path / "truth.tsv").write_text("url\tlabels\nhttp://a.test/one\trelevant\n")
    sources = [str(tmp_path / "a.warc"), "--truth", str(tmp_path / "truth.tsv"), "--workers", "1"]
    assert main(["web", "build", *sources, "--out", str(tmp_path / "web")]) == 0
    with translating(WORDS) as server:
        (tmp_path / "crawl.toml").write_text(ML_CORE.format(server.url, 5.0, 0))
        capsys.readouterr()
        toml = str(tmp_path / "crawl.toml")
        (tmp_path / "seeds.txt").write_text("http://a.test/\n")
        arguments = ["--judge", toml, "--target", "relevant", "--seeds", str(tmp_path / "seeds.txt")]
        named = ["--strategy", "ml-core:min_ont=0.5:min_rules=9", "--json"]
        assert main(["simulate", str(tmp_path / "web"), *arguments, *named]) == 0
        run = json.loads(capsys.readouterr().out)
        assert (run["visits"], run["found"]) == (2, 1)
        assert "मशीन लर्निंग विभाग मशीन लर्निंग" in server.texts


def test_a_dictionary_beside_the_settings_takes_the_place_of_a_server(tmp_path: Path) -> None:
    (tmp_path / "hindi.tsv").write_text("".join(f"{word}\t{meant}\n" for word, meant in WORDS.items()))
    asked = ML_CORE.format("", 5.0, 0).replace("[crawl]", 'dictionary = "hindi.tsv"\nfrom_language = "hi"\n[crawl]')
    verdicts = asyncio.run(crawled(PAGES, tmp_path / "crawl", asked))
    assert verdicts == {"/": False, "/one": True}
    ran = config.load(tmp_path / "crawl" / "crawl.toml")
    assert (ran.translate.dictionary, ran.translate.from_language) == (str(tmp_path / "hindi.tsv"), "hi")
    assert not Reader.of(strategy_of(ran)).waits


@pytest.mark.parametrize("asked", ['keywords = ["horse"]', 'judge = "script:thai"'])
def test_a_translator_that_nobody_would_ask_is_refused(
    asked: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    text = f'[target]\n{asked}\n[translate]\nendpoint = "http://127.0.0.1:9"\n[crawl]\nseeds = ["http://a.test/"]\n'
    (tmp_path / "crawl.toml").write_text(text)
    assert main(["crawl", str(tmp_path / "crawl.toml"), "--out", str(tmp_path / "out")]) == 2
    assert "[translate] needs a target with an ontology" in capsys.readouterr().err
