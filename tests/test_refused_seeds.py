"""A seed that was refused once is fetched when what kept it back has changed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from aiohttp import web

from spoor.cli.main import main
from tests.html_site import html
from tests.thread_server import served_in_thread


async def _answer(request: web.BaseRequest) -> web.Response:
    return web.Response(status=404) if request.path == "/robots.txt" else html("<p>สวัสดีครับ ยินดีต้อนรับ</p>")


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with served_in_thread(_answer) as address:
        yield address


def test_the_advice_to_allow_private_addresses_works_in_the_same_folder(
    address: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["crawl", "--script", "thai", "--seed", f"{address}/", "--out", str(tmp_path / "crawl")]
    assert main(words) == 1
    assert "allow it with --allow-private" in capsys.readouterr().err
    assert main([*words, "--allow-private", "--host-delay", "0"]) == 0
    assert capsys.readouterr().out.startswith("1 page ")


def test_a_refused_seed_that_is_added_again_is_fetched(
    address: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = str(tmp_path / "crawl")
    assert main(["crawl", "--script", "thai", "--seed", f"{address}/", "--out", folder]) == 1
    assert main(["add-seeds", folder, f"{address}/"]) == 0
    capsys.readouterr()
    assert main(["crawl", "--out", folder, "--allow-private", "--host-delay", "0"]) == 0
    assert capsys.readouterr().out.startswith("1 page ")


def test_a_fetched_seed_is_not_fetched_again(address: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["crawl", "--script", "thai", "--seed", f"{address}/", "--out", str(tmp_path / "crawl")]
    assert main([*words, "--allow-private"]) == 0
    capsys.readouterr()
    main([*words, "--allow-private"])
    assert "1 visit: 1 page," in capsys.readouterr().out
