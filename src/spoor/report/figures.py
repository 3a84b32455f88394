"""The figures of a crawl: everything that report.html shows, computed from crawl.db."""

from __future__ import annotations

import heapq
import json
import sqlite3
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict
from functools import partial
from itertools import chain, groupby, islice, pairwise, repeat
from operator import itemgetter
from typing import Any

from spoor.events import Result, Steered
from spoor.progress import Advance, unseen
from spoor.report.showing import consistent_read
from spoor.report.summary import Curve, Figures, Find, Incident, Kind, Pace, Reason, Stop, Totals
from spoor.store.crawl_folder import CrawlFolder
from spoor.store.crawl_parts import TOGETHER, Part, count_shared_payloads, duplicate_of, timelines, totals_of_crawl
from spoor.store.event_rows import WHILE_IT_RUNS
from spoor.store.journal import pages_of
from spoor.store.recent import expected_in
from spoor.store.run_time import Timeline
from spoor.store.steered import steered
from spoor.teaching.history import TaughtSoFar, taught_so_far

MOST_ROWS = 20
"""Rows of each table; the others are summed up in one row."""
CURVE_POINTS = 200

Parts = Sequence[Part]


def figures(folder: CrawlFolder, advance: Advance = unseen) -> Figures:
    """Figures from a consistent view, even while the crawl is running. Calls `advance` for each of the `PARTS`. Memory
    use does not grow with the crawl, except with the number of visits to one host."""
    parts: dict[str, Any] = {}
    with consistent_read(folder) as shards:
        _count_by_host(shards)
        for name, count in PARTS.items():
            parts[name] = count(shards)
            advance(1)
    incidents = (*parts.pop("incidents"), *_untranslated(folder))
    return Figures(name=folder.name, incidents=incidents, expected=expected_in(folder), **parts)


def _count_by_host(parts: Parts) -> None:
    """Creates a temporary table on the first database. Scans the pages without the index, which would need a random
    read for every page."""
    columns = "host TEXT PRIMARY KEY, pages INTEGER, relevant INTEGER"
    add = "INSERT INTO by_host VALUES (?, ?, ?) ON CONFLICT (host) DO UPDATE SET "
    add += "pages = pages + excluded.pages, relevant = relevant + excluded.relevant"
    parts[0].db.execute(f"CREATE TEMP TABLE by_host ({columns}) WITHOUT ROWID")
    for part in parts:
        for counted in (
            "SELECT host, count(*), sum(relevant) FROM pages NOT INDEXED GROUP BY host",
            "SELECT name, 0, 0 FROM hosts",
        ):
            parts[0].db.executemany(add, part.db.execute(counted))


def _totals(parts: Parts) -> Totals:
    kept = totals_of_crawl(parts)
    duplicates, near_duplicates = _duplicates(parts)
    began, ended = _span(parts)
    return Totals(
        **asdict(kept),
        hosts=_count(parts[:1], "FROM temp.by_host"),
        hosts_with_pages=_count(parts[:1], "FROM temp.by_host WHERE pages"),
        hosts_with_relevant=_count(parts[:1], "FROM temp.by_host WHERE relevant"),
        dropped=_count(parts, "FROM dropped") + _count(parts, f"FROM events WHERE {_TURNED_AWAY}"),
        duplicates=duplicates,
        near_duplicates=near_duplicates,
        not_kept=_count(parts, "FROM pages WHERE warc_file = ''"),
        median_size=_median_size(parts, kept.pages),
        began=began,
        ended=ended,
    )


def _duplicates(parts: Parts) -> tuple[int, int]:
    """The number of pages with the payload of an earlier one, and of near-duplicates."""
    duplicates = "FROM pages {} WHERE duplicate_of != ''"
    alike = _count(parts, duplicates.format(""))
    same = _count(parts, duplicates.format("JOIN digests USING (digest)") + " AND duplicate_of = digests.url")
    return same + count_shared_payloads(parts), alike - same


