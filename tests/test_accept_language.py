"""Servers that have a page in several languages are asked for the one that is looked for."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from aiohttp import web
from warcio.archiveiterator import ArchiveIterator

from spoor.checks import language_ranges
from spoor.events import Event, Failed, Redirected, Visited
from spoor.judging.language_tags import accept_language
from spoor.settings import load
from tests.html_site import answering, crawled_at, html

THAI = "<title>สวัสดี</title><p>" + "ยินดีต้อนรับสู่หน้าแรกของเว็บไซต์ภาษาไทยซึ่งมีข่าวสารและบทความมากมายให้อ่านทุกวัน " * 3
ENGLISH = (
    "<title>Hello</title><p>" + "Welcome to the first page of a site that has news and articles to read every day. " * 3
)
LINKS = "<a href='/th/'>ไทย</a> <a href='/en/'>English</a> <a href='/old'>old</a>"
VARIANTS = {"th": THAI + LINKS, "en": ENGLISH + LINKS}


@dataclass
class Negotiating:
    """As Apache with MultiViews: `/` is the variant that is asked for most, the first without a word, and 406 when
    none is acceptable; `/old` leads to the variant. Each also has a URL of its own."""

    asked: dict[str, str | None] = field(default_factory=dict)

    def answer(self, request: web.BaseRequest) -> web.Response:
        self.asked[request.path] = request.headers.get("Accept-Language")
        variant = self._variant(request.headers.get("Accept-Language", "*"))
        if (own := VARIANTS.get(request.path.strip("/"))) is not None:
            return html(own)
        if request.path not in ("/", "/old"):
            return web.Response(status=404)
        if not variant:
            return web.Response(status=406)
        if request.path == "/old":
            return web.Response(status=302, headers={"Location": f"/{variant}/", "Vary": "Accept-Language"})
        return html(VARIANTS[variant], Content_Language=variant, Vary="Accept-Language")

    def _variant(self, header: str) -> str:
        qualities = {}
        for one in header.split(","):
            name, _, quality = one.strip().partition(";q=")
            qualities[name] = float(quality or 1)
        accepted = {name: qualities.get(name, qualities.get("*", 0.0)) for name in ("en", "th")}
        best = max(accepted, key=lambda name: accepted[name])
        return best if accepted[best] else ""


def crawl(folder: Path, settings: str) -> tuple[Negotiating, list[Event]]:
    server = Negotiating()

    async def run() -> list[Event]:
        async with answering(server.answer) as address:
            return await crawled_at(address, folder, settings)

    return server, asyncio.run(run())


def pages(folder: Path) -> dict[str, tuple[str, str]]:
    """The language and what it is a duplicate of, by path."""
    with closing(sqlite3.connect(folder / "crawl.db")) as db:
        rows = db.execute("SELECT url, language, duplicate_of FROM pages").fetchall()
    return {_path(url): (language, _path(twin)) for url, language, twin in rows}


def _path(url: str) -> str:
    return "/" + url.split("/", 3)[3] if url else ""


@pytest.mark.parametrize(
    ("tag", "header"),
    [
        ("th", "th,*;q=0.1"),
        ("tha", "th,*;q=0.1"),
        ("mn-Mong", "mn-Mong,mn;q=0.8,*;q=0.1"),
        ("zh-Hant", "zh-Hant,zh-HK;q=0.9,zh-MO;q=0.9,zh-TW;q=0.9,zh;q=0.8,*;q=0.1"),
        ("no", "no,nb;q=0.9,nn;q=0.9,*;q=0.1"),
        ("nb", "nb,no;q=0.8,*;q=0.1"),
        ("x-dialect", ""),
        ("", ""),
    ],
)
def test_the_header_follows_the_language(tag: str, header: str) -> None:
    assert accept_language(tag) == header == language_ranges(header)


def test_a_server_that_negotiates_gives_the_language_of_the_target(tmp_path: Path) -> None:
    server, _ = crawl(tmp_path / "crawl", '[target]\nlanguage = "th"\n[crawl]')
    assert pages(tmp_path / "crawl")["/"] == ("th", "")
    assert server.asked == dict.fromkeys(("/", "/th/", "/en/", "/old"), "th,*;q=0.1") | {"/robots.txt": None}


def test_without_a_language_the_server_chooses(tmp_path: Path) -> None:
    server, _ = crawl(tmp_path / "crawl", '[target]\nkeywords = ["news"]\n[crawl]')
    assert pages(tmp_path / "crawl")["/"][0] == "en"
    assert set(server.asked.values()) == {None}


def test_a_language_that_the_server_does_not_have_is_no_failure(tmp_path: Path) -> None:
    server, events = crawl(tmp_path / "crawl", '[target]\nlanguage = "mn"\n[crawl]')
    assert server.asked["/"] == "mn,*;q=0.1" and pages(tmp_path / "crawl")["/"][0] == "en"
    assert not [event for event in events if isinstance(event, Failed)]


def test_the_setting_overrides_the_target_and_may_be_too_strict(tmp_path: Path) -> None:
    server, events = crawl(tmp_path / "crawl", '[target]\nlanguage = "th"\n[crawl]\naccept_language = "mn"')
    assert server.asked["/"] == "mn"
    assert [event.reason for event in events if isinstance(event, Failed)] == ["HTTP 406"]
    assert load(tmp_path / "crawl" / "crawl.toml").crawl.accept_language == "mn"


def test_what_was_asked_for_is_in_the_archive(tmp_path: Path) -> None:
    crawl(tmp_path / "crawl", '[target]\nlanguage = "th"\n[crawl]')
    (file,) = (tmp_path / "crawl" / "warc").glob("*.warc.gz")
    with file.open("rb") as stream:
        blocks = [
            (record.rec_type, record.content_stream().read())
            for record in ArchiveIterator(stream, no_record_parse=True)
        ]
    requests = [block for kind, block in blocks if kind == "request"]
    assert len(requests) == 4 and all(b"\r\nAccept-Language: th,*;q=0.1\r\n" in block for block in requests)
    assert b"http-header-accept-language: th,*;q=0.1\r\n" in blocks[0][1]


def test_one_variant_at_two_urls_is_a_duplicate_and_another_is_not(tmp_path: Path) -> None:
    crawl(tmp_path / "crawl", '[target]\nlanguage = "th"\n[crawl]')
    assert pages(tmp_path / "crawl") == {"/": ("th", ""), "/th/": ("th", "/"), "/en/": ("en", "")}


def test_a_redirect_to_the_variant_is_followed(tmp_path: Path) -> None:
    _, events = crawl(tmp_path / "crawl", '[target]\nlanguage = "th"\n[crawl]\nstrategy = "breadth-first"')
    led = [_path(event.to) for event in events if isinstance(event, Redirected)]
    assert led == ["/th/"]
    assert [_path(event.visit.url) for event in events if isinstance(event, Visited)] == ["/", "/th/", "/en/"]
