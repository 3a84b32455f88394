"""`spoor report`: numbers that can be counted by hand, on a page that can be opened by anybody anywhere."""

from __future__ import annotations

import contextlib
import json
import re
import sqlite3
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

from spoor.cli import folders as command
from spoor.cli.main import parser
from spoor.errors import BadInput
from spoor.events import ClockSet, Held, Paused, Resumed, Taught, Troubled
from spoor.report.charts import line_chart, ticks
from spoor.report.figures import figures
from spoor.report.page import html_of, write_page
from spoor.report.showing import duration, moment, plain, size
from spoor.report.summary import Figures, Incident, Kind, Pace, Reason, Stop
from spoor.store.crawl_folder import CrawlFolder
from spoor.store.journal import Journal
from spoor.store.marks import Marks
from spoor.teaching.history import AnswerCount, TaughtSoFar
from tests.written_crawl import HOSTILE, SETTINGS, small_crawl


@pytest.fixture(scope="module")
def crawl(tmp_path_factory: pytest.TempPathFactory) -> CrawlFolder:
    return small_crawl(tmp_path_factory.mktemp("report") / "small")


@pytest.fixture(scope="module")
def told(crawl: CrawlFolder) -> Figures:
    return figures(crawl)


def test_totals_count_every_visit_once(told: Figures) -> None:
    totals = told.totals
    assert (totals.pages, totals.relevant, totals.redirects, totals.failures, totals.retries) == (5, 3, 2, 2, 2)
    assert totals.visits == 11 == told.links["visits"]
    assert (totals.hosts, totals.hosts_with_pages, totals.hosts_with_relevant) == (4, 2, 2)
    assert (totals.page_bytes, totals.median_size) == (1500, 300)
    assert (totals.duplicates, totals.near_duplicates) == (1, 0)
    assert totals.dropped == 2


def test_the_frontier_is_counted_by_state(told: Figures) -> None:
    states = {name: told.links[name] for name in ("waiting", "returning", "parked", "in_transit", "settled")}
    assert states == {"waiting": 0, "returning": 0, "parked": 1, "in_transit": 0, "settled": 10}


def test_the_curve_runs_over_all_visits(told: Figures) -> None:
    assert [visits for visits, _, _ in told.curve] == list(range(1, 12))
    assert told.curve[0] == (1, 1, 1) and told.curve[-1][:2] == (11, 3)
    assert [found for _, found, _ in told.curve] == sorted(found for _, found, _ in told.curve)


def test_pages_by_what_they_have_in_common(told: Figures) -> None:
    assert told.statuses == (Kind("200", 5, 3),)
    assert told.languages == (Kind("mn", 2, 2), Kind("en", 1, 0))
    assert told.labels == ()
    assert told.hosts == (Kind("a.test", 4, 2), Kind("b.test", 1, 1))


def test_whatever_was_not_done_has_its_reason(told: Figures) -> None:
    assert told.failures == (Reason("timed out", 1, 2), Reason("HTTP 404", 1, 0))
    assert told.redirects == (Reason("already visited", 1, 0), Reason("followed", 0, 1))
    assert told.refusals == (
        Reason("4 pages of a.test visited, the pages_per_host", 0, 1),
        Reason("outside scope: exclude '/private' matches", 1, 0),
        Reason("robots.txt disallows it", 1, 0),
    )


def test_the_slowest_hosts_come_first(told: Figures) -> None:
    assert told.slowest == (Pace("a.test", 2.0, 7), Pace("b.test", 0.5, 1), Pace("d.test", 0.0, 3))


def test_incidents_are_counted_with_the_longest_of_each(tmp_path: Path) -> None:
    folder = small_crawl(tmp_path / "eventful")
    assert figures(folder).incidents == ()
    with contextlib.closing(sqlite3.connect(folder.database)) as db, db:
        journal = Journal.create(db)
        journal.note(
            [
                Held(1.0, 0.3, 0.3, "", ""),
                Held(2.0, 0.7, 0.2, "", ""),
                Paused(3.0, 2.5, "no route"),
                Resumed(63.0, 60.5),
                Troubled(70.0, "http://a.test/1", "read: KeyError"),
                ClockSet(80.0, -3600.0),
            ]
        )
        journal.write(db)
    assert figures(folder).incidents == (
        Incident("the event loop was blocked", 2, 0.7),
        Incident("nothing answered, the crawl paused: no route", 1, None),
        Incident("something answered again, the crawl resumed", 1, 60.5),
        Incident("an error in spoor, a sample is in trouble/: read: KeyError", 1, None),
        Incident("the system clock was set", 1, 3600.0),
    )
    assert "Incidents" in html_of(figures(folder))