def _median_size(parts: Parts, pages: int) -> int:
    sizes = heapq.merge(*(part.db.execute("SELECT size FROM pages ORDER BY size") for part in parts))
    return int(next(islice(sizes, pages // 2, None), (0,))[0])


def _span(parts: Parts) -> tuple[float, float]:
    """From the start of the first visit to the end of the last; zeros if there was none."""
    query = "SELECT min(started), max(ended) FROM (SELECT started, ended FROM pages UNION ALL "
    query += f"SELECT started, at FROM events WHERE kind != 'ended' AND {WHILE_IT_RUNS})"
    began, ended = zip(*_rows(parts, query), strict=True)
    return min(filter(None, began), default=0.0), max(filter(None, ended), default=0.0)


def _stops(parts: Parts) -> tuple[Stop, ...]:
    by_part = [_stops_of(part.db, times) for part, times in zip(parts, timelines(parts), strict=True)]
    stops = (stop for _, stop in heapq.merge(*by_part, key=itemgetter(0)))
    return tuple(_of_all(stops)) if len(parts) > 1 else tuple(stops)


def _stops_of(db: sqlite3.Connection, times: Timeline) -> Iterator[tuple[float, Stop]]:
    """In their order, each with a time that never goes back."""
    for number, at, detail in db.execute("SELECT id, at, detail FROM events WHERE kind = 'ended' ORDER BY id"):
        because = json.loads(detail)
        yield at + times.shift(number), Stop(at, because["because"], because.get("idle", 0.0))


_LAST_STOP = "SELECT id, at FROM events WHERE kind = 'ended' ORDER BY id DESC LIMIT 1"
_LAST_ROWS = f"""
SELECT * FROM (SELECT id, ended FROM pages ORDER BY id DESC LIMIT 1) UNION ALL
SELECT * FROM (SELECT id, at FROM events WHERE kind != 'ended' AND {WHILE_IT_RUNS} ORDER BY id DESC LIMIT 1)
"""


def _is_going_on(parts: Parts) -> bool:
    """Whether something happened after the last stop."""
    stopped, happened = list[float](), list[float]()
    for part, times in zip(parts, timelines(parts), strict=True):
        stopped += [at + times.shift(number) for number, at in part.db.execute(_LAST_STOP)]
        happened += [at + times.shift(number) for number, at in part.db.execute(_LAST_ROWS)]
    return not stopped or max(happened, default=0.0) > max(stopped)


def _of_all(stops: Iterable[Stop]) -> Iterator[Stop]:
    """Merges the stops of single shards, in order of time, into stops of the crawl."""
    last: Stop | None = None
    for stop in stops:
        if last is not None and stop.because == last.because and stop.at < last.at + TOGETHER:
            last = Stop(stop.at, stop.because, last.idle + stop.idle)
            continue
        if last is not None:
            yield last
        last = stop
    if last is not None:
        yield last


_PIECE = """
SELECT count(*), sum(relevant), waiting, at, max(id) FROM (
    SELECT id, relevant, waiting, ended AS at FROM pages WHERE id > :after AND id <= :until
    UNION ALL
    SELECT id, 0, json_extract(detail, '$.waiting'), at FROM events
    WHERE result NOT IN ('', 'excused') AND id > :after AND id <= :until
)
"""
"""Visits in a range of the journal, which numbers pages and events together; `waiting` and `at` are those of the last
visit."""


def _curve(parts: Parts) -> Curve:
    """The curve of the whole crawl: the sum of the latest points of all shards."""
    done, points = [(0, 0, 0)] * len(parts), list[tuple[int, int, int]]()
    by_part = [zip(_points(part.db), repeat(number), strict=False) for number, part in enumerate(parts)]
    for (_, point), number in heapq.merge(*by_part):
        done[number] = point
        visits, found, waiting = (sum(counts) for counts in zip(*done, strict=True))
        points.append((visits, found, waiting))
    return tuple(points[:: -len(parts)][::-1])


def _points(db: sqlite3.Connection) -> Iterator[tuple[float, tuple[int, int, int]]]:
    """Time and cumulative counts, in the order in which visits ended, at equal distances in the journal."""
    query = "SELECT max(ifnull((SELECT max(id) FROM pages), 0), ifnull((SELECT max(id) FROM events), 0))"
    (last,) = db.execute(query).fetchone()
    points, visits, found = min(CURVE_POINTS, last), 0, 0
    for point in range(points):
        piece = {"after": last * point // points, "until": last * (point + 1) // points}
        more, relevant, waiting, at, _ = db.execute(_PIECE, piece).fetchone()
        if more:
            visits, found = visits + more, found + relevant
            yield at, (visits, found, waiting)


def _kinds(parts: Parts, column: str) -> tuple[Kind, ...]:
    """Pages by the non-empty values of this column, the most frequent first."""
    query = f"SELECT {column}, count(*), sum(relevant) FROM pages WHERE ifnull({column}, '') != '' GROUP BY 1"
    pages, relevant = Counter[Any](), Counter[Any]()
    for name, *counts in _rows(parts, query):
        pages[name], relevant[name] = pages[name] + counts[0], relevant[name] + counts[1]
    names = sorted(pages, key=lambda name: (-pages[name], name))
    kinds = [Kind(str(name), pages[name], relevant[name]) for name in names[:MOST_ROWS]]
    if others := names[MOST_ROWS:]:
        kinds.append(Kind(f"{len(others)} others", *(sum(map(c.__getitem__, others)) for c in (pages, relevant))))
    return tuple(kinds)


def _hosts(parts: Parts) -> tuple[Kind, ...]:
    """Hosts by the number of relevant pages; ties by fewer pages."""
    best = f"FROM temp.by_host WHERE pages ORDER BY relevant DESC, pages, host LIMIT {MOST_ROWS}"
    return tuple(Kind(*row) for row in _rows(parts[:1], f"SELECT host, pages, relevant {best}"))


_FAILURES = """
SELECT detail ->> 'purpose', detail ->> 'reason', ifnull(detail ->> 'excused', 0), detail ->> 'again_at' IS NULL,
    count(*)
FROM events WHERE kind = 'failed' GROUP BY 1, 2, 3, 4
"""
_EXCUSED = """
SELECT (SELECT detail ->> 'reason' FROM events AS failed
    WHERE host = later.host AND url = later.url AND kind = 'failed' AND id < later.id AND result = detail_before
    ORDER BY id DESC LIMIT 1), detail_before
FROM (SELECT id, host, url, detail ->> 'before' AS detail_before FROM events WHERE kind = 'excused') AS later
WHERE detail_before != ''
"""


def _failures(parts: Parts) -> tuple[Reason, ...]:
    """Failures by reason, including those of robots.txt and sitemaps. For good: not tried again."""
    whose = {"page": "", "robots": "robots.txt: ", "sitemap": "sitemap: "}
    rows = [
        ((EXCUSED if excused else whose[purpose]) + reason, for_good, times)
        for purpose, reason, excused, for_good, times in _rows(parts, _FAILURES)
    ]
    for reason, before in _rows(parts, _EXCUSED):
        rows += [(reason or "", before == Result.FAILURE, -1), (f"{EXCUSED}{reason or ''}", False, 1)]
    return _reasons(iter(rows))


_TURNED_AWAY = "kind = 'refused' AND NOT json_extract(detail, '$.parked')"


def _refusals(parts: Parts) -> tuple[Reason, ...]:
    """Links that were not followed. For good: dropped when discovered or when selected; for now: parked."""
    queries = (
        "SELECT because, 1, count(*) FROM dropped GROUP BY 1",
        f"SELECT json_extract(detail, '$.because'), 1, count(*) FROM events WHERE {_TURNED_AWAY} GROUP BY 1",
        "SELECT because, 0, count(*) FROM links WHERE state = 2 GROUP BY 1",
    )
    return _reasons(row for query in queries for row in _rows(parts, query))


EXCUSED = "excused: "
"""Before the reason of a failure that does not count, because its cause was on our side."""
WITH_COOKIES = "a loop, requested once more with its cookies"


def _redirects(parts: Parts) -> tuple[Reason, ...]:
    """Visits that were redirected, by the fate of their targets. For good: not queued; for now: queued."""
    rows = _rows(
        parts,
        "SELECT json_extract(detail, '$.again'), json_extract(detail, '$.because'), "
        "json_extract(detail, '$.because') != '', count(*) FROM events WHERE result = 'redirect' GROUP BY 1, 2",
    )
    return _reasons((because or (WITH_COOKIES if again else "followed"), *rest) for again, because, *rest in rows)


def _reasons(rows: Iterator[Any]) -> tuple[Reason, ...]:
    """Rows of (reason, for good, count), summed by reason, the most frequent first."""
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
"""The duration of every visit to a page, whatever its outcome."""


def _slowest(parts: Parts) -> tuple[Pace, ...]:
    paces = _paces(heapq.merge(*(part.db.execute(_DURATIONS) for part in parts)))
    return tuple(heapq.nsmallest(MOST_ROWS // 2, paces, key=lambda pace: (-pace.seconds, pace.host)))


def _paces(rows: Iterable[tuple[str, float]]) -> Iterator[Pace]:
    """Rows must be sorted by host, then by duration."""
    for host, visits in groupby(rows, itemgetter(0)):
        seconds = array("d", (duration for _, duration in visits))
        count = len(seconds)
        yield Pace(host, (seconds[(count - 1) // 2] + seconds[count // 2]) / 2, count)


_INCIDENTS = """
SELECT CASE kind
    WHEN 'trouble' THEN 'an error in spoor, a sample is in trouble/: ' || json_extract(detail, '$.reason')
    WHEN 'held' THEN 'the event loop was blocked'
    WHEN 'paused' THEN 'nothing answered, the crawl paused: ' || json_extract(detail, '$.reason')
    WHEN 'resumed' THEN 'something answered again, the crawl resumed'
    WHEN 'https paused' THEN 'no certificate was accepted, https links waited: ' || json_extract(detail, '$.reason')
    WHEN 'https resumed' THEN 'certificates were accepted again, https links went on'
    WHEN 'clock set' THEN 'the system clock was set'
    WHEN 'host demoted' THEN 'a host brought nothing but duplicates or redirects to one page, so its links came last'
    WHEN 'host restored' THEN 'such a host brought another page again'
    WHEN 'sitemap read' THEN CASE json_extract(detail, '$.cut')
        WHEN '' THEN 'a sitemap lists URLs of other hosts, which were left out'
        ELSE 'a sitemap was not read to its end: ' || json_extract(detail, '$.cut') END
END AS what, count(*), max(abs(json_extract(detail, '$.seconds'))), min(at)
FROM events WHERE kind IN ('trouble', 'held', 'paused', 'resumed', 'https paused', 'https resumed', 'clock set',
    'host demoted', 'host restored')
OR (kind = 'sitemap read' AND (json_extract(detail, '$.cut') != '' OR json_extract(detail, '$.foreign')))
GROUP BY what ORDER BY min(id)
"""


def _incidents(parts: Parts) -> tuple[Incident, ...]:
    """In the order of the first occurrence of each kind."""
    found: dict[str, Incident] = {}
    for what, times, longest, _ in sorted(_rows(parts, _INCIDENTS), key=itemgetter(3)):
        before = found.get(what, Incident(what, 0, None))
        slowest = max((one for one in (before.longest, longest) if one is not None), default=None)
        found[what] = Incident(what, before.times + times, slowest)
    return tuple(islice(found.values(), MOST_ROWS))


def _steered(parts: Parts) -> tuple[Steered, ...]:
    """The latest actions. An action that was sent to all shards is listed once."""
    actions = list(heapq.merge(*(steered(part.db) for part in parts), key=lambda one: one.at))
    again = {after.id for before, after in pairwise(actions) if _is_one(before, after)} if len(parts) > 1 else set()
    return tuple([one for one in actions if one.id not in again][-MOST_ROWS:])


def _is_one(before: Steered, after: Steered) -> bool:
    same = (before.action, before.who, before.refused) == (after.action, after.who, after.refused)
    return same and after.at < before.at + TOGETHER


def _untranslated(folder: CrawlFolder) -> Iterator[Incident]:
    counts = sum((part.translations.untranslated() for part in folder.parts), Counter[str]())
    for reason, texts in counts.most_common(MOST_ROWS):
        yield Incident(f"a text was used untranslated, because the translator {reason}", texts, None)


def _finds(parts: Parts) -> tuple[Find, ...]:
    """The relevant pages with the highest relevance; ties in the order found. Duplicates are left out."""
    query = "SELECT url, title, relevance, because, ended FROM pages WHERE relevant AND duplicate_of = '' "
    query += f"ORDER BY relevance DESC, id LIMIT {MOST_ROWS if len(parts) == 1 else -1}"
    by_part = [zip(repeat(part), part.db.execute(query), strict=False) for part in parts]
    best = heapq.merge(*by_part, key=lambda item: (-item[1][2], item[1][4])) if len(parts) > 1 else by_part[0]
    finds = (Find(*row[:4]) for part, row in best if len(parts) == 1 or not _is_copy(parts, part, row[0]))
    return tuple(islice(finds, MOST_ROWS))


def _is_copy(parts: Parts, part: Part, url: str) -> bool:
    return any(duplicate_of(parts, part, page) for page in pages_of(part.db, url))


def _links(parts: Parts) -> Counter[str]:
    """Links that were settled before their host moved to another shard are in both databases, and counted once."""
    links = Counter(dict[str, int]())
    for part in parts:
        links.update(dict(part.db.execute("SELECT name, value FROM counters")))
        hosts = part.db.execute("SELECT id, name FROM hosts") if part.share else ()
        moved = [number for number, name in hosts if not part.has(name)]
        count = "SELECT count(*) FROM links INDEXED BY links_by_url WHERE host = ? AND state = 4"
        links["settled"] -= sum(part.db.execute(count, (number,)).fetchone()[0] for number in moved)
    return links


def _taught(parts: Parts) -> TaughtSoFar:
    """A taught crawl has no shards."""
    return taught_so_far(parts[0].db)


PARTS: dict[str, Callable[[Parts], Any]] = {
    "totals": _totals,
    "links": _links,
    "stops": _stops,
    "going_on": _is_going_on,
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
    "taught": _taught,
    "finds": _finds,
}
"""The function for each field of `Figures`. `_totals` and `_hosts` need `_count_by_host` first."""


def _count(parts: Parts, of: str) -> int:
    return int(_sum(parts, f"SELECT count(*) {of}")[0])


def _sum(parts: Parts, query: str) -> tuple[int, ...]:
    """The sums of the columns of a query that returns one row per part."""
    return tuple(map(sum, zip(*_rows(parts, query), strict=True)))


def _rows(parts: Parts, query: str) -> Iterator[tuple[Any, ...]]:
    return chain.from_iterable(part.db.execute(query) for part in parts)
