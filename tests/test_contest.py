"""The contest on a web of five pages: rows, judges, and strategies that do not take a row."""

from __future__ import annotations

import json
import lzma
from pathlib import Path

import pytest

from spoor.cli.main import main
from tests.warcs import response

GERMAN = "Alle Menschen sind frei und gleich an Würde und Rechten geboren und sollen einander im Geist begegnen. "
ENGLISH = "All human beings are born free and equal in dignity and rights and should act towards one another so. "
PAGES = {
    "start": (ENGLISH, "de en", "class=hub"),
    "de": (GERMAN, "de2", "lang=de class=course"),
    "de2": (GERMAN, "", "lang=de"),
    "en": (ENGLISH, "en2", "lang=en"),
    "en2": (ENGLISH, "", "lang=en class=course"),
}


@pytest.fixture
def data(tmp_path: Path) -> Path:
    web, contest = tmp_path / "webs" / "five", tmp_path / "contest"
    web.mkdir(parents=True)
    contest.mkdir()
    records = [response(url(name), body(name)) for name in PAGES]
    (web / "web.warc.xz").write_bytes(lzma.compress(b"".join(records)))
    labels = [f"{url(name)}\t{labels}" for name, (_, _, labels) in PAGES.items()]
    (web / "truth.tsv").write_text("\n".join(["url\tlabels", *labels, ""]))
    (contest / "start.txt").write_text(f"{url('start')}\n")
    rows = ["web\ttarget\tstart\tseeds", *[f"five\t{target}\thub\tstart.txt" for target in ("class=course", "lang=de")]]
    (contest / "contest.tsv").write_text("\n".join([*rows, ""]))
    return tmp_path


def url(name: str) -> str:
    return f"http://{name}.test/"


def body(name: str) -> str:
    text, links, _ = PAGES[name]
    anchors = "".join(f'<a href="{url(link)}">{PAGES[link][0][:20]}</a>' for link in links.split())
    return f"<html><meta charset=utf-8><body><p>{5 * text}</p>{anchors}</body></html>"


def contest(data: Path, *words: str) -> int:
    return main(["contest", "--data", str(data), "--out", str(data / "out"), "--workers", "1", *words])


def test_a_strategy_that_needs_a_language_leaves_other_rows_empty(data: Path) -> None:
    assert contest(data, "--strategies", "breadth-first,n-crawl") == 0
    table = (data / "out" / "table.md").read_text().splitlines()
    assert table[0] == "| normalised area | breadth-first | n-crawl | oracle |"
    assert [cell.strip() for cell in table[2].split("|")][1:4:2] == ["five class=course hub", ""]
    assert [cell.strip() for cell in table[4].split("|")][3] == ""


def test_a_strategy_that_takes_no_row_is_refused(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert contest(data, "--strategies", "g-crawl:language=de") == 2
    assert "none is known for 'de'" in capsys.readouterr().err


def test_real_judges_take_the_rows_about_a_language_beside_their_accuracy(data: Path) -> None:
    assert contest(data, "--judge", "language", "--strategies", "breadth-first,n-crawl") == 0
    table = (data / "out" / "table.md").read_text().splitlines()
    assert table[0] == "| normalised area | precision | recall | breadth-first | n-crawl | oracle |"
    assert table[2].startswith("| five lang=de hub | 1.000 | 1.000 | ") and len(table) == 4
    (told,) = json.loads((data / "out" / "results.json").read_text())
    assert told["judge"] == "language:de" and told["accuracy"] == {"precision": 1.0, "recall": 1.0}
