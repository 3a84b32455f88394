"""`spoor compact`: a smaller folder that says and does the same."""

from __future__ import annotations

import contextlib
import json
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from spoor.cli.main import main
from spoor.frontier.rows import ONLY_FOR_CRAWLING
from spoor.frontier.sqlite import SqliteStore
from spoor.report.figures import figures
from spoor.store.crawl_folder import CrawlFolder
from tests.kept_crawl import kept_crawl
from tests.test_crawl_folder import HOLD


def indexes(folder: CrawlFolder) -> set[str]:
    with contextlib.closing(sqlite3.connect(folder.database)) as db:
        return {name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'index'")}


@pytest.fixture
def crawl(tmp_path: Path) -> CrawlFolder:
    folder = kept_crawl(tmp_path / "crawl", pages=200)
    with contextlib.closing(sqlite3.connect(folder.database)) as db:
        db.execute("CREATE TABLE once (large BLOB)")
        db.execute("INSERT INTO once VALUES (zeroblob(1000000))")
        db.commit()
        db.execute("DROP TABLE once")
        db.commit()
    return folder


def test_it_is_smaller_and_all_is_still_there(crawl: CrawlFolder, capsys: pytest.CaptureFixture[str]) -> None:
    before, told = crawl.database.stat().st_size, figures(crawl)
    assert main(["compact", str(crawl.path)]) == 0
    assert ", was " in capsys.readouterr().out
    assert crawl.database.stat().st_size < before - 1_000_000
    assert figures(crawl) == told
    assert main(["check", str(crawl.path)]) == 0


def test_a_crawl_that_is_resumed_goes_on_in_the_same_order(crawl: CrawlFolder) -> None:
    with contextlib.closing(SqliteStore(crawl.database)) as store:
        before = {url: store.find([url]) for (url,) in store.connection.execute("SELECT url FROM links")}
        best = [store.best(host) for (host,) in store.connection.execute("SELECT name FROM hosts")]
    assert main(["compact", str(crawl.path)]) == 0
    assert not indexes(crawl) & set(ONLY_FOR_CRAWLING)
    with contextlib.closing(SqliteStore(crawl.database)) as store:
        assert {url: store.find([url]) for url in before} == before
        assert [store.best(host) for (host,) in store.connection.execute("SELECT name FROM hosts")] == best
    assert set(ONLY_FOR_CRAWLING) <= indexes(crawl)


def test_a_running_crawl_is_left_alone(crawl: CrawlFolder, capsys: pytest.CaptureFixture[str]) -> None:
    with subprocess.Popen([sys.executable, "-c", HOLD, str(crawl.path)], stdout=subprocess.PIPE) as running:
        assert running.stdout is not None and running.stdout.readline() == b"open\n"
        try:
            assert main(["compact", str(crawl.path)]) == 2
        finally:
            running.kill()
    assert capsys.readouterr().err == f"spoor: a crawl is running in {crawl.path}; stop it first\n"
    assert set(ONLY_FOR_CRAWLING) <= indexes(crawl)


def test_while_somebody_reads_it_stays_as_it_is(crawl: CrawlFolder, capsys: pytest.CaptureFixture[str]) -> None:
    before = indexes(crawl)
    with contextlib.closing(sqlite3.connect(crawl.database, isolation_level=None)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM pages").fetchone()
        assert main(["compact", str(crawl.path)]) == 1
    assert "database is locked" in capsys.readouterr().err
    assert indexes(crawl) == before and main(["check", str(crawl.path)]) == 0


def test_no_log_of_the_old_database_stays_beside_the_new_one(crawl: CrawlFolder) -> None:
    with contextlib.closing(sqlite3.connect(crawl.database)) as db, db:
        db.execute("UPDATE pages SET title = 'changed last'")
    assert main(["compact", str(crawl.path)]) == 0
    assert not list(crawl.path.glob("*-wal")) and not list(crawl.path.glob(".*partial*"))
    with contextlib.closing(sqlite3.connect(crawl.database)) as db:
        assert db.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert db.execute("SELECT DISTINCT title FROM pages").fetchall() == [("changed last",)]


def test_what_is_no_crawl_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compact", str(tmp_path / "nothing")]) == 1
    assert capsys.readouterr().err.startswith("spoor: there is no folder")


def test_sizes_are_told_as_json(crawl: CrawlFolder, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compact", str(crawl.path), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["folder"] == str(crawl.path) and told["after"] < told["before"] - 1_000_000
