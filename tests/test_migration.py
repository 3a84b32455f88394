"""Folders of older versions: brought to this one when a crawl is resumed in them."""

from __future__ import annotations

import contextlib
import signal
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from spoor.errors import BadInput, UsageError
from spoor.frontier.frontier import Frontier
from spoor.frontier.sqlite import SqliteStore
from spoor.progress import Advance
from spoor.report.contents import KnownHost, hosts
from spoor.store.crawl_folder import VERSION, CrawlFolder, open_for_crawling, open_for_reading
from spoor.store.database_check import check_database
from spoor.store.database_repair import known_rows
from spoor.store.duplicates import ALL_BANDS, BANDS, BANDS_AT_ONCE
from spoor.store.folder_check import open_for_checking
from spoor.store.incidents import Finding
from tests.forked import Forked
from tests.kept_crawl import kept_crawl
from tests.version_3 import RULES, as_version_3
from tests.version_4 import as_version_4
from tests.version_5 import as_version_5, migrate_and_die


def order_of_visits(folder: CrawlFolder, at_hand: int = 1) -> list[str]:
    with contextlib.closing(SqliteStore(folder.database, at_hand)) as store:
        frontier, visited = Frontier(store), list[str]()
        while (entry := frontier.peek(9e9)) is not None:
            frontier.begin(entry, 9e9)
            frontier.settle(entry.url, 9e9)
            frontier.delay_until(entry.host, 0.0, 0.0)
            visited.append(entry.url)
        return visited


@pytest.fixture
def crawl(tmp_path: Path) -> CrawlFolder:
    return kept_crawl(tmp_path / "crawl", pages=30)


def test_a_folder_of_version_3_is_migrated_and_visits_go_on_in_the_same_order(crawl: CrawlFolder) -> None:
    with contextlib.closing(sqlite3.connect(crawl.database)) as db:
        db.execute("UPDATE hosts SET delay = 0, free_at = 0")
        db.commit()
    before = order_of_visits(crawl)
    as_version_3(crawl)
    rows: list[int] = []

    @contextlib.contextmanager
    def progress(doing: str, total: int | None) -> Iterator[Advance]:
        yield rows.append

    with open_for_crawling(crawl.path, progress) as folder:
        assert len(before) > 5 and order_of_visits(folder) == before
    assert (crawl.path / "version").read_text().strip() == VERSION
    assert sum(rows) > 0
    with contextlib.closing(SqliteStore(crawl.database)) as store:
        assert store.robots_text("http://a.test/robots.txt") == RULES
    with open_for_crawling(crawl.path, progress), contextlib.closing(SqliteStore(crawl.database)):
        pass


def test_a_folder_of_version_4_is_migrated_and_the_new_name_of_its_column_said_once(
    crawl: CrawlFolder, caplog: pytest.LogCaptureFixture
) -> None:
    known = hosts_of(crawl)
    assert hosts_of(as_version_4(crawl)) == known
    for _ in range(2):
        with open_for_crawling(crawl.path) as folder:
            assert hosts_of(folder) == known
    assert caplog.messages == [f"{crawl.database}: the column rest of the table hosts is now called delay"]
    found: list[Finding] = []
    assert check_database(crawl.database, True, found.append) and not found


def test_a_folder_of_version_5_is_migrated_and_its_bands_have_the_fingerprints(crawl: CrawlFolder) -> None:
    known = bands_in(crawl)
    assert len(known) > 10 * BANDS
    as_version_5(crawl)
    done: list[tuple[str, int | None]] = []
    advanced: list[int] = []

    @contextlib.contextmanager
    def progress(doing: str, total: int | None) -> Iterator[Advance]:
        done.append((doing, total))
        yield advanced.append

    for _ in range(2):
        with open_for_crawling(crawl.path, progress) as folder:
            assert bands_in(folder) == known
    assert done == [("indexing the fingerprints of texts", ALL_BANDS)] and sum(advanced) == ALL_BANDS
    found: list[Finding] = []
    assert check_database(crawl.database, True, found.append) and not found


