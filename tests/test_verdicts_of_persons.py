"""What a person says of a page holds at once: in export, report, `why` and dashboard, and the strategy learns it."""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from spoor import settings as config
from spoor.actions import Mark
from spoor.cli.main import main
from spoor.frontier.sqlite import SqliteStore
from spoor.live.session import open_session
from spoor.steering.inbox import Inbox
from spoor.steering.submitting import submit
from spoor.store.crawl_folder import CrawlFolder, open_for_crawling
from spoor.store.journal import open_to_read
from spoor.store.marks import Marks
from spoor.store.verdicts import judges_verdict, verdict_that_holds, verdicts_on
from tests.html_site import html
from tests.served_dashboard import served_dashboard
from tests.thread_server import served_in_thread

HORSES = "Horses graze on the wide steppe, and riders follow the horses all day long. " * 5
ENGINES = "Engines need oil, and wheels need air, says the old mechanic in his garage. " * 5
PAGES = {
    "/": f"<title>Home</title><p>{HORSES}</p><a href='/engines'>engines</a> <a href='/horses'>horses</a>",
    "/horses": f"<title>Horses</title><p>More. {HORSES}</p>",
    "/engines": f"<title>Engines</title><p>{ENGINES}</p>",
}


async def _answer(request: web.BaseRequest) -> web.Response:
    body = PAGES.get(request.path)
    return web.Response(status=404) if body is None else html(body)


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with served_in_thread(_answer) as address:
        yield address


@pytest.fixture
def folder(address: str, tmp_path: Path) -> CrawlFolder:
    """A crawl for horses that has ended: two of three pages are relevant."""
    words = ("--keywords", "horses", "--seed", f"{address}/", "--allow-private", "--host-delay", "0")
    assert main(["crawl", *words, "--strategy", "breadth-first", "--out", str(tmp_path / "crawl")]) == 0
    return CrawlFolder(tmp_path / "crawl")


def said(capsys: pytest.CaptureFixture[str], *words: object) -> Any:
    """The JSON that a command prints."""
    capsys.readouterr()
    assert main([*map(str, words), "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def exported(folder: CrawlFolder, *words: str) -> dict[str, dict[str, Any]]:
    out = folder.path.parent / "texts.jsonl"
    assert main(["export", str(folder.path), "--format", "jsonl", "--out", str(out), *words]) == 0
    return {(line := json.loads(text))["url"].rpartition("/")[2]: line for text in out.read_text().splitlines()}


def test_a_page_that_a_person_refused_is_not_relevant_anywhere(
    folder: CrawlFolder, address: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert sorted(exported(folder)) == ["", "horses"]
    said(capsys, "mark", folder.path, f"{address}/horses", "not-relevant", "--who", "anna")
    said(capsys, "mark", folder.path, f"{address}/engines", "relevant", "--who", "anna")

    texts = exported(folder)
    assert sorted(texts) == ["", "engines"]
    refused = exported(folder, "--all")["horses"]
    judged = ("relevant", "confirmed_by", "judge_relevant")
    assert [texts["engines"][name] for name in judged] == [True, "person", False]
    assert [refused[name] for name in judged] == [False, "person", True]
    assert refused["because"] == "not relevant, says anna" and refused["judge_relevance"] > 0.0

    assert said(capsys, "report", folder.path)["relevant"] == 2
    lines = [line["what"] for line in said(capsys, "why", folder.path, f"{address}/horses")["lines"]]
    assert any("not relevant, 0.00 because not relevant, says anna" in line for line in lines)
    assert any("by the judge: relevant" in line for line in lines)


def test_the_verdict_of_the_judge_holds_again_when_a_mark_is_taken_back(folder: CrawlFolder, address: str) -> None:
    url = f"{address}/horses"
    with contextlib.closing(open_to_read(folder.database)) as db:
        judged = verdict_that_holds(db, url)
        submit(folder, Mark(url, False), "anna")
        assert judges_verdict(db, url) == judged != verdict_that_holds(db, url)
        submit(folder, Mark(url, None), "anna")
        assert verdict_that_holds(db, url) == judged
        assert [given.who for given in verdicts_on(db, url)] == ["", "anna", ""]
    assert exported(folder)["horses"]["confirmed_by"] == ""


def test_the_dashboard_counts_what_a_person_says_though_it_has_counted_the_page(
    folder: CrawlFolder, address: str
) -> None:
    with served_dashboard(folder) as dashboard:
        dashboard.until_searchable()
        assert dashboard.read("crawls/1")["relevant"] == 2
        mark = {"action": "mark", "url": f"{address}/horses", "relevant": False}
        assert dashboard.act(1, mark).json["done"]
        until = time.monotonic() + 60
        while dashboard.read("crawls/1")["relevant"] != 1:
            assert time.monotonic() < until
            time.sleep(0.05)
        assert [page["url"] for page in dashboard.read("crawls/1/pages?verdict=relevant")["items"]] == [f"{address}/"]


def test_a_running_crawl_learns_at_once_what_a_person_says(address: str, tmp_path: Path) -> None:
    """The share of relevant pages that led to a link follows from the verdict that holds."""
    text = f'[target]\nkeywords = ["horses"]\n[crawl]\nstrategy = "learned"\nseeds = ["{address}/"]\n'
    settings = config.loads(f"{text}allow_private = true\nmax_pages = 1\n[politeness]\nhost_delay = 0.0\n", tmp_path)

    async def crawl(folder: CrawlFolder) -> tuple[float, float]:
        async with open_session(folder, settings) as session:
            async for _ in session.run():
                pass
            link = session.crawl.frontier.find([f"{address}/engines"])[0]
            assert link is not None
            before = link.evidence["relevance"]
            Inbox(folder.inbox).leave(Mark(f"{address}/", False), "anna")
            session.actions.apply_actions()
            link = session.crawl.frontier.find([f"{address}/engines"])[0]
            assert link is not None
            return before, link.evidence["relevance"]

    with open_for_crawling(tmp_path / "crawl") as folder:
        folder.write_settings(config.dumps(settings))
        before, after = asyncio.run(crawl(folder))
    assert before > after == 0.0


def test_what_a_program_answers_waits_for_the_lesson(folder: CrawlFolder, address: str) -> None:
    with contextlib.closing(SqliteStore(folder.database)) as store:
        marks = Marks.create(store.connection)
        store.write_along(marks.write)
        marks.add(f"{address}/horses", False, "model:small", 1.0)
        store.commit(store.counters())
    assert exported(folder)["horses"]["confirmed_by"] == ""
