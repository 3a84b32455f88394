"""robots.txt over real sockets: without it nothing is fetched, and the servers' own logs show every delay."""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import os
import random
import shutil
import socket
import sqlite3
import ssl
import subprocess
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web as http

from spoor import settings as config
from spoor.crawl import Crawl
from spoor.events import Event, Failed, Refused, Visited
from spoor.fetch.decoding import FetchLimits
from spoor.fetch.http import HttpFetcher
from spoor.frontier.entry import HostRules
from spoor.frontier.frontier import Frontier
from spoor.frontier.memory import MemoryStore
from spoor.judging.language_judges import ScriptShare
from spoor.live.downloader import LiveDownloader, PageFetcher
from spoor.live.driver import LiveDriver
from spoor.live.from_settings import AGENT, host_rules
from spoor.live.page_reader import Reader
from spoor.live.session import open_session
from spoor.ordering.simple import Arrival
from spoor.parse.html import DEFAULT_OPTIONS
from spoor.pricing import Limits
from spoor.report.politeness import PolitenessRules, conduct
from spoor.settings import Config, Crawling, Politeness, Target
from spoor.store.crawl_folder import open_for_crawling, open_for_reading
from spoor.store.incidents import SavedTroubles
from spoor.strategy import Strategy
from tests.forked import Forked, spoor
from tests.logged_hosts import LoggedHosts, leads_to, says, serving

SHORT = FetchLimits(connect=1.0, idle=0.4, whole=0.8)
QUICK = HostRules(ask_first=True)
DISALLOW = "User-agent: *\nDisallow: /page1"


async def crawl(seeds: list[str], allow_private: bool = True, rules: HostRules = QUICK) -> tuple[Crawl, list[Event]]:
    """Until every robots.txt was tried once."""
    strategy = Strategy(ScriptShare("thai"), Arrival())
    crawl = Crawl(strategy, Frontier(MemoryStore(), rules), Limits(robots_tries=1))
    crawl.begin(seeds)
    events: list[Event] = []
    async with HttpFetcher("spoor", SHORT, time.time, allow_private=allow_private) as fetcher:
        downloader = LiveDownloader(PageFetcher(fetcher, Reader(strategy.judge, None, False, DEFAULT_OPTIONS, False)))
        async for batch in LiveDriver(crawl, downloader, 20, time.time, SavedTroubles(None)).run():
            events += batch
    return crawl, events


def pages(events: list[Event]) -> list[str]:
    return [event.visit.url for event in events if isinstance(event, Visited)]


def nobody_listens() -> str:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{taken.getsockname()[1]}/robots.txt"


def test_rules_that_lie_elsewhere_are_for_the_host_that_was_asked() -> None:
    async def run() -> None:
        hosts = LoggedHosts({"a": "127.0.91.1", "b": "127.0.91.2"}, {})
        hosts.robots = {
            ("a", "/robots.txt"): leads_to(lambda: hosts.url("b", "/robots.txt")),
            ("b", "/robots.txt"): says(DISALLOW),
        }
        async with serving(hosts):
            _, events = await crawl([hosts.url("a")])
            assert sorted(pages(events)) == [hosts.url("a", path) for path in ("/", "/page0", "/page2")]
            assert [request.path for request in hosts.requests("b")] == ["/robots.txt"]

    asyncio.run(run())


def test_a_session_is_bound_by_the_group_that_names_it(tmp_path: Path) -> None:
    async def run() -> None:
        groups = "User-agent: spoor\nDisallow: /page1\n\nUser-agent: *\nDisallow: /"
        hosts = LoggedHosts({"a": "127.0.91.1"}, {("a", "/robots.txt"): says(groups)})
        async with serving(hosts):
            asked = settings(hosts)
            with open_for_crawling(tmp_path / "crawl") as folder:
                async with open_session(folder, replace(asked, politeness=Politeness(host_delay=0.0))) as session:
                    events = [event async for batch in session.run() for event in batch]
            assert sorted(pages(events)) == [hosts.url("a", path) for path in ("/", "/page0", "/page2")]

    asyncio.run(run())


SENT_AS_HTML = {"Content-Type": "text/html"}
THAT_FORBID: dict[str, dict[str, Any]] = {
    "UTF-16": {"body": DISALLOW.encode("utf-16")},
    "UTF-16 without a mark": {"body": DISALLOW.encode("utf-16-le")},
    "gzip without a word": {"body": gzip.compress(DISALLOW.encode())},
    "a zero-width space": {"text": "\u200b" + DISALLOW.replace("\n", "\n\u200b")},
    "NUL": {"body": b"\0" + DISALLOW.encode() + b"\0"},
    "bytes of Latin-1": {"body": b"# caf\xe9\n" + DISALLOW.encode()},
    "HTML with rules": {"text": f"<html><body>\n{DISALLOW}\n</body></html>", "headers": SENT_AS_HTML},
}
EVERYTHING = ["/", "/page0", "/page1", "/page2"]
THAT_CLOSE: dict[str, dict[str, Any]] = {
    "status 600": {"status": 600},
    "status 999": {"status": 999},
    "a challenge, by its header": {"status": 403, "headers": SENT_AS_HTML | {"cf-mitigated": "challenge"}},
    "a challenge, by its text": {"text": "<html><title>Just a moment...</title></html>", "headers": SENT_AS_HTML},
}


