"""The totals of a crawl, over all its runs: one row in crawl.db, written in the transaction of what it counts.

The journal adds what each event counts. A *request* is anything that was sent: for a page, a robots.txt, a sitemap, by
a script; probes, retries, and each hop of a redirect. A *visit* is one attempt at one page URL, charged to the budget.
Each finished visit has one `Result`.
"""

from __future__ import annotations

import sqlite3
from dataclasses import asdict, dataclass, fields, replace
from operator import add

from spoor.events import Event, Excused, Failed, HostOpened, Redirected, Result, SitemapRead, Visited, result_of
from spoor.records import Rendering
from spoor.store.renders import render_totals
from spoor.store.run_time import seconds_of_runs


@dataclass(frozen=True, slots=True)
class CrawlTotals:
    """Of all runs. `pages`, `redirects`, `failures`, `retries` and `excused` are the finished visits by their result;
    all but `excused` are charged to the budget. `relevant` pages are those that are relevant now,
    `relevant_duplicates` how many of these are duplicates or near-duplicates. `internal_errors` are
    requests that failed by an error of spoor; each is also counted by its result. `needs_scripts` are pages with hardly
    any text, `rendered` those whose scripts were run, in `render_seconds`; `gained` how many of these gained text or
    links. `seconds` is how long the crawl ran, without the time between its runs."""

    pages: int = 0
    relevant: int = 0
    relevant_duplicates: int = 0
    redirects: int = 0
    failures: int = 0
    retries: int = 0
    excused: int = 0
    robots_requests: int = 0
    robots_failures: int = 0
    sitemap_requests: int = 0
    sitemap_failures: int = 0
    sitemaps_read: int = 0
    sitemap_links: int = 0
    script_requests: int = 0
    internal_errors: int = 0
    page_bytes: int = 0
    needs_scripts: int = 0
    rendered: int = 0
    gained: int = 0
    render_seconds: float = 0.0
    seconds: float = 0.0

    @property
    def visits(self) -> int:
        """The finished visits that are charged to the budget."""
        return self.pages + self.redirects + self.failures + self.retries

    @property
    def requests(self) -> int:
        return sum(self.requests_by_outcome.values())

    @property
    def requests_by_outcome(self) -> dict[str, int]:
        """Visits by result, and the requests that are no visits by what they are for."""
        visits = {str(result): int(getattr(self, name)) for result, name in _FIELDS.items()}
        return visits | {
            "robots.txt": self.robots_requests,
            "sitemap": self.sitemap_requests,
            "script": self.script_requests,
        }

    def as_json(self) -> dict[str, float]:
        return {"visits": self.visits, "requests": self.requests, **asdict(self)}

    def __add__(self, other: CrawlTotals) -> CrawlTotals:
        return CrawlTotals(*map(add, _values(self), _values(other)))


_NAMES = tuple(field.name for field in fields(CrawlTotals))
COLUMNS = _NAMES[:-1]
"""Seconds are in the table of the runs."""
_FIELDS = {
    Result.PAGE: "pages",
    Result.REDIRECT: "redirects",
    Result.FAILURE: "failures",
    Result.RETRY: "retries",
    Result.EXCUSED: "excused",
}
"""The field that counts each result."""


def _values(totals: CrawlTotals) -> list[float]:
    return [getattr(totals, name) for name in _NAMES]


# What an event adds.


NOTHING = CrawlTotals()


def counted(event: Event) -> CrawlTotals:
    """Without duplicates: which page is one, the journal knows."""
    match event:
        case Visited(size=size, verdict=verdict, needs_scripts=needs_scripts, rendering=rendering):
            page = CrawlTotals(
                pages=1,
                relevant=int(verdict.relevant),
                page_bytes=size,
                needs_scripts=int(needs_scripts),
            )
            return page if rendering is None else page + _of_rendering(rendering)
        case Redirected() | Failed() | HostOpened() | SitemapRead():
            return _of_request(event)
        case Excused(before=before):
            return CrawlTotals(excused=1) if before is None else CrawlTotals(**{"excused": 1, _FIELDS[before]: -1})
        case _:
            return NOTHING


