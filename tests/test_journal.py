"""The journal: every event becomes a row, and rows can be read while a crawl is running."""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from spoor.errors import BadInput
from spoor.events import Event, Failed, HostOpened, Redirected, Refusal, Refused, Visited
from spoor.records import Verdict, Visit
from spoor.store.journal import Journal, PageFacts, dropped, events, events_of, open_to_read, pages, pages_of

URL = "http://a.test/1"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "crawl's?.db"


@pytest.fixture
def db(file: Path) -> Iterator[sqlite3.Connection]:
    db = sqlite3.connect(file, isolation_level=None)
    db.execute("PRAGMA journal_mode = WAL")
    Journal.create(db)
    yield db
    db.close()


def visit(number: int = 7, url: str = URL) -> Visit:
    return Visit(url, "a.test", number, 10.0, found_on="http://a.test/", depth=1)


def visited(number: int = 7, relevant: bool = True, refused: tuple[Refusal, ...] = ()) -> Visited:
    return Visited(visit(number), 11.5, 200, 4096, Verdict(0.9, relevant, "words", "news"), 3, 1, refused, 42)


def write(journal: Journal, db: sqlite3.Connection, *happened: Event) -> None:
    journal.note(happened)
    db.execute("BEGIN")
    journal.write(db)
    db.execute("COMMIT")


def test_a_page_becomes_a_row_with_all_that_is_known_of_it(db: sqlite3.Connection, file: Path) -> None:
    journal = Journal()
    journal.tell(URL, PageFacts("A title", "mn", "sha1:X", -5, "http://a.test/0", "w.warc.gz", 99, noindex=True))
    write(journal, db, visited())
    with contextlib.closing(open_to_read(file)) as reader:
        (page,) = pages(reader)
    assert (page.url, page.host, page.number, page.started, page.ended) == (URL, "a.test", 7, 10.0, 11.5)
    assert (page.status, page.size, page.relevance, page.because, page.label) == (200, 4096, 0.9, "words", "news")
    assert page.relevant is True and page.noindex is True
    assert (page.title, page.language, page.digest, page.simhash) == ("A title", "mn", "sha1:X", -5)
    assert (page.duplicate_of, page.warc_file, page.warc_offset) == ("http://a.test/0", "w.warc.gz", 99)
    assert (page.added, page.waiting) == (3, 42)
    assert pages_of(db, URL) == [page]


def test_a_page_of_which_nothing_more_was_told_is_noted_too(db: sqlite3.Connection) -> None:
    write(Journal(), db, visited())
    (page,) = pages(db)
    assert (page.title, page.warc_file, page.simhash) == ("", None, None)


def test_whatever_else_happens_is_an_event(db: sqlite3.Connection) -> None:
    robots = Visit("//a.test/robots.txt", "a.test", 8, 9.0, "robots")
    happened = (
        HostOpened(robots, 9.5, 2.0),
        Redirected(visit(8), 12.0, "http://b.test/", "", 5),
        Failed(visit(9), 13.0, "timed out", 60.0, 4),
        Refused(14.0, Refusal("http://c.test/x", "too far", True)),
    )
    write(Journal(), db, *happened)
    rows = list(events(db))
    assert [row.kind for row in rows] == ["host opened", "redirected", "failed", "refused"]
    assert [row.number for row in rows] == [None, 8, 9, None]
    assert [(row.started, row.at) for row in rows] == [(9.0, 9.5), (10.0, 12.0), (10.0, 13.0), (None, 14.0)]
    assert [row.host for row in rows] == ["a.test", "a.test", "a.test", "c.test"]
    assert rows[0].detail == {"purpose": "robots", "tries": 0, "delay": 2.0}
    assert rows[1].detail == {
        "purpose": "page",
        "tries": 0,
        "to": "http://b.test/",
        "because": "",
        "again": False,
        "waiting": 5,
    }
    assert rows[2].detail["reason"] == "timed out" and rows[2].detail["again_at"] == 60.0
    assert rows[3].detail == {"because": "too far", "parked": True}
    assert events_of(db, URL) == rows[1:3]
    assert events_of(db, "http://c.test/x") == rows[3:]


def test_a_dropped_link_is_remembered_once_and_a_parked_one_left_to_the_frontier(db: sqlite3.Connection) -> None:
    gone, parked = "http://x.test/gone", "http://x.test/parked"
    refused = (Refusal(gone, "outside", False), Refusal(parked, "later", True))
    write(Journal(), db, visited(1, refused=refused), visited(2, refused=refused))
    found = dropped(db, gone)
    assert found is not None and (found.because, found.found_on, found.at) == ("outside", URL, 11.5)
    assert dropped(db, parked) is None
    assert db.execute("SELECT count(*) FROM dropped").fetchone() == (1,)


def test_what_was_rolled_back_never_happened(db: sqlite3.Connection) -> None:
    journal = Journal()
    journal.note([visited()])
    db.execute("BEGIN")
    journal.write(db)
    db.execute("ROLLBACK")
    assert list(pages(db)) == []


def test_a_reader_sees_what_is_committed_while_the_writer_goes_on(db: sqlite3.Connection, file: Path) -> None:
    journal = Journal()
    write(journal, db, *[visited(n) for n in range(1500)])
    with contextlib.closing(open_to_read(file)) as reader:
        reading = pages(reader)
        assert next(reading).number == 0
        write(journal, db, *[visited(n) for n in range(1500, 2500)])
        assert [page.number for page in reading] == list(range(1, 2500))
        with pytest.raises(sqlite3.OperationalError, match="readonly"):
            reader.execute("DELETE FROM pages")


def test_only_the_relevant_ones(db: sqlite3.Connection) -> None:
    write(Journal(), db, *[visited(n, relevant=n % 3 == 0) for n in range(3000)])
    assert [page.number for page in pages(db, relevant_only=True)] == list(range(0, 3000, 3))


def test_a_database_in_a_folder_that_cannot_be_written_to_is_read(db: sqlite3.Connection, file: Path) -> None:
    write(Journal(), db, visited())
    db.close()
    os.chmod(file, 0o400)
    os.chmod(file.parent, 0o500)
    try:
        with contextlib.closing(open_to_read(file)) as reader:
            assert len(list(pages(reader))) == 1
    finally:
        os.chmod(file.parent, 0o700)


@pytest.mark.parametrize("content", [b"", b"this is not SQLite" * 100])
def test_a_database_that_is_none_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "crawl.db").write_bytes(content)
    with pytest.raises(BadInput, match=r"cannot read .*crawl\.db"):
        open_to_read(tmp_path / "crawl.db")
