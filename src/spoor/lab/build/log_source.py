"""Reading a crawl log and its table of links, CSV or Parquet: a web without texts."""

from __future__ import annotations

import csv
import math
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from spoor.errors import BadInput, MissingExtra
from spoor.lab.build.gather import BuildReport, Packed
from spoor.lab.web_files import compress
from spoor.parse.charset import canonical
from spoor.records import Page
from spoor.urls import normalise

# Tables on disk, CSV or Parquet, read row by row as text.


_SUFFIXES = (".csv", ".tsv", ".parquet")


def is_table(path: Path) -> bool:
    return path.suffix.lower() in _SUFFIXES


@dataclass(frozen=True)
class Table:
    """`columns` are in lower case, as the table names them."""

    path: Path
    columns: tuple[str, ...]

    def rows(self, names: Sequence[str], report: BuildReport) -> Iterator[list[str]]:
        """The cells of each row in the columns `names`, "" for one that is not there. Unreadable rows are counted."""
        places = [self.columns.index(name) if name in self.columns else -1 for name in names]
        read = _parquet_rows if self.path.suffix.lower() == ".parquet" else _csv_rows
        for row in read(self.path, report):
            yield [row[place] if 0 <= place < len(row) else "" for place in places]


def open_table(path: Path) -> Table:
    try:
        names = _parquet_columns(path) if path.suffix.lower() == ".parquet" else _csv_columns(path)
    except OSError as error:
        raise BadInput(f"cannot read {path}: {error.strerror or error}") from error
    return Table(path, tuple(name.strip().lower() for name in names))


def _csv_columns(path: Path) -> list[str]:
    with path.open(encoding="utf-8-sig", errors="replace", newline="") as file:
        return next(_reader(file, path), [])


def _csv_rows(path: Path, report: BuildReport) -> Iterator[list[str]]:
    with path.open(encoding="utf-8-sig", errors="replace", newline="") as file:
        rows = _reader(file, path)
        next(rows, None)
        while True:
            try:
                yield next(rows)
            except StopIteration:
                return
            except csv.Error:
                report["bad rows"] += 1


def _reader(file: Any, path: Path) -> Iterator[list[str]]:
    return csv.reader(file, delimiter="\t" if path.suffix.lower() == ".tsv" else ",")


def _parquet_columns(path: Path) -> list[str]:
    return list(_parquet_file(path).schema_arrow.names)


def _parquet_rows(path: Path, report: BuildReport) -> Iterator[list[str]]:
    for batch in _parquet_file(path).iter_batches():
        columns = [column.to_pylist() for column in batch.columns]
        yield from ([_as_text(cell) for cell in row] for row in zip(*columns, strict=True))


def _parquet_file(path: Path) -> Any:
    try:
        import pyarrow as arrow
        from pyarrow import parquet
    except ImportError:
        raise MissingExtra(f"{path} needs pyarrow to be read; run: pip install 'spoor[parquet]'") from None
    try:
        return parquet.ParquetFile(path)
    except arrow.ArrowInvalid as error:
        raise BadInput(f"{path} is not a Parquet file: {error}") from None


def _as_text(cell: Any) -> str:
    """A list of labels becomes words; a whole number that Parquet holds as a float loses its point."""
    if cell is None or cell != cell:
        return ""
    if isinstance(cell, list):
        return " ".join(map(str, cell))
    return str(int(cell)) if isinstance(cell, float) and cell.is_integer() else str(cell)


# Reading a crawl log and its table of links: a web without texts, from what a crawler noted about each URL.


LOG_COLUMNS = ("url", "status", "content_type", "charset", "language", "label", "bytes", "seconds")
LINK_COLUMNS = ("source", "target", "anchor")

_LARGEST_STATUS = 999


def read_logs(files: Sequence[Path], report: BuildReport) -> Iterator[Packed]:
    """Logs and link tables in any order, told apart by their columns. Rows that make no sense are counted."""
    tables = [open_table(file) for file in files]
    logs = [table for table in tables if not _holds_links(table)]
    if not logs:
        raise BadInput(f"{files[0]} holds links (source, target) but no log with a column 'url' was given beside it")
    links = _Links()
    for table in tables:
        if _holds_links(table):
            links.read(table, report)
    links.sort()
    empty = True
    for log in logs:
        for packed in _logged(log, links, report):
            empty = False
            yield packed
    if empty:
        raise BadInput(f"{logs[0].path} has no row with a URL, so there is no web to build")
    report["links from pages that the log lacks"] += links.unused()


def _holds_links(table: Table) -> bool:
    if "url" in table.columns:
        return False
    if "source" in table.columns and "target" in table.columns:
        return True
    lacking = "target" if "source" in table.columns else "source" if "target" in table.columns else "url"
    found = ", ".join(table.columns) or "none"
    raise BadInput(
        f"{table.path} has no column {lacking!r} (found: {found}); a log needs url, links need source and target"
    )


@dataclass
class _Links:
    """Links as three columns of numbers; after `sort` those of one source lie together, in the order of the table."""

    has_anchors: bool = False
    _urls: dict[str, int] = field(default_factory=dict)
    _anchors: dict[str, int] = field(default_factory=dict)
    _columns: tuple[array[int], array[int], array[int]] = field(
        default_factory=lambda: (array("i"), array("i"), array("i"))
    )

    def read(self, table: Table, report: BuildReport) -> None:
        self.has_anchors = self.has_anchors or "anchor" in table.columns
        sources, targets, anchors = self._columns
        for source, target, anchor in table.rows(LINK_COLUMNS, report):
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
        """The distinct targets of a page with their anchors, the first that has words."""
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
        """How many links have a source that was never asked for."""
        return int(np.diff(self._offsets)[~self._used].sum())


def _logged(log: Table, links: _Links, report: BuildReport) -> Iterator[Packed]:
    for url, status, content_type, charset, language, label, size, seconds in log.rows(LOG_COLUMNS, report):
        try:
            page = _page(url, status, content_type, charset, size)
            took = _seconds(seconds)
        except ValueError:
            report["bad rows"] += 1
            continue
        labels = (*([f"lang={language.strip().lower()}"] if language.strip() else []), *label.split())
        yield _packed(page, links, took, labels)


def _page(url: str, status: str, content_type: str, charset: str, size: str) -> Page:
    """ValueError when a cell makes no sense."""
    normalised, number = normalise(url), int(status or 200)
    if normalised is None or not 0 <= number <= _LARGEST_STATUS:
        raise ValueError(url)
    mime = content_type.partition(";")[0].strip().lower() or "text/html"
    return Page(normalised, number, mime, meta_charset=canonical(charset), size=max(0, int(size or 0)))


def _seconds(cell: str) -> float | None:
    seconds = float(cell) if cell.strip() else None
    if seconds is not None and not (math.isfinite(seconds) and seconds >= 0):
        raise ValueError(cell)
    return seconds


def _packed(page: Page, links: _Links, seconds: float | None, labels: tuple[str, ...]) -> Packed:
    """The link of a page with a status of 3xx is where it redirects to; only a page with a status of 2xx has links."""
    anchors = links.of(page.url)
    if 300 <= page.status < 400 and anchors:
        return Packed(page, redirect=next(iter(anchors)), seconds=seconds, labels=labels)
    if not 200 <= page.status < 300 or not anchors:
        return Packed(page, seconds=seconds, labels=labels)
    contexts = compress([[anchor, "", "", "", False] for anchor in anchors.values()]) if links.has_anchors else b""
    return Packed(page, tuple(anchors), contexts=contexts, seconds=seconds, labels=labels)