@pytest.mark.parametrize("pieces", [0, 1, 7, ALL_BANDS // BANDS_AT_ONCE])
def test_a_migration_from_version_5_that_was_killed_is_completed_by_the_next(crawl: CrawlFolder, pieces: int) -> None:
    known = bands_in(crawl)
    as_version_5(crawl)
    assert Forked(migrate_and_die, crawl.path, pieces).wait() == -signal.SIGKILL
    assert (crawl.path / "version").read_text() == "spoor crawl 5\n"
    written = bands_in(crawl)
    assert written == [row for row in known if row[0] < pieces * BANDS_AT_ONCE]
    with open_for_crawling(crawl.path) as folder:
        assert bands_in(folder) == known


def bands_in(folder: CrawlFolder) -> list[tuple[int, int, int]]:
    with contextlib.closing(sqlite3.connect(folder.database)) as db:
        return db.execute("SELECT band, fingerprint, simhash FROM bands ORDER BY band, fingerprint").fetchall()


def hosts_of(folder: CrawlFolder) -> list[KnownHost]:
    known = list(hosts(folder))
    assert {host.delay for host in known} == {1.0}
    return known


def test_a_migrated_database_is_whole(crawl: CrawlFolder) -> None:
    as_version_3(crawl)
    with open_for_crawling(crawl.path):
        pass
    found: list[Finding] = []
    assert check_database(crawl.database, True, found.append)
    assert not found
    with contextlib.closing(sqlite3.connect(crawl.database)) as db:
        (files,) = db.execute("SELECT count(*) FROM robots WHERE etag = '' AND modified = ''").fetchone()
    assert sum(shape.name == "robots" for shape, _ in known_rows(crawl.database)) == files > 0


def test_a_death_before_the_version_is_written_costs_nothing(crawl: CrawlFolder) -> None:
    as_version_3(crawl)
    with open_for_crawling(crawl.path):
        pass
    (crawl.path / "version").write_text("spoor crawl 3\n")
    with open_for_crawling(crawl.path), contextlib.closing(SqliteStore(crawl.database)) as store:
        assert store.robots_text("http://a.test/robots.txt") == RULES


def test_a_folder_of_version_3_that_never_began_is_begun(tmp_path: Path) -> None:
    (tmp_path / "version").write_text("spoor crawl 3\n")
    (tmp_path / "crawl.db").touch()
    with open_for_crawling(tmp_path) as folder, contextlib.closing(SqliteStore(folder.database)) as store:
        assert store.host("a.test") is None


def test_a_migration_that_fails_leaves_the_version_and_can_be_repeated(crawl: CrawlFolder) -> None:
    as_version_3(crawl)
    with contextlib.closing(sqlite3.connect(crawl.database)) as db:
        db.execute("CREATE TABLE returning_links (taken INTEGER)")
    with pytest.raises(BadInput, match=r"cannot migrate .*crawl.db from 'spoor crawl 3' to 'spoor crawl 6'"):
        open_for_crawling(crawl.path).__enter__()
    assert (crawl.path / "version").read_text().strip() == "spoor crawl 3"
    with contextlib.closing(sqlite3.connect(crawl.database)) as db:
        assert "head" not in {row[1] for row in db.execute("PRAGMA table_info(hosts)")}
        assert db.execute("SELECT DISTINCT text FROM robots").fetchall() == [(RULES,)]


@pytest.mark.parametrize("as_earlier", [as_version_3, as_version_4, as_version_5])
def test_a_folder_of_an_earlier_version_can_be_read_as_it_is(
    crawl: CrawlFolder, as_earlier: Callable[[CrawlFolder], object]
) -> None:
    as_earlier(crawl)
    assert open_for_reading(crawl.path) == crawl
    with pytest.raises(UsageError, match=r"older version; `spoor crawl --out .*` migrates it"):
        open_for_checking(crawl.path)
