"""Every figure once: the totals that a crawl keeps while it runs, and everything that shows them."""

from __future__ import annotations

import asyncio
import contextlib
import json
import signal
import sqlite3
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from aiohttp import web
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client.parser import text_string_to_metric_families

from spoor import open_crawl
from spoor.cli.main import main
from spoor.crawl import Crawl
from spoor.frontier.entry import HostRules, State
from spoor.frontier.frontier import Frontier
from spoor.frontier.rows import counters_of
from spoor.frontier.sqlite import SqliteStore
from spoor.metrics import FolderMetrics, exposition, registry_of
from spoor.ordering.simple import Arrival
from spoor.pricing import Limits
from spoor.records import Failure, Link, Outcome, Page, Redirect, RobotsRules, Trouble, Visit
from spoor.report.figures import figures
from spoor.store.crawl_folder import CrawlFolder
from spoor.store.journal import Journal
from spoor.store.tables import create_tables
from spoor.store.totals import recounted, totals_of
from spoor.strategy import Strategy
from tests.forked import Forked, spoor
from tests.html_site import html
from tests.served_dashboard import served_dashboard
from tests.thread_server import served_in_thread
from tests.tiny import graph, truth

SEEDS = [f"http://h{number}.test/" for number in range(6)]
OUTCOMES: dict[str, Outcome] = {
    "page": Page("http://h0.test/", 200, links=(Link("http://h1.test/a"), Link("http://h7.test/"))),
    "redirect": Redirect("http://h8.test/", 301),
    "retry": Failure("HTTP 503", 5.0, whole_host=True),
    "failure": Failure("HTTP 404"),
    "excused": Failure("address not allowed", excused=True),
    "timeout": Failure("timed out", 5.0, unanswered=True),
    "proxy gone": Failure("proxy cannot be reached", 5.0, here=True),
    "bug": Trouble("ValueError: oops", "Traceback"),
}


def outcome_of(visit: Visit, name: str) -> Outcome:
    outcome = OUTCOMES[name]
    if visit.purpose == "robots" and isinstance(outcome, Page | Redirect):
        return RobotsRules("")
    return Page(visit.url, 200, links=outcome.links) if isinstance(outcome, Page) else outcome


@given(st.lists(st.sampled_from([*OUTCOMES, "begin", "begin", "begin", "kill", "later"]), max_size=60))
def test_each_finished_visit_has_one_result(steps: list[str]) -> None:
    """Whatever happens in whatever order, and whenever the process is killed."""
    with TemporaryDirectory() as folder, contextlib.ExitStack() as opened:
        now, under_way = 0.0, list[Visit]()
        crawl = opened_crawl(Path(folder) / "crawl.db", now, opened)
        for step in steps:
            now += 3600.0 if step == "later" else 1.0
            if step == "begin" and (visit := crawl.next_visit(now)) is not None:
                under_way.append(visit)
            elif step == "kill":
                opened.close()
                crawl, under_way = opened_crawl(Path(folder) / "crawl.db", now, opened), []
            elif step in OUTCOMES and under_way:
                visit = under_way.pop(0)
                crawl.absorb([(visit, outcome_of(visit, step))], now)
            with contextlib.closing(sqlite3.connect(Path(folder) / "crawl.db")) as db:
                check_sums(db)


def opened_crawl(database: Path, now: float, opened: contextlib.ExitStack) -> Crawl:
    store = opened.enter_context(contextlib.closing(SqliteStore(database)))
    create_tables(store.connection)
    journal = Journal.create(store.connection)
    store.write_along(journal.write)
    frontier = Frontier(store, HostRules(delay=0.5, ask_first=True), resumed_at=now)
    crawl = Crawl(Strategy(truth(graph("a.test/:")), Arrival()), frontier, Limits(tries=3), journal)
    crawl.resume(now)
    crawl.begin(SEEDS)
    return crawl


def check_sums(db: sqlite3.Connection) -> None:
    totals, counters = totals_of(db), counters_of(db.execute("SELECT name, value FROM counters"))
    assert totals.visits + totals.excused == counters.visits - counters.by_state[State.IN_TRANSIT]
    assert totals.excused == counters.excused
    assert totals == recounted(db)
    assert sum(totals.requests_by_outcome.values()) == totals.requests
    assert min(totals.requests_by_outcome.values()) >= 0


SETTINGS = """
[target]
script = "thai"
[crawl]
seeds = ["{seed}/", "{other}/"]
strategy = "breadth-first"
allow_private = true
connections = 2
sitemaps = true
[politeness]
host_delay = 0.0
"""


