"""The pages of a crawl: newest, best or borderline; of a host, a language or a verdict; by a word in their text."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from spoor.dashboard.page_texts import query_of
from spoor.dashboard.reading import ListQuery, Part, Reading, ShortListQuery, cursor_of, part_of, place_in
from spoor.store.marks import mark_of

MOST_MATCHES = 10_000
"""Matches of a search that are sorted by relevance: the newest."""
_COLUMNS = (
    "pages.id, pages.url, pages.host, title, pages.language, pages.relevant, pages.relevance, because, label, status, "
    "size, ended, duplicate_of, warc_file"
)


@dataclass(frozen=True, slots=True)
class PageQuery(ListQuery):
    """Which pages, and in which order. `borderline`: those nearest to the threshold between the verdicts first."""

    order: Literal["newest", "best", "borderline"] = "newest"
    host: str = ""
    language: str = ""
    verdict: Literal["", "relevant", "irrelevant"] = ""
    search: str = ""


@dataclass(frozen=True, slots=True)
class ListedPage:
    """A fetched and judged page. `fetched_at` is in seconds since 1970; `kept` is whether it is in the archive; `mark`
    is the label by a person, None if there is none."""

    id: int
    url: str
    host: str
    title: str
    language: str
    relevant: bool
    relevance: float
    because: str
    label: str | None
    status: int
    size: int
    fetched_at: float
    duplicate_of: str
    kept: bool
    needs_scripts: bool
    mark: bool | None


@dataclass(frozen=True, slots=True)
class Language:
    """A language of pages."""

    language: str
    pages: int
    relevant: int


def languages(reading: Reading, asked: ShortListQuery) -> Part[Language]:
    """Most frequent first."""
    rows = reading.db.execute("SELECT * FROM counted.languages ORDER BY pages DESC, name LIMIT ?", (asked.limit,))
    return Part(tuple(Language(*row) for row in rows), None)


def pages(reading: Reading, asked: PageQuery) -> Part[ListedPage]:
    if asked.search and not query_of(asked.search):
        return Part((), None)
    match asked.order:
        case "newest":
            return _newest(reading, asked)
        case "best":
            return _best(reading, asked)
        case "borderline":
            return _borderline(reading, asked)


def _newest(reading: Reading, asked: PageQuery) -> Part[ListedPage]:
    where, values = _conditions(asked)
    if place := place_in(asked.cursor, int):
        where, values = [*where, "listed.id < ?"], [*values, place[0]]
    rows = _rows(reading, where, values, "listed.id DESC", asked.limit + 1)
    return part_of(rows, asked.limit, lambda row: [row.id])


def _best(reading: Reading, asked: PageQuery) -> Part[ListedPage]:
    where, values = _conditions(asked)
    if place := place_in(asked.cursor, float, int):
        where, values = [*where, "(listed.relevance, listed.id) < (?, ?)"], [*values, *place]
    rows = _rows(reading, where, values, "listed.relevance DESC, listed.id DESC", asked.limit + 1)
    return part_of(rows, asked.limit, lambda row: [row.relevance, row.id])


def _borderline(reading: Reading, asked: PageQuery) -> Part[ListedPage]:
    """Reads upwards and downwards from the threshold, by the index of relevances; the cursor has a position in each
    direction."""
    border = border_of(reading)
    up_from, up_id, down_from, down_id = place_in(asked.cursor, float, int, float, int) or (border, -1, border, -1)
    where, values = _conditions(asked)
    above, below = "(listed.relevance, listed.id) > (?, ?)", "(listed.relevance, listed.id) < (?, ?)"
    most = asked.limit + 1
    up = _rows(reading, [*where, above], [*values, up_from, up_id], "listed.relevance, listed.id", most)
    down = _rows(reading, [*where, below], [*values, down_from, down_id], "listed.relevance DESC, listed.id DESC", most)
    nearest = sorted([*up, *down], key=lambda row: abs(row.relevance - border))
    shown = nearest[: asked.limit]
    highest = max(((row.relevance, row.id) for row in shown if row.relevance >= border), default=(up_from, up_id))
    lowest = min(((row.relevance, row.id) for row in shown if row.relevance < border), default=(down_from, down_id))
    cursor = cursor_of([*highest, *lowest]) if len(nearest) > asked.limit else None
    return Part(tuple(shown), cursor)


def border_of(reading: Reading) -> float:
    """The relevance at which verdicts change from irrelevant to relevant, estimated from the pages."""
    query = "SELECT (SELECT min(relevance) {0} = 1), (SELECT max(relevance) {0} = 0)"
    lowest, highest = reading.db.execute(query.format("FROM counted.listed WHERE relevant")).fetchone()
    return ((1.0 if lowest is None else lowest) + (0.0 if highest is None else highest)) / 2


def _conditions(asked: PageQuery) -> tuple[list[str], list[Any]]:
    where, values = list[str](), list[Any]()
    if asked.host:
        where, values = [*where, "listed.host = (SELECT id FROM counted.hosts WHERE name = ?)"], [*values, asked.host]
    if asked.language:
        where, values = [*where, "listed.language = ?"], [*values, asked.language]
    if asked.verdict:
        where, values = [*where, "listed.relevant = ?"], [*values, asked.verdict == "relevant"]
    if asked.search:
        newest = f"SELECT rowid FROM counted.texts WHERE texts MATCH ? ORDER BY rowid DESC LIMIT {MOST_MATCHES}"
        where, values = [*where, f"listed.id IN ({newest})"], [*values, query_of(asked.search)]
    return where, values


def _rows(reading: Reading, where: Sequence[str], values: Sequence[Any], order: str, most: int) -> list[ListedPage]:
    chosen = (
        f"SELECT listed.id FROM counted.listed AS listed WHERE {' AND '.join([*where, '1'])} ORDER BY {order} LIMIT ?"
    )
    return listed_pages(reading, [number for (number,) in reading.db.execute(chosen, (*values, most))])


def listed_pages(reading: Reading, numbers: Sequence[int]) -> list[ListedPage]:
    """In the order of the numbers."""
    query = f"SELECT {_COLUMNS}, needs_scripts FROM pages WHERE id = ?"
    found = (reading.db.execute(query, (number,)).fetchone() for number in numbers)
    return [_page(reading.db, row) for row in found if row]


def _page(db: sqlite3.Connection, row: tuple[Any, ...]) -> ListedPage:
    *head, relevant, relevance, because, label, status, size, ended, duplicate_of, warc_file, scripts = row
    facts = (because, label, status, size, ended, duplicate_of, bool(warc_file), bool(scripts))
    mark = mark_of(db, row[1])
    return ListedPage(*(*head, bool(relevant), relevance, *facts, mark.relevant if mark else None))
