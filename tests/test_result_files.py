"""Where results go that a person names with --out: a file, a link, a pipe, a device, standard output."""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path

import pytest

from spoor.cli.main import main
from tests.kept_crawl import kept_crawl


@pytest.fixture(scope="module")
def crawl(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(kept_crawl(tmp_path_factory.mktemp("crawl") / "crawl", pages=12).path)


def results_of(crawl: str, out: Path | str) -> list[list[str]]:
    """The commands of a crawl that write a result to a file."""
    formats = [["export", crawl, "--all", "--workers", "1", "--format", form] for form in ("jsonl", "parquet")]
    return [[*words, "--out", str(out)] for words in (*formats, ["report", crawl])]


@pytest.mark.parametrize("number", range(3))
def test_a_pipe_takes_the_result_and_stays_a_pipe(crawl: str, number: int, tmp_path: Path) -> None:
    pipe, file = tmp_path / "pipe", tmp_path / "file"
    os.mkfifo(pipe)
    read = list[bytes]()
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()), daemon=True)
    reader.start()
    assert main(results_of(crawl, pipe)[number]) == 0
    reader.join(20.0)
    assert pipe.is_fifo()
    assert main(results_of(crawl, file)[number]) == 0
    assert len(read[0]) == len(file.read_bytes()) > 400
    assert number == 2 or read[0] == file.read_bytes()  # A report says for how long the crawl is over.


@pytest.mark.parametrize("number", range(3))
def test_a_device_takes_the_result_and_stays_a_device(crawl: str, number: int, tmp_path: Path) -> None:
    null = tmp_path / "null"
    os.symlink("/dev/null", null)
    assert main(results_of(crawl, null)[number]) == 0
    assert null.is_symlink() and Path("/dev/null").is_char_device()


@pytest.mark.parametrize("number", range(3))
def test_the_file_behind_a_link_is_replaced_and_the_link_stays(crawl: str, number: int, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    link, file = tmp_path / "link", tmp_path / "elsewhere" / "file"
    file.write_text("earlier")
    link.symlink_to(file)
    assert main(results_of(crawl, link)[number]) == 0
    assert link.is_symlink() and file.stat().st_size > 400
    assert [path.name for path in (tmp_path / "elsewhere").iterdir()] == ["file"]


@pytest.mark.parametrize("name", ["-", "/dev/stdout"])
def test_standard_output_has_the_result_alone(
    crawl: str, name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    jsonl, _, report = results_of(crawl, name)
    assert main(jsonl) == 0
    shown = capsys.readouterr()
    assert len([json.loads(line)["url"] for line in shown.out.splitlines()]) == 10
    assert "10 pages" in shown.err
    assert main(report) == 0
    shown = capsys.readouterr()
    assert shown.out.startswith("<!doctype html>") and shown.out.endswith("</html>\n")
    assert "10 pages" in shown.err
    assert not list(tmp_path.iterdir())


def test_two_results_do_not_share_standard_output(crawl: str, capsys: pytest.CaptureFixture[str]) -> None:
    for words in results_of(crawl, "-"):
        assert main([*words, "--json"]) == 2
        assert "--out - and --json would both write to standard output" in capsys.readouterr().err


@pytest.mark.parametrize(
    "words",
    [
        "crawl --language th --seed http://a.test/ --out",
        "web generate graph --out",
        "web build x.warc --out",
        "contest --out",
        "demo --out",
    ],
)
def test_a_folder_is_not_written_to_standard_output(
    words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main([*words.split(), "-"]) == 2
    assert "'-': a folder cannot be written to standard output" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_a_log_is_not_written_to_a_file_named_like_standard_output(
    crawl: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["report", crawl, "--log-file", "-"]) == 2
    assert "--log-file -: " in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_the_report_of_a_folder_is_written_into_the_folder(crawl: str, tmp_path: Path) -> None:
    """A folder from somebody else may have a link there."""
    mine = tmp_path / "mine"
    mine.write_text("mine")
    Path(crawl, "report.html").symlink_to(mine)
    assert main(["report", crawl]) == 0
    assert mine.read_text() == "mine" and Path(crawl, "report.html").is_file()
