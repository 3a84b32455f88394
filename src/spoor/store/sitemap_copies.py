"""Which version of a sitemap does the archive have? A server need not send it again while it has not changed."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass

SCHEMA = """
CREATE TABLE IF NOT EXISTS sitemap_copies (
    url TEXT PRIMARY KEY, etag TEXT NOT NULL, modified TEXT NOT NULL, digest TEXT NOT NULL
) WITHOUT ROWID;
"""


@dataclass(frozen=True, slots=True)
class SitemapCopy:
    """`etag` and `modified` are what the server calls this version; the archive has its payload by the `digest`."""

    url: str
    etag: str
    modified: str
    digest: str


class SitemapCopies:
    """What is new since the last `write` is held here; `db` has the rest."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self._new: dict[str, SitemapCopy] = {}

    @staticmethod
    def create(db: sqlite3.Connection) -> None:
        db.executescript(SCHEMA)

    def find(self, url: str) -> SitemapCopy | None:
        if url in self._new:
            return self._new[url]
        row = self._db.execute("SELECT * FROM sitemap_copies WHERE url = ?", (url,)).fetchone()
        return None if row is None else SitemapCopy(*row)

    def remember(self, copy: SitemapCopy) -> None:
        self._new[copy.url] = copy

    def write(self, db: sqlite3.Connection) -> None:
        """Inside the transaction of the caller, whose database `db` is."""
        rows = [(copy.url, copy.etag, copy.modified, copy.digest) for copy in self._new.values()]
        db.executemany("INSERT OR REPLACE INTO sitemap_copies VALUES (?, ?, ?, ?)", rows)
        self._new.clear()
