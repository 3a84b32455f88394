"""What a resumed crawl and an export leave unsaid no longer: another target, and pages that are not to be indexed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from aiohttp import web

import spoor
from spoor.cli.main import main
from spoor.errors import UsageError
from tests.html_site import html
from tests.thread_server import served_in_thread

THAI = "<p>สวัสดีครับ ยินดีต้อนรับสู่เว็บไซต์ภาษาไทยของเรา</p>"
HIDDEN = "<meta name=robots content=noindex>" + THAI


async def _answer(request: web.BaseRequest) -> web.Response:
    pages = {"/": f"{THAI}<a href=/hidden>ภาษาไทย</a>", "/hidden": HIDDEN}
    return html(pages[request.path]) if request.path in pages else web.Response(status=404)


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    with served_in_thread(_answer) as address:
        words = ("--script", "thai", "--seed", f"{address}/", "--allow-private", "--host-delay", "0")
        assert main(["crawl", *words, "--out", str(tmp_path / "crawl")]) == 0
        yield tmp_path / "crawl"


def test_a_crawl_for_another_target_is_refused_in_the_same_folder(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kept = (folder / "crawl.toml").read_text()
    capsys.readouterr()
    assert main(["crawl", "--script", "", "--language", "en", "--out", str(folder)]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1 and "language = nothing, not en; script = thai, not nothing" in said
    with pytest.raises(UsageError, match="script = thai, not nothing"):
        spoor.crawl(folder, script="", language="en")
    assert (folder / "crawl.toml").read_text() == kept
    assert main(["crawl", "--script", "thai", "--out", str(folder)]) in (0, 1)


def test_the_export_says_which_pages_it_leaves_out(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["export", str(folder), "--format", "jsonl", "--out", str(folder.parent / "texts.jsonl")]
    capsys.readouterr()
    assert main(words) == 0
    assert "1 pages, 1 noindex left out (`--all` exports them)" in capsys.readouterr().out
    assert main([*words, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["noindex"] == 1
    assert main([*words, "--all"]) == 0
    assert capsys.readouterr().out.count("noindex") == 0
