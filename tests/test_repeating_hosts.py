"""A host that sends every link to its login page: crawled live by the command, looked at by the others."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from aiohttp import web

from spoor.cli.main import main
from tests.html_site import html
from tests.test_traps import WORDS
from tests.thread_server import Answer, served_in_thread

LOGIN = f"<title>Elephant login</title><h1>Elephant</h1><p>{'elephant ' * 9}your name and password, please</p>"


async def shop(request: web.BaseRequest) -> web.Response:
    """Every other page leads to the login; the others, and the login with any query, are a form to log in."""
    if request.path == "/robots.txt":
        return web.Response(status=404)
    if request.path == "/login" or int(request.path.strip("/")) % 2:
        return html(LOGIN)
    return web.Response(status=302, headers={"Location": f"/login?next={request.path}"})


def village(shop: str) -> Answer:
    """Its first page links to the shop and to other pages of the village, which links on."""

    async def answer(request: web.BaseRequest) -> web.Response:
        if request.path == "/robots.txt":
            return web.Response(status=404)
        number = int(request.path.strip("/") or 0)
        words = " ".join(random.Random(number).choices(WORDS, k=60))
        links = "".join(f'<a href="{shop}/{n}">x</a> ' for n in range(60)) if number == 0 else ""
        return html(f'<title>Page {number}</title><p>{words}</p>{links}<a href="/{number + 1}">next</a>')

    return answer


def test_its_links_come_last_and_every_command_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out, exported = tmp_path / "crawl", tmp_path / "pages.jsonl"
    with served_in_thread(shop) as shop_address, served_in_thread(village(shop_address)) as village_address:
        words = ["--keywords", "elephant", "--strategy", "breadth-first", "--out", str(out), "--allow-private"]
        limits = ["--max-pages", "100", "--connections", "1", "--host-delay", "0", "--workers", "0"]
        assert main(["crawl", *words, *limits, "--seed", f"{village_address}/", "--json"]) == 0
    summary = json.loads(capsys.readouterr().out)
    assert summary["pages"] - summary["relevant"] >= 70, "most visits were for the village"
    assert summary["relevant_duplicates"] == summary["relevant"] - 1 > 5
    assert main(["why", str(out), f"{shop_address}/59"]) == 0
    why = capsys.readouterr().out
    assert "waiting" in why and "its links come after those of all others since" in why
    assert f"20 visits in a row brought nothing but redirects to {shop_address}/login and duplicates" in why
    assert main(["report", str(out)]) == 0
    said, page = capsys.readouterr().out, (out / "report.html").read_text()
    assert f"{summary['relevant_duplicates']} duplicates among them" in said
    assert "a host brought nothing but duplicates or redirects to one page, so its links came last" in page
    assert main(["export", str(out), "--format", "jsonl", "--out", str(exported)]) == 0
    assert f", {summary['relevant_duplicates']} duplicates" in capsys.readouterr().out


def test_a_resumed_crawl_still_fetches_its_links_last(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "crawl"
    with served_in_thread(shop) as shop_address, served_in_thread(village(shop_address)) as village_address:
        words = ["--out", str(out), "--allow-private", "--connections", "1", "--host-delay", "0", "--workers", "0"]
        begin = ["--keywords", "elephant", "--strategy", "breadth-first", "--seed", f"{village_address}/"]
        assert main(["crawl", *words, *begin, "--max-pages", "60", "--json"]) == 0
        before = json.loads(capsys.readouterr().out)
        assert main(["crawl", *words, "--max-pages", "80", "--json"]) == 0
        after = json.loads(capsys.readouterr().out)
    assert before["relevant"] > 1
    brought = (after["pages"] - before["pages"], after["relevant"] - before["relevant"])
    assert brought == (20, 0), "all of the village"
