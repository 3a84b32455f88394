"""`spoor.open_crawl`: reads the contents of a crawl folder, while the crawl runs or afterwards."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Literal

from spoor.api.explaining import learned_lines, lines
from spoor.api.options import AnyPath
from spoor.errors import MissingExtra, UsageError
from spoor.live.from_settings import AGENT
from spoor.report import contents
from spoor.report.contents import CrawledPage, KnownHost, KnownLink, PageVerdict
from spoor.report.showing import plain
from spoor.report.why import account
from spoor.store.crawl_folder import CrawlFolder, open_for_reading
from spoor.store.crawl_parts import open_parts, totals_of_crawl
from spoor.store.totals import CrawlTotals
from spoor.urls import normalise

Table = Literal["pages", "links", "hosts", "verdicts"]


def open_crawl(folder: AnyPath) -> StoredCrawl:
    """Opens the crawl in a folder read-only; it may be running."""
    return StoredCrawl(open_for_reading(Path(folder)))


@dataclass(frozen=True)
class Explanation:
    """What a crawl knows about one URL: pairs of name and value, such as `state` and `waiting`. `str()` gives the
    output of `spoor why`."""

    url: str
    lines: tuple[tuple[str, str], ...]

    def __str__(self) -> str:
        lines = [f"  {name:<11} {plain(what, 4000)}" for name, what in self.lines]
        return "\n".join([plain(self.url, 4000), *lines])

    @property
    def state(self) -> str:
        """The state of the URL, and the reason for it."""
        return dict(self.lines)["state"]


class StoredCrawl:
    """Reads a crawl folder. Iterators stream, so the crawl may be larger than memory; they include pages added by a
    running crawl."""

    def __init__(self, folder: CrawlFolder) -> None:
        self._folder = folder

    @property
    def folder(self) -> Path:
        return self._folder.path

    @property
    def totals(self) -> CrawlTotals:
        """What the crawl did in all its runs, up to its last commit if it is running."""
        with open_parts(self._folder) as parts:
            return totals_of_crawl(parts)

    @property
    def seconds(self) -> float:
        """How long the crawl has run, in all its runs."""
        return self.totals.seconds

    def pages(self, relevant_only: bool = False, texts: bool = True) -> Iterator[CrawledPage]:
        """In the order of their visits. Texts are read from the WARC files; `texts=False` is much faster."""
        return contents.pages(self._folder, relevant_only, texts)

    def verdicts(self) -> Iterator[PageVerdict]:
        return contents.verdicts(self._folder)

    def links(self) -> Iterator[KnownLink]:
        """Every URL the crawl knows, fetched or not."""
        return contents.links(self._folder)

    def hosts(self) -> Iterator[KnownHost]:
        return contents.hosts(self._folder)

    def why(self, url: str) -> Explanation:
        """Where a URL was found, its score, and why it was fetched, not yet, or never."""
        asked = normalise(url)
        if asked is None:
            raise UsageError(f"{plain(url)!r} is not an http or https URL, such as https://example.org/about")
        known = account(self._folder, asked, AGENT)
        return Explanation(known.url, tuple(lines(known, time.time(), learned_lines(self._folder, known))))

    def to_pandas(self, table: Table = "pages") -> Any:
        """A `pandas.DataFrame`."""
        pandas = _library("pandas", "pip install pandas")
        return pandas.DataFrame.from_records(self._rows(table))

    def to_arrow(self, table: Table = "pages") -> Any:
        """A `pyarrow.Table`."""
        pyarrow = _library("pyarrow", "pip install 'spoor[parquet]'")
        return pyarrow.Table.from_pylist(self._rows(table))

    def _rows(self, table: Table) -> list[dict[str, Any]]:
        tables: dict[str, Callable[[], Iterator[Any]]] = {
            "pages": self.pages,
            "links": self.links,
            "hosts": self.hosts,
            "verdicts": self.verdicts,
        }
        if table not in tables:
            raise UsageError(f"there is no table {table!r}; there are {', '.join(tables)}")
        return [_row(record) for record in tables[table]()]


def _row(record: Any) -> dict[str, Any]:
    """The fields of the verdict become columns."""
    row = asdict(record)
    if (verdict := row.pop("verdict", None)) is not None:
        row |= {"relevant": verdict["relevant"], "relevance": verdict["relevance"], "reason": verdict["because"]}
    return row


def _library(name: str, command: str) -> Any:
    try:
        return import_module(name)
    except ModuleNotFoundError:
        raise MissingExtra(f"this needs {name}; install it with: {command}") from None
