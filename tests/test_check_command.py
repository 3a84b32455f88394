"""`spoor check`: what it prints, what it returns, and when it refuses."""

from __future__ import annotations

import contextlib
import json
import shutil
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from spoor.cli.main import main
from spoor.store.crawl_folder import CrawlFolder
from tests.kept_crawl import kept_crawl
from tests.test_crawl_folder import HOLD


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> CrawlFolder:
    return kept_crawl(tmp_path_factory.mktemp("kept") / "crawl", pages=12)


@pytest.fixture
def crawl(kept: CrawlFolder, tmp_path: Path) -> CrawlFolder:
    return CrawlFolder(shutil.copytree(kept.path, tmp_path / "crawl"))


def spoor(*words: object) -> int:
    return main([str(word) for word in words])


def damage(file: Path, place: int) -> None:
    content = bytearray(file.read_bytes())
    content[place] ^= 16
    file.write_bytes(content)


def test_a_whole_crawl_is_said_to_be_well(crawl: CrawlFolder, capsys: pytest.CaptureFixture[str]) -> None:
    before = {file.name: file.read_bytes() for file in crawl.warcs.iterdir()}
    assert spoor("check", crawl.path) == 0
    (told,) = capsys.readouterr().out.splitlines()
    assert told.startswith(f"{crawl.path}: ") and told.endswith("records checked; all is well")
    assert {file.name: file.read_bytes() for file in crawl.warcs.iterdir()} == before


def test_every_finding_is_a_line_and_the_exit_code_says_that_there_is_damage(
    crawl: CrawlFolder, capsys: pytest.CaptureFixture[str]
) -> None:
    warc, index = sorted(crawl.warcs.glob("*.warc.gz"))[0], sorted(crawl.warcs.glob("*.cdxj"))[0]
    damage(warc, 2000)
    damage(crawl.database, 9000)
    assert spoor("check", crawl.path) == 1
    *told, verdict = capsys.readouterr().out.splitlines()
    assert verdict.endswith("damage was found")
    assert any(line.startswith(f"warc/{warc.name}: bytes ") and "cannot be read" in line for line in told)
    assert any(line.startswith("crawl.db: bytes 0 to ") for line in told)
    assert any(line.startswith(f"warc/{index.name}: 1 line") for line in told)


def test_repair_says_what_it_did_and_the_next_check_is_well(
    crawl: CrawlFolder, capsys: pytest.CaptureFixture[str]
) -> None:
    warc = sorted(crawl.warcs.glob("*.warc.gz"))[0]
    damage(warc, 2000)
    damage(crawl.database, 9000)
    damaged = warc.read_bytes()
    assert spoor("check", crawl.path, "--repair") == 1
    told = capsys.readouterr().out.splitlines()
    assert told[-1].endswith("all damage was repaired")
    assert any(line.startswith("repaired: crawl.db: was rebuilt from everything readable") for line in told)
    assert any(line.startswith(f"repaired: {warc} was damaged") for line in told)
    assert (crawl.warcs / "damaged" / warc.name).read_bytes() == damaged
    assert spoor("check", crawl.path) == 0


def test_repair_of_what_is_well_changes_nothing(crawl: CrawlFolder) -> None:
    before = {file: file.read_bytes() for file in crawl.path.rglob("*") if file.suffix in (".gz", ".cdxj", ".db")}
    assert spoor("check", crawl.path, "--repair") == 0
    assert {file: file.read_bytes() for file in before} == before
    assert not (crawl.path / "damaged").exists() and not (crawl.warcs / "damaged").exists()


def test_json_holds_all_that_is_printed(crawl: CrawlFolder, capsys: pytest.CaptureFixture[str]) -> None:
    damage(sorted(crawl.warcs.glob("*.warc.gz"))[0], 2000)
    assert spoor("check", crawl.path, "--repair", "--json") == 1
    told = json.loads(capsys.readouterr().out)
    assert set(told) == {"folder", "checked", "damage", "findings", "repairs", "remaining"}
    assert told["damage"] is True and told["remaining"] == [] and told["repairs"]
    assert {finding["part"] for finding in told["findings"]} == {"archive", "index"}
    assert set(told["findings"][0]) == {"part", "file", "what", "damage"}


