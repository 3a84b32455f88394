"""Queries of links are percent-encoded in the charset of the page, as in browsers."""

from __future__ import annotations

import asyncio
from pathlib import Path
from urllib.parse import quote

import pytest
from aiohttp import web
from hypothesis import given
from hypothesis import strategies as st

from spoor.events import Visited
from spoor.parse.charset import codec
from spoor.parse.html import DEFAULT_OPTIONS, read_page, with_rendering
from spoor.parse.link_base import LinkBase
from spoor.records import Rendering
from tests.html_site import answering, crawled_at
from tests.suites import cases, needs_suite

URL = "http://a.test/dir/"
THAI_WORDS = ("ข่าว", "กีฬา", "อาหาร ไทย", "หนังสือพิมพ์")


def target(href: str, charset: str) -> str | None:
    return LinkBase(URL, charset).join(href)


@needs_suite("url")
def test_percent_encoding_of_web_platform_tests() -> None:
    different = {}
    for case in cases("url", "url/resources/percent-encoding.json"):
        for charset, query in case["output"].items():
            found = target(f"?{case['input']}", "" if charset == "utf-8" else charset)
            if found != f"{URL}?{query}":
                different[charset, case["input"]] = found
    assert different == {}


@pytest.mark.parametrize(
    "charset, word, query",
    [
        ("windows-874", "ไทย", "%E4%B7%C2"),
        ("windows-1251", "книга", "%EA%ED%E8%E3%E0"),
        ("koi8-r", "книга", "%CB%CE%C9%C7%C1"),
        ("shift_jis", "表①", "%95\\%87@"),
        ("shift_jis", "纊ｱ", "%FA\\%B1"),
        ("euc-jp", "表①", "%C9%BD%AD%A1"),
        ("euc-jp", "ｱ¥", "%8E%B1\\"),
        ("iso-2022-jp", "表a①", "%1B$BI=%1B(Ba%1B$B-!%1B(B"),
        ("iso-2022-jp", "ｱﾞ", "%1B$B%%22!+%1B(B"),
        ("gbk", "书€㐀", "%CA%E9%80%26%2313312%3B"),
        ("gb18030", "书€㐀", "%CA%E9%A2%E3%819%EE9"),
        ("big5", "書十", "%AE%D1%A4Q"),
        ("big5", "‧丐", "%A1E%A4%A2"),
        ("euc-kr", "책", "%C3%A5"),
        ("iso-8859-1", "é", "%E9"),
        ("windows-1252", "é€中", "%E9%80%26%2320013%3B"),
    ],
)
def test_a_query_is_in_the_charset_of_the_page(charset: str, word: str, query: str) -> None:
    assert target(f"?q={word}&p=1", charset) == f"{URL}?q={query}&p=1"


def test_only_the_query_is() -> None:
    assert target("/é?é#é", "windows-1252") == "http://a.test/%C3%A9?%E9"
    assert target("/é#?é", "windows-1252") == "http://a.test/%C3%A9"


def test_what_is_encoded_already_stays() -> None:
    assert target("?a=%E0%B9%84&b=c", "windows-874") == f"{URL}?a=%E0%B9%84&b=c"


@given(st.text(max_size=20), st.sampled_from(["big5", "euc-jp", "gbk", "iso-2022-jp", "shift_jis", "windows-1251"]))
def test_any_query_becomes_a_url_in_ascii(query: str, charset: str) -> None:
    url = target(f"?{query}", charset)
    assert url is not None and url.isascii()


def test_links_in_the_tree_of_a_browser_are_in_the_charset_of_the_response() -> None:
    html = "<meta charset=tis-620><p>ไทย</p><a href='?q=ไทย'>a</a>"
    page = read_page(URL, html.encode("tis-620"), "text/html")
    drawn = with_rendering(page, Rendering("settled", 0.0, html=html + "<p>more</p>" * 99), DEFAULT_OPTIONS)
    assert [link.url for link in drawn.links] == [f"{URL}?q=%E4%B7%C2"]


def test_a_crawl_of_a_thai_site_fetches_every_page_with_a_thai_query(tmp_path: Path) -> None:
    """The server compares bytes, as old ones do: a query in UTF-8 is not found."""
    pages = {quote(word.encode("tis-620")): word for word in THAI_WORDS}

    def answer(request: web.BaseRequest) -> web.Response:
        query = request.rel_url.raw_query_string
        if request.path == "/robots.txt" or (query and query.removeprefix("word=") not in pages):
            return web.Response(status=404)
        links = "".join(f"<li><a href='?word={word}'>{word}</a>" for word in THAI_WORDS)
        body = f"<title>ห้องสมุด</title><p>ห้องสมุดเปิดตอนเก้าโมงเช้า {pages.get(query[5:], '')}</p><ul>{links}</ul>"
        return web.Response(body=body.encode("tis-620"), headers={"Content-Type": "text/html; charset=TIS-620"})

    async def crawl() -> list[str]:
        async with answering(answer) as address:
            events = await crawled_at(address, tmp_path / "crawl", "[target]\nlanguage = 'th'\n[crawl]")
        visited = [event for event in events if isinstance(event, Visited)]
        return [event.visit.url.partition("?word=")[2] for event in visited]

    assert sorted(asyncio.run(crawl())) == sorted(["", *pages])


def test_reading_agrees_with_python_where_browsers_do() -> None:
    """Russian and Thai: each letter is what the codec says."""
    for charset in ("windows-1251", "koi8-r", "windows-874", "iso-8859-5"):
        letters = bytes(range(0xC0, 0xDB)).decode(codec(charset))
        assert target(f"?{letters}", charset) == f"{URL}?{quote(letters.encode(codec(charset)))}"
