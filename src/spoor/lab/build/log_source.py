"""Reads crawl logs, archive indexes and tables with a row for each URL: builds a web without texts."""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, Protocol

import numpy as np

from spoor.errors import BadInput
from spoor.judging.language_tags import main_language
from spoor.lab.build.gather import BuildReport, Packed
from spoor.lab.build.line_logs import (
    CDXJ,
    HERITRIX,
    LineLog,
    cdx_reader,
    cdxj_page,
    heritrix_link,
    heritrix_page,
    is_cdx,
)
from spoor.lab.build.tables import PARQUET, Row, Table, first_lines, open_table, start_of
from spoor.lab.web_files import compress
from spoor.parse.charset import canonical, header_charset
from spoor.parse.html import HTML_TYPES
from spoor.records import Page
from spoor.urls import join, normalise

# Which files are logs, and of which kind: recognised by content, and by name only if the content is not conclusive.


LOG_COLUMNS = (
    "url",
    "status",
    "content_type",
    "meta_charset",
    "header_charset",
    "detected_charset",
    "language",
    "label",
    "bytes",
    "seconds",
    "redirect",
)
LINK_COLUMNS = ("source", "target", "anchor")

_NAMES = (".csv", ".tsv", ".parquet", ".cdx", ".cdxj", ".log")
_COMPRESSED = (".gz", ".xz", ".zst", ".bz2")
_WARC = b"WARC/"


class Log(Protocol):
    """A log or table with a row for each URL, or for each link."""

    @property
    def path(self) -> Path: ...

    def rows(self, names: Sequence[str]) -> Iterator[Row]: ...


def is_log(path: Path) -> bool:
    """Whether a file is a log, an index or a table; otherwise it is a WARC file or an unknown format."""
    if path.is_dir() or (start := start_of(path, len(_WARC))) == _WARC:
        return False
    return start.startswith(PARQUET) or _line_log(path) is not None or _names_columns(path) or _has_name_of_log(path)


def _names_columns(path: Path) -> bool:
    first = next(iter(first_lines(path)), "")
    columns = set(open_table(path).columns) if first.isprintable() or "\t" in first else set()
    return "url" in columns or {"source", "target"} <= columns


def _has_name_of_log(path: Path) -> bool:
    name = path.with_suffix("").name if path.suffix.lower() in _COMPRESSED else path.name
    return name.lower().endswith(_NAMES)


def _line_log(path: Path) -> str | None:
    """The kind of line log; None if it is not one. One valid line among the first is enough, so that an invalid one can
    be reported."""
    lines = first_lines(path)
    if any(map(HERITRIX.match, lines)):
        return "heritrix"
    if lines and is_cdx(lines[0]):
        return "cdx"
    return "cdxj" if any(map(CDXJ.match, lines)) else None


def _opened(files: Sequence[Path], report: BuildReport) -> tuple[list[Log], list[Log]]:
    """Logs with rows for URLs, and logs with rows for links. A Heritrix log is both."""
    logs: list[Log] = []
    links: list[Log] = []
    for file in files:
        match _line_log(file):
            case "heritrix":
                logs.append(LineLog(file, heritrix_page, report))
                links.append(LineLog(file, heritrix_link, report))
            case "cdx":
                logs.append(LineLog(file, cdx_reader(file), report))
            case "cdxj":
                logs.append(LineLog(file, cdxj_page, report))
            case _:
                table = open_table(file)
                (links if _holds_links(table) else logs).append(table)
    return logs, links


def _holds_links(table: Table) -> bool:
    if "url" in table.columns:
        return False
    if "source" in table.columns and "target" in table.columns:
        return True
    lacking = "target" if "source" in table.columns else "source" if "target" in table.columns else "url"
    found = ", ".join(table.columns)[:_SHOWN] or "none"
    raise BadInput(
        f"{table.path} has no column {lacking!r} (found: {found}); a log needs url, links need source and target"
    )


_SHOWN = 80
"""Maximum number of characters of the columns in an error message."""


# From rows to pages: the data about a URL, and its links from other tables.


_LARGEST_STATUS = 999


def read_logs(files: Sequence[Path], report: BuildReport) -> Iterator[Packed]:
    """Logs and tables of links in any order. Invalid rows are counted; a damaged file raises BadInput."""
    logs, tables = _opened(files, report)
    if not logs:
        raise BadInput(f"{files[0]} holds links (source, target) but no log with a column 'url' was given beside it")
    links = _Links()
    for table in tables:
        links.read(table.rows(LINK_COLUMNS), report)
    links.sort()
    empty = True
    for log in logs:
        for packed in _logged(log.rows(LOG_COLUMNS), links, report):
            empty = False
            yield packed
    if empty:
        raise BadInput(f"{logs[0].path} has no row with a URL, so there is no web to build")
    report["links from pages that the log lacks"] += links.unused()


