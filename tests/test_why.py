"""`spoor why`: for every state that a URL can be in, the state, the way there, and the reason."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from spoor.api import explaining as command
from spoor.cli.folders import run_why
from spoor.cli.main import parser
from spoor.errors import BadInput, UsageError
from spoor.frontier.entry import State
from spoor.judging.combined import Truth
from spoor.lab.worlds import WrittenWorld
from spoor.ordering.simple import Arrival
from spoor.pricing import Limits
from spoor.records import Failure, Page, Redirect, RobotsRules
from spoor.report.why import account
from spoor.store.crawl_folder import CrawlFolder
from spoor.strategy import Strategy
from tests.written_crawl import crawl_into, small_crawl


@pytest.fixture(scope="module")
def crawl(tmp_path_factory: pytest.TempPathFactory) -> CrawlFolder:
    return small_crawl(tmp_path_factory.mktemp("why") / "crawl")


@pytest.fixture(scope="module")
def half(tmp_path_factory: pytest.TempPathFactory) -> CrawlFolder:
    """Stopped after five visits: something waits, something is to be tried again."""
    return small_crawl(tmp_path_factory.mktemp("why") / "half", visits=5)


def lines(folder: CrawlFolder, url: str, now: float = 0.0) -> dict[str, str]:
    """The last of each name."""
    return dict(command.lines(account(folder, url, "spoor"), now))


def test_a_seed_that_was_visited(crawl: CrawlFolder) -> None:
    told = lines(crawl, "http://a.test/")
    assert (told["state"], told["found"], told["key"], told["depth"]) == ("visited", "given as a seed", "soonest", "0")
    assert told["visited"].endswith(
        "200, 500 bytes; relevant, 1.00 because labelled relevant; “<script>alert(1)</script>”"
    )
    assert told["host"].startswith("a.test: 1 s between visits")
    assert told["robots"] == "http://a.test has no rules"


def test_a_page_found_on_a_seed(crawl: CrawlFolder) -> None:
    told = lines(crawl, "http://a.test/copy")
    assert told["found on"] == "http://a.test/ (a seed)"
    assert (told["evidence"], told["key"], told["trail"], told["depth"]) == ("relevant_referrer 1", "1", "0", "1")
    assert "not relevant, 0.00 because not labelled relevant; duplicate of http://a.test/plain" in told["visited"]


def test_the_way_back_leads_over_redirects(crawl: CrawlFolder) -> None:
    told = list(command.lines(account(crawl, "http://b.test/", "spoor"), 0.0))
    assert ("found on", "http://a.test/moved") in told and ("via", "http://a.test/ (a seed)") in told
    assert ("depth", "1, after 1 redirects") in told
    assert dict(told)["host"].startswith("b.test at 192.0.2.1: 1 s")


def test_a_redirect(crawl: CrawlFolder) -> None:
    assert lines(crawl, "http://a.test/moved")["state"] == "visited; the page is elsewhere"
    assert lines(crawl, "http://a.test/moved")["redirected"].endswith(" to http://b.test/")
    assert lines(crawl, "http://a.test/back")["redirected"].endswith("http://a.test/, not followed: already visited")


def test_failures(crawl: CrawlFolder, half: CrawlFolder) -> None:
    told = list(command.lines(account(crawl, "http://d.test/slow", "spoor"), 0.0))
    assert told[0] == ("state", "given up")
    assert [what.partition(": ")[2].split(" from")[0] for name, what in told if name == "failed"] == [
        "timed out; again",
        "timed out; again",
        "timed out; given up",
    ]


def test_refusals(crawl: CrawlFolder) -> None:
    assert lines(crawl, "http://a.test/private")["state"].startswith("dropped when it was discovered: outside scope")
    assert lines(crawl, "http://a.test/private")["found on"] == "http://a.test/ (a seed)"
    secret = lines(crawl, "http://c.test/secret")
    assert secret["state"] == "dropped when its turn came: robots.txt disallows it"
    assert secret["robots"] == "robots.txt disallows it" and "refused" in secret
    assert lines(crawl, "http://a.test/last")["state"].startswith("parked: 4 pages of a.test visited")


def test_what_still_waits(half: CrawlFolder) -> None:
    told = account(half, "http://a.test/last", "spoor")
    assert told.entry is not None and told.entry.state is State.WAITING
    waiting = [
        url for url in ("plain", "copy", "last") if lines(half, f"http://a.test/{url}")["state"].startswith("wait")
    ]
    assert told.ahead >= len(waiting) - 1
    state = lines(half, "http://a.test/last")["state"]
    assert state.startswith(f"waiting; {told.ahead} links of a.test come first; its host delay ends at 1970-01-01")
    assert "delay" not in lines(half, "http://a.test/last", now=1e9)["state"]


def test_what_returns(half: CrawlFolder) -> None:
    told = lines(half, "http://d.test/slow")
    assert told["state"].startswith("failed 1 times, to be tried again from 1970-01-01 00:01:")


def test_rules_that_are_old(crawl: CrawlFolder) -> None:
    told = lines(crawl, "http://a.test/", now=1e9)["robots"]
    assert told == "http://a.test has no rules; it has expired and will be fetched again"


def test_rules_of_the_other_scheme_are_others(crawl: CrawlFolder) -> None:
    assert lines(crawl, "https://a.test/plain")["robots"] == "not read yet"


def test_rules_that_lie_elsewhere(tmp_path: Path) -> None:
    world = WrittenWorld(
        {"http://b.test/x": Page("http://b.test/x")},
        rules={
            "http://a.test/robots.txt": Redirect("http://b.test/robots.txt"),
            "http://b.test/robots.txt": RobotsRules("User-agent: *\nDisallow: /no"),
            "http://c.test/robots.txt": Redirect("http://d.test/robots.txt"),
            "http://d.test/robots.txt": Failure("no such host"),
        },
    )
    strategy = Strategy(Truth("relevant", world.truth), Arrival())
    seeds = ["http://a.test/no", "http://a.test/yes", "http://c.test/", "http://d.test/"]
    folder = crawl_into(tmp_path / "crawl", world, strategy, seeds, limits=Limits(robots_tries=2))
    assert lines(folder, "http://a.test/no")["robots"] == "http://b.test/robots.txt disallows it"
    assert lines(folder, "http://a.test/yes")["robots"] == "http://b.test/robots.txt allows it"
    closed = lines(folder, "http://c.test/")
    assert closed["state"].startswith("no robots.txt of http://d.test/robots.txt: no such host; to be tried again from")
    assert closed["robots"] == "http://d.test/robots.txt could not be fetched (no such host), so nothing is fetched"
    assert lines(folder, "http://d.test/")["state"] == "dropped when its turn came: no such host"


def test_a_redirect_that_was_not_followed_explains_its_target(tmp_path: Path) -> None:
    folder = small_crawl(tmp_path / "crawl", redirect_to="http://e.test/private")
    told = lines(folder, "http://e.test/private")
    assert told["state"].startswith("never queued: a redirect led here, but outside scope")
    assert told["sent by"] == "http://a.test/moved"


def test_what_was_never_met(crawl: CrawlFolder) -> None:
    told = account(crawl, "http://a.test/plane", "spoor")
    assert dict(command.lines(told, 0.0))["state"] == "not discovered yet" and told.similar[0] == "http://a.test/plain"
    assert account(crawl, "https://a.test/plain", "spoor").similar[0] == "http://a.test/plain"
    assert account(crawl, "http://aa.test/", "spoor").similar[0] == "http://a.test/"
    assert account(crawl, "http://nothing-like-it.example/", "spoor").similar == ()


def test_the_rules_of_a_host_are_no_page(crawl: CrawlFolder) -> None:
    told = lines(crawl, "http://a.test/robots.txt")
    assert told["state"] == "not a page of this crawl" and told["host opened"].endswith("1 s between visits")


def run(*words: object) -> int:
    return run_why(parser().parse_args(["why", *map(str, words)]))


def test_the_command_takes_a_url_as_people_write_it(crawl: CrawlFolder, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(crawl.path, "HTTP://A.test:80/x/../plain?utm_source=news#top") == 0
    first, second, *_ = capsys.readouterr().out.splitlines()
    assert (first, second.split()) == ("http://a.test/plain", ["state", "visited"])


def test_nothing_from_the_web_commands_the_terminal(crawl: CrawlFolder, capsys: pytest.CaptureFixture[str]) -> None:
    run(crawl.path, "http://a.test/plain")
    out = capsys.readouterr().out
    assert "“�[31mPlain�”" in out and "\x1b" not in out


def test_the_command_refuses_in_one_line(crawl: CrawlFolder, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="'about' is not an http or https URL"):
        run(crawl.path, "about")
    with pytest.raises(BadInput, match="is not a crawl folder"):
        run(tmp_path, "http://a.test/")


def test_json_has_the_same_lines(crawl: CrawlFolder, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(crawl.path, "http://a.test/", "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert told["url"] == "http://a.test/"
    assert {line["name"]: line["what"] for line in told["lines"]}["found"] == "given as a seed"
