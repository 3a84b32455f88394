"""What comes under another content type than its own is read as what it is; the Refresh header counts."""

from __future__ import annotations

import asyncio
import time
import zipfile
from io import BytesIO
from pathlib import Path

import pytest
from aiohttp import web

from spoor.events import Redirected
from spoor.fetch.addresses import refusal_of
from spoor.fetch.decoding import FetchLimits
from spoor.fetch.http import HttpFetcher
from spoor.fetch.proxies import Proxies
from spoor.parse.document_text import LONGEST_TEXT
from spoor.parse.documents import read_answer
from spoor.records import Failure, Page
from tests.html_site import answering, crawled_at, judged
from tests.made_documents import EPUB, epub

URL = "http://a.test/"
HTML = b"<!DOCTYPE html><html><title>Log in</title><p>Please log in <a href=/x>here</a></html>"


@pytest.mark.parametrize("content_type", ["application/pdf", "html", "", "text", EPUB])
def test_html_under_another_type_is_a_page(content_type: str) -> None:
    page = read_answer(URL, HTML, content_type)
    assert isinstance(page, Page)
    assert (page.content_type, page.title, [link.url for link in page.links]) == (
        "text/html",
        "Log in",
        ["http://a.test/x"],
    )


@pytest.mark.parametrize("content_type", ["", "text/plain", "epub"])
def test_a_book_without_a_type_is_read(content_type: str) -> None:
    page = read_answer(URL, stored(epub({"one.xhtml": "<p>It was a bright cold day.</p>"}, "A book")), content_type)
    assert isinstance(page, Page) and (page.title, page.text) == ("A book", "It was a bright cold day.")


def stored(book: bytes) -> bytes:
    """With its type first and not compressed, as the format wants it."""
    with zipfile.ZipFile(BytesIO(book)) as before, zipfile.ZipFile(out := BytesIO(), "w") as after:
        for name in before.namelist():
            after.writestr(name, before.read(name))
    return out.getvalue()


def test_the_language_of_a_book_is_that_of_its_chapters() -> None:
    chapter = '<html xmlns="http://www.w3.org/1999/xhtml" xml:lang="th"><body><p>ไทย</p></body></html>'
    page = read_answer(URL, epub({"one.xhtml": chapter}, "", "en"), EPUB)
    assert isinstance(page, Page) and page.language == "th"


def test_a_book_has_no_more_text_than_other_documents() -> None:
    chapter = f"<p>{'long ' * (LONGEST_TEXT // 8)}</p>"
    page = read_answer(URL, epub({"one.xhtml": chapter, "two.xhtml": chapter}), EPUB)
    assert isinstance(page, Page) and len(page.text) == LONGEST_TEXT


def test_a_refresh_header_leads_on(tmp_path: Path) -> None:
    def answer(request: web.BaseRequest) -> web.Response:
        pages = {
            "/": ("", "0; url=/new"),
            "/new": ("<p>" + "There is much to read here. " * 20, "300; URL='later'"),
            "/later": ("<p>The end.", ""),
        }
        if request.path not in pages:
            return web.Response(status=404)
        body, refresh = pages[request.path]
        return web.Response(text=body, content_type="text/html", headers={"Refresh": refresh} if refresh else {})

    async def crawl() -> tuple[list[str], set[str]]:
        async with answering(answer) as address:
            events = await crawled_at(address, tmp_path / "crawl", "[target]\nlanguage = 'en'\n[crawl]")
        return [event.to.removeprefix(address) for event in events if isinstance(event, Redirected)], set(
            judged(events)
        )

    assert asyncio.run(crawl()) == (["/new"], {"/new", "/later"})


@pytest.mark.parametrize("host", ["localhost", "a.localhost", "127.0.0.1", "[::1]"])
def test_this_machine_is_refused_by_name_too_even_through_a_proxy(host: str) -> None:
    async def fetched() -> object:
        limits = FetchLimits(connect=1.0)
        async with HttpFetcher("spoor", limits, time.time, proxies=Proxies.to("http://127.0.0.1:9")) as fetcher:
            return await fetcher.fetch(f"http://{host}:8080/")

    failure = asyncio.run(fetched())
    assert refusal_of(f"http://{host}:8080/") and isinstance(failure, Failure)
    assert "allow it with --allow-private" in failure.reason
