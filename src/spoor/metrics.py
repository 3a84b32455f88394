"""Prometheus metrics of crawls: of one running in this process, and of any crawl folder, read-only.

Both have the same names, so that one Grafana dashboard shows either, and the same counters: the totals of all runs.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Protocol

from aiohttp import web
from prometheus_client import CollectorRegistry, GCCollector, ProcessCollector
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest
from prometheus_client.registry import Collector

from spoor.crawling.guidance import Guidance
from spoor.errors import UsageError
from spoor.frontier.entry import State
from spoor.frontier.rows import counters_of
from spoor.store.crawl_folder import CrawlFolder, is_open_for_crawling
from spoor.store.idle_time import idle_of_run
from spoor.store.journal import open_to_read
from spoor.store.steered import steered
from spoor.store.totals import NOTHING, CrawlTotals, totals_of

# The metrics and their names.


BOUNDS = (0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
"""Upper bounds of the latency buckets, in seconds."""


@dataclass
class Durations:
    """A histogram of durations in seconds; the last of `counts` is for those above all bounds."""

    counts: list[int] = field(default_factory=lambda: [0] * (len(BOUNDS) + 1))
    total: float = 0.0

    def buckets(self) -> list[tuple[str, float]]:
        """In the form of Prometheus: cumulative."""
        names = [*map(str, BOUNDS), "+Inf"]
        return list(zip(names, map(float, accumulate(self.counts)), strict=True))


@dataclass
class CrawlCounts:
    """The figures of one crawl. None if not known, as for a crawl in another process."""

    totals: CrawlTotals = NOTHING
    latencies: Durations = field(default_factory=Durations)
    links: Mapping[State, int] = field(default_factory=dict)
    idle: float = 0.0
    paused: bool = False
    running: bool = True
    in_flight: int | None = None
    hosts_delayed: int | None = None
    frontier_seconds: float | None = None
    judge_seconds: float | None = None


class MeasuredCrawl(Protocol):
    """A crawl with its name, which is a label of all its metrics, and its current figures."""

    @property
    def crawl(self) -> str: ...

    def counts(self) -> CrawlCounts: ...


Single = tuple[type[CounterMetricFamily | GaugeMetricFamily], str, str, Callable[[CrawlCounts], float | None]]

_SINGLE: tuple[Single, ...] = (
    (CounterMetricFamily, "spoor_relevant_pages", "Pages that were judged relevant.", lambda c: c.totals.relevant),
    (CounterMetricFamily, "spoor_page_bytes", "Bytes of pages.", lambda c: c.totals.page_bytes),
    (CounterMetricFamily, "spoor_run_seconds", "How long the crawl ran.", lambda c: c.totals.seconds),
    (CounterMetricFamily, "spoor_idle_by_choice_seconds", "Connections left free for better links.", lambda c: c.idle),
    (
        CounterMetricFamily,
        "spoor_frontier_seconds",
        "Decisions and recording of outcomes.",
        lambda c: c.frontier_seconds,
    ),
    (CounterMetricFamily, "spoor_judge_seconds", "Judging pages.", lambda c: c.judge_seconds),
    (GaugeMetricFamily, "spoor_running", "Whether a process crawls.", lambda c: c.running),
    (GaugeMetricFamily, "spoor_paused", "Whether a person paused it.", lambda c: c.paused),
    (GaugeMetricFamily, "spoor_requests_in_flight", "Requests under way.", lambda c: c.in_flight),
    (GaugeMetricFamily, "spoor_hosts_delayed", "Hosts under a delay.", lambda c: c.hosts_delayed),
)
"""The metrics with one value per crawl."""


@dataclass(frozen=True, eq=False)
class CrawlCollector(Collector):
    """The metrics of several crawls, grouped by name, as the format requires."""

    sources: Sequence[MeasuredCrawl]

    def collect(self) -> Iterator[Metric]:
        crawls = {source.crawl: source.counts() for source in self.sources}
        yield _requests(crawls)
        yield _links(crawls)
        yield _latencies(crawls)
        for kind, name, meaning, value in _SINGLE:
            family = kind(name, meaning, labels=["crawl"])
            for crawl, counts in crawls.items():
                if (number := value(counts)) is not None:
                    family.add_metric([crawl], float(number))
            yield family


def _requests(crawls: Mapping[str, CrawlCounts]) -> Metric:
    family = CounterMetricFamily("spoor_requests", "Requests by outcome.", labels=["crawl", "outcome"])
    for crawl, counts in crawls.items():
        for outcome, number in counts.totals.requests_by_outcome.items():
            family.add_metric([crawl, outcome], number)
    return family


def _links(crawls: Mapping[str, CrawlCounts]) -> Metric:
    family = GaugeMetricFamily("spoor_links", "Known URLs by state.", labels=["crawl", "state"])
    for crawl, counts in crawls.items():
        for state, number in counts.links.items():
            family.add_metric([crawl, state.name.lower().replace("_", " ")], number)
    return family


def _latencies(crawls: Mapping[str, CrawlCounts]) -> Metric:
    family = HistogramMetricFamily("spoor_request_seconds", "From request to verdict.", labels=["crawl"])
    for crawl, counts in crawls.items():
        family.add_metric([crawl], counts.latencies.buckets(), counts.latencies.total)
    return family


# A folder that is only read, and a crawl in this process.


_SUMS = ", ".join(f"ifnull(sum(ended - started <= {bound}), 0)" for bound in BOUNDS)
_NEW_PAGES = f"SELECT count(*), ifnull(sum(ended - started), 0), {_SUMS} FROM pages WHERE id > ? AND id <= ?"
_IDLE = "SELECT ifnull(sum(json_extract(detail, '$.idle')), 0) FROM events WHERE id > ? AND id <= ? AND kind = 'ended'"
_LAST = "SELECT max(ifnull((SELECT max(id) FROM pages), 0), ifnull((SELECT max(id) FROM events), 0))"


@dataclass
class FolderMetrics:
    """Reads the totals, and how long the pages took that were added to the folder since the last call."""

    folder: CrawlFolder
    _counts: CrawlCounts = field(default_factory=CrawlCounts, init=False)
    _read_to: int = field(default=0, init=False)
    _idle: float = field(default=0.0, init=False)

    @property
    def crawl(self) -> str:
        return self.folder.path.resolve().name

    def counts(self) -> CrawlCounts:
        with contextlib.closing(open_to_read(self.folder.database)) as db:
            db.execute("BEGIN")  # A consistent view.
            self._count(db)
            self._counts.links = counters_of(db.execute("SELECT name, value FROM counters")).by_state
            self._counts.totals = totals_of(db)
            self._counts.paused = bool(Guidance.of(steered(db)).paused_by)
        self._counts.running = is_open_for_crawling(self.folder)
        self._counts.idle = self._idle + idle_of_run(self.folder.idle)
        return self._counts

    def _count(self, db: sqlite3.Connection) -> None:
        new = self._read_to, db.execute(_LAST).fetchone()[0]
        pages, seconds, *cumulative = db.execute(_NEW_PAGES, new).fetchone()
        self._counts.latencies.total += seconds
        shorter = 0
        for place, number in enumerate([*cumulative, pages]):
            self._counts.latencies.counts[place] += number - shorter
            shorter = number
        self._idle += db.execute(_IDLE, new).fetchone()[0]
        self._read_to = new[1]


@dataclass(frozen=True)
class CrawlMetrics:
    """Those of the folder; `present` adds what only the process knows."""

    folder: FolderMetrics
    present: Callable[[CrawlCounts], None]

    @property
    def crawl(self) -> str:
        return self.folder.crawl

    def counts(self) -> CrawlCounts:
        counts = self.folder.counts()
        self.present(counts)
        return counts


# The HTTP server.


def registry_of(*sources: MeasuredCrawl) -> CollectorRegistry:
    """Also includes memory and processor time of this process."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(CrawlCollector(sources))
    ProcessCollector(registry=registry)
    GCCollector(registry=registry)
    return registry


