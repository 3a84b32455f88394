"""A wrong clock and a missing CA store: https links wait, nothing is given up, and all comes after the repair."""

from __future__ import annotations

import asyncio
import contextlib
import ssl
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from spoor.cli.crawling import LiveLine
from spoor.cli.main import main
from spoor.crawl import Crawl
from spoor.crawling.access import CERTAIN
from spoor.crawling.outage import MANY
from spoor.events import Event, Failed, HttpsPaused, HttpsResumed, Paused, Refused, Visited
from spoor.fetch.certificates import missing_store
from spoor.frontier.entry import HostRules, State
from spoor.frontier.frontier import Frontier
from spoor.frontier.memory import MemoryStore
from spoor.lab.simulated import simulate
from spoor.lab.worlds import WrittenWorld
from spoor.live.session import open_session
from spoor.ordering.simple import Arrival
from spoor.pricing import Limits
from spoor.records import Failure, Outcome, Visit
from spoor.settings import Config, Crawling, Politeness, Target
from spoor.store.crawl_folder import open_for_crawling
from spoor.strategy import Strategy
from tests.certificates import FAR_AHEAD, FARTHER, Authority
from tests.logged_hosts import LoggedHosts, serving
from tests.tiny import truth

NOT_YET_VALID = Failure("TLS certificate is not valid: not yet valid", 60.0, certificate="clock or CA store")
OTHER_NAME = Failure("TLS certificate is not valid: Hostname mismatch", 60.0, certificate="the host alone")
POLITE = HostRules(delay=1.0, ask_first=True)


def secure(number: int) -> str:
    return f"https://s{number}.test/"


def plain(number: int) -> str:
    return f"http://p{number}.test/"


@dataclass(frozen=True)
class Unaccepted:
    """A world in which certificates of https hosts are not accepted; which, and when, says `fails`."""

    world: WrittenWorld
    fails: Callable[[str, float], Failure | None]

    def fetch(self, visit: Visit) -> tuple[Outcome, float]:
        failure = self.fails(visit.host, visit.at) if visit.url.startswith("https:") else None
        return failure or self.world.fetch(visit)[0], 0.2

    def truth(self, url: str) -> bool:
        return self.world.truth(url)


def web(homes: Iterable[str], pages: int = 3) -> WrittenWorld:
    """Every home links to pages of its own."""
    links = {home: [f"{home}{number}" for number in range(pages)] for home in homes}
    return WrittenWorld.of_links({**links, **{page: [] for own in links.values() for page in own}})


def crawl_of(world: WrittenWorld, store: MemoryStore, seeds: Sequence[str]) -> Crawl:
    crawl = Crawl(Strategy(truth(world), Arrival()), Frontier(store, POLITE), Limits())
    crawl.begin(seeds)
    return crawl


def came(events: Iterable[Event]) -> list[str]:
    return [event.visit.url for event in events if isinstance(event, Visited)]


@pytest.mark.parametrize("hosts", [1, 2, MANY + 2])
@pytest.mark.parametrize("connections", [1, 16])
def test_with_a_wrong_clock_https_links_wait_and_all_come_once_it_is_right(hosts: int, connections: int) -> None:
    homes = [secure(number) for number in range(hosts)]
    world = Unaccepted(web(homes), lambda host, at: NOT_YET_VALID if at < 600.0 else None)
    crawl = crawl_of(world.world, MemoryStore(), homes)
    events = list(simulate(crawl, world, connections))
    assert sorted(came(events)) == sorted(world.world.outcomes)
    assert all(event.excused for event in events if isinstance(event, Failed))
    assert crawl.frontier.spent == len(world.world.outcomes)
    changes = [type(event) for event in events if isinstance(event, HttpsPaused | HttpsResumed | Paused)]
    assert changes == [HttpsPaused, HttpsResumed]
    tried = [event.visit.at for event in events if isinstance(event, Failed)]
    assert len(tried) <= 16 + hosts, "one host at a time, more and more seldom"


def test_pages_of_http_hosts_come_meanwhile() -> None:
    homes = [plain(number) for number in range(3)] + [secure(number) for number in range(3)]
    world = Unaccepted(web(homes), lambda host, at: NOT_YET_VALID if at < 600.0 else None)
    events = list(simulate(crawl_of(world.world, MemoryStore(), homes), world, 4))
    times = {event.visit.url: event.at for event in events if isinstance(event, Visited)}
    assert sorted(times) == sorted(world.world.outcomes)
    assert max(at for url, at in times.items() if url.startswith("http:")) < 60.0


def test_a_certificate_that_is_not_valid_is_tried_again_and_then_given_up_while_others_are_accepted() -> None:
    homes = [secure(number) for number in range(4)]
    world = Unaccepted(web(homes, pages=400), lambda host, at: NOT_YET_VALID if host == "s2.test" else None)
    events = list(simulate(crawl_of(world.world, MemoryStore(), homes), world, 4))
    assert not any(isinstance(event, HttpsPaused) for event in events)
    assert secure(0) in came(events) and secure(2) not in came(events)
    tries = [event for event in events if isinstance(event, Failed) and not event.excused]
    assert {event.visit.url for event in tries} == {f"{secure(2)}robots.txt"} and len(tries) == CERTAIN
    (refused,) = [event.refusal for event in events if isinstance(event, Refused)]
    assert refused.url == secure(2) and refused.because == NOT_YET_VALID.reason


def test_the_first_host_of_a_crawl_may_be_the_bad_one() -> None:
    homes = [secure(number) for number in range(4)]
    world = Unaccepted(web(homes), lambda host, at: NOT_YET_VALID if host == "s0.test" else None)
    events = list(simulate(crawl_of(world.world, MemoryStore(), homes), world, 1))
    assert not any(isinstance(event, HttpsPaused) for event in events)
    assert len(came(events)) == 3 * 4


