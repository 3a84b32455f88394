"""The last requests of a crawl, from its database: which found a relevant page, and how many finds to expect."""

from __future__ import annotations

import heapq
import sqlite3
from collections import Counter
from collections.abc import Iterator
from operator import itemgetter

from spoor import settings as config
from spoor.stopping import TRIES, ExpectedFinds, certainty, expected_finds
from spoor.store.crawl_folder import CrawlFolder
from spoor.store.crawl_parts import open_parts
from spoor.store.lesson_tables import has_students

IN_LOG_ODDS = ("learned",)
"""Strategies whose keys are log odds that a link leads to a relevant page."""

_PAGES = "SELECT id, ended, host, url, {} FROM pages ORDER BY id DESC LIMIT ?"
_OTHERS = """SELECT id, at, host, url, 0 FROM events WHERE result NOT IN ('', 'excused') ORDER BY id DESC LIMIT ?"""


def last_requests(db: sqlite3.Connection, most: int) -> list[bool]:
    """Whether each request found a relevant page, oldest first. Requests for robots.txt are excluded."""
    return [bool(relevant) for *_, relevant in _last(db, most, "relevant")]


def expected_in(folder: CrawlFolder) -> ExpectedFinds | None:
    """The expected finds of any crawl. None if its strategy states no probabilities, or nothing was tried."""
    settings = folder.settings()
    if settings is None or not states_probability(config.loads(settings).crawl.strategy):
        return None
    with open_parts(folder) as parts:
        return expected_from(*(part.db for part in parts))


def states_probability(strategy: str) -> bool:
    return strategy.partition(":")[0] in IN_LOG_ODDS


def expected_from(*shards: sqlite3.Connection) -> ExpectedFinds | None:
    """Reads one index entry per waiting link."""
    waiting = Counter(dict[float, int]())
    for db in shards:
        waiting.update(dict(db.execute("SELECT key1, count(*) FROM links WHERE state = 0 GROUP BY key1")))
    tries = heapq.merge(*(_last_tries(db, TRIES) for db in shards), key=itemgetter(0))
    return expected_finds(waiting, [(key, found) for _, key, found in tries][-TRIES:])


def _last_tries(db: sqlite3.Connection, most: int) -> Iterator[tuple[float, float, float]]:
    """Yields time, first component of the key when the link was fetched, and how far the page counts as a find. Only a
    taught judge's relevance is a probability; for others it is 0 or 1."""
    query = "SELECT key1 FROM links WHERE host = (SELECT id FROM hosts WHERE name = ?) AND url = ?"
    taught = has_students(db)
    for at, host, url, found in _last(db, most, "relevant * relevance" if taught else "relevant"):
        row = db.execute(query, (host, url)).fetchone()
        if row is not None:
            yield at, row[0], certainty(found) if taught else found


def _last(db: sqlite3.Connection, most: int, found: str) -> list[tuple[float, str, str, float]]:
    rows = sorted([*db.execute(_PAGES.format(found), (most,)), *db.execute(_OTHERS, (most,))])[-most:]
    return [(at, host, url, float(share)) for _, at, host, url, share in rows]
