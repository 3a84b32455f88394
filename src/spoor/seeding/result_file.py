"""Results that somebody saved: URLs one a line, a table with a column of URLs, or JSON."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from spoor.records import Failure
from spoor.seeding.answers import json_in, objects_in
from spoor.seeding.pages import page_url, pages
from spoor.seeding.searxng import by_engine
from spoor.seeding.source import Ask, Listing

DELIMITERS = {".csv": ",", ".tsv": "\t"}


@dataclass(frozen=True)
class ResultFile:
    """What it is, its name tells: `.json`, `.csv`, `.tsv`, anything else has a URL a line."""

    path: Path

    async def listings(self, query: str, most: int, ask: Ask) -> Sequence[Listing] | Failure:
        """The query is that for which the results were saved; nobody is asked."""
        try:
            body = self.path.read_bytes()
        except OSError as error:
            return Failure(f"cannot be read: {error.strerror}")
        found = self._listings(body, most)
        if not isinstance(found, Failure) and not any(listing.urls for listing in found):
            return Failure("holds no URL that begins with http:// or https://")
        return found

    def _listings(self, body: bytes, most: int) -> Sequence[Listing] | Failure:
        name, kind = str(self.path), self.path.suffix.lower()
        if kind == ".json":
            return _in_json(body, name, most)
        text = body.decode("utf-8-sig", "replace")
        if kind in DELIMITERS:
            return _in_table(text, DELIMITERS[kind], name, most)
        return [Listing(name, pages((line for line in text.splitlines() if not line.startswith("#")), most))]


def _in_json(body: bytes, name: str, most: int) -> Sequence[Listing] | Failure:
    """A list of URLs, a list of objects that have a `url`, or such a list as the `results` of an object. Results that
    say which engine they are from are told apart by it."""
    said = json_in(body)
    if isinstance(said, Failure):
        return said
    results = said.get("results") if isinstance(said, dict) else said
    listed = results if isinstance(results, list) else []
    return by_engine(objects_in([{"url": one} if isinstance(one, str) else one for one in listed]), name, most)


def _in_table(text: str, delimiter: str, name: str, most: int) -> Sequence[Listing] | Failure:
    try:
        rows = [[cell.strip() for cell in row] for row in csv.reader(io.StringIO(text), delimiter=delimiter) if row]
    except csv.Error as error:
        return Failure(f"is no table: {error}")
    urls, ranks = _columns(rows)
    ranked = sorted(rows, key=lambda row: _rank(row[ranks : ranks + 1]))
    return [Listing(name, pages((cell for row in ranked for cell in row[urls : urls + 1]), most))]


def _columns(rows: Sequence[Sequence[str]]) -> tuple[int, int]:
    """Where URLs and ranks are: as the first row says, or else in the first column that holds a URL and the one before
    it. A table without ranks is in their order."""
    names = [name.lower() for name in rows[0]] if rows else []
    if "url" in names:
        return names.index("url"), names.index("rank") if "rank" in names else len(names)
    urls = next((column for row in rows for column, cell in enumerate(row) if page_url(cell)), 0)
    return urls, urls - 1 if urls else len(names)


def _rank(cells: Sequence[str]) -> float:
    return int(cells[0]) if cells and cells[0].isdecimal() else math.inf
