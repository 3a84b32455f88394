"""The folder of a crawl: made, resumed, locked, and refused when it is something else."""

from __future__ import annotations

import contextlib
import os
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from spoor.errors import BadInput
from spoor.store.crawl_folder import open_for_crawling, open_for_reading
from spoor.store.sqlite_files import changed_bytes, sums_of
from spoor.store.warc import WarcWriter
from tests.kept_responses import response

HOLD = (
    "import sys, time; from pathlib import Path\n"
    "from spoor.store.crawl_folder import open_for_crawling\n"
    "with open_for_crawling(Path(sys.argv[1])): print('open', flush=True); time.sleep(60)"
)


def test_a_crawl_is_begun_and_gone_on_with(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "crawl"
    with open_for_crawling(path) as folder:
        assert folder.settings() is None
        folder.write_settings('[crawl]\nseeds = ["http://a.test/"]\n')
        folder.database.touch()
    with open_for_crawling(path) as again:
        assert again.settings() == '[crawl]\nseeds = ["http://a.test/"]\n'
    assert open_for_reading(path) == again
    assert sorted(os.listdir(path)) == ["crawl.db", "crawl.db.sums", "crawl.toml", "lock", "version"]


def test_settings_may_wait_in_the_folder(tmp_path: Path) -> None:
    (tmp_path / "crawl.toml").write_text("[crawl]\n")
    with open_for_crawling(tmp_path) as folder:
        assert folder.settings() == "[crawl]\n"


def test_a_folder_with_something_else_in_it_is_refused(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("of years")
    with pytest.raises(BadInput, match=r"has other contents \(thesis.txt\); give --out a new or empty folder"):
        open_for_crawling(tmp_path).__enter__()
    assert os.listdir(tmp_path) == ["thesis.txt"]


@pytest.mark.parametrize("version", ["spoor crawl 6", "spoor crawl 99"])
def test_a_folder_of_another_version_is_refused(version: str, tmp_path: Path) -> None:
    with open_for_crawling(tmp_path) as folder:
        folder.database.touch()
    (tmp_path / "version").write_text(f"{version}\n")
    refused = rf"written by another version of spoor \('{version}'"
    with pytest.raises(BadInput, match=refused):
        open_for_crawling(tmp_path).__enter__()
    with pytest.raises(BadInput, match=refused):
        open_for_reading(tmp_path)


def test_a_second_process_is_refused_by_the_number_of_the_first(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", HOLD, str(tmp_path)], stdout=subprocess.PIPE) as first:
        assert first.stdout is not None and first.stdout.readline() == b"open\n"
        try:
            with pytest.raises(BadInput, match=f"process {first.pid} is crawling into"):
                open_for_crawling(tmp_path).__enter__()
        finally:
            first.send_signal(signal.SIGKILL)
    with open_for_crawling(tmp_path):
        pass


def test_the_lock_goes_with_its_process_though_a_forked_one_lives_on(tmp_path: Path) -> None:
    forked = HOLD.replace("print('open', flush=True)", "pid = __import__('os').fork(); pid and print(pid, flush=True)")
    with subprocess.Popen([sys.executable, "-c", forked, str(tmp_path)], stdout=subprocess.PIPE) as first:
        assert first.stdout is not None
        child = int(first.stdout.readline())
        first.send_signal(signal.SIGKILL)
        first.wait()
        try:
            with open_for_crawling(tmp_path):
                pass
        finally:
            os.kill(child, signal.SIGKILL)


def test_a_folder_that_cannot_be_written_to_is_refused(tmp_path: Path) -> None:
    closed = tmp_path
    if os.geteuid() == 0:
        closed = Path("/proc/self/fdinfo")  # nobody can write there, not even root
    else:
        closed.chmod(0o500)
    with pytest.raises(BadInput, match=r"cannot write .*; use (another folder|a folder that you may write to)"):
        open_for_crawling(closed / "crawl").__enter__()


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(BadInput, match="is a file; give --out a folder"):
        open_for_crawling(tmp_path / "file").__enter__()
    with pytest.raises(BadInput, match=r"cannot write .*: Not a directory; use another folder"):
        open_for_crawling(tmp_path / "file" / "crawl").__enter__()


def test_reading_needs_a_crawl_but_no_lock(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="there is no folder"):
        open_for_reading(tmp_path / "nowhere")
    with pytest.raises(BadInput, match="is not a crawl folder"):
        open_for_reading(tmp_path)
    with open_for_crawling(tmp_path / "crawl") as folder:
        folder.database.touch()
        assert open_for_reading(tmp_path / "crawl") == folder


@pytest.mark.parametrize("left", ["crawl.toml", "warc", "both"])
def test_a_crawl_whose_database_is_missing_is_not_begun_anew(tmp_path: Path, left: str) -> None:
    with open_for_crawling(tmp_path / "crawl") as folder:
        if left != "warc":
            folder.write_settings("[crawl]\n")
        if left != "crawl.toml":
            with WarcWriter(folder.warcs, {}) as keeper:
                keeper.keep(response("http://a.test/"))
    folder.database.unlink()
    before = sorted(folder.path.rglob("*"))
    with pytest.raises(BadInput, match=r"is missing; restore it, or move .* away to start over"):
        open_for_crawling(folder.path).__enter__()
    assert sorted(folder.path.rglob("*")) == before
    if left != "crawl.toml":
        folder.database.touch()
        with pytest.raises(BadInput, match="is empty; restore it"):
            open_for_crawling(folder.path).__enter__()


def test_a_start_that_was_killed_can_be_made_again(tmp_path: Path) -> None:
    """After the database was made and before anything came, or earlier."""
    with open_for_crawling(tmp_path / "crawl") as folder:
        folder.write_settings("[crawl]\n")
    for left in (("version", "lock", "crawl.toml", "crawl.db"), ("lock", "crawl.toml", "crawl.db"), ("lock",)):
        for file in folder.path.iterdir():
            if file.name not in left:
                file.unlink()
        with open_for_crawling(folder.path):
            pass


def test_checksums_of_the_database_are_there_exactly_while_nobody_crawls(tmp_path: Path) -> None:
    for _ in range(2):
        with open_for_crawling(tmp_path / "crawl") as folder:
            assert not sums_of(folder.database).exists()
            with contextlib.closing(sqlite3.connect(folder.database)) as db:
                db.execute("CREATE TABLE IF NOT EXISTS t (a)")
        assert changed_bytes(folder.database) == []
    content = bytearray(folder.database.read_bytes())
    content[5000] ^= 1
    folder.database.write_bytes(content)
    assert changed_bytes(folder.database) == [(0, len(content))]
    folder.database.write_bytes(content[:-1])
    assert changed_bytes(folder.database) == [(0, len(content))]
