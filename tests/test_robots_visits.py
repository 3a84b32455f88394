"""A robots.txt is asked for before anything else, by a visit like others: one for each origin, wherever it leads."""

from __future__ import annotations

import contextlib
import tempfile
import tracemalloc
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice, pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spoor.crawl import Crawl
from spoor.events import Event, Failed, HostOpened, Redirected, Refused, Visited
from spoor.frontier.entry import HostRules
from spoor.frontier.frontier import Frontier
from spoor.frontier.memory import MemoryStore
from spoor.frontier.sqlite import SqliteStore
from spoor.lab.delays import politeness
from spoor.lab.simulated import simulate
from spoor.lab.worlds import WrittenWorld
from spoor.ordering.simple import Arrival
from spoor.pricing import Limits
from spoor.records import Failure, Link, Outcome, Page, Redirect, RobotsRules, Visit
from spoor.robots import NeededFile, RobotsFile
from spoor.strategy import Strategy
from tests.effort import times
from tests.tiny import truth

POLITE = HostRules(delay=1.0, ask_first=True)
SILENT = Failure("timed out", again_after=60.0)
NOT_HERE = RobotsRules("User-agent: *\nDisallow: /private")


def robots(host: str) -> str:
    return f"http://{host}.test/robots.txt"


def crawled(
    rules: Mapping[str, Outcome],
    *seeds: str,
    limits: Limits | None = None,
    hosts: HostRules = POLITE,
    connections: int = 9,
) -> list[Event]:
    """A crawl of pages without links, each answer taking half a second."""
    world = WrittenWorld({url: Page(url) for url in seeds}, rules=rules, seconds=Half())
    crawl = Crawl(Strategy(truth(world), Arrival()), Frontier(MemoryStore(), hosts), limits)
    crawl.begin(seeds)
    return list(simulate(crawl, world, connections))


class Half(dict[str, float]):
    def get(self, key: str, default: float = 0.0) -> float:  # type: ignore[override]
        return 0.5


def asked(events: Sequence[Event]) -> list[str]:
    """Every request, in the order in which they began."""
    visits = [event for event in events if isinstance(event, Visited | Redirected | Failed | HostOpened)]
    return [event.visit.url for event in sorted(visits, key=lambda event: event.visit.at)]


def pages(events: Sequence[Event]) -> list[str]:
    return [event.visit.url for event in events if isinstance(event, Visited)]


def reasons(events: Sequence[Event]) -> dict[str, str]:
    return {event.refusal.url: event.refusal.because for event in events if isinstance(event, Refused)}


# Each origin has its own.


def test_http_and_https_have_rules_of_their_own() -> None:
    seeds = ["http://a.test/private", "https://a.test/private", "http://a.test:8080/private"]
    events = crawled({robots("a"): NOT_HERE}, *seeds)
    assert pages(events) == ["http://a.test:8080/private", "https://a.test/private"]
    assert [url for url in asked(events) if "robots" in url] == [
        "http://a.test/robots.txt",
        "http://a.test:8080/robots.txt",
        "https://a.test/robots.txt",
    ]


def test_http_and_https_share_the_longer_crawl_delay() -> None:
    slow, slower = (RobotsRules(f"User-agent: *\nCrawl-delay: {seconds}") for seconds in (3, 7))
    rules: dict[str, Outcome] = {"http://a.test/robots.txt": slow, "https://a.test/robots.txt": slower}
    events = crawled(rules, "http://a.test/1", "https://a.test/2", "http://a.test/3")
    began = [event.visit.at for event in events if isinstance(event, Visited | HostOpened)]
    assert [later - sooner - 0.5 for sooner, later in pairwise(began)] == [3.0, 3.0, 7.0, 7.0]
    assert politeness(events, 1.0).violations == ()


def test_a_crawl_delay_that_is_shorter_than_ours_changes_nothing() -> None:
    quick = RobotsRules("User-agent: *\nCrawl-delay: 0.2")
    events = crawled({robots("a"): quick}, *(f"http://a.test/{n}" for n in range(3)))
    requests = [event for event in events if isinstance(event, Visited | HostOpened)]
    assert [later.visit.at - sooner.at for sooner, later in pairwise(requests)] == [1.0, 1.0, 1.0]
    assert [event.delay for event in requests if isinstance(event, HostOpened)] == [1.0]


