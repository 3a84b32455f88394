"""Overview of a crawl: what it found, what it cost, what is queued, and a forecast for its budget."""

from __future__ import annotations

import json
import math
import sqlite3
from dataclasses import dataclass
from typing import Any, Literal

from spoor.crawling.guidance import Guidance
from spoor.dashboard.counts import COARSE, FINE, state_of
from spoor.dashboard.lesson_view import Teaching, teaching_of
from spoor.dashboard.reading import Reading, settings_of
from spoor.report.showing import plain
from spoor.settings import Config
from spoor.stopping import ExpectedFinds
from spoor.store.event_rows import WHILE_IT_RUNS
from spoor.store.idle_time import idle_of_run
from spoor.store.run_time import Timeline, runs_of
from spoor.store.steered import steered
from spoor.store.totals import totals_of

State = Literal["running", "paused", "ended", "killed", "empty"]
POINTS = 240
"""Maximum number of points of a curve."""
LONG = 40_000
"""Rows of a journal from which curves use the coarse table."""
LATELY = 0.2
"""Share of the visits, the latest, on which a forecast is based."""
LEAST_LATELY = 200
CERTAIN = 1.96
"""Standard deviations of a 95 % interval."""


@dataclass(frozen=True, slots=True)
class Forecast:
    """A forecast if the crawl continues at its recent rate: when its budget ends, None if unknown, and the expected
    number of relevant pages by then, with a 95 % interval. `basis` names the visits it is based on."""

    ends_at: float | None
    visits: int
    relevant: int
    at_least: int
    at_most: int
    basis: str


@dataclass(frozen=True, slots=True)
class Overview:
    """The current state of a crawl. Times are in seconds since 1970; `seconds` is how long it ran, `idle` for how many
    seconds connections were left free for better links. `visits` are those that the budget is charged for, `excused`
    the others; `requests` are all that were sent. `expected` is None if the strategy does not predict the yield of
    links, or until it is computed; `teaching` is None if the judge cannot be taught. `counted` and `searchable` are
    the shares of the journal that the dashboard has counted, and whose texts it has indexed; `blocks` are the
    patterns blocked by persons."""

    number: int
    name: str
    folder: str
    state: State
    because: str
    target: str
    strategy: str
    began: float | None
    last: float | None
    seconds: float
    visits: int
    requests: int
    pages: int
    relevant: int
    share: float
    share_lately: float
    failures: int
    retries: int
    excused: int
    redirects: int
    bytes: int
    per_second: float
    waiting: int
    returning: int
    parked: int
    in_transit: int
    hosts: int
    hosts_with_relevant: int
    idle: float
    max_pages: int | None
    max_minutes: float | None
    blocks: tuple[str, ...]
    forecast: Forecast | None
    expected: ExpectedFinds | None
    teaching: Teaching | None
    counted: float
    searchable: float


@dataclass(frozen=True, slots=True)
class OverviewQuery:
    """Has no parameters."""


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """Cumulative counts at one time, when the crawl had run for so many `seconds`."""

    at: float
    seconds: float
    visits: int
    pages: int
    relevant: int
    failures: int
    bytes: int
    waiting: int


