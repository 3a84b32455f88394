"""The recorded sitemaps and feeds of a web, the hosts that announce them, and the URLs they list."""

from __future__ import annotations

import html
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from spoor.lab.web_files import Blobs, BlobWriter, compress
from spoor.records import Listed, SitemapFile
from spoor.urls import host_of

SITEMAPS = "sitemaps"
"""The name of the file, and of the list in web.json."""
_NAMESPACES = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:xhtml="http://www.w3.org/1999/xhtml"'
_FIELDS = (str, int, str, list)


@dataclass(frozen=True)
class RecordedSitemaps:
    """The recorded sitemaps of a web, loaded on demand. `named` has their URLs in file order."""

    folder: Path
    named: Sequence[str]

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {url: number for number, url in enumerate(self.named)}

    @cached_property
    def _files(self) -> Blobs:
        return Blobs(self.folder, SITEMAPS, lambda _, value: _is_sitemap(value))

    def __contains__(self, url: str) -> bool:
        return url in self._numbers

    def find(self, url: str) -> SitemapFile | None:
        number = self._numbers.get(url)
        return None if number is None else unpacked(self._files[number])

    @cached_property
    def announced(self) -> dict[str, list[str]]:
        """By host, the sitemaps for its robots.txt: those that no recorded index lists, then feeds."""
        files = {url: unpacked(self._files[number]) for number, url in enumerate(self.named)}
        listed = {each.url for file in files.values() if file.kind == "index" for each in file.listed}
        found: defaultdict[str, list[str]] = defaultdict(list)
        for url in sorted(files.keys() - listed, key=lambda url: (files[url].kind == "feed", self._numbers[url])):
            found[host_of(url)].append(url)
        return dict(found)

    def pages_of(self, host: str) -> list[str]:
        """All pages of the host that its sitemaps list, including sitemaps reached through indexes."""
        waiting, pages = list(self.announced.get(host, ())), dict[str, None]()
        seen = set(waiting)
        while waiting:
            file = self.find(waiting.pop())
            if file is not None and file.kind == "index":
                inside = [each.url for each in file.listed if each.url not in seen]
                seen.update(inside)
                waiting += inside
            elif file is not None:
                pages |= {each.url: None for each in file.listed if host_of(each.url) == host}
        return list(pages)


def packed_sitemap(file: SitemapFile) -> bytes:
    return compress([file.kind, file.count, file.cut, [list(each) for each in file.listed]])


def unpacked(value: Any) -> SitemapFile:
    kind, count, cut, listed = value
    return SitemapFile(kind, tuple(Listed(*each) for each in listed), count, cut)


def write_sitemaps(folder: Path, files: Blobs, page_at: Callable[[str], str]) -> None:
    """`page_at` maps a URL listed by a sitemap to the URL under which the page was recorded."""
    with BlobWriter(folder, SITEMAPS) as writer:
        for number in range(len(files)):
            kind, count, cut, listed = files[number]
            writer.append(compress([kind, count, cut, [[page_at(url), *said] for url, *said in listed]]))


def written_sitemap(file: SitemapFile) -> str:
    """In the format of the sitemap protocol; a feed becomes a sitemap."""
    root, item = ("sitemapindex", "sitemap") if file.kind == "index" else ("urlset", "url")
    items = "".join(f"<{item}>{''.join(_fields(each))}</{item}>\n" for each in file.listed)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<{root} {_NAMESPACES}>\n{items}</{root}>\n'


def _fields(listed: Listed) -> Iterator[str]:
    url = html.escape(listed.url)
    yield f"<loc>{url}</loc>"
    if listed.date:
        yield f"<lastmod>{listed.date}</lastmod>"
    if listed.language:
        yield f'<xhtml:link rel="alternate" hreflang="{html.escape(listed.language)}" href="{url}"/>'


def _is_sitemap(value: Any) -> bool:
    if not isinstance(value, list) or tuple(map(type, value)) != _FIELDS:
        return False
    return all(isinstance(each, list) and tuple(map(type, each)) == (str, str, str) for each in value[3])
