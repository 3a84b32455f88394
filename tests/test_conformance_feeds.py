"""Feeds, sitemaps and archives against the suites of others: read, or refused in one line."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from spoor.parse.sitemaps import read_sitemap
from spoor.records import Failure, SitemapFile
from tests.suites import members, needs_suite


@needs_suite("feeds")
def test_feeds_of_feedparser_are_read_or_refused_in_one_line() -> None:
    kinds = Counter[str]()
    for body in members("feeds").values():
        found = read_sitemap("http://a.test/feed", body)
        assert isinstance(found, SitemapFile) or (found.reason and "\n" not in found.reason)
        kinds[found.kind if isinstance(found, SitemapFile) else "refused"] += 1
    assert kinds == {"feed": 911, "refused": 15}


@needs_suite("robots-commons")
def test_sitemaps_of_crawler_commons_are_read() -> None:
    refused = {
        Path(name).name: found.reason
        for name, body in members("robots-commons").items()
        if "/sitemaps/" in name and isinstance(found := read_sitemap("http://a.test/x", body), Failure)
    }
    assert refused == {}
