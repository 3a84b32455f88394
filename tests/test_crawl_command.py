"""`spoor crawl`: settings from flags and files, and how it refuses."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from spoor.cli.main import main
from spoor.store.crawl_folder import CrawlFolder, open_for_crawling
from tests import forked
from tests.written_crawl import small_crawl

SEED = "http://127.0.0.1:9/"


def spoor(*words: object) -> int:
    return main(["crawl", *map(str, words)])


def refusal(capsys: pytest.CaptureFixture[str]) -> str:
    said = capsys.readouterr().err.strip().splitlines()
    assert len(said) == 1 and said[0].startswith("spoor: ")
    return said[0]


REFUSALS: list[tuple[list[str], int, str]] = [
    (["--script", "thai"], 2, "seeds"),
    (["--seed", SEED], 2, "[target] does not say what is relevant; set language or charset or script"),
    (["--script", "klingon", "--seed", SEED], 2, "unknown script 'klingon'"),
    (["--script", "thai", "--seed", "not a url"], 2, "not a url"),
    (["--script", "thai", "--seed", SEED, "--strategy", "quick"], 2, "unknown strategy 'quick'"),
    (["--script", "thai", "--seed", SEED, "--strategy", "oracle"], 2, "oracle knows the truth"),
    (["--script", "thai", "--seed", SEED, "--max-pages", "0"], 2, "max_pages"),
    (["--script", "thai", "--seed", SEED, "--contact", "me"], 2, "contact"),
    (["--script", "thai", "--seeds", "nowhere.txt"], 1, "nowhere.txt"),
]


@pytest.mark.parametrize(("words", "code", "reason"), REFUSALS)
def test_wrong_settings_get_one_clear_line(
    words: list[str], code: int, reason: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert spoor(*words, "--out", tmp_path / "crawl") == code
    assert reason in refusal(capsys)
    assert not (tmp_path / "crawl").exists()


def test_an_unknown_key_is_refused_with_the_nearest_known_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "my.toml").write_text('[target]\nscript = "thai"\n[crawl]\nseeds = ["http://a.test/"]\nmax_page = 3\n')
    assert spoor(tmp_path / "my.toml", "--out", tmp_path / "crawl") == 2
    assert "max_page" in (said := refusal(capsys)) and "max_pages" in said


def test_private_addresses_are_refused_unless_allowed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert spoor("--script", "thai", "--seed", SEED, "--out", tmp_path / "crawl") == 1
    said = capsys.readouterr()
    assert (
        "no page was fetched" in said.err
        and "127.0.0.1 is a loopback address; allow it with --allow-private" in said.err
    )
    assert "ended because nothing is waiting" in said.out


def test_the_folder_keeps_exactly_what_ran(tmp_path: Path) -> None:
    spoor("--script", "thai", "--seed", SEED, "--max-pages", "5", "--out", tmp_path / "crawl")
    kept = tomllib.loads((tmp_path / "crawl" / "crawl.toml").read_text())
    assert kept["target"]["script"] == "thai"
    assert kept["crawl"]["seeds"] == [SEED] and kept["crawl"]["max_pages"] == 5
    assert kept["crawl"]["strategy"] == "learned" and kept["crawl"]["warm"] == ""


def test_a_folder_that_is_being_crawled_into_is_refused(tmp_path: Path) -> None:
    """By another process: within one, the lock is shared."""
    with open_for_crawling(tmp_path / "crawl"):
        words = ["crawl", "--script", "thai", "--seed", SEED, "--out", str(tmp_path / "crawl")]
        assert forked.spoor(*words, stderr=tmp_path / "said").wait() == 1
    said = (tmp_path / "said").read_text()
    assert "is crawling into" in said and said.count("\n") == 1


def test_a_folder_of_another_version_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "crawl").mkdir()
    (tmp_path / "crawl" / "version").write_text("spoor crawl 99\n")
    assert spoor("--script", "thai", "--seed", SEED, "--out", tmp_path / "crawl") == 1
    assert "was written by another version of spoor" in refusal(capsys)


def test_a_crawl_goes_on_only_with_a_strategy_that_can_read_what_is_known_of_its_links(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kept = small_crawl(tmp_path / "crawl").settings()
    for other in ("learned", "in-links"):
        assert spoor("--out", tmp_path / "crawl", "--strategy", other) == 1
        assert "begun by another strategy, whose evidence for links is relevant_referrer" in refusal(capsys)
    assert CrawlFolder(tmp_path / "crawl").settings() == kept


def test_a_folder_with_something_else_in_it_is_left_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "crawl").mkdir()
    (tmp_path / "crawl" / "holiday.jpg").write_text("")
    assert spoor("--script", "thai", "--seed", SEED, "--out", tmp_path / "crawl") == 1
    assert "has other contents (holiday.jpg)" in refusal(capsys)
    assert [file.name for file in (tmp_path / "crawl").iterdir()] == ["holiday.jpg"]
