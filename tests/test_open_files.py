"""The limit of open files: raised as far as allowed, and never exceeded by connections, in use or idle."""

from __future__ import annotations

import contextlib
import resource
import sqlite3
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from aiohttp import web

from spoor.cli.main import program
from tests.forked import forked
from tests.thread_server import served_in_thread

HOSTS = 80
FEW, SOME = 96, 1024
"""Open files: hardly more than a crawl needs beside its connections, and enough for 300 of these."""


async def answer(request: web.BaseRequest) -> web.StreamResponse:
    """A proxy to hosts with one page each; a seed links to all."""
    if request.path == "/robots.txt":
        return web.Response(status=404)
    links = "".join(f"<a href='http://h{number}.test/'>x</a>" for number in range(HOSTS))
    body = links if request.host == "seed.test" else request.host
    return web.Response(text=f"<p>rice {body}</p>", content_type="text/html")


@pytest.fixture(scope="module")
def proxy() -> Iterator[str]:
    with served_in_thread(answer) as address:
        yield address


def run_with_limits(soft: int, hard: int) -> None:
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    program()


def crawled(folder: Path, proxy: str, connections: int, soft: int, hard: int) -> tuple[int, int, str]:
    """The numbers of pages and of failures, and what was said."""
    words = ["crawl", "--keywords", "rice", "--seed", "http://seed.test/", "--strategy", "breadth-first"]
    words += ["--out", str(folder), "--proxy", proxy, "--connections", str(connections)]
    errors = folder.with_suffix(".errors")
    assert forked(partial(run_with_limits, soft, hard), *words, stderr=errors).wait(timeout=120) == 0
    with contextlib.closing(sqlite3.connect(folder / "crawl.db")) as db:
        counted = "SELECT (SELECT count(*) FROM pages), (SELECT count(*) FROM events WHERE kind = 'failed')"
        pages, failures = db.execute(counted).fetchone()
    return pages, failures, errors.read_text("utf8")


def test_more_connections_than_files_are_fewer_and_a_line_says_so(proxy: str, tmp_path: Path) -> None:
    pages, failures, said = crawled(tmp_path / "crawl", proxy, 2000, FEW, FEW)
    assert (pages, failures) == (1 + HOSTS, 0)
    assert "connections = 2,000: at most 24 connections fit below the limit of 96 open files" in said
    assert "`ulimit -n 4256`" in said


def test_the_limit_is_raised_as_far_as_allowed(proxy: str, tmp_path: Path) -> None:
    pages, failures, said = crawled(tmp_path / "crawl", proxy, 300, FEW, SOME)
    assert (pages, failures) == (1 + HOSTS, 0)
    assert "open files" not in said