def test_a_group_that_names_us_overrides_the_one_for_all() -> None:
    groups = "User-agent: spoor\nDisallow: /not-us\nCrawl-delay: 3\n\nUser-agent: *\nDisallow: /\nCrawl-delay: 9"
    rules: dict[str, Outcome] = {robots("a"): RobotsRules(groups)}
    events = crawled(rules, "http://a.test/", "http://a.test/not-us", limits=Limits(agent="spoor"))
    assert pages(events) == ["http://a.test/"]
    assert [event.delay for event in events if isinstance(event, HostOpened)] == [3.0]


def test_rules_are_asked_for_again_when_they_are_old() -> None:
    hosts = replace(POLITE, rules_last=2.0)
    events = crawled({}, *(f"http://a.test/{n}" for n in range(4)), hosts=hosts)
    assert [url.endswith("robots.txt") for url in asked(events)] == [True, False, True, False, True, False, True, False]


# Redirects are visits.


def test_a_redirect_of_robots_txt_is_a_visit_to_the_host_it_leads_to() -> None:
    rules: dict[str, Outcome] = {robots("a"): Redirect(robots("b")), robots("b"): NOT_HERE}
    events = crawled(rules, "http://a.test/private", "http://a.test/")
    assert asked(events) == [robots("a"), robots("b"), "http://a.test/"]
    assert reasons(events) == {"http://a.test/private": "robots.txt disallows it"}
    assert [type(event) for event in events] == [Redirected, HostOpened, Refused, Visited]
    assert [event.visit.host for event in events if isinstance(event, HostOpened)] == ["b.test"]


def test_a_hundred_hosts_that_lead_to_one_cause_one_request() -> None:
    hosts = [f"h{number}" for number in range(100)]
    for target in (robots("victim"), "http://victim.test/elsewhere"):
        rules: dict[str, Outcome] = {robots(host): Redirect(target) for host in hosts}
        events = crawled(rules, *(f"http://{host}.test/" for host in hosts), connections=200)
        assert len(pages(events)) == 100
        at_victim = [url for url in asked(events) if "victim" in url]
        assert at_victim == list(dict.fromkeys([robots("victim"), target]))


def test_hosts_that_lead_to_many_pages_of_one_are_as_slow_as_that_one_wants() -> None:
    hosts = [f"h{number}" for number in range(20)]
    rules: dict[str, Outcome] = {robots(host): Redirect(f"http://victim.test/{host}") for host in hosts}
    rules[robots("victim")] = RobotsRules("User-agent: *\nCrawl-delay: 9")
    events = crawled(rules, *(f"http://{host}.test/" for host in hosts), connections=200)
    requests = [e for e in events if isinstance(e, HostOpened) and e.visit.host == "victim.test"]
    assert len(requests) == 21 and len(pages(events)) == 20
    assert {later.visit.at - sooner.at for sooner, later in pairwise(requests)} == {9.0}


def test_rules_that_lie_where_their_host_allows_nobody_could_not_be_had() -> None:
    rules: dict[str, Outcome] = {robots("a"): Redirect("http://b.test/private"), robots("b"): NOT_HERE}
    events = crawled(rules, "http://a.test/", "http://b.test/")
    assert asked(events) == [robots("a"), robots("b"), "http://b.test/"]


def test_robots_txt_may_be_asked_for_where_nothing_else_may() -> None:
    rules: dict[str, Outcome] = {
        robots("a"): Redirect(robots("b")),
        robots("b"): RobotsRules("User-agent: *\nDisallow: /b"),
    }
    assert pages(crawled(rules, "http://a.test/", "http://b.test/b")) == ["http://a.test/"]


