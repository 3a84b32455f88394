"""An error of ours in every request is no outage: it is told, counted apart, and ends the crawl."""

from __future__ import annotations

import asyncio
import contextlib
import json
import sqlite3
from pathlib import Path
from typing import NoReturn

import aiohttp
import pytest

import spoor
from spoor.cli.main import main
from spoor.errors import RequestsBroken
from spoor.live.running import OWN_ERRORS
from spoor.settings import Config, Crawling, Politeness, Target
from spoor.store.sharded_folder import ShardedFolder
from tests.sharded_crawl import crawled


def _unfit(*_: object) -> NoReturn:
    raise AttributeError("'Transport' object has no attribute 'max_size'")


@pytest.fixture
def unfit_library(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if another version of a library were installed, in which no connection can be made."""
    monkeypatch.setattr(aiohttp.TCPConnector, "connect", _unfit)


def hosts_here(count: int) -> tuple[str, ...]:
    """Of this machine; nobody listens there."""
    return tuple(f"http://127.0.96.{number}:1/" for number in range(1, count + 1))


def seeds_in(folder: Path, hosts: int) -> Path:
    file = folder / "seeds.txt"
    file.write_text("\n".join(hosts_here(hosts)))
    return file


def crawl(folder: Path, hosts: int, *words: str) -> int:
    seeds = seeds_in(folder, hosts)
    asked = ["--keywords", "a", "--strategy", "breadth-first", "--allow-private", "--seeds", str(seeds), *words]
    return main(["crawl", *asked, "--out", str(folder / "crawl")])


@pytest.mark.usefixtures("unfit_library")
def test_a_hundred_in_a_row_end_the_crawl_and_the_first_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = tmp_path / "log"
    assert crawl(tmp_path, OWN_ERRORS + 20, "--log-file", str(log)) == 1
    output = capsys.readouterr()
    reason = "AttributeError while it was fetched: 'Transport' object has no attribute 'max_size'"
    told = [line for line in output.err.splitlines() if reason in line]
    assert len(told) == 2, output.err
    assert told[0].startswith("spoor: warning: http://127.0.96.") and "an error of spoor, not of the web" in told[0]
    assert told[1].startswith(f"spoor: {OWN_ERRORS} requests in a row failed by an error of spoor: {reason}; nothing")
    assert "Traceback" not in output.err and log.read_text().count("Traceback") == 1
    assert "0 failures" in output.out and "requests failed because of internal errors" in output.out


@pytest.mark.usefixtures("unfit_library")
def test_they_are_counted_apart_in_the_report(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    crawl(tmp_path, 3, "--max-minutes", "0.01")
    capsys.readouterr()
    assert main(["report", str(tmp_path / "crawl")]) == 0
    assert ", 3 internal errors" in capsys.readouterr().out
    assert "requests failed because of errors of spoor" in (tmp_path / "crawl" / "report.html").read_text()


@pytest.mark.usefixtures("unfit_library")
def test_a_program_gets_them_as_an_error(tmp_path: Path) -> None:
    seeds = seeds_in(tmp_path, OWN_ERRORS + 20)
    with pytest.raises(RequestsBroken, match="requests in a row failed by an error of spoor: AttributeError"):
        list(spoor.crawl(tmp_path / "crawl", keywords=["a"], seeds_file=seeds, allow_private=True))
    with contextlib.closing(sqlite3.connect(tmp_path / "crawl" / "crawl.db")) as db:
        (detail,) = db.execute("SELECT detail FROM events WHERE kind = 'ended'").fetchone()
        waiting = db.execute("SELECT count(*) FROM links WHERE state IN (0, 1)").fetchone()
    assert json.loads(detail)["because"].startswith(f"{OWN_ERRORS} requests in a row failed")
    assert waiting == (OWN_ERRORS + 20,)


@pytest.mark.usefixtures("unfit_library")
def test_those_of_a_shard_end_all_shards_and_are_told(tmp_path: Path) -> None:
    seeds = tuple(f"http://127.0.96.{number}:{port}/" for number in range(1, 101) for port in (1, 2, 3))
    crawling = Crawling(seeds=seeds, strategy="breadth-first", allow_private=True)
    asked = Config(Target(pattern="x"), crawling, politeness=Politeness(host_delay=0.0))
    warnings: set[str] = set()
    with pytest.raises(RequestsBroken, match="requests in a row failed by an error of spoor: AttributeError"):
        asyncio.run(
            crawled(ShardedFolder(tmp_path / "crawl"), asked, 2, lambda totals: warnings.update(totals.warnings))
        )
    assert any("an error of spoor, not of the web" in warning for warning in warnings)
