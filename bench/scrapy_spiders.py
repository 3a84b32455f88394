"""Scrapy on the same web: fetching and following links, nothing else. Run as a script, by an interpreter that has it.

`documented` is what its manual shows: a link extractor, and a request for each link. `tuned` knows its pages: links by
selectolax, and requests only for URLs that were not met before.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from typing import Any
from urllib.parse import urldefrag, urljoin

import scrapy  # type: ignore[import-not-found, unused-ignore]
from scrapy.crawler import CrawlerProcess  # type: ignore[import-not-found, unused-ignore]
from scrapy.exceptions import CloseSpider  # type: ignore[import-not-found, unused-ignore]
from scrapy.linkextractors import LinkExtractor  # type: ignore[import-not-found, unused-ignore]
from selectolax.lexbor import LexborHTMLParser

WARMING = 0.1
SETTINGS = {
    "CONCURRENT_REQUESTS": 64,
    "COOKIES_ENABLED": False,
    "DOWNLOAD_DELAY": 0,
    "LOG_ENABLED": False,
    "ROBOTSTXT_OBEY": False,
    "TELNETCONSOLE_ENABLED": False,
}


class Documented(scrapy.Spider):  # type: ignore[misc, unused-ignore]
    name = "documented"

    def __init__(self, pages: int, seeds: list[str]) -> None:
        super().__init__()
        self.start_urls = seeds
        self._wanted = pages
        self._pages = 0
        self._extractor = LinkExtractor()

    def parse(self, response: Any) -> Iterator[Any]:
        self._count()
        for link in self._extractor.extract_links(response):
            yield scrapy.Request(link.url)

    def _count(self) -> None:
        self._pages += 1
        now = time.perf_counter(), time.process_time()
        if self._pages == round(self._wanted * WARMING):
            self._began = now
        if self._pages == self._wanted:
            seconds, processor = (end - start for start, end in zip(self._began, now, strict=True))
            counted = self._wanted - round(self._wanted * WARMING)
            print(json.dumps({"pages": counted, "seconds": seconds, "processor": processor}), flush=True)
        if self._pages >= self._wanted:
            raise CloseSpider("enough")


class Tuned(Documented):
    name = "tuned"

    def __init__(self, pages: int, seeds: list[str]) -> None:
        super().__init__(pages, seeds)
        self._met = set(seeds)

    def parse(self, response: Any) -> Iterator[Any]:
        self._count()
        hrefs = {anchor.attributes.get("href") for anchor in LexborHTMLParser(response.body).css("a[href]")}
        for href in hrefs:
            url = urldefrag(urljoin(response.url, href or "")).url
            if url not in self._met and url.startswith("http"):
                self._met.add(url)
                yield scrapy.Request(url, dont_filter=True)


if __name__ == "__main__":
    process = CrawlerProcess(SETTINGS)
    style = {"documented": Documented, "tuned": Tuned}[sys.argv[1]]
    process.crawl(style, pages=int(sys.argv[2]), seeds=json.loads(sys.argv[3]))
    process.start()