@dataclass
class _Links:
    """Links as three columns of numbers. After `sort`, the links of a source are contiguous, in table order."""

    has_anchors: bool = False
    _urls: dict[str, int] = field(default_factory=dict)
    _anchors: dict[str, int] = field(default_factory=dict)
    _columns: tuple[array[int], array[int], array[int]] = field(
        default_factory=lambda: (array("i"), array("i"), array("i"))
    )

    def read(self, rows: Iterable[Row], report: BuildReport) -> None:
        sources, targets, anchors = self._columns
        for source, target, anchor in rows:
            self.has_anchors = self.has_anchors or bool(anchor)
            source_url, target_url = normalise(source), normalise(target)
            if source_url is None or target_url is None:
                report["bad rows"] += 1
                continue
            sources.append(self._urls.setdefault(source_url, len(self._urls)))
            targets.append(self._urls.setdefault(target_url, len(self._urls)))
            anchors.append(self._anchors.setdefault(anchor, len(self._anchors)))

    def sort(self) -> None:
        sources, targets, anchors = (np.array(column, np.int32) for column in self._columns)
        order = np.argsort(sources, kind="stable")
        self._targets, self._anchor_of = targets[order], anchors[order]
        self._offsets = np.searchsorted(sources[order], np.arange(len(self._urls) + 1))
        self._names, self._words = list(self._urls), list(self._anchors)
        self._used = np.zeros(len(self._urls), np.bool_)

    def of(self, url: str) -> dict[str, str]:
        """The distinct targets of a page, each with its first non-empty anchor text."""
        number = self._urls.get(url)
        links: dict[str, str] = {}
        if number is not None:
            self._used[number] = True
            span = slice(self._offsets[number], self._offsets[number + 1])
            for target, anchor in zip(self._targets[span].tolist(), self._anchor_of[span].tolist(), strict=True):
                links[self._names[target]] = links.get(self._names[target]) or self._words[anchor]
            links.pop(url, None)
        return links

    def unused(self) -> int:
        """The number of links whose source was never requested."""
        return int(np.diff(self._offsets)[~self._used].sum())


class _Logged(NamedTuple):
    """A row of a log: `LOG_COLUMNS`."""

    url: str
    status: str
    content_type: str
    meta_charset: str
    header_charset: str
    detected_charset: str
    language: str
    label: str
    size: str
    seconds: str
    redirect: str

    def page(self) -> Page:
        """Raises ValueError if a cell is invalid."""
        url, status = normalise(self.url), int(self.status or 200)
        if url is None or not 0 <= status <= _LARGEST_STATUS:
            raise ValueError(self.url)
        return Page(
            url,
            status,
            self.content_type.partition(";")[0].strip().lower() or "text/html",
            header_charset=canonical(self.header_charset) or header_charset(self.content_type),
            meta_charset=canonical(self.meta_charset),
            detected_charset=canonical(self.detected_charset),
            size=max(0, int(self.size or 0)),
        )

    def took(self) -> float | None:
        """Duration in seconds. Raises ValueError if it is invalid."""
        seconds = float(self.seconds) if self.seconds.strip() else None
        if seconds is not None and not (math.isfinite(seconds) and seconds >= 0):
            raise ValueError(self.seconds)
        return seconds

    def labels(self) -> tuple[str, ...]:
        language = main_language(self.language)
        return (*([f"lang={language}"] if language else []), *self.label.split())


def _logged(rows: Iterable[Row], links: _Links, report: BuildReport) -> Iterator[Packed]:
    for row in map(_Logged._make, rows):
        try:
            page, seconds = row.page(), row.took()
        except ValueError:
            report["bad rows"] += 1
            continue
        anchors = links.of(page.url)
        if 300 <= page.status < 400:
            target = join(page.url, row.redirect) if row.redirect else next(iter(anchors), None)
            yield Packed(page, redirect=target, seconds=seconds, labels=row.labels())
        elif 200 <= page.status < 300 and page.content_type in HTML_TYPES:
            yield _linked(page, anchors, links.has_anchors, seconds, row.labels())
        else:
            report["links from errors and non-HTML"] += len(anchors)
            yield Packed(page, seconds=seconds, labels=row.labels())


def _linked(
    page: Page, anchors: dict[str, str], with_contexts: bool, seconds: float | None, labels: tuple[str, ...]
) -> Packed:
    contexts = [[anchor, "", "", "", False] for anchor in anchors.values()] if with_contexts else []
    return Packed(
        page, tuple(anchors), contexts=compress(contexts) if contexts else b"", seconds=seconds, labels=labels
    )
