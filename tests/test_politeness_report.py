"""`spoor report --politeness`: a crawl that kept its promises has no breach, and each kind of breach is found."""

from __future__ import annotations

import contextlib
import json
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from spoor.actions import SlowDown
from spoor.cli import folders as command
from spoor.cli.main import parser
from spoor.events import Event, Failed, HostOpened, Redirected, Steered, Visited
from spoor.frontier.entry import Host, HostRules
from spoor.frontier.sqlite import SqliteStore
from spoor.frontier.store import Counters
from spoor.records import Verdict, Visit
from spoor.report.politeness import PolitenessReport, PolitenessRules, conduct
from spoor.robots import RobotsFile
from spoor.store.crawl_folder import CrawlFolder, open_for_crawling
from spoor.store.journal import Journal
from tests.two_runs import crawled_in_two_runs
from tests.written_crawl import POLITE, SETTINGS, small_crawl

PROMISE = PolitenessRules(POLITE, "spoor")
DISALLOWING = "User-agent: *\nDisallow: /secret"


def opened(began: float, ended: float, host: str = "a.test", delay: float = 1.0) -> HostOpened:
    return HostOpened(Visit(f"http://{host}/robots.txt", host, 0, began, "robots"), ended, delay)


def visited(began: float, ended: float, host: str = "a.test", path: str = "") -> Visited:
    visit = Visit(f"http://{host}/{path}", host, 0, began)
    return Visited(visit, ended, 200, 0, Verdict(1.0, True, "good"), 0, 0, (), 1)


def silent(began: float, ended: float, again_at: float | None) -> Failed:
    visit = Visit("http://a.test/robots.txt", "a.test", 0, began, "robots")
    return Failed(visit, ended, "timed out", again_at, 1)


Written = Callable[..., PolitenessReport]


@pytest.fixture
def written(tmp_path: Path) -> Written:
    """What is said of a crawl in which these things happened, all hosts being at one address."""

    def write(*events: Event, rules: HostRules = POLITE, robots: str = "") -> PolitenessReport:
        folder = journal_of(tmp_path / "crawl", events, robots)
        return conduct(folder, PolitenessRules(rules, "spoor"))

    return write


def journal_of(path: Path, events: tuple[Event, ...], robots: str = "") -> CrawlFolder:
    with open_for_crawling(path) as folder, contextlib.closing(SqliteStore(folder.database)) as store:
        journal = Journal.create(store.connection)
        store.write_along(journal.write)
        for name in ("a.test", "b.test"):
            store.save_host(Host(name, 1.0, address="192.0.2.1"))
            store.save_robots(RobotsFile(f"http://{name}/robots.txt", 0.0), robots)
        journal.note(events)
        store.commit(Counters())
        folder.write_settings(SETTINGS)
    return folder


def hows(told: PolitenessReport) -> list[str]:
    return [breach.how for breach in told.breaches]


def test_a_real_crawl_keeps_its_promises(tmp_path: Path) -> None:
    told = conduct(small_crawl(tmp_path / "crawl"), PROMISE)
    assert told.breaches == () and (told.hosts, told.visits) == (4, 15) and told.tightest == 1.0


def test_a_visit_too_soon(written: Written) -> None:
    told = written(opened(0, 1), visited(2, 3), visited(3.25, 4), visited(5, 6))
    assert hows(told) == ["after 0.250 s, with a host delay of 1 s"]
    assert told.breaches[0].at == 3.25 and told.tightest == 0.25


def test_a_host_is_due_the_delay_that_it_asked_for(written: Written) -> None:
    told = written(opened(0, 1, delay=5.0), visited(6, 7), visited(9, 10))
    assert hows(told) == ["after 2.000 s, with a host delay of 5 s"]


