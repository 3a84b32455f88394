"""On a system whose SQLite is too old nothing begins, and one line says why."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

import spoor
from spoor.cli.main import main
from spoor.errors import SpoorError
from spoor.store.crawl_folder import open_for_crawling
from spoor.store.sqlite_version import LEAST_SQLITE, require_sqlite
from tests.written_crawl import small_crawl

REFUSED = (
    "spoor: this Python uses SQLite 3.37.2, but spoor needs 3.38.0 or later; "
    "use a Python that brings its own, such as that of `uv python install` or conda\n"
)


@pytest.fixture
def with_version(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """As on Ubuntu 22.04."""
    monkeypatch.setattr(sqlite3, "sqlite_version_info", (3, 37, 2))
    monkeypatch.setattr(sqlite3, "sqlite_version", "3.37.2")
    return monkeypatch


@pytest.mark.parametrize("shards", [[], ["--shards", "2"]])
def test_no_crawl_begins(
    with_version: pytest.MonkeyPatch, shards: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if shards:
        with_version.setattr("spoor.cli.sharded_crawls.check_ray", lambda: None)
    words = ["crawl", "--script", "thai", "--seed", "http://a.test/", "--out", str(tmp_path / "crawl"), *shards]
    assert main(words) == 1
    assert capsys.readouterr().err == REFUSED
    assert not (tmp_path / "crawl").exists()


@pytest.mark.parametrize(
    "command", ["report", "export --format jsonl --out x.jsonl", "check", "pause", "dashboard", "compact"]
)
def test_no_folder_is_opened(command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = small_crawl(tmp_path / "crawl")
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(sqlite3, "sqlite_version_info", (3, 37, 2))
        patched.setattr(sqlite3, "sqlite_version", "3.37.2")
        assert main([*command.split(), str(folder.path)]) == 1
    assert capsys.readouterr().err == REFUSED


def test_the_functions_refuse_it_too(with_version: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with pytest.raises(SpoorError, match=r"SQLite 3\.37\.2"):
        spoor.open_crawl(tmp_path)
    with pytest.raises(SpoorError, match=r"SQLite 3\.37\.2"), open_for_crawling(tmp_path / "crawl"):
        pass


def test_the_least_version_is_accepted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite3, "sqlite_version_info", LEAST_SQLITE)
    require_sqlite()
