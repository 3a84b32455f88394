"""The contents of a crawl folder as small records: pages with their texts, verdicts, links and hosts."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from spoor.frontier.entry import State
from spoor.lab.build.warc_source import parse_http_response
from spoor.parse.apart import read_in_subprocess
from spoor.parse.html import DEFAULT_OPTIONS, with_rendering
from spoor.records import Failure, Key, Page, Rendering, Verdict
from spoor.store.crawl_folder import CrawlFolder, message_of, tree_of
from spoor.store.crawl_parts import open_parts, pages_in_order
from spoor.store.journal import PageRow

_ROWS_AT_ONCE = 1000
STATES = {int(state): state.name.lower().replace("_", " ") for state in State}


@dataclass(frozen=True, slots=True)
class CrawledPage:
    """A page that was fetched and judged. `text` is its whole text, "" if it has none or is not in the archive;
    `language` a BCP-47 tag, "" if unknown; `fetched_at` in seconds since 1970; `duplicate_of` the URL of the page in
    the same crawl of which it is a duplicate or near-duplicate, "" if there is none."""

    url: str
    title: str
    text: str
    verdict: Verdict
    language: str
    status: int
    size: int
    fetched_at: float
    duplicate_of: str

    @property
    def relevant(self) -> bool:
        return self.verdict.relevant

    @property
    def relevance(self) -> float:
        """From 0 to 1."""
        return self.verdict.relevance

    @property
    def reason(self) -> str:
        """The reason of the verdict, for people."""
        return self.verdict.because


@dataclass(frozen=True, slots=True)
class PageVerdict:
    """The verdict on a page; see `Verdict`."""

    url: str
    relevant: bool
    relevance: float
    reason: str
    label: str | None


@dataclass(frozen=True, slots=True)
class KnownLink:
    """A URL in the frontier of a crawl. `state` is waiting, returning (to be retried), parked, in transit or settled;
    `priority` orders the queue, larger is sooner; `found_on` is the page that links to it, "" for a seed; `reason` is
    why it is parked, or the failure."""

    url: str
    host: str
    state: str
    priority: Key
    depth: int
    found_on: str
    tries: int
    reason: str


@dataclass(frozen=True, slots=True)
class KnownHost:
    """A host in the frontier of a crawl: its IP address, "" if unknown; the delay between two requests in seconds; the
    number of fetched pages, and of relevant ones among them."""

    name: str
    address: str
    delay: float
    pages: int
    relevant: int


def pages(folder: CrawlFolder, relevant_only: bool = False, texts: bool = True) -> Iterator[CrawledPage]:
    """In the order in which they were fetched. Without `texts` the archive is not opened."""
    with open_parts(folder) as parts:
        for part, row in pages_in_order(parts, relevant_only):
            page = archived_page(part.folder, part.db, row) if texts else None
            verdict = Verdict(row.relevance, row.relevant, row.because, row.label)
            facts = (row.language, row.status, row.size, row.ended, row.duplicate_of)
            yield CrawledPage(row.url, row.title, page.text if page else "", verdict, *facts)


def archived_page(folder: CrawlFolder, db: sqlite3.Connection, row: PageRow) -> Page | None:
    """A page, parsed again from the archive; None if it is not in the archive or no longer readable."""
    message = message_of(folder, db, row)
    http = None if message is None else parse_http_response(message)
    if http is None:
        return None
    page = read_in_subprocess(row.url, http.body, http.headers.get("content-type", ""), http.status)
    if isinstance(page, Failure):
        return None
    tree = tree_of(folder, db, row)
    return with_rendering(page, Rendering("", 0.0, html=tree), DEFAULT_OPTIONS) if tree else page


def verdicts(folder: CrawlFolder) -> Iterator[PageVerdict]:
    """In the order in which they were given."""
    with open_parts(folder) as parts:
        for _, row in pages_in_order(parts):
            yield PageVerdict(row.url, row.relevant, row.relevance, row.because, row.label)


def links(folder: CrawlFolder) -> Iterator[KnownLink]:
    """In the order in which they were found, shard by shard."""
    columns = "url, name, state, key1, key2, key3, depth, found_on, tries, because"
    query = f"SELECT links.id, {columns} FROM links JOIN hosts ON hosts.id = links.host WHERE links.id > ? ORDER BY 1"
    with open_parts(folder) as parts:
        for part in parts:
            for url, host, state, *keys, depth, found_on, tries, because in _in_pieces(part.db, query):
                if part.has(host):
                    priority = tuple(number for number in keys if number is not None)
                    yield KnownLink(url, host, STATES[state], priority, depth, found_on, tries, because)


def hosts(folder: CrawlFolder) -> Iterator[KnownHost]:
    """In the order in which they were found, shard by shard."""
    fetched = "SELECT count(*), ifnull(sum(relevant), 0) FROM pages WHERE host = ?"
    with open_parts(folder) as parts:
        for part in parts:
            for name, *known in _in_pieces(
                part.db, "SELECT id, name, address, delay FROM hosts WHERE id > ? ORDER BY 1"
            ):
                if part.has(name):
                    counts = [one.db.execute(fetched, (name,)).fetchone() for one in parts]
                    yield KnownHost(name, *known, *map(sum, zip(*counts, strict=True)))


def _in_pieces(db: sqlite3.Connection, query: str) -> Iterator[tuple[Any, ...]]:
    """Yields rows without their id, in batches: one long query would block the WAL checkpoints of a running crawl."""
    last = 0
    while found := db.execute(f"{query} LIMIT {_ROWS_AT_ONCE}", (last,)).fetchall():
        last = found[-1][0]
        yield from (row[1:] for row in found)