def test_a_robots_txt_may_lead_to_any_file_of_its_own_host() -> None:
    rules: dict[str, Outcome] = {robots("a"): Redirect("http://a.test/en/rules"), "http://a.test/en/rules": NOT_HERE}
    events = crawled(rules, "http://a.test/private", "http://a.test/")
    assert asked(events) == [robots("a"), "http://a.test/en/rules", "http://a.test/"]
    assert politeness(events, 1.0).violations == ()


def test_the_way_from_http_to_https_to_www_is_gone_once() -> None:
    ways = ["http://a.test/robots.txt", "https://a.test/robots.txt", "https://www.a.test/robots.txt"]
    rules: dict[str, Outcome] = {url: Redirect(to) for url, to in pairwise(ways)}
    rules[ways[-1]] = NOT_HERE
    seeds = ["http://a.test/", "https://a.test/", "https://www.a.test/", "https://a.test/private"]
    events = crawled(rules, *seeds)
    assert sorted(url for url in asked(events) if "robots" in url) == ways
    assert sorted(pages(events)) == sorted(seeds[:3])


def test_five_redirects_are_followed_and_a_sixth_is_a_file_that_is_not_there() -> None:
    for count, allowed in ((5, False), (6, True)):
        chain = [robots(f"r{number}") for number in range(count + 1)]
        rules: dict[str, Outcome] = {url: Redirect(to) for url, to in pairwise(chain)}
        rules[chain[-1]] = RobotsRules("User-agent: *\nDisallow: /")
        events = crawled(rules, "http://r0.test/")
        assert (pages(events) == ["http://r0.test/"]) is allowed
        assert asked(events)[:6] == chain[:6]


def test_a_circle_of_redirects_is_gone_once() -> None:
    rules: dict[str, Outcome] = {robots("a"): Redirect(robots("b")), robots("b"): Redirect(robots("a"))}
    events = crawled(rules, "http://a.test/", "http://b.test/")
    assert sorted(asked(events)) == sorted([robots("a"), robots("b"), "http://a.test/", "http://b.test/"])


def test_hosts_that_lead_to_pages_of_one_another_are_asked() -> None:
    rules: dict[str, Outcome] = {robots("a"): Redirect("http://b.test/x"), robots("b"): Redirect("http://a.test/x")}
    events = crawled(rules, "http://a.test/", "http://b.test/")
    assert sorted(pages(events)) == ["http://a.test/", "http://b.test/"]


# Where no rules can be had, nothing is fetched.


def test_rules_that_cannot_be_had_are_asked_for_over_hours_and_nothing_is_lost() -> None:
    seeds = ["http://a.test/1", "http://a.test/2", "http://b.test/"]
    world = WrittenWorld({url: Page(url) for url in seeds}, rules={robots("a"): SILENT})
    frontier = Frontier(MemoryStore(), POLITE)
    crawl = Crawl(Strategy(truth(world), Arrival()), frontier)
    crawl.begin(seeds)
    events = list(simulate(crawl, world))
    assert pages(events) == ["http://b.test/"] and len(frontier) == 2
    began = [event.visit.at for event in events if isinstance(event, Failed)]
    assert [later - sooner for sooner, later in pairwise(began)] == [60, 120, 240, 480, 960, 1920, 3600, 3600, 3600]
    assert crawl.ended() == "nothing is waiting but 2 links without a robots.txt"
    world = replace(world, rules={})
    tomorrow = began[-1] + 86_400
    assert crawl.next_visit(tomorrow - 1) is None
    assert pages(list(simulate(crawl, world, now=tomorrow))) == ["http://a.test/1", "http://a.test/2"]


def test_a_host_that_answers_after_hours_is_crawled() -> None:
    @dataclass(frozen=True)
    class Outage(WrittenWorld):
        """The first requests for robots.txt fail."""

        failing: list[int] = field(default_factory=lambda: [5])

        def fetch(self, visit: Visit) -> tuple[Outcome, float]:
            if visit.purpose == "robots" and self.failing[0]:
                self.failing[0] -= 1
                return Failure("HTTP 500", again_after=60.0), 1.0
            return super().fetch(visit)

    world = Outage({"http://a.test/": Page("http://a.test/")})
    crawl = Crawl(Strategy(truth(world), Arrival()), Frontier(MemoryStore(), POLITE))
    crawl.begin(["http://a.test/"])
    assert pages(list(simulate(crawl, world))) == ["http://a.test/"]