def _of_rendering(rendering: Rendering) -> CrawlTotals:
    return CrawlTotals(
        script_requests=len(rendering.requests),
        rendered=int(rendering.began),
        gained=int(rendering.gained),
        render_seconds=rendering.seconds,
    )


def _of_request(event: Redirected | Failed | HostOpened | SitemapRead) -> CrawlTotals:
    result, is_failure = result_of(event), int(isinstance(event, Failed) and not event.excused)
    counts = {} if result is None else {_FIELDS[result]: 1}
    if event.visit.purpose == "robots":
        counts = {"robots_requests": 1, "robots_failures": is_failure}
    elif event.visit.purpose == "sitemap":
        counts = {"sitemap_requests": 1, "sitemap_failures": is_failure}
    if isinstance(event, SitemapRead):
        counts |= {"sitemaps_read": 1, "sitemap_links": event.added}
    if isinstance(event, Failed) and event.trouble is not None:
        counts["internal_errors"] = 1
    return CrawlTotals(**counts)


# The table.


_TYPES = ", ".join(f"{name} {'REAL' if name == 'render_seconds' else 'INTEGER'} NOT NULL DEFAULT 0" for name in COLUMNS)
SCHEMA = f"""
CREATE TABLE IF NOT EXISTS totals (id INTEGER PRIMARY KEY, {_TYPES});
INSERT OR IGNORE INTO totals (id) VALUES (1);
"""
_ADD = f"UPDATE totals SET {', '.join(f'{name} = {name} + ?' for name in COLUMNS)}"


def add_totals(db: sqlite3.Connection, more: CrawlTotals) -> None:
    """Inside a transaction of the caller."""
    if more != NOTHING:
        db.execute(_ADD, _values(more)[:-1])


def totals_of(db: sqlite3.Connection) -> CrawlTotals:
    """Of a crawl without shards, or of one shard, up to the last commit."""
    row = db.execute(f"SELECT {', '.join(COLUMNS)} FROM totals WHERE id = 1").fetchone()
    return replace(CrawlTotals(*(row or ())), seconds=seconds_of_runs(db))


# The same, counted from the rows.


_OF_PAGES = """
SELECT count(*), ifnull(sum(relevant), 0), ifnull(sum(relevant AND duplicate_of != ''), 0), ifnull(sum(size), 0),
    ifnull(sum(needs_scripts), 0) FROM pages
"""
_OF_EVENTS = """
SELECT kind, result, detail ->> 'purpose', ifnull(detail ->> 'excused', 0), ifnull(detail ->> 'before', ''),
    count(*), sum(ifnull(detail ->> 'internal', 0)), sum(ifnull(detail ->> 'added', 0))
FROM events WHERE kind IN ('redirected', 'failed', 'host opened', 'sitemap read', 'excused') AND json_valid(detail)
GROUP BY 1, 2, 3, 4, 5
"""


def recounted(db: sqlite3.Connection) -> CrawlTotals:
    """The totals as the rows of the journal have them, to check those of the table, and to replace them if it is lost.
    Reads all rows."""
    pages, relevant, relevant_duplicates, page_bytes, needs_scripts = db.execute(_OF_PAGES).fetchone()
    renders = render_totals(db)
    totals = CrawlTotals(
        pages=pages,
        relevant=relevant,
        relevant_duplicates=relevant_duplicates,
        script_requests=renders.requests,
        page_bytes=page_bytes,
        needs_scripts=needs_scripts,
        rendered=renders.rendered,
        gained=renders.gained,
        render_seconds=renders.seconds,
        seconds=seconds_of_runs(db),
    )
    for kind, result, purpose, excused, before, times, internal, added in db.execute(_OF_EVENTS):
        counts = {"internal_errors": internal}
        if kind == "excused":
            counts = {"excused": times} | ({_FIELDS[Result(before)]: -times} if before else {})
        elif result in _FIELDS:
            counts[_FIELDS[Result(result)]] = times
        else:
            failures = times if kind == "failed" and not excused else 0
            counts |= {f"{purpose}_requests": times, f"{purpose}_failures": failures}
        if kind == "sitemap read":
            counts |= {"sitemaps_read": times, "sitemap_links": added}
        totals += CrawlTotals(**counts)
    return totals
