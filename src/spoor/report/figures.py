"""The figures of a crawl: everything that report.html shows, counted in crawl.db."""

from __future__ import annotations

import heapq
import json
import sqlite3
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import groupby, islice
from operator import itemgetter
from typing import Any

from spoor.events import Steered
from spoor.expected_finds import ExpectedFinds
from spoor.progress import Advance, unseen
from spoor.report.showing import one_moment
from spoor.store.crawl_folder import CrawlFolder
from spoor.store.event_rows import WHILE_IT_RUNS
from spoor.store.journal import needs_scripts_column
from spoor.store.recent import expected_in
from spoor.store.renders import render_totals
from spoor.store.steered import steered
from spoor.teaching.history import TaughtSoFar, taught_so_far

MOST_ROWS = 20
"""Of each table; the rest is counted together."""
CURVE_POINTS = 200

Curve = tuple[tuple[int, int, int], ...]
"""Visits, relevant pages found, links waiting."""


@dataclass(frozen=True, slots=True)
class Totals:
    """`visits` = `pages` + `redirects` + `failures`. `sitemaps` is how often one was read, `from_sitemaps` how many
    links were let in by that. `needs_scripts` are pages of which hardly anything could be read, `rendered` those whose
    scripts were run, for `render_seconds`; `gained_by_rendering` how many of these gained text or links. Times in
    seconds since the epoch, sizes in bytes."""

    pages: int
    relevant: int
    redirects: int
    failures: int
    given_up: int
    hosts: int
    hosts_with_pages: int
    hosts_with_relevant: int
    dropped: int
    duplicates: int
    near_duplicates: int
    not_kept: int
    sitemaps: int
    from_sitemaps: int
    needs_scripts: int
    rendered: int
    gained_by_rendering: int
    render_seconds: float
    bytes: int
    median_size: int
    began: float
    ended: float

    @property
    def visits(self) -> int:
        return self.pages + self.redirects + self.failures

    @property
    def seconds(self) -> float:
        return self.ended - self.began


@dataclass(frozen=True, slots=True)
class Stop:
    """The end of a run; `idle`: seconds of it in which a connection was left free for better links."""

    at: float
    because: str
    idle: float


@dataclass(frozen=True, slots=True)
class Kind:
    """Pages that have something in common, and how many of them were relevant."""

    name: str
    pages: int
    relevant: int


@dataclass(frozen=True, slots=True)
class Reason:
    """Why something did not come to pass: how often for good, and how often only for now."""

    because: str
    for_good: int
    for_now: int


@dataclass(frozen=True, slots=True)
class Pace:
    """The median of the seconds that a visit to this host took."""

    host: str
    seconds: float
    visits: int


@dataclass(frozen=True, slots=True)
class Incident:
    """Something out of the ordinary. `longest`: seconds that it took at most; None: it takes no time."""

    what: str
    times: int
    longest: float | None


@dataclass(frozen=True, slots=True)
class Find:
    """A relevant page."""

    url: str
    title: str
    relevance: float
    because: str


@dataclass(frozen=True, slots=True)
class Figures:
    """`stops` has one for each time the crawl stopped; `going_on` is True when something was done after the last of
    them: the crawl runs, or was killed. `links` counts by the states of the frontier."""

    name: str
    totals: Totals
    links: Counter[str]
    stops: tuple[Stop, ...]
    going_on: bool
    curve: Curve
    statuses: tuple[Kind, ...]
    languages: tuple[Kind, ...]
    labels: tuple[Kind, ...]
    hosts: tuple[Kind, ...]
    failures: tuple[Reason, ...]
    refusals: tuple[Reason, ...]
    redirects: tuple[Reason, ...]
    slowest: tuple[Pace, ...]
    incidents: tuple[Incident, ...]
    steered: tuple[Steered, ...]
    taught: TaughtSoFar
    finds: tuple[Find, ...]
    expected: ExpectedFinds | None


def figures(folder: CrawlFolder, advance: Advance = unseen) -> Figures:
    """As of one moment, so that the numbers agree with one another though a crawl may be running. `advance` is told of
    each of the `PARTS`. What is in memory at once does not grow with the crawl, but for the visits to one host."""
    parts: dict[str, Any] = {}
    with one_moment(folder) as db:
        _count_by_host(db)
        for name, count in PARTS.items():
            parts[name] = count(db)
            advance(1)
    stops, incidents = parts["stops"], (*parts.pop("incidents"), *_untranslated(folder))
    going_on = not stops or parts["totals"].ended > stops[-1].at
    name, expected = folder.path.resolve().name, expected_in(folder)
    return Figures(name=name, going_on=going_on, incidents=incidents, expected=expected, **parts)


