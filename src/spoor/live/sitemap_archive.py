"""Stores sitemaps in the archive of a live crawl and requests them conditionally: a sitemap that has not changed (HTTP
304) is read from the archive."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass, replace

from spoor.fetch.responses import HEALS_AFTER, NOT_MODIFIED, conditions, validators
from spoor.lab.build.warc_source import parse_http_response
from spoor.records import Failure, Response
from spoor.store.duplicates import Duplicates
from spoor.store.warc import Kept, WarcWriter

SCHEMA = """
CREATE TABLE IF NOT EXISTS sitemap_versions (
    url TEXT PRIMARY KEY, etag TEXT NOT NULL, modified TEXT NOT NULL, digest TEXT NOT NULL
) WITHOUT ROWID;
"""


@dataclass(frozen=True, slots=True)
class SitemapVersion:
    """The stored version of a sitemap: validators of the server, and the `digest` of its payload in the archive."""

    url: str
    etag: str
    modified: str
    digest: str


class SitemapVersions:
    """The sitemap versions in `db`; new ones are held in memory until `write`."""

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
        """Writes inside the caller's transaction on `db`."""
        rows = [(version.url, version.etag, version.modified, version.digest) for version in self._new.values()]
        db.executemany("INSERT OR REPLACE INTO sitemap_versions VALUES (?, ?, ?, ?)", rows)
        self._new.clear()


LOST = "a sitemap that has not changed is no longer in the archive"


@dataclass(frozen=True)
class SitemapArchive:
    """Sitemaps are not judged, and the journal records only the links they list. `archived` writes a response to the
    archive, unless its payload is already there."""

    keeper: WarcWriter
    duplicates: Duplicates
    versions: SitemapVersions
    archived: Callable[[Response], Kept]

    def conditions(self, url: str) -> dict[str, str]:
        """Headers of a conditional request, empty if no version is stored."""
        version = self.versions.find(url)
        return {} if version is None else conditions(version.etag, version.modified)

    async def take_in(self, response: Response) -> Response | Failure:
        """Stores the response. For one that is not modified, returns the stored version."""
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
        http = None if message is None else parse_http_response(message)
        if http is None:
            self.versions.remember(SitemapVersion(response.url, "", "", ""))
            return Failure(LOST, HEALS_AFTER)
        return replace(response, status=http.status, headers=http.headers, body=http.body)
