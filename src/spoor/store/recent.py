"""The last requests of a crawl, from its database: which of them brought a relevant page, and what that lets expect."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator

from spoor import settings as config
from spoor.stopping import TRIES, ExpectedFinds, expected_finds
from spoor.store.crawl_folder import CrawlFolder
from spoor.store.journal import open_to_read

IN_LOG_ODDS = ("learned",)
"""Strategies whose keys say how probable it is that a link leads to a relevant page."""

_PAGES = "SELECT id, host, url, relevant FROM pages ORDER BY id DESC LIMIT ?"
# A robots.txt has no number. What failed because our own side was out of order does not count.
_OTHERS = """SELECT id, host, url, 0 FROM events WHERE kind IN ('failed', 'redirected') AND number IS NOT NULL
             AND ifnull(detail ->> 'excused', 0) = 0 ORDER BY id DESC LIMIT ?"""


def last_requests(db: sqlite3.Connection, most: int) -> list[bool]:
    """Whether each brought a relevant page, oldest first. Requests for robots.txt files are left out."""
    return [relevant for _, _, relevant in _last(db, most)]


def expected_in(folder: CrawlFolder) -> ExpectedFinds | None:
    """Of a crawl that runs, stopped or ended. None: its strategy does not say what links are worth, or nothing was
    tried."""
    settings = folder.settings()
    if settings is None or not states_probability(config.loads(settings).crawl.strategy):
        return None
    with contextlib.closing(open_to_read(folder.database)) as db:
        return expected_from(db)


def states_probability(strategy: str) -> bool:
    return strategy.partition(":")[0] in IN_LOG_ODDS


def expected_from(db: sqlite3.Connection) -> ExpectedFinds | None:
    """Reads one entry of an index for every link that waits."""
    waiting = dict(db.execute("SELECT key1, count(*) FROM links WHERE state = 0 GROUP BY key1"))
    return expected_finds(waiting, list(last_tries(db, TRIES)))


def last_tries(db: sqlite3.Connection, most: int) -> Iterator[tuple[float, bool]]:
    """The first part of the key that the link had when it was fetched, and whether it led to a relevant page."""
    query = "SELECT key1 FROM links WHERE host = (SELECT id FROM hosts WHERE name = ?) AND url = ?"
    for host, url, relevant in _last(db, most):
        row = db.execute(query, (host, url)).fetchone()
        if row is not None:
            yield row[0], relevant


def _last(db: sqlite3.Connection, most: int) -> list[tuple[str, str, bool]]:
    rows = sorted([*db.execute(_PAGES, (most,)), *db.execute(_OTHERS, (most,))])[-most:]
    return [(host, url, bool(relevant)) for _, host, url, relevant in rows]