@pytest.mark.parametrize("kind", [*THAT_FORBID, *THAT_CLOSE, "a page"])
def test_odd_rules_do_not_allow_everything(kind: str) -> None:
    """Only a page in place of the file says nothing (RFC 9309)."""

    async def run() -> None:
        sent = (THAT_FORBID | THAT_CLOSE).get(kind, {"text": "<html><p>Welcome", "headers": SENT_AS_HTML})
        hosts = LoggedHosts({"a": "127.0.91.1"}, {("a", "/robots.txt"): lambda before: http.Response(**sent)})
        async with serving(hosts):
            _, events = await crawl([hosts.url("a")])
        allowed = ["/", "/page0", "/page2"] if kind in THAT_FORBID else [] if kind in THAT_CLOSE else EVERYTHING
        assert sorted(pages(events)) == [hosts.url("a", path) for path in allowed]

    asyncio.run(run())


@pytest.mark.parametrize(
    "elsewhere",
    ["http://a..b/robots.txt", "http://no-such-host.invalid/robots.txt", "https://127.0.0.1:1/", "ftp://a.test/", ""],
)
def test_rules_that_lie_where_nobody_can_read_them_keep_the_host_closed(elsewhere: str) -> None:
    async def run() -> None:
        target = elsewhere or nobody_listens()
        hosts = LoggedHosts({"a": "127.0.91.1"}, {("a", "/robots.txt"): leads_to(lambda: target)})
        async with serving(hosts):
            crawled, events = await crawl([hosts.url("a")])
            assert {request.path for request in hosts.log} == {"/robots.txt"}
            assert any(isinstance(event, Failed) for event in events) and len(crawled.frontier) == 1

    asyncio.run(run())


def test_rules_that_lie_at_a_refused_address_keep_the_host_closed() -> None:
    async def run() -> None:
        hosts = LoggedHosts({"inside": "127.0.91.1"}, {})
        async with serving(hosts):
            _, events = await crawl([hosts.url("inside")], allow_private=False)
            (refused,) = [event.refusal for event in events if isinstance(event, Refused)]
            assert "127.0.91.1" in refused.because and hosts.log == []

    asyncio.run(run())