def test_links_of_one_scheme_do_not_wait_for_the_rules_of_the_other_for_ever() -> None:
    events = crawled({"https://a.test/robots.txt": SILENT}, "https://a.test/", "http://a.test/", "https://a.test/2")
    assert pages(events) == ["http://a.test/"]


@pytest.mark.parametrize("reason", ["no such host", "TLS certificate is not valid: expired", "refused"])
def test_where_a_host_can_never_be_asked_its_links_fail_for_the_same_reason(reason: str) -> None:
    events = crawled({robots("a"): Failure(reason)}, "http://a.test/1", "http://a.test/2")
    assert asked(events) == [robots("a")]
    assert reasons(events) == {"http://a.test/1": reason, "http://a.test/2": reason}


@pytest.mark.parametrize("reason", ["no such host", "TLS certificate is not valid: expired", "refused"])
def test_rules_that_lie_where_nobody_can_read_them_keep_the_host_closed(reason: str) -> None:
    rules: dict[str, Outcome] = {robots("a"): Redirect(robots("b")), robots("b"): Failure(reason)}
    events = crawled(rules, "http://a.test/", "http://b.test/", limits=Limits(robots_tries=3))
    assert pages(events) == [] and reasons(events) == {"http://b.test/": reason}
    assert asked(events).count(robots("b")) == 3


def test_a_server_that_asks_for_more_time_gets_it() -> None:
    busy = Failure("HTTP 503", again_after=7200.0, whole_host=True)
    events = crawled({robots("a"): busy}, "http://a.test/", limits=Limits(robots_tries=3))
    began = [event.visit.at for event in events if isinstance(event, Failed)]
    assert [later - sooner for sooner, later in pairwise(began)] == [7200.5, 7200.5]


# Whatever robots.txt files do.

HOSTS = ["a", "b", "c", "d"]
ELSEWHERE = "http://b.test/rules"
FILES = [*(robots(host) for host in HOSTS), "https://a.test/robots.txt", ELSEWHERE]
ANSWERS = st.one_of(
    st.sampled_from(FILES).map(Redirect),
    st.sampled_from([RobotsRules(), NOT_HERE, RobotsRules("User-agent: *\nCrawl-delay: 5"), SILENT, Failure("gone")]),
)
SEEDS = [f"{origin}/{path}" for origin in ("http://a.test", "https://a.test", "http://b.test", "http://c.test")
         for path in ("", "private", "rules")]  # fmt: skip


def way(rules: Mapping[str, Outcome], at: str) -> list[str]:
    """The files that are asked for, one after the other."""
    files = [at]
    while len(files) < 6 and isinstance(answer := rules.get(files[-1]), Redirect):
        files.append(answer.to)
    return files


def holding(rules: Mapping[str, Outcome], at: str) -> Outcome:
    """What holds for an origin."""
    if ELSEWHERE in way(rules, at) and ELSEWHERE not in way(rules, robots("b")):
        under = holding(rules, robots("b"))
        if isinstance(under, Failure):
            return under
    answer = rules.get(way(rules, at)[-1], RobotsRules())
    return RobotsRules() if isinstance(answer, Redirect) else answer


def expected(rules: Mapping[str, Outcome], url: str) -> bool:
    """Whether a URL may be fetched."""
    rule = holding(rules, "/".join([*url.split("/")[:3], "robots.txt"]))
    return isinstance(rule, RobotsRules) and not ("Disallow" in rule.text and "private" in url)


@settings(max_examples=times(100), deadline=None)
@given(st.dictionaries(st.sampled_from(FILES), ANSWERS), st.integers(1, 3))
def test_pages_are_fetched_exactly_where_their_rules_allow_it(rules: dict[str, Outcome], connections: int) -> None:
    events = crawled(rules, *SEEDS, limits=Limits(robots_tries=2), connections=connections)
    assert sorted(pages(events)) == sorted(url for url in SEEDS if expected(rules, url))
    assert politeness(events, 1.0).violations == ()