def exposition(registry: CollectorRegistry) -> bytes:
    """The text format of Prometheus."""
    return generate_latest(registry)


def routes(registry: CollectorRegistry) -> list[web.RouteDef]:
    """`/metrics` and `/healthz`, for any server."""

    async def metrics(request: web.Request) -> web.Response:
        return web.Response(body=exposition(registry), headers={"Content-Type": CONTENT_TYPE_LATEST})

    async def healthz(request: web.Request) -> web.Response:
        return web.Response(text="ok\n")

    return [web.get("/metrics", metrics), web.get("/healthz", healthz)]


_NAMES = ("127.0.0.1", "localhost")


@web.middleware
async def _only_from_here(
    request: web.Request, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]
) -> web.StreamResponse:
    """Without this, a web page elsewhere could read the metrics by DNS rebinding."""
    if request.host.partition(":")[0] not in _NAMES:
        raise web.HTTPForbidden(text=f"ask for {_NAMES[0]}\n")
    return await handler(request)


@contextlib.asynccontextmanager
async def serving(registry: CollectorRegistry, port: int) -> AsyncIterator[str]:
    """Yields the address, and serves until the context is left. `port` 0 selects a free one."""
    app = web.Application(middlewares=[_only_from_here])
    app.add_routes(routes(registry))
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    try:
        try:
            await web.TCPSite(runner, _NAMES[0], port).start()
        except OSError as error:
            raise UsageError(f"cannot serve metrics at port {port}: {error.strerror}; give --metrics another") from None
        yield f"http://{_NAMES[0]}:{runner.addresses[0][1]}/metrics"
    finally:
        await runner.cleanup()