def test_lessons_of_a_judge_are_told_with_who_answered(tmp_path: Path) -> None:
    folder = small_crawl(tmp_path / "taught")
    assert figures(folder).taught == TaughtSoFar((), ())
    lessons = (Taught(5.0, 1, 2, 31, -3, 1, 0), Taught(9.0, 2, 4, 7, 2, 0, 1))
    with contextlib.closing(sqlite3.connect(folder.database)) as db, db:
        journal, marks = Journal.create(db), Marks.create(db)
        journal.note(lessons)
        said = ((1, True, "ann"), (1, False, "ann"), (2, True, "ann"), (1, True, "model:tiny"), (3, None, "model:tiny"))

        back = ((4, True, "ann"), (4, None, "ann"))
        for page, relevant, who in (*said, *back):
            marks.add(f"http://a.test/{page}", relevant, who, 1.0)
        journal.write(db)
        marks.write(db)
    told = figures(folder)
    assert told.taught == TaughtSoFar((AnswerCount("ann", 1, 1, 0), AnswerCount("model:tiny", 1, 0, 1)), lessons)
    html = html_of(told)
    assert "Lessons of the judge" in html and "Answers of teachers" in html
    assert '<td>7<span class="bar"><i style="width:23%">' in html


def test_every_stop_is_told(told: Figures) -> None:
    assert told.stops == (Stop(told.totals.ended, "nothing is waiting", 0.0),) and not told.going_on


def test_a_crawl_that_was_cut_off_says_so(told: Figures) -> None:
    assert "has not ended: it is running, or was killed" in html_of(replace(told, stops=(), going_on=True))


def test_a_crawl_that_has_just_begun_can_be_reported(tmp_path: Path) -> None:
    begun = figures(small_crawl(tmp_path / "begun", visits=0))
    assert begun.totals.visits == 0 and begun.curve == ()
    assert "0</b>" in html_of(begun)


def test_a_running_crawl_is_seen_as_of_its_last_commit(crawl: CrawlFolder, told: Figures) -> None:
    with sqlite3.connect(crawl.database, isolation_level=None) as writer:
        writer.execute("BEGIN IMMEDIATE")
        writer.execute("DELETE FROM pages")
        assert figures(crawl) == told
        writer.execute("ROLLBACK")
    writer.close()


