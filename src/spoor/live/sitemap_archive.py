"""Sitemaps in the archive of a live crawl: kept as they came, and read there while their servers say no more."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace

from spoor.fetch.responses import HEALS_AFTER, NOT_MODIFIED, conditions, validators
from spoor.lab.build.warc_source import take_apart
from spoor.records import Failure, Response
from spoor.store.duplicates import Duplicates
from spoor.store.sitemap_versions import SitemapVersion, SitemapVersions
from spoor.store.warc import Kept, WarcKeeper

LOST = "a sitemap that has not changed is not in the archive any more"


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