def test_what_cannot_be_repaired_remains(crawl: CrawlFolder, capsys: pytest.CaptureFixture[str]) -> None:
    """A file that is not there may be on another disk: the database goes on naming it."""
    warc = sorted(crawl.warcs.glob("*.warc.gz"))[0]
    warc.unlink()
    assert spoor("check", crawl.path, "--repair") == 1
    told = capsys.readouterr().out.splitlines()
    assert told[-1].endswith("some damage remains")
    assert any(f"{warc.name}: is missing, but crawl.db has" in line for line in told)
    with contextlib.closing(sqlite3.connect(crawl.database)) as db:
        assert db.execute("SELECT count(*) FROM pages WHERE warc_file = ?", (warc.name,)).fetchone()[0] > 0


@pytest.mark.parametrize("lost", ["removed", "emptied"])
def test_a_lost_database_is_damage_and_is_not_made_up(
    crawl: CrawlFolder, capsys: pytest.CaptureFixture[str], lost: str
) -> None:
    crawl.database.unlink()
    if lost == "emptied":
        crawl.database.touch()
    assert spoor("check", crawl.path, "--repair") == 1
    assert "restore it from a backup" in capsys.readouterr().out


def test_what_a_killed_crawl_leaves_is_told_but_is_no_damage(
    crawl: CrawlFolder, capsys: pytest.CaptureFixture[str]
) -> None:
    *_, last = sorted(crawl.warcs.glob("*.warc.gz"))
    last.with_name(last.name.removesuffix(".warc.gz") + ".cdxj").unlink()
    with last.open("ab") as file:
        file.write(last.read_bytes()[:100])
    assert spoor("check", crawl.path) == 0
    told = capsys.readouterr().out
    assert "ends in the middle of a record (100 bytes)" in told and "is missing, because the crawl was killed" in told
    assert spoor("check", crawl.path, "--repair") == 0
    capsys.readouterr()
    assert spoor("check", crawl.path) == 0
    assert len(capsys.readouterr().out.splitlines()) == 1


def test_a_running_crawl_is_checked_and_not_repaired(crawl: CrawlFolder, capsys: pytest.CaptureFixture[str]) -> None:
    with subprocess.Popen([sys.executable, "-c", HOLD, str(crawl.path)], stdout=subprocess.PIPE) as running:
        assert running.stdout is not None and running.stdout.readline() == b"open\n"
        try:
            assert spoor("check", crawl.path) == 0
            capsys.readouterr()
            assert spoor("check", crawl.path, "--repair") == 2
            assert (
                capsys.readouterr().err == f"spoor: a crawl is running in {crawl.path}; stop it before you repair it\n"
            )
        finally:
            running.send_signal(signal.SIGKILL)


@pytest.mark.parametrize("what", ["nowhere", "empty", "file"])
def test_what_is_no_crawl_is_wrong_use(tmp_path: Path, capsys: pytest.CaptureFixture[str], what: str) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").touch()
    assert spoor("check", tmp_path / what) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_names_from_a_strange_database_cannot_command_the_terminal(
    crawl: CrawlFolder, capsys: pytest.CaptureFixture[str]
) -> None:
    with contextlib.closing(sqlite3.connect(crawl.database, isolation_level=None)) as db:
        db.execute(
            "UPDATE pages SET warc_file = ? WHERE id = (SELECT min(id) FROM pages)", ("\x1b]0;owned\x07.warc.gz",)
        )
    assert spoor("check", crawl.path) == 1
    assert "\x1b" not in capsys.readouterr().out


@pytest.mark.parametrize(
    "command", [("report",), ("export", "--format", "text", "--out", "x", "--workers", "1"), ("why", "http://a.test/0")]
)
def test_a_damaged_database_is_one_line_for_every_command(
    crawl: CrawlFolder, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...]
) -> None:
    """Whichever page of it is destroyed."""
    monkeypatch.chdir(crawl.path.parent)
    whole = crawl.database.read_bytes()
    refusals = 0
    for page in range(len(whole) // 4096):
        for filling in (b"\xff", b"\0"):
            crawl.database.write_bytes(whole[: page * 4096] + filling * 4096 + whole[(page + 1) * 4096 :])
            name, *rest = command
            ended = spoor(name, crawl.path, *rest)
            said = capsys.readouterr().err
            assert ended == 0 or (said.startswith("spoor: ") and said.count("\n") == 1), said
            refusals += ended
    assert refusals > 2