def _count_by_host(db: sqlite3.Connection) -> None:
    """Makes a table beside the database. By the index of pages it would be a jump to and fro for every page."""
    counted = "SELECT host, count(*) AS pages, sum(relevant) AS relevant FROM pages NOT INDEXED GROUP BY host"
    db.execute(f"CREATE TEMP TABLE by_host AS {counted}")


def _totals(db: sqlite3.Connection) -> Totals:
    pages, relevant, volume = _row(db, "SELECT count(*), ifnull(sum(relevant), 0), ifnull(sum(size), 0) FROM pages")
    failed = "FROM events WHERE kind = 'failed' AND number IS NOT NULL"
    duplicates, near_duplicates = _duplicates(db)
    let_in = "ifnull(sum(json_extract(detail, '$.added')), 0)"
    sitemaps, from_sitemaps = _row(db, f"SELECT count(*), {let_in} FROM events WHERE kind = 'sitemap read'")
    began, ended = _span(db)
    renders = render_totals(db)
    return Totals(
        pages=pages,
        relevant=relevant,
        redirects=_count(db, "FROM events WHERE kind = 'redirected'"),
        failures=_count(db, failed),
        given_up=_count(db, f"{failed} AND json_extract(detail, '$.again_at') IS NULL"),
        hosts=_count(db, "FROM hosts"),
        hosts_with_pages=_count(db, "FROM temp.by_host"),
        hosts_with_relevant=_count(db, "FROM temp.by_host WHERE relevant"),
        dropped=_count(db, "FROM dropped") + _count(db, f"FROM events WHERE {_TURNED_AWAY}"),
        duplicates=duplicates,
        near_duplicates=near_duplicates,
        not_kept=_count(db, "FROM pages WHERE warc_file = ''"),
        sitemaps=sitemaps,
        from_sitemaps=from_sitemaps,
        needs_scripts=count_needing_scripts(db),
        rendered=renders.rendered,
        gained_by_rendering=renders.gained,
        render_seconds=renders.seconds,
        bytes=volume,
        median_size=_median_size(db, pages),
        began=began,
        ended=ended,
    )


def count_needing_scripts(db: sqlite3.Connection) -> int:
    """Pages of which hardly anything could be read, because scripts make them."""
    return int(db.execute(f"SELECT count(*) FROM pages WHERE {needs_scripts_column(db)}").fetchone()[0])


def _duplicates(db: sqlite3.Connection) -> tuple[int, int]:
    """Pages with the payload of an earlier one, and pages with nearly its text."""
    duplicates = "FROM pages {} WHERE duplicate_of != ''"
    alike = _count(db, duplicates.format(""))
    same = _count(db, duplicates.format("JOIN digests USING (digest)") + " AND duplicate_of = digests.url")
    return same, alike - same


