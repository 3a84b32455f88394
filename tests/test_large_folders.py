"""Commands on the folder of a long crawl: what they hold in memory, and how much they read, does not grow with it."""

from __future__ import annotations

import contextlib
import sqlite3
import tracemalloc
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from spoor.report.export import Selection, export
from spoor.report.figures import CURVE_POINTS, PARTS, figures
from spoor.report.summary import Kind
from spoor.store.crawl_folder import CrawlFolder
from spoor.store.database_repair import rebuild
from spoor.store.folder_check import compact
from spoor.store.journal import count_lessons, number_of, numbered_lessons, pages_of
from spoor.store.tables import ROWS
from spoor.store.totals import CrawlTotals, add_totals
from tests.written_crawl import small_crawl

FEW, MANY = 2_000, 40_000

PAGES = """
INSERT INTO pages (id, url, host, number, started, ended, status, size, relevance, because, label, added, waiting,
    title, language, digest, duplicate_of, relevant, noindex)
WITH RECURSIVE counted (n) AS (SELECT 100 UNION ALL SELECT n + 1 FROM counted WHERE n < 99 + {pages})
SELECT n, 'http://h' || (n % 997) || '.test/' || n, 'h' || (n % 997) || '.test', n, 1000.0 + n, 1001.0 + n, 200,
    n % 500, 0.5, 'a word', 'label ' || (n % 30), 3, n, 'Page ' || n, 'mn', 'sha1:' || n, '', n % 4 = 0, 0 FROM counted
"""


def grown(path: Path, pages: int) -> CrawlFolder:
    """A small crawl that went on for so many pages, which the frontier has forgotten."""
    folder = small_crawl(path)
    with contextlib.closing(sqlite3.connect(folder.database)) as db, db:
        db.execute(PAGES.format(pages=pages))
        add_totals(db, CrawlTotals(pages=pages, relevant=sum(number % 4 == 0 for number in range(100, pages + 100))))
    return folder


@pytest.fixture(scope="module")
def few(tmp_path_factory: pytest.TempPathFactory) -> CrawlFolder:
    return grown(tmp_path_factory.mktemp("few") / "crawl", FEW)


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> CrawlFolder:
    return grown(tmp_path_factory.mktemp("many") / "crawl", MANY)


def most_held(work: Callable[[], object]) -> int:
    """Bytes of Python's memory."""
    work()  # What is imported or compiled on the way is not counted.
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_a_report_holds_no_more_of_many_pages(few: CrawlFolder, many: CrawlFolder) -> None:
    assert most_held(lambda: figures(many)) < 1.5 * most_held(lambda: figures(few))


def test_an_export_holds_no_more_of_many_pages(few: CrawlFolder, many: CrawlFolder, tmp_path: Path) -> None:
    asked = Selection("jsonl", every=True)
    of_few, of_many = (most_held(partial(export, one, asked, tmp_path / "pages.jsonl")) for one in (few, many))
    assert of_many < 1.5 * of_few


def test_a_rebuilt_database_settles_more_pages_than_are_dealt_with_at_once(tmp_path: Path) -> None:
    folder = grown(tmp_path / "crawl", ROWS + 2_000)
    with contextlib.closing(sqlite3.connect(folder.database)) as db, db:
        db.execute("INSERT INTO fingerprints SELECT id, id, url FROM pages WHERE id >= 100")
    assert rebuild(folder.database) is not None
    with contextlib.closing(sqlite3.connect(folder.database)) as db:
        settled = "SELECT count(*) FROM links WHERE state = 4 AND url IN (SELECT url FROM pages WHERE id >= 100)"
        assert db.execute(settled).fetchone() == (ROWS + 2_000,)
        assert db.execute("SELECT count(*) FROM bands").fetchone() == (4 * (ROWS + 2_000),)


def test_each_part_of_a_report_is_told(many: CrawlFolder) -> None:
    parts: list[int] = []
    figures(many, parts.append)
    assert parts == [1] * len(PARTS)


def test_a_long_curve_has_few_points_and_ends_with_the_last_visit(many: CrawlFolder) -> None:
    told = figures(many)
    assert len(told.curve) <= CURVE_POINTS
    assert told.curve[-1] == (told.totals.visits, told.totals.relevant, MANY + 99)
    assert all(one[0] < other[0] and one[1] <= other[1] for one, other in zip(told.curve, told.curve[1:], strict=False))


def test_kinds_beyond_the_commonest_are_counted_together(few: CrawlFolder) -> None:
    labels = figures(few).labels
    assert len(labels) == 21 and labels[-1].name == "10 others"
    assert sum(kind.pages for kind in labels) == FEW and sum(kind.relevant for kind in labels) == FEW // 4
    assert labels[0] == Kind("label 10", 67, 34)


def test_what_was_known_before_a_page_is_read_no_further_than_the_page(many: CrawlFolder) -> None:
    with contextlib.closing(sqlite3.connect(many.database)) as db:
        (page,) = pages_of(db, "http://h503.test/1500")
        before = number_of(db, page)
        assert before == 1500 and count_lessons(db, 1000, before) == 499
        assert [number for number, _ in numbered_lessons(db, 1490, before=before)] == list(range(1491, 1500))


def test_compacting_tells_how_much_is_written(tmp_path: Path) -> None:
    folder, told = grown(tmp_path / "crawl", MANY), list[int]()

    @contextlib.contextmanager
    def progress(doing: str, total: int | None) -> Iterator[Callable[[int], None]]:
        yield told.append

    compact(folder, progress)
    assert sum(told) == folder.database.stat().st_size