def test_many_hosts_in_a_row_are_no_accident_whatever_the_reason() -> None:
    homes = [secure(number) for number in range(2 * MANY)]
    world = Unaccepted(web(homes, pages=20), lambda host, at: OTHER_NAME if 10.0 <= at < 600.0 else None)
    crawl = crawl_of(world.world, MemoryStore(), homes)
    events = list(simulate(crawl, world, 4))
    assert sorted(came(events)) == sorted(world.world.outcomes)
    assert [type(event) for event in events if isinstance(event, HttpsPaused | HttpsResumed)] == [
        HttpsPaused,
        HttpsResumed,
    ]
    assert crawl.frontier.spent == len(world.world.outcomes)


def test_a_crawl_that_only_waits_for_certificates_ends_after_an_hour_and_says_why() -> None:
    world, store = Unaccepted(web([secure(0)]), lambda host, at: NOT_YET_VALID), MemoryStore()
    crawl = crawl_of(world.world, store, [secure(0)])
    events = list(simulate(crawl, world, 4))
    assert 1800.0 < max(event.at for event in events) < 2 * 3600.0
    assert crawl.ended() == f"nothing is waiting but 1 link while no https host is accepted: {NOT_YET_VALID.reason}"
    assert crawl.frontier.count(State.WAITING) + crawl.frontier.count(State.RETURNING) == 1
    resumed = crawl_of(world.world, store, [secure(0)])
    assert sorted(came(simulate(resumed, world.world, 4, now=8000.0))) == sorted(world.world.outcomes)


# Real servers and certificates.


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority.made(tmp_path_factory.mktemp("authority"))


ADDRESS = "127.0.94.1"


@contextlib.asynccontextmanager
async def secure_site(context: ssl.SSLContext) -> AsyncIterator[str]:
    hosts = LoggedHosts({"a": ADDRESS}, {})
    async with serving(hosts, {"a": context}):
        yield hosts.url("a").replace("http:", "https:")


async def crawl(folder: Path, seed: str, until: type[Event] | None = None) -> tuple[list[Event], list[str]]:
    """To its end, or `until` the first event of this kind. Also returns what is told on the way."""
    crawling = Crawling(seeds=(seed,), strategy="breadth-first", allow_private=True)
    asked = Config(Target(pattern="x"), crawling, politeness=Politeness(host_delay=0.0))
    events: list[Event] = []
    lines: list[str] = []
    with open_for_crawling(folder) as opened:
        async with open_session(opened, asked) as session:
            line = LiveLine(session)
            async for batch in session.run():
                line.tell(batch)
                lines.append(line.line())
                events += batch
                if until is not None and any(isinstance(event, until) for event in batch):
                    session.stop("enough")
    return events, lines


def test_without_a_ca_store_nothing_is_given_up_and_the_resumed_crawl_finds_all(
    authority: Authority, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    async def run() -> None:
        async with secure_site(authority.server("valid", ADDRESS)) as site:
            monkeypatch.setenv("SSL_CERT_FILE", "/nonexistent")
            monkeypatch.setenv("SSL_CERT_DIR", str(tmp_path))
            events, lines = await crawl(tmp_path / "crawl", site, until=HttpsPaused)
            assert came(events) == [] and "https links wait: no certificate was accepted" in lines[-1]
            said = capsys.readouterr().err
            assert "unable to get local issuer" in said and "check the clock of this machine, which says 2" in said
            monkeypatch.setenv("SSL_CERT_FILE", str(authority.file))
            events, _ = await crawl(tmp_path / "crawl", site)
            assert sorted(came(events)) == [site, *(f"{site}page{number}" for number in range(3))]

    asyncio.run(run())


def test_a_certificate_that_is_not_yet_valid_by_our_clock_gives_nothing_up(
    authority: Authority, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(authority.file))

    async def run() -> None:
        context = authority.server("early", ADDRESS, since=FAR_AHEAD, until=FARTHER)
        async with secure_site(context) as site:
            events, _ = await crawl(tmp_path / "crawl", site, until=HttpsPaused)
            (paused,) = [event for event in events if isinstance(event, HttpsPaused)]
            assert "not yet valid" in paused.reason and came(events) == []
            authority.server("valid", ADDRESS, into=context)  # as if the clock had been set
            assert len(came((await crawl(tmp_path / "crawl", site))[0])) == 4

    asyncio.run(run())


def test_a_crawl_without_a_ca_store_says_so_at_its_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", "/nonexistent")
    monkeypatch.setenv("SSL_CERT_DIR", str(tmp_path))
    words = ["--keywords", "a", "--seed", "http://127.0.0.1:1/", "--max-minutes", "0.001"]
    main(["crawl", *words, "--out", str(tmp_path / "crawl")])
    (line,) = [line for line in capsys.readouterr().err.splitlines() if "CA certificates" in line]
    assert line.startswith("spoor: warning: no CA certificates are found (SSL_CERT_FILE=/nonexistent, SSL_CERT_DIR=")
    assert line.endswith("install ca-certificates, or set SSL_CERT_FILE to a file of them")


def test_a_ca_store_that_is_a_folder_is_one_too(
    authority: Authority, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", "/nonexistent")
    monkeypatch.setenv("SSL_CERT_DIR", str(tmp_path))
    assert missing_store()
    (tmp_path / "0a1b2c3d.0").write_bytes(authority.file.read_bytes())
    assert missing_store() == ""
