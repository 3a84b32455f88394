"""`spoor ask`: a person answers at a terminal."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from spoor.cli.answering import Person, shown
from spoor.cli.main import main
from spoor.records import Failure, Question
from spoor.report.figures import figures
from spoor.settings import Target
from spoor.store.crawl_folder import CrawlFolder
from tests.html_site import events_of, site
from tests.test_active_learning import Crawled, is_relevant, pages, settings_for

QUESTION = Question("http://a.test/", "A title\x1b[2J", "Horses and\ncars, and HORSES.", ("horses",), 0.4)


@pytest.fixture
def untaught(tmp_path: Path) -> Crawled:
    """A crawl that has ended without an answer."""

    async def crawl() -> Crawled:
        async with site(pages()) as address:
            settings = settings_for(address, tmp_path, "[teacher]\nquestions = 30\n", max_pages=30)
            return Crawled(CrawlFolder(tmp_path / "crawl"), settings, await events_of(tmp_path / "crawl", settings))

    return asyncio.run(crawl())


@dataclass
class Keyboard:
    """Types a line whenever one is asked for."""

    lines: Iterator[str]

    def readline(self) -> str:
        return next(self.lines) + "\n"


def test_a_page_is_shown_with_the_deciding_words_marked_and_nothing_that_commands_a_terminal() -> None:
    text = shown(QUESTION, colours=False)
    assert "*Horses* and" in text and "*HORSES*" in text and "*cars*" not in text
    assert "http://a.test/" in text and "probability 0.40" in text
    assert "\x1b" not in text
    assert "\x1b[7mHorses\x1b[0m" in shown(QUESTION, colours=True)


def test_whatever_is_typed_is_understood_or_asked_again() -> None:
    said: list[str] = []
    keys = iter(["what", "u", "Y"])
    assert asyncio.run(Person(lambda _: next(keys), said.append).answer(QUESTION)) is True
    assert said[1:] == ["y yes, n no, s skip, u undo, q quit", "there is no answer to undo"]


def test_the_end_of_the_input_is_the_end_of_the_sitting() -> None:
    def ended(prompt: str) -> str:
        raise EOFError

    person = Person(ended, lambda line: None)
    assert isinstance(asyncio.run(person.answer(QUESTION)), Failure)
    assert person.spent


def test_answers_about_a_crawl_that_has_ended_are_learned_at_once(
    untaught: Crawled, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def answers() -> Iterator[str]:
        """By what is shown; the third is taken back, and one skipped."""
        path = ""
        for number in range(13):
            shown = [line for line in capsys.readouterr().out.splitlines() if line.startswith("http://")]
            path = "/" + shown[-1].split("/", 3)[3] if shown else path
            yield "u" if number == 3 else "s" if number == 7 else "y" if is_relevant(path) else "n"
        yield "q"

    monkeypatch.setattr("sys.stdin", Keyboard(answers()))
    assert main(["ask", str(untaught.folder.path)]) == 0
    assert "10 answers; the judge has learned from 10 answers, version 2: " in capsys.readouterr().out
    assert untaught.rows("SELECT version, answers FROM students") == [(1, 0), (2, 10)]
    marks = untaught.rows("SELECT url, relevant FROM marks WHERE id IN (SELECT max(id) FROM marks GROUP BY url)")
    assert sum(yes is not None for _, yes in marks) == 10
    verdicts = untaught.verdicts()
    answered = {"/" + url.split("/", 3)[3]: bool(yes) for url, yes in marks if yes is not None}
    assert {path: verdicts[path] for path in answered} == answered
    assert not figures(untaught.folder).going_on


def test_a_crawl_of_several_shards_cannot_be_taught(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "crawl.toml").write_text('[target]\nabout = "horses"\n[crawl]\nseeds = ["http://a.test/"]\n')
    assert main(["crawl", str(tmp_path / "crawl.toml"), "--out", str(tmp_path / "crawl"), "--shards", "2"]) == 2
    assert "--shards 2: [target] about makes a judge that learns from answers" in capsys.readouterr().err
    assert not (tmp_path / "crawl").exists()


def test_nothing_is_asked_about_a_judge_that_cannot_be_taught(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async def crawl() -> None:
        async with site({"/": "<p>horse"}) as address:
            settings = replace(settings_for(address, tmp_path), target=Target(keywords=("horse",)))
            await events_of(tmp_path / "crawl", settings)

    asyncio.run(crawl())
    assert main(["ask", str(tmp_path / "crawl")]) == 2
    assert "cannot be taught; crawl with [target] like or about" in capsys.readouterr().err
