"""A live crawl whose judge begins from example pages and is taught while it crawls."""

from __future__ import annotations

import asyncio
import json
import shutil
import signal
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from spoor import settings as config
from spoor.errors import BadInput
from spoor.events import Event, Taught, Visited
from spoor.live.running import Session
from spoor.live.session import open_session
from spoor.settings import Config
from spoor.store.crawl_folder import CrawlFolder, open_for_crawling
from spoor.store.journal import open_to_read
from spoor.store.snapshots import named_parts
from tests import killed_lessons
from tests.chat_server import chatting
from tests.forked import forked
from tests.html_site import answering, events_of, html, site
from tests.killed_lessons import in_step

HORSES = ["horse", "rider", "saddle", "steppe", "hoof", "mane", "gallop", "stable", "herd", "reins"]
CARS = ["engine", "wheel", "garage", "motor", "brake", "tyre", "petrol", "driver", "clutch", "road"]
MARES = ["mare", "foal", "milk", "herder", "tent", "summer", "pasture", "ferment", "leather", "churn"]
"""Relevant too, but the example does not say so."""
PAGES = 48
SNAPSHOTS = CrawlFolder(Path()).snapshots.folder.name


def topic(number: int) -> list[str]:
    return (HORSES, CARS, MARES, CARS)[number % 4]


def text(number: int) -> str:
    words = topic(number)
    said = [words[(number * 7 + k * k) % len(words)] for k in range(60)]
    return " ".join(said) + f" page{number}"


def is_relevant(path: str) -> bool:
    number = path.removeprefix("/p")
    return number.isdecimal() and topic(int(number)) is not CARS


def pages() -> dict[str, str]:
    """A page links to the next five."""
    made = {}
    for number in range(PAGES):
        targets = range(number + 1, min(PAGES, number + 6))
        links = "".join(f" <p><a href='/p{target}'>{topic(target)[0]} {target}</a></p>" for target in targets)
        made[f"/p{number}"] = f"<title>{topic(number)[0]} {number}</title><p>{text(number)}</p>{links}"
    return made


def settings_for(address: str, folder: Path, more: str = "", **crawl: Any) -> Config:
    asked = f"""[target]
like = ["{address}/p0"]
about = "horses and riders on the steppe"
[crawl]
allow_private = true
[politeness]
host_delay = 0
{more}"""
    made = config.loads(asked, folder)
    return replace(made, crawl=replace(made.crawl, connections=1, **crawl))


def answers_file(address: str, folder: Path) -> str:
    lines = [f"{address}{path},{'yes' if is_relevant(path) else 'no'}" for path in pages()]
    (folder / "answers.csv").write_text("\n".join(["url,answer", *lines]))
    return '[teacher]\nanswers = "answers.csv"\nquestions = 20\n'


async def taught_in(folder: Path, settings: Config) -> list[Event]:
    with open_for_crawling(folder) as opened:
        opened.write_settings(config.dumps(settings))
        async with open_session(opened, settings) as session:
            return [event async for events in in_step(session) for event in events]


@dataclass
class Crawled:
    folder: CrawlFolder
    settings: Config
    events: list[Event]

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        with closing(open_to_read(self.folder.database)) as db:
            return db.execute(query).fetchall()

    def verdicts(self) -> dict[str, bool]:
        return {"/" + url.split("/", 3)[3]: bool(yes) for url, yes in self.rows("SELECT url, relevant FROM pages")}