@dataclass(frozen=True)
class Logging(WrittenWorld):
    """Writes every request down, as servers do."""

    log: list[Visit] = field(default_factory=list)

    def fetch(self, visit: Visit) -> tuple[Outcome, float]:
        self.log.append(visit)
        return super().fetch(visit)


@settings(max_examples=times(40), deadline=None)
@given(st.dictionaries(st.sampled_from(FILES), ANSWERS), st.lists(st.integers(0, 6), max_size=4))
def test_a_crawl_killed_while_rules_are_asked_for_asks_again(rules: dict[str, Outcome], kills: list[int]) -> None:
    world = Logging({url: Page(url, links=(Link("http://d.test/"),)) for url in SEEDS}, rules=rules)
    with tempfile.TemporaryDirectory() as folder:
        for steps in [*kills, None]:
            now = max([visit.at for visit in world.log], default=0.0)
            with contextlib.closing(SqliteStore(Path(folder) / "crawl.db")) as store:
                frontier = Frontier(store, POLITE, resumed_at=now)
                crawl = Crawl(Strategy(truth(world), Arrival()), frontier, Limits(robots_tries=2))
                crawl.begin(SEEDS)
                list(islice(simulate(crawl, world, 3, now), steps))
                if steps is not None and (cut_off := crawl.next_visit(world.log[-1].at + 9 if world.log else now)):
                    world.fetch(cut_off)  # the server sees it, and nobody here writes it down
    relevant = {url for url in SEEDS if expected(rules, url)}
    relevant |= {url for url in ["http://d.test/"] if relevant and expected(rules, url)}
    assert {visit.url for visit in world.log if visit.purpose == "page"} == relevant
    for host in {visit.host for visit in world.log}:
        times = sorted(visit.at for visit in world.log if visit.host == host)
        assert all(later - sooner >= 1.0 for sooner, later in pairwise(times))


def test_a_crawl_that_is_resumed_does_not_wait_for_what_was_put_off(tmp_path: Path) -> None:
    world = WrittenWorld({}, rules={robots("a"): SILENT})
    for now in (0.0, 1_000.0):
        with contextlib.closing(SqliteStore(tmp_path / "crawl.db")) as store:
            crawl = Crawl(Strategy(truth(world), Arrival()), Frontier(store, POLITE), Limits(robots_tries=1))
            crawl.begin(["http://a.test/"])
            asked = list(simulate(crawl, world, now=now))
            assert len(asked) == (now == 0.0) and len(crawl.frontier) == 1
            assert crawl.ended() == "nothing is waiting but 1 link without a robots.txt"


def test_a_clock_that_was_a_year_ahead_closes_no_host_for_a_year() -> None:
    store, year = MemoryStore(), 365 * 86_400.0
    store.save_robots(RobotsFile(robots("a"), year, failed="timed out", may_heal=True, tries=1), "")
    frontier = Frontier(store, POLITE, resumed_at=0.0)
    frontier.reopen(0.0)
    assert frontier.robots_for("http://a.test/", 86_400.0) == NeededFile(robots("a"))


# Memory.


@dataclass(frozen=True)
class Wordy(WrittenWorld):
    """Every host has a robots.txt of 500 KiB."""

    def fetch(self, visit: Visit) -> tuple[Outcome, float]:
        if visit.purpose == "robots":
            return RobotsRules(f"# {visit.host}\nUser-agent: *\nDisallow: /private\n".ljust(512_000, "#")), 0.0
        return super().fetch(visit)


def test_texts_are_not_held_in_memory(tmp_path: Path) -> None:
    seeds = [f"http://h{number}.test/{path}" for path in ("", "private") for number in range(100)]
    world = Wordy({url: Page(url) for url in seeds})
    tracemalloc.start()
    with contextlib.closing(SqliteStore(tmp_path / "crawl.db")) as store:
        crawl = Crawl(Strategy(truth(world), Arrival()), Frontier(store, HostRules(ask_first=True)))
        crawl.begin(seeds)
        assert len(pages(list(simulate(crawl, world, 10)))) == 100
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 20_000_000