class Read(HTMLParser):
    """What a browser would load, run or follow, and the text it would show."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.loaded: list[str] = []
        self.links: list[str] = []
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        for name, value in attrs:
            assert not name.startswith("on"), f"{tag} {name} would run something"
            if name in ("src", "srcset", "data", "poster", "action") or (name == "href" and tag != "a"):
                self.loaded.append(value or "")
            elif name == "href":
                self.links.append(value or "")

    def handle_data(self, data: str) -> None:
        self.text += data


def test_what_the_web_says_is_shown_and_never_obeyed(told: Figures) -> None:
    page = html_of(told)
    read = Read(page)
    assert HOSTILE in read.text and "<script" not in page and "script" not in read.tags
    assert 'http://a.test/"><img src=x onerror=alert(2)>' in read.text and "img" not in read.tags
    assert "\x1b" not in page and "\u202e" not in page


def test_a_folder_may_have_any_name(told: Figures) -> None:
    assert "b�d".encode() in html_of(replace(told, name="b\udce4d")).encode()


def test_only_links_to_the_web_are_links(told: Figures) -> None:
    evil = replace(told.finds[0], url="javascript:alert(3)")
    read = Read(html_of(replace(told, finds=(evil, *told.finds))))
    assert len(read.links) == len(told.finds) and all(link.startswith("http://") for link in read.links)


def test_the_page_needs_nothing_from_outside(told: Figures) -> None:
    page = html_of(told)
    assert Read(page).loaded == []
    assert not re.search(r"url\(|@import|<link|<iframe|<script", page)
    assert "default-src 'none'" in page


def test_the_page_is_whole_or_the_old_one_stays(told: Figures, tmp_path: Path) -> None:
    file = tmp_path / "report.html"
    write_page(told, file)
    assert file.read_text("utf8") == html_of(told) and [path.name for path in tmp_path.iterdir()] == ["report.html"]
    (tmp_path / "folder.html" / "full").mkdir(parents=True)
    with pytest.raises(BadInput, match=r"cannot write .*folder.html"):
        write_page(told, tmp_path / "folder.html")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["folder.html", "report.html"]
    with pytest.raises(BadInput, match=r"cannot write .*nowhere/report.html: No such file"):
        write_page(told, tmp_path / "nowhere" / "report.html")


def run(*words: object) -> int:
    return command.run_report(parser().parse_args(["report", *map(str, words)]))


def test_the_command_writes_into_the_folder(crawl: CrawlFolder, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(crawl.path) == 0
    first, second, third, last = capsys.readouterr().out.splitlines()
    assert first.startswith("small: 5 pages in 3.") and first.endswith("minutes, 3 relevant (60%) on 2 of 4 hosts")
    visits = "11 visits: 5 pages, 2 redirects, 2 failures, 2 to be tried again"
    assert second == f"{visits}; 1 duplicates, 0 links waiting, 1 parked, 2 dropped"
    assert (third, last) == ("ended because nothing is waiting", str(crawl.report))
    assert crawl.report.read_text().startswith("<!doctype html>")


def test_the_command_writes_elsewhere(crawl: CrawlFolder, tmp_path: Path) -> None:
    assert run(crawl.path, "--out", tmp_path / "deep" / "r.html") == 0 and (tmp_path / "deep" / "r.html").exists()


def test_the_command_refuses_in_one_line(crawl: CrawlFolder, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="is not a crawl folder"):
        run(tmp_path)
    with pytest.raises(BadInput, match="it is a folder"):
        run(crawl.path, "--out", tmp_path)


def test_a_folder_whose_tables_are_gone_is_refused(tmp_path: Path) -> None:
    crawl = small_crawl(tmp_path / "crawl")
    with sqlite3.connect(crawl.database) as db:
        db.execute("DROP TABLE counters")
    db.close()
    with pytest.raises(BadInput, match=r"cannot read .*crawl.db: no such table: counters"):
        figures(crawl)


def test_the_settings_of_the_small_crawl_are_real(crawl: CrawlFolder) -> None:
    assert crawl.settings() == SETTINGS


@pytest.mark.parametrize("highest", [1, 3, 7, 10, 99, 101, 2500, 1_234_567])
def test_ticks_are_few_and_round(highest: int) -> None:
    steps = ticks(highest)
    assert steps[0] == 0 and steps[-1] >= highest > steps[-2] and 2 <= len(steps) <= 6


def test_a_chart_of_nothing_is_still_a_chart() -> None:
    assert line_chart([], "nothing", "visits").startswith("<svg") and "NaN" not in line_chart([(1, 0)], "0", "x")


def test_numbers_for_people() -> None:
    assert (size(999), size(1_500), size(2_000_000_000)) == ("999 bytes", "1.5 kB", "2.0 GB")
    assert (duration(90), duration(7200), duration(600)) == ("90.0 seconds", "2.0 hours", "10.0 minutes")
    assert moment(0) == "1970-01-01 00:00:00 UTC" and moment(float("inf")) == "never"
    assert plain("a\x1b[31mb\nc\u202ed") == "a�[31mb c�d" and plain("x" * 20, 10) == "xxxxx…xxxxx"


def test_json_has_the_totals_and_why_it_ended(crawl: CrawlFolder, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(crawl.path, "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["pages"], told["relevant"], told["hosts_with_relevant"], told["failures"]) == (5, 3, 2, 2)
    assert told["file"] == str(crawl.report) and told["links"]["parked"] == 1