def test_a_host_is_due_the_delay_that_a_person_set_from_then_on(written: Written) -> None:
    slowed = Steered(4.5, "1", "ann", SlowDown("a.test", 10.0))
    rules = opened(0.0, 1.0)
    told = written(rules, visited(2.5, 3.0), visited(4.1, 4.4, path="1"), slowed, visited(6.0, 7.0, path="2"))
    assert hows(told) == ["after 1.600 s, with a host delay of 10 s"]


def test_a_delay_that_was_refused_is_not_due(written: Written) -> None:
    refused = Steered(4.5, "1", "ann", SlowDown("a.test", 10.0), "it is not longer")
    assert hows(written(opened(0.0, 1.0), visited(2.5, 3.0), refused, visited(6.0, 7.0, path="2"))) == []


def test_large_numbers_of_seconds_are_no_excuse_and_no_trap(written: Written) -> None:
    noon = 1_794_744_000.1
    told = written(opened(noon, noon + 0.3), visited(noon + 0.3 + 1.0, noon + 2), visited(noon + 2 + 1.0, noon + 4))
    assert told.breaches == () and told.tightest is not None and told.tightest >= 1.0


def test_two_visits_at_once(written: Written) -> None:
    events = (opened(0, 1), visited(2, 9), visited(4, 5))
    assert hows(written(*events)) == ["too many visits at once"]


def test_two_visits_at_once_may_be_allowed(written: Written) -> None:
    two = HostRules(delay=1.0, connections=2, ask_first=True)
    told = written(opened(0, 1), visited(2, 9), visited(4, 5), visited(5.5, 6), visited(7, 8), rules=two)
    assert hows(told) == ["after 0.500 s, with a host delay of 1 s"]


def test_a_page_before_the_rules(written: Written) -> None:
    told = hows(written(visited(0, 1), opened(2, 3)))
    assert told == ["http://a.test/robots.txt was unknown or expired"]


def test_rules_of_http_are_none_for_https(written: Written) -> None:
    secure = Visited(Visit("https://a.test/", "a.test", 0, 2.0), 3.0, 200, 0, Verdict(1.0, True, "good"), 0, 0, (), 1)
    assert hows(written(opened(0, 1), secure)) == ["https://a.test/robots.txt was unknown or expired"]


def redirected(began: float, ended: float, to: str, host: str = "a.test") -> Redirected:
    return Redirected(Visit(f"http://{host}/robots.txt", host, 0, began, "robots"), ended, to, "", 1)


def test_rules_and_delay_may_come_from_another_host(written: Written) -> None:
    led = redirected(0, 1, "http://b.test/robots.txt")
    visits = (visited(5, 6), visited(8, 9), visited(20, 21, path="secret"))
    told = written(led, opened(2, 3, "b.test", delay=4.0), *visits, robots=DISALLOWING)
    assert hows(told) == ["after 2.000 s, with a host delay of 4 s", "robots.txt disallows it"]


def test_a_page_before_the_rules_to_which_its_robots_txt_leads(written: Written) -> None:
    told = written(redirected(0, 1, "http://b.test/rules"), visited(3, 4))
    assert hows(told) == ["http://b.test/robots.txt was unknown or expired"]


def test_a_robots_txt_too_soon_is_a_breach_like_any_other(written: Written) -> None:
    told = written(redirected(0, 1, "http://a.test/rules"), redirected(1.5, 2, "http://a.test/more"))
    assert hows(told) == ["after 0.500 s, with a host delay of 1 s"]


def test_rules_that_could_not_be_had_allow_nothing(written: Written) -> None:
    told = written(silent(0, 1, 61), visited(3, 4), silent(61, 62, None), visited(63, 64))
    assert hows(told) == ["http://a.test/robots.txt could not be fetched: timed out"] * 2


def test_rules_that_could_not_be_had_are_asked_for_again_in_time(written: Written) -> None:
    early = written(silent(100, 101, 161), silent(130, 131, None))
    assert hows(early) == ["tried again 31.000 s too soon"]


def test_rules_grow_old(written: Written) -> None:
    told = hows(written(opened(0, 1), visited(86_401, 86_402)))
    assert told == ["http://a.test/robots.txt was unknown or expired"]
    assert len(written(opened(86_404, 86_405), visited(86_407, 86_408)).breaches) == 1