@dataclass
class Site:
    """Pages that come, redirect, fail for good or once, a sitemap; and a page during whose visit the crawl is killed,
    when it has gone on elsewhere."""

    crawl: Forked | None = None
    killed: asyncio.Event = field(default_factory=asyncio.Event)
    since_deadly: int = 0
    busy: set[str] = field(default_factory=set)

    async def answer(self, request: web.BaseRequest) -> web.Response:
        path = request.path
        if path == "/robots.txt":
            return web.Response(text=f"Sitemap: http://{request.host}/sitemap.xml")
        if path == "/sitemap.xml":
            entries = "".join(f"<url><loc>http://{request.host}/listed{number}</loc></url>" for number in range(2))
            return web.Response(text=f"<urlset>{entries}</urlset>", content_type="application/xml")
        if self.since_deadly or path == "/deadly":
            self.since_deadly += 1
        if self.since_deadly == 4 and self.crawl is not None:
            self.crawl.kill()
            self.killed.set()
        if path == "/deadly" and self.crawl is not None:
            await self.killed.wait()
        if path.startswith("/gone"):
            return web.Response(status=404)
        if path.startswith("/busy") and path not in self.busy:
            self.busy.add(path)
            return web.Response(status=503, headers={"Retry-After": "1"})
        if path.startswith("/elsewhere"):
            return web.Response(status=302, headers={"Location": "/1"})
        names = ("deadly", "gone", "elsewhere", "busy", "1", "2", "gone2", "busy2", "3", "4", "same", "same2")
        on_this_host = names if request.host.startswith("127") else map(str, range(10, 20))
        links = "".join(f"<a href=/{name}>ไทย {name}</a> " for name in on_this_host)
        return html(f"<p>ภาษาไทย {links if path == '/' else path}")


def test_every_figure_is_the_same_everywhere(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Of a crawl that was killed, resumed, stopped by its budget, and resumed."""
    site, out = Site(), str(tmp_path / "crawl")
    with served_in_thread(site.answer) as seed:
        settings = tmp_path / "settings.toml"
        settings.write_text(SETTINGS.format(seed=seed, other=seed.replace("127.0.0.1", "localhost")))
        crawl = ["crawl", "--out", out, "--json"]
        site.crawl = spoor(*crawl, str(settings))
        assert site.crawl.wait(60) == -signal.SIGKILL
        site.crawl = None
        for budget in ("24", "28"):
            assert main([*crawl, "--max-pages", budget]) == 0
            last = json.loads(capsys.readouterr().out)
            check_agreement(out, last, capsys)
    assert min(last["failures"], last["retries"], last["redirects"], last["excused"], last["sitemaps_read"]) > 0
    assert last["failures"] == 2 and last["redirects"] == 1
    with contextlib.closing(sqlite3.connect(tmp_path / "crawl" / "crawl.db")) as db:
        check_sums(db)


def check_agreement(out: str, last: dict[str, float], capsys: pytest.CaptureFixture[str]) -> None:
    """The last line of the crawl with the report, the dashboard and its list of hosts, metrics, export and API."""
    folder = CrawlFolder(Path(out))
    totals = open_crawl(out).totals
    assert totals.as_json() == {name: last[name] for name in totals.as_json()}
    assert totals.pages == len(list(open_crawl(out).pages(texts=False)))
    assert main(["report", out, "--json"]) == 0
    reported = json.loads(capsys.readouterr().out)
    assert totals.as_json() == {name: reported[name] for name in totals.as_json()}
    assert sum(reason.for_good for reason in figures(folder).failures) == totals.failures
    assert sum(reason.for_good + reason.for_now for reason in figures(folder).redirects) == totals.redirects
    assert figures(folder).curve[-1][:2] == (totals.visits, totals.relevant)
    assert main(["export", out, "--all", "--format", "jsonl", "--out", f"{out}.jsonl", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["exported"] == totals.pages
    with served_dashboard(folder) as served:
        served.until_searchable()
        overview, hosts = served.read("crawls/1"), served.read("crawls/1/hosts")["items"]
    same = ("visits", "requests", "pages", "relevant", "redirects", "failures", "retries", "excused", "seconds")
    assert [overview[name] for name in same] == [totals.as_json()[name] for name in same]
    of_hosts = ("pages", "relevant", "redirects", "failures", "retries")
    assert [sum(host[name] for host in hosts) for name in of_hosts] == [getattr(totals, name) for name in of_hosts]
    metrics = exposition(registry_of(FolderMetrics(folder))).decode()
    (requests,) = [one for one in text_string_to_metric_families(metrics) if one.name == "spoor_requests"]
    assert {sample.labels["outcome"]: sample.value for sample in requests.samples} == totals.requests_by_outcome