def overview(reading: Reading, asked: OverviewQuery) -> Overview:
    db = reading.db
    settings = settings_of(reading)
    curve = curve_of(reading)
    counters = dict(db.execute("SELECT name, value FROM counters"))
    totals = totals_of(db)
    stops = _stops(db)
    began = _began(db)
    last = curve[-1].at if curve else None
    lately = _lately(curve, totals.seconds)
    hosts, with_relevant = db.execute(
        "SELECT (SELECT count(*) FROM counted.hosts), (SELECT count(*) FROM counted.hosts WHERE relevant > 0)"
    ).fetchone()
    guidance = Guidance.of(steered(db))
    state, because = _state(reading, stops, guidance.paused_by)
    return Overview(
        number=reading.number,
        name=plain(reading.folder.name, 80),
        folder=plain(str(reading.folder.path)),
        state=state,
        because=because,
        target=_target(settings),
        strategy=settings.crawl.strategy if settings else "",
        began=began,
        last=last,
        seconds=totals.seconds,
        visits=totals.visits,
        requests=totals.requests,
        pages=totals.pages,
        relevant=totals.relevant,
        share=totals.relevant / totals.pages if totals.pages else 0.0,
        share_lately=lately.share,
        failures=totals.failures,
        retries=totals.retries,
        excused=totals.excused,
        redirects=totals.redirects,
        bytes=totals.page_bytes,
        per_second=lately.per_second,
        waiting=counters.get("waiting", 0),
        returning=counters.get("returning", 0),
        parked=counters.get("parked", 0),
        in_transit=counters.get("in_transit", 0),
        hosts=hosts,
        hosts_with_relevant=with_relevant,
        idle=sum(idle for _, _, idle in stops) + idle_of_run(reading.folder.idle),
        max_pages=settings.crawl.max_pages if settings else None,
        max_minutes=settings.crawl.max_minutes if settings else None,
        blocks=tuple(guidance.patterns),
        forecast=_forecast(reading, settings, counters, totals.relevant, lately)
        if state in ("running", "paused")
        else None,
        expected=reading.expected,
        teaching=teaching_of(db, settings),
        **_progress(db),
    )


def curve_of(reading: Reading) -> list[CurvePoint]:
    """At most `POINTS` points, equally spaced in the journal."""
    db = reading.db
    return reading.memory.of(
        "curve", tuple(state_of(db, name) for name in ("journal", "lesson", "verdict")), lambda: _curve(db)
    )


def _curve(db: sqlite3.Connection) -> list[CurvePoint]:
    table, bucket = ("coarse_curve", COARSE) if state_of(db, "journal") > LONG else ("fine_curve", FINE)
    width = max(1, math.ceil(state_of(db, "journal") / bucket / POINTS))
    query = (
        f"SELECT bucket / {width}, max(number), at, sum(visits), sum(pages), sum(relevant), sum(failures), "
        f"sum(bytes), waiting FROM counted.{table} GROUP BY 1 ORDER BY 1"
    )
    points, sums, times = list[CurvePoint](), [0] * 5, Timeline(runs_of(db))
    for _, number, at, *counts, waiting in db.execute(query):
        sums = [known + more for known, more in zip(sums, counts, strict=True)]
        visits, pages, relevant, failures, volume = sums
        ran = times.ran(number, at)
        points.append(CurvePoint(at, ran, visits, pages, relevant, failures, volume, waiting))
    return points


@dataclass(frozen=True, slots=True)
class _Lately:
    visits: int
    pages: int
    relevant: int
    seconds: float

    @property
    def share(self) -> float:
        """Relevant pages divided by pages."""
        return self.relevant / self.pages if self.pages else 0.0

    @property
    def harvest(self) -> float:
        """Relevant pages divided by visits."""
        return self.relevant / self.visits if self.visits else 0.0

    @property
    def per_second(self) -> float:
        return self.visits / self.seconds if self.seconds > 0 else 0.0


def _lately(curve: list[CurvePoint], seconds: float) -> _Lately:
    """The end of a crawl that ran for so many seconds."""
    if not curve:
        return _Lately(0, 0, 0, 0.0)
    end = curve[-1]
    reach = max(LEAST_LATELY, int(LATELY * end.visits))
    before = [point for point in curve if point.visits <= end.visits - reach]
    begin = before[-1] if before else CurvePoint(curve[0].at, 0.0, 0, 0, 0, 0, 0, 0)
    counts = (end.visits - begin.visits, end.pages - begin.pages, end.relevant - begin.relevant)
    return _Lately(*counts, seconds - begin.seconds)


