"""Full-text search of pages in any script: an index that follows the crawl in the background."""

from __future__ import annotations

import contextlib
import sqlite3

from spoor.dashboard.counts import state_of
from spoor.parse.words import Words
from spoor.report.contents import archived_page
from spoor.store.crawl_folder import CrawlFolder
from spoor.store.journal import PageRow, number_of, open_to_read, pages_of, place_at
from spoor.store.transactions import transaction

PAGES_AT_ONCE = 20
LONGEST = 20_000
"""Characters of a page that are indexed."""
_WORDS = Words(stop_words=False)


def page_at(db: sqlite3.Connection, number: int) -> PageRow | None:
    """The page with this number in the journal. `db` is the database of the crawl."""
    place = place_at(db, number)
    rows = pages_of(db, place.url) if place else []
    return next((row for row in rows if number_of(db, row) == number), None)


def index_texts(folder: CrawlFolder, db: sqlite3.Connection, most: int = PAGES_AT_ONCE) -> int:
    """Indexes some more pages, oldest first. Returns how many."""
    numbers = [number for (number,) in db.execute(_NEXT, (state_of(db, "texts"), state_of(db, "journal"), most))]
    if not numbers:
        return 0
    with contextlib.closing(open_to_read(folder.database)) as crawl:
        rows = [_row(folder, crawl, number) for number in numbers]
    with transaction(db):
        if state_of(db, "texts") < numbers[0]:  # Unless another dashboard indexed them first.
            db.executemany("INSERT INTO texts (rowid, title, url, body) VALUES (?, ?, ?, ?)", rows)
            db.execute("INSERT OR REPLACE INTO state VALUES ('texts', ?)", (numbers[-1],))
    return len(numbers)


_NEXT = "SELECT id FROM crawl.pages WHERE id > ? AND id <= ? ORDER BY id LIMIT ?"


def _row(folder: CrawlFolder, crawl: sqlite3.Connection, number: int) -> tuple[int, str, str, str]:
    row = page_at(crawl, number)
    if row is None:
        return number, "", "", ""
    page = archived_page(folder, crawl, row)
    return number, _cut(row.title), _cut(row.url), _cut(page.text[:LONGEST] if page else "")


def _cut(text: str) -> str:
    """Words separated by spaces, for FTS5; text in scripts without spaces is split into letter bigrams."""
    return " ".join(_WORDS.of(text))


def query_of(search: str) -> str:
    """An FTS5 query: every part between spaces must occur, as a phrase. "" if there is nothing to search for."""
    phrases = (_WORDS.of(part) for part in search.split())
    return " AND ".join(_phrase(words) for words in phrases if words)


def _phrase(words: list[str]) -> str:
    quoted = '"' + " ".join(word.replace('"', "") for word in words) + '"'
    return quoted + (" *" if len(words) == 1 else "")
