"""Sitemaps in the archive of a live crawl: kept as they came, and read there while their servers say no more. A server
need not send a sitemap again while it has not changed."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass, replace

from spoor.fetch.responses import HEALS_AFTER, NOT_MODIFIED, conditions, validators
from spoor.lab.build.warc_source import take_apart
from spoor.records import Failure, Response
from spoor.store.duplicates import Duplicates
from spoor.store.warc import Kept, WarcKeeper

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


LOST = "a sitemap that has not changed is no longer in the archive"


@dataclass(frozen=True)
class SitemapArchive:
    """A sitemap is no page: nobody judges it, and nothing is said of it in the journal but what it listed. `archived`
    puts a response into the archive, unless its payload is there."""

    keeper: WarcKeeper
    duplicates: Duplicates
    versions: SitemapVersions
    archived: Callable[[Response], Kept]

    def conditions(self, url: str) -> dict[str, str]:
        """Headers by which a sitemap is sent only if it is another than the one in the archive."""
        version = self.versions.find(url)
        return {} if version is None else conditions(version.etag, version.modified)

    async def take_in(self, response: Response) -> Response | Failure:
        """What came is kept. For one that has not changed, what came before."""
        if response.status == NOT_MODIFIED:
            return await self._known(response)
        if 200 <= response.status < 300 and not response.cut:
            kept, (etag, modified) = self.archived(response), validators(response)
            self.versions.remember(SitemapVersion(response.url, etag, modified, kept.digest))
        return response

    async def _known(self, response: Response) -> Response | Failure:
        version = self.versions.find(response.url)
        kept = None if version is None else self.duplicates.same(version.digest)
        message = None if kept is None else await asyncio.to_thread(self.keeper.message, kept)
        http = None if message is None else take_apart(message)
        if http is None:
            self.versions.remember(SitemapVersion(response.url, "", "", ""))
            return Failure(LOST, HEALS_AFTER)
        return replace(response, status=http.status, headers=http.headers, body=http.body)
