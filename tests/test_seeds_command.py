"""`spoor seeds`: what it prints and writes, what it warns of, and how it refuses."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from spoor.cli.main import main
from spoor.settings import seeds_in
from tests.search_server import SearchServer, search_server


def spoor_seeds(*options: str) -> tuple[int, SearchServer]:
    """With the search server, whose address stands for HOST, running beside it."""

    async def run() -> tuple[int, SearchServer]:
        async with search_server() as server:
            words = [option.replace("HOST", server.url("")) for option in ("seeds", *options)]
            return await asyncio.to_thread(main, words), server

    return asyncio.run(run())


SOURCES = ("--source", "searxng:HOST", "--source", "opensearch:HOST/rss?q={searchTerms}")
USUAL = ("--query", "computer science", "--allow-private", "--timeout", "1", "--out", "seeds.txt")


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_seeds_are_shown_with_those_who_named_them_and_written_for_a_crawl(capsys: pytest.CaptureFixture[str]) -> None:
    code, server = spoor_seeds(*USUAL, *SOURCES, "--each", "3", "--contact", "https://example.org/us")
    assert code == 0
    first, second, third, last = capsys.readouterr().out.splitlines()
    assert first == f"high    https://a.test/  one, two, 127.0.0.1:{server.port}"
    assert second == f"high    https://b.test/  one, 127.0.0.1:{server.port}"
    assert third == f"low     https://c.test/  127.0.0.1:{server.port}"
    assert last == "seeds.txt: 3 seeds (2 high, 0 medium, 1 low)"
    assert seeds_in(Path("seeds.txt")) == ("https://a.test/", "https://b.test/", "https://c.test/")
    assert [agent.partition(" ")[2] for agent in server.agents] == ["(+https://example.org/us)"]


def test_of_many_seeds_the_best_are_taken_and_few_shown(capsys: pytest.CaptureFixture[str]) -> None:
    Path("r.txt").write_text("\n".join(f"https://a.test/{number}" for number in range(40)), "utf8")
    assert spoor_seeds(*USUAL, "--source", "file:r.txt", "--limit", "30")[0] == 0
    *_, more, last = capsys.readouterr().out.splitlines()
    assert more == "…       10 more"
    assert last == "seeds.txt: 30 seeds (0 high, 0 medium, 30 low)"


def test_a_source_that_fails_is_a_warning(capsys: pytest.CaptureFixture[str]) -> None:
    code, server = spoor_seeds(*USUAL, *SOURCES, "--source", "searxng:HOST/hanging", "--source", "file:none.txt")
    assert code == 0
    assert capsys.readouterr().err.splitlines() == [
        f"spoor: warning: searxng:{server.url('/hanging')}: timed out; continuing without it",
        "spoor: warning: file:none.txt: cannot be read: No such file or directory; continuing without it",
    ]


def refusal(capsys: pytest.CaptureFixture[str]) -> str:
    said = capsys.readouterr().err.strip()
    assert said.startswith("spoor: ") and "\n" not in said
    assert not Path("seeds.txt").exists()
    return said


def test_when_all_sources_fail_the_command_fails(capsys: pytest.CaptureFixture[str]) -> None:
    code, server = spoor_seeds(*USUAL, "--source", "searxng:HOST/html", "--source", "file:none.txt")
    assert code == 1
    assert refusal(capsys) == (
        f"spoor: no source returned results: searxng:{server.url('/html')}: returns HTML or XML instead of JSON; "
        "file:none.txt: cannot be read: No such file or directory"
    )


def test_sources_that_know_nothing_are_a_failure_too(capsys: pytest.CaptureFixture[str]) -> None:
    assert spoor_seeds(*USUAL, "--source", "searxng:HOST/empty")[0] == 1
    assert refusal(capsys) == "spoor: no source found a page for 'computer science'; try other words"


def test_private_addresses_are_asked_only_when_allowed(capsys: pytest.CaptureFixture[str]) -> None:
    assert spoor_seeds("--query", "x", "--out", "seeds.txt", "--source", "searxng:HOST")[0] == 1
    assert "127.0.0.1 is a loopback address; allow it with --allow-private" in refusal(capsys)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--source", "bing"), "unknown source 'bing'; known are file:PATH, searxng:URL"),
        (("--source", "file:x", "--each", "0"), "--each: '0' is not a whole number of 1 or more"),
        (("--source", "file:x", "--limit", "many"), "--limit: 'many' is not a whole number of 1 or more"),
        (("--source", "file:x", "--timeout", "nan"), "--timeout: 'nan' is not a number of seconds above 0"),
        (("--source", "file:x", "--contact", "me"), "--contact: 'me': must be a URL or an e-mail address"),
        ((), "the following arguments are required: --source"),
    ],
)
def test_wrong_use_is_told_in_a_line(capsys: pytest.CaptureFixture[str], options: tuple[str, ...], told: str) -> None:
    assert main(["seeds", *USUAL, *options]) == 2
    assert told in refusal(capsys)


def test_a_query_without_words_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["seeds", "--query", "  ", "--out", "seeds.txt", "--source", "file:x"]) == 2
    assert "--query '  ' has no words to search for" in refusal(capsys)


def test_json_lists_the_seeds_with_those_who_named_them(capsys: pytest.CaptureFixture[str]) -> None:
    code, _ = spoor_seeds(*USUAL, *SOURCES, "--each", "3", "--json")
    told = json.loads(capsys.readouterr().out)
    assert code == 0 and told["file"] == "seeds.txt"
    named = [(seed["url"], seed["confidence"]) for seed in told["seeds"]]
    assert named == [("https://a.test/", "high"), ("https://b.test/", "high"), ("https://c.test/", "low")]
