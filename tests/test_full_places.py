"""Places that are full: one line says which and what to do, and the crawl finds everything when there is room again."""

from __future__ import annotations

import contextlib
import errno
import sqlite3
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from aiohttp import web

from spoor.errors import BadInput, NotWritten
from spoor.storage_errors import REMEDIES, not_written, reason_of
from spoor.store.crawl_folder import open_for_crawling, open_for_reading
from spoor.store.incidents import CurrentUrl
from spoor.store.journal import open_to_read
from tests.forked import spoor
from tests.small_disk import fill, small_disk
from tests.thread_server import served_in_thread
from tests.written_crawl import small_crawl


@pytest.mark.parametrize("number", REMEDIES, ids=errno.errorcode.get)
def test_every_cause_has_a_remedy_of_its_own(number: int, tmp_path: Path) -> None:
    problem = str(not_written(tmp_path / "crawl.db", OSError(number, "why")))
    assert REMEDIES[number] in problem and str(tmp_path / "crawl.db") in problem
    assert ("free some disk space" in problem) == (number in (errno.ENOSPC, errno.EDQUOT))
    assert ("ulimit -n" in problem) == (number == errno.EMFILE)


def test_a_damaged_database_is_to_be_checked_and_not_to_get_more_room(tmp_path: Path) -> None:
    (tmp_path / "crawl.db").write_bytes(b"no database" * 1000)
    with contextlib.closing(sqlite3.connect(tmp_path / "crawl.db")) as db, pytest.raises(sqlite3.Error) as raised:
        db.execute("SELECT 1 FROM links")
    assert "`spoor check FOLDER`" in str(not_written(tmp_path / "crawl.db", raised.value))


async def answer(request: web.BaseRequest) -> web.StreamResponse:
    """A host with three pages."""
    links = "".join(f"<a href='/{name}'>x</a>" for name in "abc")
    return web.Response(text=f"<p>rice {request.path} {links}</p>", content_type="text/html")


@pytest.fixture(scope="module")
def site() -> Iterator[str]:
    with served_in_thread(answer) as address:
        yield address


@pytest.mark.parametrize("size", ["4k", "128k"], ids=["not even a folder", "no room for a database"])
def test_a_crawl_that_cannot_begin_is_begun_by_the_same_command(site: str, size: str, tmp_path: Path) -> None:
    disk, errors = tmp_path / "disk", tmp_path / "errors"
    asked = f"--keywords rice --seed {site}/ --strategy breadth-first --rest 0 --allow-private"
    words = ["crawl", *asked.split(), "--out", str(disk / "crawl")]
    with small_disk(disk, size):
        assert spoor(*words, stderr=errors).wait(timeout=120) == 1
        (line,) = errors.read_text().splitlines()
        assert "No space left on device; free some disk space" in line and "run the same command again" in line
        subprocess.run(["mount", "-o", "remount,size=64m", str(disk)], check=True)
        assert spoor(*words).wait(timeout=120) == 0
        with contextlib.closing(open_to_read(disk / "crawl" / "crawl.db")) as db:
            assert db.execute("SELECT count(*) FROM pages").fetchone() == (4,)


def test_the_file_of_the_current_url_is_refused_before_the_crawl_could_die_of_it(tmp_path: Path) -> None:
    """Writing to a memory map without room behind it kills the process."""
    with small_disk(tmp_path / "disk", "1m"):
        fill(tmp_path / "disk")
        with pytest.raises(NotWritten, match="No space left on device"):
            CurrentUrl(tmp_path / "disk" / "in-work")


def test_any_full_place_ends_a_crawl_in_one_line(tmp_path: Path) -> None:
    folder = small_crawl(tmp_path / "crawl").path
    (folder / "crawl.toml").touch()
    full = OSError(errno.ENOSPC, "No space left on device", str(tmp_path / "elsewhere"))
    with pytest.raises(NotWritten) as raised, open_for_crawling(folder):
        raise full
    assert str(raised.value).startswith(f"cannot write {tmp_path / 'elsewhere'}: No space left on device; free")
    assert str(raised.value).endswith(f"resume the crawl with `spoor crawl --out {folder}`: what is stored is safe")
    with pytest.raises(ValueError, match="a mistake"), open_for_crawling(folder):
        raise ValueError("a mistake")


def test_a_crawl_on_a_full_disk_can_be_read(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", "4m"):
        folder = small_crawl(tmp_path / "disk" / "crawl")
        fill(tmp_path / "disk")
        with contextlib.closing(open_to_read(open_for_reading(folder.path).database)) as db:
            assert db.execute("SELECT count(*) FROM pages").fetchone()[0] > 0


def test_what_is_to_be_read_and_is_absent_keeps_the_words_of_its_error(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="unable to open database file"):
        open_to_read(tmp_path / "crawl.db")
    assert reason_of(tmp_path / "file", ValueError("bad bytes")) == "bad bytes"
