"""Copies of a shard: of one moment, whole or absent, and the right one is found again."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from spoor.errors import BadInput
from spoor.store.copies import CopyName, CopyPlace, Origin, Replaced, moment_of
from spoor.store.crawl_folder import CrawlFolder, open_for_crawling, open_for_reading
from spoor.store.local_folder import local_path, opened_locally
from spoor.store.warc import WarcWriter
from tests.kept_responses import response


class Worker:
    """A shard on one disk; what it does is rows of a table."""

    def __init__(self, tmp_path: Path, disk: str = "disk") -> None:
        self.place = CopyPlace(tmp_path / "crawl" / "shards" / "000")
        self.path = local_path(str(tmp_path / disk), self.place.path)

    def run(self, *rows: str, copies: int = 1, now: float = 0.0) -> list[str]:
        """Writes each row, and copies after it if there are copies left; returns what it found at first."""
        with opened_locally(self.place, self.path, now) as local:
            with closing(sqlite3.connect(local.folder.database, isolation_level=None)) as db:
                db.execute("PRAGMA journal_mode = WAL")
                db.execute("CREATE TABLE IF NOT EXISTS pages (id INTEGER PRIMARY KEY, url TEXT)")
                found = [url for (url,) in db.execute("SELECT url FROM pages ORDER BY id")]
                for number, row in enumerate(rows, 1):
                    db.execute("INSERT INTO pages (url) VALUES (?)", (row,))
                    if number <= copies:
                        with moment_of(local.folder) as moment:
                            db.execute("INSERT INTO pages (url) VALUES ('later')")
                            self.place.write(CopyName(local.generation, number), moment, local.partial)
                            db.execute("DELETE FROM pages WHERE url = 'later'")
            return found

    def lose_disk(self) -> None:
        shutil.rmtree(self.path)

    def copies(self) -> list[str]:
        return sorted(file.stem for file in (self.place.path / "copies").glob("*.json"))


def test_a_copy_is_of_one_moment_and_is_read_as_any_crawl_folder(tmp_path: Path) -> None:
    worker = Worker(tmp_path)
    worker.run("a", "b", copies=1)
    folder = open_for_reading(worker.place.path)
    with closing(sqlite3.connect(folder.database)) as db:
        assert db.execute("SELECT url FROM pages").fetchall() == [("a",)]
        assert db.execute("PRAGMA journal_mode").fetchone() == ("delete",)


def test_what_is_on_the_disk_is_used_if_nobody_began_since(tmp_path: Path) -> None:
    worker = Worker(tmp_path)
    worker.run("a", "b", copies=1)
    assert worker.run("c", copies=0) == ["a", "b"]


def test_without_the_disk_the_newest_copy_is_used(tmp_path: Path) -> None:
    worker = Worker(tmp_path)
    worker.run("a", "b", "c", copies=2)
    worker.lose_disk()
    assert worker.run() == ["a", "b"]


def test_a_disk_that_comes_back_after_somebody_else_began_counts_no_more(tmp_path: Path) -> None:
    here, elsewhere = Worker(tmp_path), Worker(tmp_path, "another")
    here.run("a", "b", copies=1)
    assert elsewhere.run("c", copies=0) == ["a"]
    assert here.run() == ["a"]


def test_a_damaged_copy_is_passed_over_for_the_one_before(tmp_path: Path) -> None:
    worker = Worker(tmp_path)
    worker.run("a", "b", copies=2)
    worker.lose_disk()
    (worker.place.path / "copies" / "0001-000002.db").write_bytes(b"torn")
    assert worker.run() == ["a"]


def test_a_copy_of_which_nobody_can_read_what_it_is_is_passed_over(tmp_path: Path) -> None:
    worker = Worker(tmp_path)
    worker.run("a", "b", copies=2)
    worker.lose_disk()
    (worker.place.path / "copies" / "0001-000002.json").write_text("{}")
    assert worker.run() == ["a"]


def test_where_no_copy_is_whole_nothing_begins(tmp_path: Path) -> None:
    worker = Worker(tmp_path)
    worker.run("a", copies=1)
    worker.lose_disk()
    (worker.place.path / "copies" / "0001-000001.db").write_bytes(b"torn")
    with pytest.raises(BadInput, match=r"no copy in .* is whole .*its database is damaged"):
        worker.run()


def test_the_two_newest_copies_stay(tmp_path: Path) -> None:
    worker = Worker(tmp_path)
    worker.run("a", "b", "c", copies=3)
    assert worker.copies() == ["0001-000002", "0001-000003"]
    worker.run("d", copies=1)
    assert worker.copies() == ["0001-000003", "0002-000001"]


def test_a_copy_of_a_process_that_was_replaced_is_not_used(tmp_path: Path) -> None:
    here, elsewhere = Worker(tmp_path), Worker(tmp_path, "another")
    with opened_locally(here.place, here.path, 0.0) as local:
        with moment_of(local.folder) as moment:
            here.place.write(CopyName(1, 1), moment, local.partial)
        elsewhere.run("c", copies=0)
        with moment_of(local.folder) as moment, pytest.raises(Replaced, match="taken over by start 2"):
            here.place.write(CopyName(1, 2), moment, local.partial)
    assert list(here.place.candidates(3)) == [CopyName(1, 1)]


def test_no_two_processes_begin_the_same_generation(tmp_path: Path) -> None:
    place = CopyPlace(tmp_path)
    place.claim(1, Origin(0))
    with pytest.raises(Replaced, match="another process has taken over"):
        place.claim(1, Origin(0))


def test_hosts_have_their_delay_after_the_way_back(tmp_path: Path) -> None:
    worker = Worker(tmp_path)
    with opened_locally(worker.place, worker.path, 0.0) as local:
        with closing(sqlite3.connect(local.folder.database, isolation_level=None)) as db:
            db.execute("CREATE TABLE hosts (name TEXT, delay REAL, free_at REAL)")
            db.execute("INSERT INTO hosts VALUES ('a.test', 2.0, 7.0)")
        with moment_of(local.folder) as moment:
            worker.place.write(CopyName(1, 1), moment, local.partial)
    worker.lose_disk()
    with (
        opened_locally(worker.place, worker.path, 100.0) as local,
        closing(sqlite3.connect(local.folder.database)) as db,
    ):
        assert db.execute("SELECT free_at FROM hosts").fetchone() == (102.0,)


def test_closed_warc_files_are_copied_once_and_linked_on_the_way_back(tmp_path: Path) -> None:
    worker = Worker(tmp_path)
    with opened_locally(worker.place, worker.path, 0.0) as local, WarcWriter(local.folder.warcs, {}) as keeper:
        keeper.keep(response("http://a.test/"))
        keeper.close()
        keeper.keep(response("http://a.test/2"))
        with moment_of(local.folder) as moment:
            worker.place.write(CopyName(1, 1), moment, local.partial)
    (copied,) = (worker.place.path / "warc").glob("*.warc.gz")
    assert copied.name.startswith("spoor-00001-")
    worker.lose_disk()
    with opened_locally(worker.place, worker.path, 0.0) as local:
        (linked,) = local.folder.warcs.glob("*.warc.gz")
        assert linked.is_symlink() and linked.read_bytes() == copied.read_bytes()


def test_a_copy_can_be_read_but_not_changed(tmp_path: Path) -> None:
    worker = Worker(tmp_path)
    worker.run("a", copies=1)
    with (
        pytest.raises(BadInput, match="is a copy of a shard that works elsewhere"),
        open_for_crawling(worker.place.path),
    ):
        pass


def test_the_disk_may_be_named_by_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = tmp_path / "crawl" / "shards" / "003"
    monkeypatch.setenv("DISK", "/scratch/7")
    assert local_path("$DISK/spoor", place).is_relative_to("/scratch/7/spoor")
    assert local_path("$DISK", place).name == "003"
    with pytest.raises(BadInput, match=r"--local \$NO_DISK is \$NO_DISK on .*; give it a path that begins with /"):
        local_path("$NO_DISK", place)


def test_what_was_crawled_before_the_first_generation_counts_as_a_copy(tmp_path: Path) -> None:
    worker = Worker(tmp_path)
    with open_for_crawling(worker.place.path) as folder, closing(sqlite3.connect(folder.database)) as db:
        db.executescript("CREATE TABLE pages (id INTEGER PRIMARY KEY, url TEXT); INSERT INTO pages VALUES (1, 'a');")
    assert worker.run() == ["a"]
    assert CrawlFolder(worker.place.path).database.is_symlink()
