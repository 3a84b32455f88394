"""Standard streams that are closed, full, or of an encoding without most characters."""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from aiohttp import web

from spoor.cli.main import program
from tests.forked import forked
from tests.thread_server import served_in_thread

FULL = Path("/dev/full")
NO_ROOM = "spoor: cannot write to standard output: No space left on device"


def spoor(words: str, streams: str = "", **environment: str) -> subprocess.CompletedProcess[str]:
    """A real process; `streams` are redirections of the shell. The interpreter has none for a closed one."""
    command = f"exec {sys.executable} -m spoor {words} {streams}"
    return subprocess.run(["sh", "-c", command], capture_output=True, text=True, env={**os.environ, **environment})


@pytest.mark.parametrize(("stream", "reason"), [(">&-", "Bad file descriptor"), (">/dev/full", "No space left")])
def test_results_that_cannot_be_written_are_told_in_one_line(stream: str, reason: str) -> None:
    done = spoor("--version", stream)
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"spoor: cannot write to standard output: {reason}")


@pytest.mark.parametrize("streams", ["2>&-", "2>/dev/full", "<&- >&- 2>&-"])
def test_an_error_without_standard_error_still_has_its_exit_code(streams: str) -> None:
    done = spoor("report", streams)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", "")


def test_characters_that_the_terminal_lacks_are_written_as_escapes() -> None:
    done = spoor("strategies --help", PYTHONIOENCODING="ascii", PYTHONUTF8="0")
    assert done.returncode == 0 and done.stderr == ""
    assert "limited-distance:n=3 \\u2026" in done.stdout


# A crawl: its streams are the last thing that may cost it


async def answer(request: web.BaseRequest) -> web.StreamResponse:
    """A host with three pages."""
    links = "".join(f"<a href='/{name}'>x</a>" for name in "abc")
    return web.Response(text=f"<p>rice {request.path} {links}</p>", content_type="text/html")


@pytest.fixture(scope="module")
def site() -> Iterator[str]:
    with served_in_thread(answer) as address:
        yield address


def run_without_streams() -> None:
    """As the interpreter starts if the shell has closed them."""
    for file in (0, 1, 2):
        os.close(file)
    sys.stdin = sys.stdout = sys.stderr = None
    program()


def words(site: str, folder: Path) -> list[str]:
    asked = f"--keywords rice --seed {site}/ --strategy breadth-first --rest 0 --allow-private --out {folder}"
    return ["crawl", *asked.split()]


def pages(folder: Path) -> int:
    with contextlib.closing(sqlite3.connect(folder / "crawl.db")) as db:
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        return int(db.execute("SELECT count(*) FROM pages").fetchone()[0])


def test_a_crawl_without_any_stream_is_whole(site: str, tmp_path: Path) -> None:
    assert forked(run_without_streams, *words(site, tmp_path / "crawl")).wait(timeout=120) == 0
    assert pages(tmp_path / "crawl") == 4


@pytest.mark.parametrize(("more", "code"), [((), 0), (("--json",), 1)], ids=["summary", "results"])
def test_a_full_standard_output_costs_only_what_was_to_be_written_there(
    site: str, tmp_path: Path, more: tuple[str, ...], code: int
) -> None:
    folder, errors = tmp_path / "crawl", tmp_path / "errors"
    assert forked(program, *words(site, folder), *more, stdout=FULL, stderr=errors).wait(timeout=120) == code
    assert NO_ROOM in errors.read_text().splitlines() and "Traceback" not in errors.read_text()
    assert pages(folder) == 4
    with contextlib.closing(sqlite3.connect(folder / "crawl.db")) as db:
        (ended,) = db.execute("SELECT detail FROM events WHERE kind = 'ended'").fetchone()
    assert json.loads(ended)["because"] == "nothing is waiting"
