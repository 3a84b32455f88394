"""A crawl that begins with what an earlier one learned, and which folders cannot be learned from."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from spoor.cli.main import main
from spoor.events import Event, Visited
from spoor.lab.generate import generate
from spoor.lab.generate.chance import Request
from spoor.lab.web import Web
from spoor.settings import Config, ScopeSettings, Target, dumps
from spoor.store.crawl_folder import CrawlFolder
from tests.test_live import crawl_live, rows, settings, visits
from tests.written_crawl import small_crawl

NOBODY = "http://127.0.0.1:9/"
"""Refused at once, as a private address."""


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory) -> Web:
    folder = tmp_path_factory.mktemp("webs") / "topical"
    generate(Request("topical", 1500, 7, text=True), folder, lambda pages: None)
    return Web.open(folder)


@pytest.fixture(scope="module")
def earlier(web: Web, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("crawls") / "earlier"
    asked = asked_for(web, max_pages=200)
    asyncio.run(crawl_live(web, folder, asked))
    CrawlFolder(folder).write_settings(dumps(asked))
    return folder


def found(events: list[Event]) -> int:
    return sum(isinstance(event, Visited) and event.verdict.relevant for event in events)


def asked_for(web: Web, warm: Path | None = None, **changed: object) -> Config:
    asked = settings(web, strategy="learned", warm=str(warm.resolve()) if warm else "", **changed)
    return replace(asked, target=Target(keywords=("telescope", "galaxy")))


def test_a_warm_crawl_finds_more_in_its_first_visits_than_a_cold_one(web: Web, earlier: Path, tmp_path: Path) -> None:
    cold = asyncio.run(crawl_live(web, tmp_path / "cold", asked_for(web, max_pages=100)))
    warm = asyncio.run(crawl_live(web, tmp_path / "warm", asked_for(web, earlier, max_pages=100)))
    assert len(visits(cold)) == len(visits(warm)) == 100
    assert found(warm) > 1.2 * found(cold)


def test_a_warm_crawl_that_is_gone_on_with_visits_what_it_would_have(web: Web, earlier: Path, tmp_path: Path) -> None:
    whole = asyncio.run(crawl_live(web, tmp_path / "whole", asked_for(web, earlier, max_pages=60)))
    first = asyncio.run(crawl_live(web, tmp_path / "crawl", asked_for(web, earlier, max_pages=25)))
    second = asyncio.run(crawl_live(web, tmp_path / "crawl", asked_for(web, earlier, max_pages=60)))
    assert visits(first + second) == visits(whole)


def test_the_earlier_crawl_stays_as_it_was(web: Web, earlier: Path, tmp_path: Path) -> None:
    before = {file.name: file.read_bytes() for file in earlier.iterdir() if file.is_file()}
    asyncio.run(crawl_live(web, tmp_path / "crawl", asked_for(web, earlier, max_pages=5)))
    assert {file.name: file.read_bytes() for file in earlier.iterdir() if file.is_file()} == before


def test_the_budget_of_a_host_is_that_of_the_new_crawl(web: Web, earlier: Path, tmp_path: Path) -> None:
    asked = replace(asked_for(web, earlier, max_pages=60), scope=ScopeSettings(pages_per_host=5))
    asyncio.run(crawl_live(web, tmp_path / "crawl", asked))
    assert max(count for (count,) in rows(tmp_path / "crawl", "SELECT count(*) FROM pages GROUP BY host")) in (4, 5)
    assert max(count for (count,) in rows(earlier, "SELECT count(*) FROM pages GROUP BY host")) > 5


def spoor(folder: Path, warm: Path, *words: str) -> int:
    return main(
        ["crawl", "--keywords", "telescope,galaxy", "--seed", NOBODY, "--out", str(folder), "--warm", str(warm), *words]
    )


def said(capsys: pytest.CaptureFixture[str]) -> str:
    (line,) = capsys.readouterr().err.strip().splitlines()
    return line


def test_a_folder_that_is_no_crawl_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert spoor(tmp_path / "new", tmp_path / "nowhere") == 1
    assert "nowhere to learn from; say with --warm where the earlier crawl is now" in said(capsys)
    assert spoor(tmp_path / "new", tmp_path) == 1
    assert "is not a crawl folder" in said(capsys)
    assert not (tmp_path / "new").exists()


def test_a_crawl_does_not_learn_from_itself(earlier: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert spoor(earlier, earlier) == 2
    assert "is this crawl itself" in said(capsys)


def test_hints_that_another_strategy_left_are_not_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = small_crawl(tmp_path / "other")
    other.write_settings((other.settings() or "").replace("[crawl]", '[crawl]\nstrategy = "soft-focused"'))
    assert spoor(tmp_path / "new", other.path) == 1
    assert "was crawled by soft-focused, which stored" in (line := said(capsys)) and "a crawl by learned" in line
    assert not (tmp_path / "new").exists()


def test_a_strategy_that_recalls_nothing_says_so(
    earlier: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert spoor(tmp_path / "new", earlier, "--strategy", "breadth-first") == 2
    assert "breadth-first learns nothing from an earlier crawl; leave out warm" in said(capsys)


def test_another_target_is_worth_a_warning(earlier: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    spoor(tmp_path / "same", earlier)
    assert "warning" not in capsys.readouterr().err
    spoor(tmp_path / "other", earlier, "--script", "thai")
    assert "earlier had another target (script); what was learned there may mislead" in capsys.readouterr().err
    assert f'warm = "{earlier.resolve()}"' in (tmp_path / "other" / "crawl.toml").read_text()
