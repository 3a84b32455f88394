"""Documents in a live crawl: fetched, read in another process, judged, compared, exported and built into webs."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TypeVar

import pytest
from aiohttp import web

import spoor
from spoor import settings as config
from spoor.cli.main import main
from spoor.demo.plain_pdf import pdf
from spoor.events import Failed, Visited
from spoor.lab.web import Web
from spoor.records import Page, Verdict
from spoor.report.figures import figures
from spoor.store.crawl_folder import open_for_reading
from tests.html_site import answering, events_of
from tests.made_documents import DOCX, EPUB, ODT, PDF, docx, epub, odt, scanned

Answers = Mapping[str, tuple[bytes, str]]
T = TypeVar("T")

TEXT = "ประเทศไทยเป็นประเทศที่ตั้งอยู่ในเอเชียตะวันออกเฉียงใต้ เมืองหลวงคือกรุงเทพมหานคร มีภาษาไทยเป็นภาษาราชการ"
OTHER = "ภาษาไทยมีพยัญชนะสี่สิบสี่ตัว สระยี่สิบเอ็ดรูป และวรรณยุกต์ห้าเสียง เขียนจากซ้ายไปขวาโดยไม่เว้นวรรคระหว่างคำ"
BODIES: Answers = {
    "/": (b"<a href=/a.docx>a</a> <a href=/b.odt>b</a> <a href=/c.epub>c</a> <a href=/broken.docx>d</a>", "text/html"),
    "/a.docx": (docx(f"<w:p><w:t>{TEXT}</w:t></w:p>", "เอกสาร"), DOCX),
    "/b.odt": (odt(f'<text:p>{OTHER}</text:p><text:a xlink:href="/found">x</text:a>'), ODT),
    "/c.epub": (epub({"c.xhtml": f"<p>{TEXT}</p>"}), EPUB),
    "/found": (f"<p>{OTHER} {TEXT}".encode(), "text/html; charset=utf-8"),
    "/broken.docx": (b"PK\x03\x04 and nothing more", DOCX),
}
PDFS: Answers = {
    "/": (b"<a href=/one.pdf>one</a> <a href=/scanned.pdf>two</a>", "text/html"),
    "/one.pdf": (pdf([[TEXT]], links=["/found"]), PDF),
    "/scanned.pdf": (scanned(), PDF),
    "/found": (f"<p>{OTHER}".encode(), "text/html; charset=utf-8"),
}


@asynccontextmanager
async def served(bodies: Answers) -> AsyncIterator[str]:
    def answer(request: web.BaseRequest) -> web.Response:
        body, content_type = bodies.get(request.path, (b"", ""))
        if not body:
            return web.Response(status=404)
        return web.Response(body=body, headers={"Content-Type": content_type})

    async with answering(answer) as address:
        yield address


async def crawled(bodies: Answers, folder: Path, parse: str = "") -> tuple[dict[str, bool], dict[str, str]]:
    """By path: whether a page is relevant, and why a visit failed."""
    async with served(bodies) as address:
        asked = f'seeds = ["{address}/"]\nallow_private = true\nstrategy = "breadth-first"'
        settings = f'[target]\nscript = "thai"\n[parse]\n{parse}\n[politeness]\nhost_delay = 0\n[crawl]\n{asked}'
        events = await events_of(folder, config.loads(settings))
    visited = {event.visit.url: event.verdict.relevant for event in events if isinstance(event, Visited)}
    failed = {event.visit.url: event.reason for event in events if isinstance(event, Failed)}
    return _by_path(visited), {path: why for path, why in _by_path(failed).items() if path != "/robots.txt"}


def _by_path(found: Mapping[str, T]) -> dict[str, T]:
    return {"/" + url.split("/", 3)[3]: what for url, what in found.items()}


@pytest.fixture(scope="module")
def crawl(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, bool], dict[str, str]]:
    folder = tmp_path_factory.mktemp("documents") / "crawl"
    return folder, *asyncio.run(crawled(BODIES, folder))


Crawled = tuple[Path, dict[str, bool], dict[str, str]]


def test_documents_are_judged_and_their_links_followed(crawl: Crawled) -> None:
    _, relevant, failed = crawl
    assert relevant == {"/": False, "/a.docx": True, "/b.odt": True, "/c.epub": True, "/found": True}
    assert failed == {"/broken.docx": "DOCX: broken"}


def test_the_report_counts_documents_without_text_by_their_reason(crawl: Crawled) -> None:
    counted = figures(open_for_reading(crawl[0]))
    assert [(reason.because, reason.for_good) for reason in counted.failures] == [("DOCX: broken", 1)]
    assert counted.totals.relevant == 4


def test_a_document_can_be_a_duplicate_of_another_kind(crawl: Crawled) -> None:
    pages = {page.url.rpartition("/")[2]: page for page in spoor.open_crawl(crawl[0]).pages()}
    assert pages["c.epub"].duplicate_of.endswith("/a.docx")
    assert (pages["a.docx"].text, pages["a.docx"].title, pages["a.docx"].language) == (TEXT, "เอกสาร", "th")


def test_the_text_of_a_document_is_exported(crawl: Crawled, tmp_path: Path) -> None:
    words = ["--format", "jsonl", "--out", str(tmp_path / "all.jsonl"), "--workers", "1"]
    assert main(["export", str(crawl[0]), *words]) == 0
    documents = [json.loads(line) for line in (tmp_path / "all.jsonl").read_text("utf8").splitlines()]
    texts = {document["url"].rpartition("/")[2]: document["text"] for document in documents}
    assert [texts[name] for name in ("a.docx", "b.odt", "c.epub")] == [TEXT, OTHER, TEXT]


def test_a_web_built_from_the_archive_has_the_texts_and_links_of_documents(
    crawl: Crawled, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["web", "build", str(crawl[0]), "--out", str(tmp_path / "web"), "--workers", "1"]) == 0
    assert "documents without text" in capsys.readouterr().out
    built = Web.open(tmp_path / "web")
    numbers = {built.urls[number].rpartition("/")[2]: number for number in range(built.pages)}
    assert [built.urls[target].rpartition("/")[2] for target in built.targets(numbers["b.odt"])] == ["found"]
    assert (built.texts[numbers["b.odt"]][1], built.about["report"]["documents without text"]) == (OTHER, 1)


def test_documents_are_left_alone_where_they_are_not_asked_for(tmp_path: Path) -> None:
    relevant, failed = asyncio.run(crawled(BODIES, tmp_path / "crawl", "documents = false"))
    assert not any(relevant.values()) and not failed
    assert "/found" not in relevant


def test_documents_are_read_in_another_process_though_the_judge_cannot_be(tmp_path: Path) -> None:
    read: list[str] = []

    class Local:
        """Of a function, so that no other process can load it."""

        reads_content = True

        def judge(self, pages: Sequence[Page]) -> list[Verdict]:
            read.extend(page.text for page in pages)
            return [Verdict(1.0, True, "all are") for _ in pages]

    async def run() -> None:
        async with served(BODIES) as address:
            seeds = [f"{address}/a.docx", f"{address}/broken.docx"]
            crawl = spoor.crawl(
                tmp_path / "crawl",
                strategy="breadth-first",
                judge=Local(),
                seeds=seeds,
                allow_private=True,
                host_delay=0.0,
            )
            async for _ in crawl:
                pass

    asyncio.run(run())
    assert read[-1:] == [TEXT]


@pytest.mark.skipif(not find_spec("pypdfium2"), reason="pypdfium2 is not installed: pip install 'spoor[documents]'")
def test_a_pdf_is_a_page_and_a_scanned_one_says_so(tmp_path: Path) -> None:
    relevant, failed = asyncio.run(crawled(PDFS, tmp_path / "crawl"))
    assert relevant == {"/": False, "/one.pdf": True, "/found": True}
    assert failed == {"/scanned.pdf": "PDF: no text: scanned, or only images"}


@pytest.mark.skipif(bool(find_spec("pypdfium2")), reason="pypdfium2 is installed")
def test_without_pdfium_the_report_says_what_to_install(tmp_path: Path) -> None:
    _, failed = asyncio.run(crawled(PDFS, tmp_path / "crawl"))
    assert set(failed.values()) == {"PDF: not read: install spoor[documents]"} and len(failed) == 2