@pytest.fixture(scope="module", params=[0, 2], ids=["alone", "with workers"])
def taught(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Crawled:
    folder = tmp_path_factory.mktemp("taught")

    async def crawl() -> Crawled:
        async with site(pages()) as address:
            answers = answers_file(address, folder)
            settings = settings_for(address, folder, answers, max_pages=60, workers=request.param)
            return Crawled(CrawlFolder(folder / "crawl"), settings, await taught_in(folder / "crawl", settings))

    return asyncio.run(crawl())


def test_a_crawl_begins_from_an_example_that_it_fetches_and_keeps(taught: Crawled) -> None:
    (kept,) = json.loads(taught.folder.examples.read_text()).values()
    assert kept[0] == "horse 0" and "page0" in kept[1]
    assert taught.settings.crawl.seeds == taught.settings.target.like
    assert len([event for event in taught.events if isinstance(event, Visited)]) == PAGES


def test_answers_are_marks_within_the_budget_and_make_versions(taught: Crawled) -> None:
    ((answers,),) = taught.rows("SELECT count(*) FROM marks WHERE who = 'file'")
    assert 10 <= answers <= 20  # Half of them at least; then no more, once the judge does not change.
    of_example = "SELECT count(*) FROM marks WHERE url LIKE '%/p0'"
    assert taught.rows(of_example) == [(0,)], "nobody is asked about an example"
    lessons = [event for event in taught.events if isinstance(event, Taught)]
    assert [event.version for event in lessons] == list(range(1, len(lessons) + 1))
    assert lessons[-1].answers == answers
    assert taught.rows("SELECT max(version), max(answers) FROM students") == [(len(lessons), answers)]
    assert taught.rows("SELECT count(*) FROM events WHERE kind = 'taught'") == [(len(lessons),)]


def test_earlier_verdicts_are_revised_and_right_in_the_end(taught: Crawled) -> None:
    first = {event.visit.url: event.verdict.relevant for event in taught.events if isinstance(event, Visited)}
    begun = {"/" + url.split("/", 3)[3]: yes for url, yes in first.items()}
    wrong_then = sum(yes != is_relevant(path) for path, yes in begun.items())
    wrong_now = sum(yes != is_relevant(path) for path, yes in taught.verdicts().items())
    assert wrong_now < wrong_then
    assert wrong_now <= 2
    ((revised,),) = taught.rows("SELECT count(*) FROM judged WHERE revised > 0 AND version > 0")
    assert revised > 0


def test_a_page_with_an_answer_has_the_verdict_of_the_answer(taught: Crawled) -> None:
    rows = taught.rows("SELECT marks.relevant, pages.relevant, because FROM marks JOIN pages USING (url)")
    assert len(rows) >= 10
    assert all(said == thought and because.endswith("says file") for said, thought, because in rows)


def state_of(session: Session) -> dict[str, Any]:
    assert session.learning is not None
    student = session.learning.judge.student
    parts = {name: repr(part.state()) for name, part in named_parts(session.crawl.strategy.learners()).items()}
    state = "CASE state WHEN 3 THEN 0 ELSE state END"  # What is in transit waits again.
    links = session.learning.db.execute(f"SELECT url, {state}, key1, evidence FROM links ORDER BY url")
    return {
        "version": student.version,
        "answers": {url: one.answer for url, one in student.answers.items()},
        "weights": student.model.weights.tobytes(),
        "links": links.fetchall(),
        "parts": {name: state for name, state in parts.items() if "traps" not in name.lower()},
    }


def test_a_crawl_that_is_killed_knows_what_it_knew(tmp_path: Path) -> None:
    """The folder as it is on disk in the middle of the crawl, without its snapshots, is opened by another process."""

    async def crawl() -> tuple[dict[str, Any], dict[str, Any]]:
        async with site(pages()) as address:
            settings = settings_for(address, tmp_path, answers_file(address, tmp_path), max_pages=40)
            with open_for_crawling(tmp_path / "crawl") as folder:
                folder.write_settings(config.dumps(settings))
                async with open_session(folder, settings) as session:
                    before = await interrupted(session, folder)
            (tmp_path / "killed" / "lock").unlink(missing_ok=True)
            with open_for_crawling(tmp_path / "killed") as folder:
                async with open_session(folder, settings) as session:
                    return before, state_of(session)

    async def interrupted(session: Session, folder: CrawlFolder) -> dict[str, Any]:
        """After two lessons and some more pages."""
        more, before = 6, None
        async for _ in in_step(session):
            assert session.learning is not None
            more -= session.learning.judge.student.version >= 2
            if not more:
                shutil.copytree(folder.path, tmp_path / "killed", ignore=shutil.ignore_patterns(SNAPSHOTS))
                before = state_of(session)
        assert before is not None
        return before

    before, after = asyncio.run(crawl())
    assert before["version"] >= 2
    assert after == before


def outcome(folder: Path) -> dict[str, list[tuple[Any, ...]]]:
    """Where a crawl stands in the end; without times, and without numbers of journal rows."""
    crawled = Crawled(CrawlFolder(folder), Config(), [])
    return {
        "verdicts": crawled.rows("SELECT url, relevant, relevance, because FROM pages ORDER BY id"),
        "answers": crawled.rows("SELECT url, relevant, who FROM marks ORDER BY id"),
        "lessons": crawled.rows(
            "SELECT version, marks, changed, shift FROM students JOIN student_shifts USING (version)"
        ),
        "links": crawled.rows("SELECT url, state, key1, evidence FROM links ORDER BY url"),
        "judged": crawled.rows("SELECT url, version, probability FROM judged ORDER BY id"),
    }


def test_a_crawl_killed_in_and_after_a_lesson_ends_as_one_that_was_not(tmp_path: Path) -> None:
    async def crawl() -> None:
        async with site(pages()) as address:
            settings = settings_for(address, tmp_path, answers_file(address, tmp_path), max_pages=60)
            await taught_in(tmp_path / "whole", settings)
            for version, when in ((2, "during"), (4, "after")):
                with open_for_crawling(tmp_path / "killed") as folder:
                    folder.write_settings(config.dumps(settings))
                process = forked(killed_lessons.main, str(tmp_path / "killed"), str(version), when)
                assert await asyncio.to_thread(process.wait) == -signal.SIGKILL
                done = Crawled(CrawlFolder(tmp_path / "killed"), settings, [])
                assert done.rows("SELECT max(version) FROM students") == [(version - (when == "during"),)]
            await taught_in(tmp_path / "killed", settings)

    asyncio.run(crawl())
    assert outcome(tmp_path / "killed") == outcome(tmp_path / "whole")


def test_a_model_is_asked_within_its_budget_over_every_resume(tmp_path: Path) -> None:
    with chatting(lambda _, page: json.dumps({"relevant": "engine" not in page.split("\n")[2]})) as server:

        async def twice() -> list[int]:
            async with site(pages()) as address:
                asked = f'[teacher]\nurl = "{server.url}"\nmodel = "tiny"\nquestions = 30\nmax_calls = 9\n'
                settings, counts = settings_for(address, tmp_path, asked, max_pages=20), []
                for most in (20, 40):
                    further = replace(settings, crawl=replace(settings.crawl, max_pages=most))
                    await taught_in(tmp_path / "crawl", further)
                    counts.append(len(server.asked))
                return counts

        before, after = asyncio.run(twice())
    assert 0 < before <= after <= 9
    crawled = Crawled(CrawlFolder(tmp_path / "crawl"), Config(), [])
    assert crawled.rows("SELECT count(*), sum(answered) FROM model_calls") == [(after, after)]
    assert crawled.rows("SELECT DISTINCT who FROM marks") == [("model:tiny",)]


def test_a_server_that_is_down_costs_no_page(tmp_path: Path) -> None:
    async def crawl() -> list[Event]:
        async with site(pages()) as address:
            asked = '[teacher]\nurl = "http://127.0.0.1:9"\nmodel = "tiny"\nquestions = 30\n'
            return await events_of(tmp_path / "crawl", settings_for(address, tmp_path, asked, max_pages=20))

    events = asyncio.run(crawl())
    assert len([event for event in events if isinstance(event, Visited)]) == 20
    assert not any(isinstance(event, Taught) for event in events)


def test_a_student_among_other_judges_is_taught_and_the_others_still_count(tmp_path: Path) -> None:
    """A pattern of addresses; the student may not overrule it."""

    async def crawl() -> Crawled:
        async with site(pages()) as address:
            settings = settings_for(address, tmp_path, answers_file(address, tmp_path), max_pages=60)
            target = replace(settings.target, pattern=r"/p\d*[0-4]$")
            both = replace(settings, target=target)
            return Crawled(CrawlFolder(tmp_path / "crawl"), both, await taught_in(tmp_path / "crawl", both))

    crawled = asyncio.run(crawl())
    assert crawled.rows("SELECT count(*) FROM students") != [(0,)]
    assert not any(yes for path, yes in crawled.verdicts().items() if path[-1] > "4")
    assert crawled.rows("SELECT count(*) FROM marks JOIN judged USING (url) WHERE NOT decides") == [(0,)]


@pytest.mark.parametrize(
    ("robots", "status", "reason"),
    [("", 404, "HTTP 404"), ("User-agent: *\nDisallow: /p0", 200, "robots.txt")],
)
def test_an_example_that_cannot_be_fetched_is_named(robots: str, status: int, reason: str, tmp_path: Path) -> None:
    def answer(request: web.BaseRequest) -> web.Response:
        if request.path == "/robots.txt":
            return web.Response(text=robots)
        return html("<p>horse") if status == 200 else web.Response(status=status)

    async def crawl() -> None:
        async with answering(answer) as address:
            await events_of(tmp_path / "crawl", settings_for(address, tmp_path))

    with pytest.raises(BadInput, match=r"\[target\] like: http://127.*/p0 cannot be fetched: ") as refused:
        asyncio.run(crawl())
    assert reason in str(refused.value)


def test_an_example_that_moved_is_followed_and_fetched_once(tmp_path: Path) -> None:
    asked: list[str] = []

    def answer(request: web.BaseRequest) -> web.Response:
        asked.append(request.path)
        if request.path == "/p0":
            return web.Response(status=301, headers={"Location": "/new"})
        return html("<title>Horses</title><p>horse rider</p>") if request.path == "/new" else web.Response(status=404)

    async def crawl() -> None:
        async with answering(answer) as address:
            for _ in range(2):
                await events_of(tmp_path / "crawl", settings_for(address, tmp_path, max_pages=1))

    asyncio.run(crawl())
    assert [path for path in asked if path != "/robots.txt"] == ["/p0", "/new", "/p0"]
