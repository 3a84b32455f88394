"""A crawl of pages made by scripts: none is lost without a word, and what lies in them is used."""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from spoor.cli.main import main
from spoor.lab.web import Web
from spoor.lab.worlds import RecordedWorld
from spoor.parse.html import read_page
from spoor.records import Page, Redirect, Verdict, Visit
from spoor.strategy import PageByPage, verdicts_of
from tests import warcs
from tests.scripted_pages import BUNDLE, SCRIPTED, STORY, shell

DATA = json.dumps({"body": STORY, "posts": [{"url": "/found", "title": "Found in the data"}]})
SITE = {
    "/": shell(f"<p>{STORY}</p>" + " ".join(f"<a href=/{name}>{name}</a>" for name in ("shell", "data", "forward"))),
    "/shell": SCRIPTED["react"],
    "/data": shell(f"<div id=__next></div><script type=application/json>{DATA}</script>{BUNDLE}"),
    "/found": shell(f"<p>{STORY}</p>"),
    "/forward": "<script>location.replace('/there')</script>",
    "/there": shell(f"<p>{STORY}</p>"),
}


class Site(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        html = SITE.get(self.path)
        self.send_response(404 if html is None else 200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.end_headers()
        self.wfile.write((html or "").encode())

    def log_message(self, *said: object) -> None:
        """Nothing."""


@contextlib.contextmanager
def serving() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Site)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def answered(capsys: pytest.CaptureFixture[str], *words: object) -> Any:
    capsys.readouterr()
    assert main([*map(str, words), "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_a_crawl_says_which_pages_need_scripts_and_reads_the_others(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "crawl"
    with serving() as site:
        said = answered(
            *(capsys, "crawl", "--language", "en", "--seed", f"{site}/", "--out", folder),
            *("--allow-private", "--host-delay", "0.01", "--strategy", "breadth-first", "--render", "never"),
        )
    assert (said["pages"], said["relevant"], said["needs_scripts"]) == (5, 4, 1)
    assert answered(capsys, "report", folder)["needs_scripts"] == 1
    words = ("--out", tmp_path / "pages.jsonl", "--format", "jsonl", "--workers", "1")
    assert answered(capsys, "export", folder, *words)["need_scripts"] == 1
    pages = {
        page["url"].removeprefix(site): page
        for page in map(json.loads, (tmp_path / "pages.jsonl").read_text().splitlines())
    }
    assert set(pages) == {"/", "/data", "/found", "/there"}
    assert STORY.strip() in pages["/data"]["text"]
    (visited,) = (
        line for line in answered(capsys, "why", folder, f"{site}/shell")["lines"] if "because" in line["what"]
    )
    assert "because needs scripts: 0 characters of text" in visited["what"]
    lines = answered(capsys, "why", folder, f"{site}/forward")["lines"]
    assert any(f"to {site}/there" in line["what"] for line in lines)


def test_the_live_line_counts_pages_that_need_scripts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with serving() as site:
        words = ("--language", "en", "--seed", f"{site}/shell", "--out", str(tmp_path / "crawl"), "--allow-private")
        assert main(["crawl", *words, "--render", "never"]) == 0
    assert "1 pages need scripts: they have hardly any text" in capsys.readouterr().out


def test_without_a_browser_a_crawl_works_and_says_what_is_missing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with serving() as site:
        words = ["crawl", "--language", "en", "--seed", f"{site}/shell", "--allow-private", "--out"]
        assert main([*words, str(tmp_path / "crawl")]) == 0
        said = capsys.readouterr()
        assert "install one of chromium-headless-shell" in said.out
        assert said.err.count("pages that need scripts are not rendered: no browser on PATH") == 1
        assert main([*words, str(tmp_path / "other"), "--render", "always"]) != 0
    assert "no browser on PATH" in capsys.readouterr().err
    assert not (tmp_path / "other").exists()


class Never(PageByPage):
    """Finds no page relevant; `reads_content` as it is made."""

    def __init__(self, reads_content: bool) -> None:
        self.reads_content = reads_content

    def verdict(self, page: Page) -> Verdict:
        return Verdict(0.0, False, "too short: 0 characters")


def test_only_a_judge_of_texts_has_scripts_to_blame() -> None:
    pages = [Page("http://a.test/", text="x", needs_scripts=True), Page("http://a.test/2", text="x")]
    said = [verdict.because for verdict in verdicts_of(Never(True), pages)]
    assert said == ["needs scripts: 1 characters of text", "too short: 0 characters"]
    assert {verdict.because for verdict in verdicts_of(Never(False), pages)} == {"too short: 0 characters"}


def test_a_web_keeps_which_pages_need_scripts_and_where_pages_forward(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    records = [warcs.response(f"http://a.test{path}", html) for path, html in SITE.items()]
    (tmp_path / "site.warc").write_bytes(b"".join(records))
    assert main(["web", "build", str(tmp_path / "site.warc"), "--out", str(tmp_path / "web"), "--workers", "1"]) == 0
    facts = answered(capsys, "web", "info", tmp_path / "web")
    assert (facts["pages_that_need_scripts"], facts["redirects"]) == (1, 1)
    web = Web.open(tmp_path / "web")
    world = RecordedWorld(web, np.zeros(web.pages, np.bool_), with_content=True)
    shell_page, _ = world.fetch(Visit("http://a.test/shell", "a.test", 0, 0.0))
    assert isinstance(shell_page, Page) and shell_page.needs_scripts
    body = web.body(world.number(shell_page.url) or 0)
    assert body is not None and read_page(shell_page.url, body.content, body.content_type).needs_scripts
    assert world.fetch(Visit("http://a.test/forward", "a.test", 0, 0.0))[0] == Redirect("http://a.test/there", 302)
