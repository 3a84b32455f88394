"""Looking at a web: what it holds, and how relevant pages lie in it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from spoor.cli.main import main
from spoor.lab.build.builder import BuildOptions, build_web
from spoor.lab.build.gather import BuildReport
from spoor.lab.build.log_source import read_logs
from spoor.lab.link_graph import Locality, locality
from spoor.lab.web import Web


def web_of(folder: Path, pages: str, links: str) -> Web:
    """`web_of(folder, "A+ B", "AB BA")`: pages, those with + being wanted, and links between them."""
    rows = [f"http://{name[0]}.test/,{'wanted' if '+' in name else ''}" for name in pages.split()]
    (folder / "log.csv").write_text("url,label\n" + "\n".join(rows))
    edges = [f"http://{link[0]}.test/,http://{link[1]}.test/" for link in links.split()]
    (folder / "links.csv").write_text("source,target\n" + "\n".join(edges))
    report = BuildReport()
    records = read_logs([folder / "log.csv", folder / "links.csv"], report)
    return build_web(folder / "web", records, BuildOptions("tiny", "two tables"), report)


def told(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[str]:
    assert main(["web", "info", *arguments]) == 0
    return [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]


def test_locality_counts_links_between_recorded_pages(tmp_path: Path) -> None:
    web = web_of(tmp_path, "A+ B+ C D", "AB AC AX CA CD DC BX")
    assert locality(web, web.labelled("wanted")) == Locality(2, 1, 3, 1)


def test_locality_of_pages_without_links_is_unknown(tmp_path: Path) -> None:
    web = web_of(tmp_path, "A+ B", "AX")
    found = locality(web, web.labelled("wanted"))
    assert (found.after_relevant, found.after_others) == (None, None)


def test_the_overview_tells_what_the_web_holds(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    web = web_of(tmp_path, "A+ B", "AB AX BA")
    lines = told(capsys, str(web.folder))
    expected = [
        "pages 2",
        "hosts 2",
        "links 3",
        "unrecorded link targets 1",
        "texts no",
        "made from two tables",
        "200 2",
        "wanted 1",
    ]
    assert set(expected) <= set(lines)


def test_a_target_shows_how_wanted_pages_are_linked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    web = web_of(tmp_path, "A+ B+ C D", "AB AC CA CD DC")
    lines = told(capsys, str(web.folder), "--target", "wanted")
    assert "relevant pages 2 (50.00% of all pages)" in lines
    assert "P(child relevant | parent relevant) 0.5000" in lines
    assert "P(child relevant | parent irrelevant) 0.3333" in lines


def test_long_lists_end_in_how_many_are_left_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "log.csv").write_text("url,label\nhttp://a.test/," + " ".join(f"l{i}" for i in range(25)))
    report = BuildReport()
    web = build_web(tmp_path / "web", read_logs([tmp_path / "log.csv"], report), BuildOptions("tiny", ""), report)
    assert told(capsys, str(web.folder))[-1] == "and 5 more"


def test_an_unknown_target_names_the_nearest(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    web = web_of(tmp_path, "A+", "")
    assert main(["web", "info", str(web.folder), "--target", "want"]) == 1
    assert "the nearest it has is 'wanted'" in capsys.readouterr().err


def test_what_is_no_web_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["web", "info", str(tmp_path)]) == 1
    assert "is not a web" in capsys.readouterr().err


def test_json_has_every_count_and_how_the_target_is_linked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    web_of(tmp_path, "A+ B+ C D", "AB AC AX CA CD DC BX")
    assert main(["web", "info", str(tmp_path / "web"), "--target", "wanted", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["pages"], told["unrecorded_link_targets"], told["labels"]) == (4, 1, {"wanted": 2})
    expected = {"label": "wanted", "pages": 2, "share": 0.5, "links": 2, "after_relevant": 0.5}
    assert told["target"] == expected | {"after_others": pytest.approx(1 / 3)}