def _forecast(
    reading: Reading, settings: Config | None, counters: dict[str, int], relevant: int, lately: _Lately
) -> Forecast | None:
    """None if there is no budget, or no data."""
    if settings is None or not lately.visits or not lately.per_second:
        return None
    left = list[float]()
    if settings.crawl.max_pages is not None:
        spent = counters.get("visits", 0) - counters.get("excused", 0)
        left.append(max(0, settings.crawl.max_pages - spent))
    if settings.crawl.max_minutes is not None:
        left.append(max(0.0, 60 * settings.crawl.max_minutes - runs_of(reading.db)[-1].seconds) * lately.per_second)
    if not left:
        return None
    visits, share = int(min(left)), lately.harvest
    # Both the future visits and the sample they are estimated from vary randomly.
    spread = CERTAIN * math.sqrt(max(share * (1 - share), 1 / lately.visits) * visits * (1 + visits / lately.visits))
    return Forecast(
        ends_at=reading.now + visits / lately.per_second,
        visits=visits,
        relevant=relevant + round(share * visits),
        at_least=relevant + max(0, math.floor(share * visits - spread)),
        at_most=relevant + min(visits, math.ceil(share * visits + spread)),
        basis=f"the last {lately.visits:,} visits",
    )


def _state(reading: Reading, stops: list[tuple[int, str, float]], paused_by: str) -> tuple[State, str]:
    """The state, and why the crawl ended or is paused."""
    newest = f"SELECT id FROM events WHERE {WHILE_IT_RUNS} ORDER BY id DESC LIMIT 1"
    (last,) = reading.db.execute(
        f"SELECT max(ifnull((SELECT max(id) FROM pages), 0), ifnull(({newest}), 0))"
    ).fetchone()
    if reading.running:
        if paused_by:
            return "paused", f"{paused_by} paused it"
        paused = _newest(reading.db, "paused")
        resumed = _newest(reading.db, "resumed")
        if paused is not None and (resumed is None or resumed[0] < paused[0]):
            return "paused", f"nothing answers: {_detail(paused[1]).get('reason', '')}"
        return "running", ""
    if stops and stops[-1][0] == last:
        return "ended", stops[-1][1]
    return ("killed", "it was killed") if last else ("empty", "nothing has been fetched yet")


def _newest(db: sqlite3.Connection, kind: str) -> tuple[int, str] | None:
    query = "SELECT id, detail FROM events WHERE id = (SELECT max(id) FROM counted.happened WHERE kind = ?)"
    row: tuple[int, str] | None = db.execute(query, (kind,)).fetchone()
    return row


def _stops(db: sqlite3.Connection) -> list[tuple[int, str, float]]:
    """The end of each run: its position in the journal, the reason, and the seconds that were idle by choice."""
    query = (
        "SELECT id, detail FROM events WHERE id IN (SELECT id FROM counted.happened WHERE kind = 'ended') ORDER BY id"
    )
    details = [(number, _detail(detail)) for number, detail in db.execute(query)]
    return [(number, str(said.get("because", "")), float(said.get("idle", 0.0))) for number, said in details]


def _detail(text: str) -> dict[str, Any]:
    found = json.loads(text)
    return found if isinstance(found, dict) else {}


def _began(db: sqlite3.Connection) -> float | None:
    first = "(SELECT {0} FROM {1} WHERE {0} IS NOT NULL ORDER BY id LIMIT 1)"
    row = db.execute(f"SELECT {first.format('started', 'pages')}, {first.format('started', 'events')}").fetchone()
    return min((moment for moment in row if moment is not None), default=None)


def _progress(db: sqlite3.Connection) -> dict[str, float]:
    (last,) = db.execute(
        "SELECT max(ifnull((SELECT max(id) FROM pages), 0), ifnull((SELECT max(id) FROM events), 0))"
    ).fetchone()
    (last_page,) = db.execute("SELECT ifnull(max(id), 0) FROM pages").fetchone()
    reached = (state_of(db, "journal") / last if last else 1.0, state_of(db, "texts") / last_page if last_page else 1.0)
    return dict(zip(("counted", "searchable"), reached, strict=True))


def _target(settings: Config | None) -> str:
    """What makes a page relevant, in one line."""
    named = settings.target.named() if settings else {}
    return "; ".join(
        f"{name} {', '.join(value) if isinstance(value, tuple) else value}" for name, value in named.items()
    )
