"""Folders of older versions: brought to this one when a crawl is resumed in them."""

from __future__ import annotations

import contextlib
import sqlite3
from pathlib import Path

import pytest

from spoor.errors import BadInput, UsageError
from spoor.frontier import Frontier, SqliteStore
from spoor.store.crawl_folder import VERSION, CrawlFolder, open_for_crawling, open_for_reading
from spoor.store.database_check import check_database
from spoor.store.findings import Finding
from spoor.store.folder_check import open_for_checking
from spoor.store.schema import create_tables
from tests.kept_crawl import kept_crawl

VERSION_3 = """
CREATE TABLE hosts (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, rest REAL NOT NULL, free_at REAL NOT NULL, address TEXT NOT NULL
);
CREATE TABLE robots (
    id INTEGER PRIMARY KEY, url TEXT NOT NULL UNIQUE, until REAL NOT NULL, delay REAL NOT NULL, leads_to TEXT NOT NULL,
    failed TEXT NOT NULL, may_heal INTEGER NOT NULL, tries INTEGER NOT NULL, text TEXT NOT NULL
);
CREATE TABLE links (
    id INTEGER PRIMARY KEY, host INTEGER NOT NULL, hash INTEGER NOT NULL, url TEXT NOT NULL, state INTEGER NOT NULL,
    key1 REAL NOT NULL, key2 REAL, key3 REAL, arrival INTEGER NOT NULL, evidence TEXT NOT NULL, trail TEXT,
    depth INTEGER NOT NULL, found_on TEXT NOT NULL, redirects INTEGER NOT NULL, tries INTEGER NOT NULL,
    again_at REAL NOT NULL, because TEXT NOT NULL, hints BLOB
);
CREATE INDEX links_by_url ON links (host, hash);
CREATE INDEX waiting_links ON links (host, key1 DESC, key2 DESC, key3 DESC, arrival) WHERE state = 0;
CREATE INDEX links_found_on ON links (found_on, arrival) WHERE state = 0;
CREATE INDEX links_in_turn ON links (id) WHERE state = 0;
CREATE INDEX moving_links ON links (state, arrival) WHERE state IN (1, 3);
CREATE TABLE counters (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
"""
RULES = "User-agent: *\nDisallow: /private/ä\n"


def as_version_3(folder: CrawlFolder) -> None:
    """The same links, hosts and counters in the tables of version 3, with a robots.txt for every host."""
    with contextlib.closing(sqlite3.connect(folder.database, isolation_level=None)) as db:
        for table in ("hosts", "robots", "links", "counters"):
            db.execute(f"ALTER TABLE {table} RENAME TO new_{table}")
        for (index,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'index' AND sql NOT NULL").fetchall():
            db.execute(f"DROP INDEX {index}")
        db.executescript(VERSION_3)
        db.execute("INSERT INTO hosts SELECT id, name, rest, free_at, address FROM new_hosts")
        robots = "SELECT NULL, 'http://' || name || '/robots.txt', 9e9, 0, '', '', 0, 0, ? FROM new_hosts"
        db.execute(f"INSERT INTO robots {robots}", (RULES,))
        db.execute("INSERT INTO links SELECT * FROM new_links")
        db.execute("INSERT INTO counters SELECT * FROM new_counters")
        for table in ("hosts", "robots", "links", "counters"):
            db.execute(f"DROP TABLE new_{table}")
        create_tables(db)
    (folder.path / "version").write_text("spoor crawl 3\n")


def order_of_visits(folder: CrawlFolder, at_hand: int = 1) -> list[str]:
    with contextlib.closing(SqliteStore(folder.database, at_hand)) as store:
        frontier, visited = Frontier(store), list[str]()
        while (entry := frontier.peek(9e9)) is not None:
            frontier.begin(entry, 9e9)
            frontier.settle(entry.url, 9e9)
            frontier.leave_alone(entry.host, 0.0, 0.0)
            visited.append(entry.url)
        return visited


@pytest.fixture
def crawl(tmp_path: Path) -> CrawlFolder:
    return kept_crawl(tmp_path / "crawl", pages=30)


def test_a_folder_of_version_3_is_migrated_and_visits_go_on_in_the_same_order(crawl: CrawlFolder) -> None:
    with contextlib.closing(sqlite3.connect(crawl.database)) as db:
        db.execute("UPDATE hosts SET rest = 0, free_at = 0")
        db.commit()
    before = order_of_visits(crawl)
    as_version_3(crawl)
    rows: list[int] = []
    with open_for_crawling(crawl.path, rows.append) as folder:
        assert len(before) > 5 and order_of_visits(folder) == before
    assert (crawl.path / "version").read_text().strip() == VERSION
    assert sum(rows) > 0
    with contextlib.closing(SqliteStore(crawl.database)) as store:
        assert store.robots_text("http://a.test/robots.txt") == RULES
    with open_for_crawling(crawl.path, rows.append), contextlib.closing(SqliteStore(crawl.database)):
        pass


def test_a_migrated_database_is_whole(crawl: CrawlFolder) -> None:
    as_version_3(crawl)
    with open_for_crawling(crawl.path):
        pass
    found: list[Finding] = []
    assert check_database(crawl.database, True, found.append)
    assert not found


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


def test_a_migration_that_fails_changes_nothing(crawl: CrawlFolder) -> None:
    as_version_3(crawl)
    with contextlib.closing(sqlite3.connect(crawl.database)) as db:
        db.execute("CREATE TABLE returning_links (taken INTEGER)")
    with pytest.raises(BadInput, match=r"cannot bring .*crawl.db to this version: .*nothing was changed"):
        open_for_crawling(crawl.path).__enter__()
    assert (crawl.path / "version").read_text().strip() == "spoor crawl 3"
    with contextlib.closing(sqlite3.connect(crawl.database)) as db:
        assert "head" not in {row[1] for row in db.execute("PRAGMA table_info(hosts)")}
        assert db.execute("SELECT DISTINCT text FROM robots").fetchall() == [(RULES,)]


def test_a_folder_of_version_3_can_be_read_as_it_is(crawl: CrawlFolder) -> None:
    as_version_3(crawl)
    assert open_for_reading(crawl.path) == crawl
    with pytest.raises(UsageError, match=r"older version; `spoor crawl --out .*` brings it to this one"):
        open_for_checking(crawl.path)