@pytest.fixture(scope="module")
def bad_certificate(tmp_path_factory: pytest.TempPathFactory) -> ssl.SSLContext:
    """Signed by nobody."""
    if shutil.which("openssl") is None:
        pytest.skip("no openssl here to make a certificate with")
    folder = tmp_path_factory.mktemp("tls")
    key, certificate = folder / "key.pem", folder / "certificate.pem"
    words = f"req -x509 -newkey rsa:2048 -nodes -days 1 -subj /CN=a.test -keyout {key} -out {certificate}"
    subprocess.run(["openssl", *words.split()], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    return context


def test_a_bad_certificate_opens_nothing(bad_certificate: ssl.SSLContext) -> None:
    async def run() -> None:
        hosts = LoggedHosts({"a": "127.0.91.1", "tls": "127.0.91.2"}, {})

        def secure(path: str) -> str:
            return hosts.url("tls", path).replace("http:", "https:")

        hosts.robots = {("a", "/robots.txt"): leads_to(lambda: secure("/robots.txt"))}
        async with serving(hosts, {"tls": bad_certificate}):
            crawled, events = await crawl([hosts.url("a"), secure("/")])
            assert pages(events) == [] and {request.path for request in hosts.log} == {"/robots.txt"}
            failed = {event.visit.url: event for event in events if isinstance(event, Failed)}
            assert failed[secure("/robots.txt")].reason.startswith("TLS certificate is not valid")
            assert len(crawled.frontier) == 2  # its link, and that of the host whose rules lie there

    asyncio.run(run())


# The servers' own logs.

CONNECTIONS = 20
OWN_DELAY, ASKED_DELAY = 0.3, 0.6
SLACK = 0.02
KILLS = int(os.environ.get("SPOOR_ROBOTS_KILLS", "3"))


def hammer() -> LoggedHosts:
    """Hosts that lead to one, to its robots.txt and to pages of it; one that leads to a page of its own, and one that
    leads to that; one that is busy at first."""
    leading = [f"leads{number}" for number in range(6)]
    paging = [f"pages{number}" for number in range(3)]
    names = ["victim", "itself", "busy", "through", *leading, *paging]
    hosts = LoggedHosts({name: f"127.0.92.{number}" for number, name in enumerate(names, 1)}, {}, seconds=0.15)
    answers = {(name, "/robots.txt"): leads_to(lambda: hosts.url("victim", "/robots.txt")) for name in leading}
    for number, name in enumerate(paging):
        answers[name, "/robots.txt"] = leads_to(lambda number=number: hosts.url("victim", f"/rules{number}"))  # type: ignore[misc]
        answers["victim", f"/rules{number}"] = says(DISALLOW)
    hosts.robots = answers | {
        ("victim", "/robots.txt"): says(f"User-agent: *\nDisallow: /page1\nCrawl-delay: {ASKED_DELAY}"),
        ("itself", "/robots.txt"): leads_to(lambda: hosts.url("itself", "/en/robots.txt")),
        ("itself", "/en/robots.txt"): says(DISALLOW),
        ("through", "/robots.txt"): leads_to(lambda: hosts.url("itself", "/robots.txt")),
        ("busy", "/robots.txt"): _busy_at_first,
    }
    return hosts


def _busy_at_first(before: int) -> http.Response:
    return says(DISALLOW)(0) if before >= 2 else says("", 503, Retry_After="1")(0)


def delays(hosts: LoggedHosts) -> dict[str, float]:
    slow = ("victim", *(name for name in hosts.names if name.startswith("leads")))
    return {name: ASKED_DELAY if name in slow else OWN_DELAY for name in hosts.names}


def settings(hosts: LoggedHosts) -> Config:
    seeds = tuple(hosts.url(name) for name in hosts.names)
    crawling = Crawling(seeds=seeds, strategy="breadth-first", connections=CONNECTIONS, allow_private=True)
    return Config(Target(script="thai"), crawling, politeness=Politeness(host_delay=OWN_DELAY))


async def crawl_and_kill(hosts: LoggedHosts, folder: Path, kills: int) -> None:
    (folder / "crawl.toml").write_text(config.dumps(settings(hosts)), "utf8")
    chance = random.Random(5)
    for _ in range(kills):
        process = start(folder)
        enough = len(hosts.log) + chance.randint(1, 12)
        while process.poll() is None and (len(hosts.log) < enough or not hosts.under_way):
            await asyncio.sleep(0.005)
        assert process.poll() is None and hosts.under_way, "the kill must fall while something is under way"
        process.kill()
        process.wait()
        # Of a crawl delay that came just before the kill nobody knows: after the own delay the host is asked again.
        await asyncio.sleep(hosts.seconds + ASKED_DELAY)
    assert await asyncio.to_thread(start(folder).wait, 300) == 0


def start(folder: Path) -> Forked:
    """The first time with settings, later with what the folder says."""
    begun = (folder / "crawl" / "crawl.toml").exists()
    words = ["crawl", *([] if begun else [str(folder / "crawl.toml")]), "--out", str(folder / "crawl")]
    return spoor(*words)


def in_our_log(folder: Path) -> Counter[str]:
    with contextlib.closing(sqlite3.connect(folder / "crawl" / "crawl.db")) as db:
        asked = "SELECT url FROM pages UNION ALL SELECT url FROM events WHERE started IS NOT NULL"
        return Counter(url for (url,) in db.execute(asked))


def in_their_logs(hosts: LoggedHosts) -> Counter[str]:
    names: Mapping[str, str] = {address: name for name, address in hosts.names.items()}
    return Counter(hosts.url(names[request.host], request.path) for request in hosts.log)


@pytest.mark.parametrize("kills", [0, KILLS])
def test_no_request_that_any_server_saw_came_too_soon(kills: int, tmp_path: Path) -> None:
    async def run() -> None:
        hosts = hammer()
        async with serving(hosts):
            await crawl_and_kill(hosts, tmp_path, kills)
        assert hosts.too_soon(delays(hosts), SLACK) == []
        ours, theirs = in_our_log(tmp_path), in_their_logs(hosts)
        # Of what was under way at a kill, or had just come, nobody could write down the end.
        assert ours - theirs == Counter() and (theirs - ours).total() <= kills * CONNECTIONS
        fetched = {url for url in ours if not url.endswith(("robots.txt", "rules0", "rules1", "rules2"))}
        assert fetched == {hosts.url(name, path) for name in hosts.names for path in ("/", "/page0", "/page2")}
        if not kills:
            asked = Counter(request.path for request in hosts.requests("victim"))
            assert max(asked.values()) == 1
        told = conduct(open_for_reading(tmp_path / "crawl"), PolitenessRules(host_rules(settings(hosts)), AGENT))
        assert told.breaches == () and told.visits == ours.total()

    asyncio.run(run())