def test_what_robots_txt_disallows(written: Written) -> None:
    told = written(opened(0, 1), visited(2, 3, path="secret"), visited(4, 5, path="open"), robots=DISALLOWING)
    assert [(breach.url, breach.how) for breach in told.breaches] == [
        ("http://a.test/secret", "robots.txt disallows it")
    ]


def test_rules_do_not_bind_those_who_came_before_them(written: Written) -> None:
    told = written(opened(0, 1), visited(2, 3, path="secret"), opened(5, 6), robots=DISALLOWING)
    assert told.breaches == ()


def test_an_address_rests_too(written: Written) -> None:
    told = written(opened(0, 1), opened(10, 11, "b.test"), visited(20, 21), visited(21.125, 22, "b.test"))
    assert hows(told) == ["after 0.125 s at its IP address, with a delay of 0.25 s"]


def test_an_address_is_known_only_after_the_first_visit(written: Written) -> None:
    told = written(opened(0, 1), opened(2, 9, "b.test"), visited(2.1, 3), visited(9.25, 10))
    assert told.breaches == ()


def run(*words: object) -> int:
    return command.run_report(parser().parse_args(["report", *map(str, words), "--politeness"]))


def test_the_command_says_zero(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(small_crawl(tmp_path / "crawl").path) == 0
    assert capsys.readouterr().out == "15 visits to 4 hosts, 0 violated a rule (tightest: 1.000 of the delay due)\n"


def test_the_command_lists_what_it_found(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = journal_of(tmp_path / "crawl", (opened(0, 1), visited(1.5, 2)))
    assert run(folder.path) == 1
    first, last = capsys.readouterr().out.splitlines()
    assert first == "1970-01-01 00:00:01 UTC  http://a.test/  after 0.500 s, with a host delay of 1 s"
    assert last == "2 visits to 1 hosts, 1 violated a rule (tightest: 0.500 of the delay due)"
    assert not folder.report.exists()


def test_nothing_is_written(tmp_path: Path) -> None:
    folder = small_crawl(tmp_path / "crawl")
    with contextlib.closing(sqlite3.connect(folder.database)) as db:
        before = db.execute("PRAGMA data_version").fetchone()
        conduct(folder, PROMISE)
        assert db.execute("PRAGMA data_version").fetchone() == before


def test_json_lists_what_broke_a_promise(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = journal_of(tmp_path / "crawl", (opened(0, 1), visited(1.5, 2)))
    assert run(folder.path, "--json") == 1
    told = json.loads(capsys.readouterr().out)
    assert (told["hosts"], told["visits"], told["tightest"]) == (1, 2, 0.5)
    assert [breach["url"] for breach in told["breaches"]] == ["http://a.test/"]


@pytest.mark.parametrize("ahead", [0.0, 7200.0, -7200.0])
def test_a_clock_that_was_wrong_in_the_first_run_is_no_breach_in_the_second(tmp_path: Path, ahead: float) -> None:
    told = conduct(crawled_in_two_runs(tmp_path / "crawl", (ahead, 60.0)), PROMISE)
    assert told.breaches == () and told.visits == 9


def test_a_breach_after_a_clock_was_corrected_is_found_and_has_the_time_of_its_own_run(tmp_path: Path) -> None:
    folder = crawled_in_two_runs(tmp_path / "crawl", (7200.0, 60.0))
    with contextlib.closing(sqlite3.connect(folder.database)) as db, db:
        ((row, started),) = db.execute("SELECT id, started FROM pages ORDER BY id DESC LIMIT 1")
        db.execute("UPDATE pages SET started = started - 0.5 WHERE id = ?", (row,))
    told = conduct(folder, PROMISE)
    assert [(breach.at, breach.how) for breach in told.breaches] == [
        (started - 0.5, "after 0.500 s, with a host delay of 1 s")
    ]
