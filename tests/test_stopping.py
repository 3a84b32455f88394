"""When a crawl stops by itself because it finds too little, and what it says that it may still find."""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import replace
from pathlib import Path

import pytest

from spoor.checks import setting
from spoor.events import Event, Failed, Redirected, Visited
from spoor.lab.generate import generate
from spoor.lab.generate.chance import Request
from spoor.lab.web import Web
from spoor.live.session import open_session
from spoor.records import Verdict, Visit
from spoor.settings import Config, Crawling, Politeness, Target
from spoor.stopping import LastRequests, TooFew, certainty, expected_finds, stop_rule, too_few
from spoor.store.crawl_folder import CrawlFolder, open_for_crawling
from spoor.store.journal import open_to_read
from spoor.store.recent import expected_in, last_requests
from tests.served import served
from tests.written_crawl import small_crawl

VISIT = Visit("http://a.test/", "a.test", 1, 0.0)
FOUND = Visited(VISIT, 0.0, 200, 1, Verdict(1.0, True, ""), 0, 0, (), 0)
MISSED = replace(FOUND, verdict=Verdict(0.0, False, ""))
FAILED = Failed(VISIT, 0.0, "HTTP 404", None, 0)


@pytest.mark.parametrize(
    ("rule", "complaint"),
    [
        ("less than 5", 'must be like "fewer than 5 in 1000"'),
        ("fewer than 5 in 100", "must cover at least 500 requests"),
        ("fewer than 0 in 500", "must ask for 1 to 500 relevant pages in 500 requests"),
        ("fewer than 501 in 500", "must ask for 1 to 500 relevant pages in 500 requests"),
    ],
)
def test_a_rule_that_makes_no_sense_is_refused(rule: str, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        stop_rule(rule)


def test_a_rule_is_what_it_says() -> None:
    assert too_few("fewer than 5 in 500") == TooFew(5, 500)
    assert too_few("fewer than 5") == TooFew(5, 1000)
    assert stop_rule("fewer than 5 in 500") == "fewer than 5 in 500"
    assert setting("", stop_rule, "").default == stop_rule("") == ""


@pytest.mark.parametrize(
    ("events", "too_few"),
    [
        ([FOUND, MISSED, MISSED], False),
        ([FOUND, MISSED, MISSED, MISSED], True),
        ([FOUND, MISSED, MISSED, FOUND], False),
        ([FOUND, FAILED, Redirected(VISIT, 0.0, "http://b.test/", "", 0), MISSED], True),
        ([FOUND, MISSED, MISSED, replace(FAILED, excused=True)], False),
        ([FOUND, MISSED, MISSED, replace(FAILED, visit=replace(VISIT, purpose="robots"))], False),
    ],
)
def test_only_the_last_requests_for_pages_count(events: list[Event], too_few: bool) -> None:
    last = LastRequests(TooFew(1, 3))
    last.note(events)
    assert last.are_too_few is too_few


def test_what_earlier_runs_requested_counts_too() -> None:
    assert LastRequests(TooFew(2, 3), [True, True, False, False]).are_too_few
    assert not LastRequests(TooFew(2, 4), [True, True, False, False]).are_too_few


def test_the_last_requests_are_in_the_database(tmp_path: Path) -> None:
    folder = small_crawl(tmp_path / "small")
    with contextlib.closing(open_to_read(folder.database)) as db:
        requests = last_requests(db, 100)
        assert (len(requests), sum(requests)) == (11, 3)
        assert last_requests(db, 4) == requests[-4:]


def test_a_crawl_stops_when_its_last_requests_found_too_little_in_this_run_and_the_one_before(tmp_path: Path) -> None:
    generate(Request("thai", 1_400, 5, text=True), tmp_path / "web", lambda pages: None)
    web = Web.open(tmp_path / "web")
    seeds = tuple((tmp_path / "web" / "seeds.txt").read_text().split())

    async def crawl(most: int, until: str = "") -> str:
        async with served(web) as proxy:
            limits = Crawling(seeds=seeds, connections=1, max_pages=most, until=until, proxy=proxy)
            asked = Config(Target(charset="th"), limits, politeness=Politeness(host_delay=0.0))
            with open_for_crawling(tmp_path / "crawl") as folder:
                async with open_session(folder, asked) as session:
                    async for _ in session.run():
                        pass
                    return session.ended()

    asyncio.run(crawl(200))
    assert (
        asyncio.run(crawl(900, "fewer than 500 in 500")) == "the last 500 requests found fewer than 500 relevant pages"
    )
    with contextlib.closing(open_to_read(tmp_path / "crawl" / "crawl.db")) as db:
        assert len(last_requests(db, 900)) == 500
    assert expected_in(CrawlFolder(tmp_path / "crawl")) is None, "there is no crawl.toml, so nobody knows the strategy"
    CrawlFolder(tmp_path / "crawl").write_settings('[target]\ncharset = "th"\n[crawl]\nseeds = ["http://a.test/"]\n')
    expected = expected_in(CrawlFolder(tmp_path / "crawl"))
    assert expected is not None and 0 < expected.next_200 < 200 and expected.among_waiting > 0


def test_links_are_expected_to_lead_where_links_of_their_key_led() -> None:
    half = [(0.0, True), (0.0, False)] * 100
    expected = expected_finds({0.0: 1000}, half)
    assert expected is not None
    assert (round(expected.among_waiting), round(expected.next_200), round(expected.next_500)) == (500, 100, 250)


def test_a_better_key_is_worth_more_and_a_seed_says_nothing() -> None:
    half = [(0.0, True), (0.0, False)] * 100
    better, worse = (expected_finds({key: 100, float("inf"): 1}, half) for key in (1.0, -1.0))
    assert better is not None and worse is not None
    assert round(better.among_waiting) == 73
    assert worse.among_waiting == 0, "nothing as bad was tried, so nobody knows"


def test_a_find_that_is_not_certain_counts_in_part() -> None:
    assert [certainty(probability) for probability in (0.2, 0.5, 0.75, 1.0)] == [0.0, 0.0, 0.5, 1.0]
    expected = expected_finds({0.0: 1000}, [(0.0, certainty(0.8)), (0.0, 0.0)] * 100)
    assert expected is not None
    assert round(expected.among_waiting) == 300


def test_where_nothing_was_tried_nothing_is_said() -> None:
    assert expected_finds({0.0: 10}, [(float("inf"), True)]) is None
