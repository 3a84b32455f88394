"""Which version of a sitemap does the archive have? A server need not send it again while it has not changed."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass

SCHEMA = """
CREATE TABLE IF NOT EXISTS sitemap_versions (
    url TEXT PRIMARY KEY, etag TEXT NOT NULL, modified TEXT NOT NULL, digest TEXT NOT NULL
) WITHOUT ROWID;
"""


@dataclass(frozen=True, slots=True)
class SitemapVersion:
    """`etag` and `modified` are what the server calls this version; the archive has its payload by the `digest`."""

    url: str
    etag: str
    modified: str
    digest: str


class SitemapVersions:
    """What is new since the last `write` is held here; `db` has the rest."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self._new: dict[str, SitemapVersion] = {}

    @staticmethod
    def create(db: sqlite3.Connection) -> None:
        db.executescript(SCHEMA)

    def find(self, url: str) -> SitemapVersion | None:
        if url in self._new:
            return self._new[url]
        row = self._db.execute("SELECT * FROM sitemap_versions WHERE url = ?", (url,)).fetchone()
        return None if row is None else SitemapVersion(*row)

    def remember(self, version: SitemapVersion) -> None:
        self._new[version.url] = version

    def write(self, db: sqlite3.Connection) -> None:
        """Inside the transaction of the caller, whose database `db` is."""
        rows = [(version.url, version.etag, version.modified, version.digest) for version in self._new.values()]
        db.executemany("INSERT OR REPLACE INTO sitemap_versions VALUES (?, ?, ?, ?)", rows)
        self._new.clear()