def _median_size(db: sqlite3.Connection, pages: int) -> int:
    row = db.execute("SELECT size FROM pages ORDER BY size LIMIT 1 OFFSET ?", (pages // 2,)).fetchone()
    return int(row[0]) if row else 0


def _span(db: sqlite3.Connection) -> tuple[float, float]:
    """From the beginning of the first visit to the end of the last; nothing has happened yet: the epoch."""
    began, ended = _row(
        db,
        "SELECT min(started), max(ended) FROM (SELECT started, ended FROM pages UNION ALL "
        f"SELECT started, at FROM events WHERE kind != 'ended' AND {WHILE_IT_RUNS})",
    )
    return began or 0.0, ended or 0.0


def _stops(db: sqlite3.Connection) -> tuple[Stop, ...]:
    rows = db.execute("SELECT at, detail FROM events WHERE kind = 'ended' ORDER BY id")
    details = ((at, json.loads(detail)) for at, detail in rows)
    return tuple(Stop(at, detail["because"], detail.get("idle", 0.0)) for at, detail in details)


_PIECE = """
SELECT count(*), sum(relevant), waiting, max(id) FROM (
    SELECT id, relevant, waiting FROM pages WHERE id > :after AND id <= :until
    UNION ALL
    SELECT id, 0, json_extract(detail, '$.waiting') FROM events
    WHERE number IS NOT NULL AND id > :after AND id <= :until
)
"""
"""Visits in a piece of the journal, which numbers pages and events together; `waiting` is that of its last visit."""


def _curve(db: sqlite3.Connection) -> Curve:
    return tuple(_points(db))


def _points(db: sqlite3.Connection) -> Iterator[tuple[int, int, int]]:
    """In the order in which visits ended, at equal distances in the journal."""
    (last,) = _row(db, "SELECT max(ifnull((SELECT max(id) FROM pages), 0), ifnull((SELECT max(id) FROM events), 0))")
    points, visits, found = min(CURVE_POINTS, last), 0, 0
    for point in range(points):
        piece = {"after": last * point // points, "until": last * (point + 1) // points}
        more, relevant, waiting, _ = db.execute(_PIECE, piece).fetchone()
        if more:
            visits, found = visits + more, found + relevant
            yield visits, found, waiting


def _kinds(db: sqlite3.Connection, column: str) -> tuple[Kind, ...]:
    """Pages by what they have in this column, if anything; the commonest first."""
    rows = db.execute(
        f"SELECT {column}, count(*), sum(relevant) FROM pages WHERE ifnull({column}, '') != '' "
        f"GROUP BY {column} ORDER BY count(*) DESC, {column}"
    )
    kinds = [Kind(str(name), pages, relevant) for name, pages, relevant in islice(rows, MOST_ROWS)]
    others, pages, relevant = 0, 0, 0
    for _, more_pages, more_relevant in rows:
        others, pages, relevant = others + 1, pages + more_pages, relevant + more_relevant
    return tuple([*kinds, Kind(f"{others} others", pages, relevant)] if others else kinds)


def _hosts(db: sqlite3.Connection) -> tuple[Kind, ...]:
    """Those that gave most, and of two that gave as much the one that took fewer visits."""
    rows = db.execute(
        f"SELECT host, pages, relevant FROM temp.by_host ORDER BY relevant DESC, pages, host LIMIT {MOST_ROWS}"
    )
    return tuple(Kind(*row) for row in rows)


def _failures(db: sqlite3.Connection) -> tuple[Reason, ...]:
    """By reason, those of robots.txt and sitemaps included; for good: not tried again."""
    rows = db.execute(
        "SELECT json_extract(detail, '$.purpose'), json_extract(detail, '$.reason'), "
        "json_extract(detail, '$.again_at') IS NULL, count(*) FROM events WHERE kind = 'failed' GROUP BY 1, 2, 3"
    )
    whose = {"page": "", "robots": "robots.txt: ", "sitemap": "sitemap: "}
    return _reasons((whose[purpose] + reason, *rest) for purpose, reason, *rest in rows)


_TURNED_AWAY = "kind = 'refused' AND NOT json_extract(detail, '$.parked')"


def _refusals(db: sqlite3.Connection) -> tuple[Reason, ...]:
    """Links that were not followed; for good: dropped when discovered or when their turn came, for now: parked."""
    queries = (
        "SELECT because, 1, count(*) FROM dropped GROUP BY 1",
        f"SELECT json_extract(detail, '$.because'), 1, count(*) FROM events WHERE {_TURNED_AWAY} GROUP BY 1",
        "SELECT because, 0, count(*) FROM links WHERE state = 2 GROUP BY 1",
    )
    return _reasons(row for query in queries for row in db.execute(query))


WITH_COOKIES = "a loop, once more with the cookies that were set in it"


def _redirects(db: sqlite3.Connection) -> tuple[Reason, ...]:
    """What became of their targets; for good: not queued, for now: queued."""
    rows = db.execute(
        "SELECT json_extract(detail, '$.again'), json_extract(detail, '$.because'), "
        "json_extract(detail, '$.because') != '', count(*) FROM events WHERE kind = 'redirected' GROUP BY 1, 2"
    )
    return _reasons((because or (WITH_COOKIES if again else "followed"), *rest) for again, because, *rest in rows)


def _reasons(rows: Iterator[Any]) -> tuple[Reason, ...]:
    """Rows of (reason, for good, how many), the commonest reasons first."""
    for_good, for_now = Counter[str](), Counter[str]()
    for because, final, count in rows:
        (for_good if final else for_now)[because] += count
    ordered = sorted((for_good + for_now).items(), key=lambda item: (-item[1], item[0]))
    reasons = [Reason(because, for_good[because], for_now[because]) for because, _ in ordered[:MOST_ROWS]]
    rest = [because for because, _ in ordered[MOST_ROWS:]]
    if rest:
        counts = (sum(for_good[because] for because in rest), sum(for_now[because] for because in rest))
        reasons.append(Reason(f"{len(rest)} other reasons", *counts))
    return tuple(reasons)


_DURATIONS = """
SELECT host, ended - started FROM pages NOT INDEXED
UNION ALL
SELECT host, at - started FROM events NOT INDEXED WHERE number IS NOT NULL
ORDER BY 1, 2
"""
"""Of every visit to a page, whatever came of it."""


def _slowest(db: sqlite3.Connection) -> tuple[Pace, ...]:
    paces = _paces(db.execute(_DURATIONS))
    return tuple(heapq.nsmallest(MOST_ROWS // 2, paces, key=lambda pace: (-pace.seconds, pace.host)))


def _paces(rows: Iterable[tuple[str, float]]) -> Iterator[Pace]:
    """Of hosts whose visits come one after another, the quickest first."""
    for host, visits in groupby(rows, itemgetter(0)):
        seconds = array("d", (duration for _, duration in visits))
        count = len(seconds)
        yield Pace(host, (seconds[(count - 1) // 2] + seconds[count // 2]) / 2, count)


_INCIDENTS = """
SELECT CASE kind
    WHEN 'trouble' THEN 'an error in spoor, a sample is in trouble/: ' || json_extract(detail, '$.reason')
    WHEN 'held' THEN 'everything else waited for one step'
    WHEN 'paused' THEN 'nothing answered, the crawl paused: ' || json_extract(detail, '$.reason')
    WHEN 'resumed' THEN 'something answered again, the crawl resumed'
    WHEN 'clock set' THEN 'the clock of this machine was set'
    WHEN 'sitemap read' THEN CASE json_extract(detail, '$.cut')
        WHEN '' THEN 'a sitemap lists URLs of other hosts, which were left out'
        ELSE 'a sitemap was not read to its end: ' || json_extract(detail, '$.cut') END
END AS what, count(*), max(abs(json_extract(detail, '$.seconds')))
FROM events WHERE kind IN ('trouble', 'held', 'paused', 'resumed', 'clock set')
OR (kind = 'sitemap read' AND (json_extract(detail, '$.cut') != '' OR json_extract(detail, '$.foreign')))
GROUP BY what ORDER BY min(id)
"""


def _incidents(db: sqlite3.Connection) -> tuple[Incident, ...]:
    return tuple(Incident(*row) for row in db.execute(f"{_INCIDENTS} LIMIT {MOST_ROWS}"))


def _steered(db: sqlite3.Connection) -> tuple[Steered, ...]:
    """The last of them."""
    return tuple(steered(db)[-MOST_ROWS:])


def _untranslated(folder: CrawlFolder) -> Iterator[Incident]:
    for reason, texts in folder.translations.untranslated().most_common(MOST_ROWS):
        yield Incident(f"a text was used as it is, because the translator {reason}", texts, None)


def _finds(db: sqlite3.Connection) -> tuple[Find, ...]:
    """The best of the relevant pages, and of equals the first found. Copies are left out."""
    rows = db.execute(
        "SELECT url, title, relevance, because FROM pages WHERE relevant AND duplicate_of = '' "
        f"ORDER BY relevance DESC, id LIMIT {MOST_ROWS}"
    )
    return tuple(Find(*row) for row in rows)


def _links(db: sqlite3.Connection) -> Counter[str]:
    return Counter(dict(db.execute("SELECT name, value FROM counters")))


PARTS: dict[str, Callable[[sqlite3.Connection], Any]] = {
    "totals": _totals,
    "links": _links,
    "stops": _stops,
    "curve": _curve,
    "statuses": partial(_kinds, column="status"),
    "languages": partial(_kinds, column="language"),
    "labels": partial(_kinds, column="label"),
    "hosts": _hosts,
    "failures": _failures,
    "refusals": _refusals,
    "redirects": _redirects,
    "slowest": _slowest,
    "incidents": _incidents,
    "steered": _steered,
    "taught": taught_so_far,
    "finds": _finds,
}
"""How each of the `Figures` is counted; `_totals` and `_hosts` after `_count_by_host`."""


def _count(db: sqlite3.Connection, of: str) -> int:
    return int(_row(db, f"SELECT count(*) {of}")[0])


def _row(db: sqlite3.Connection, query: str) -> tuple[Any, ...]:
    row: tuple[Any, ...] = db.execute(query).fetchone()
    return row
