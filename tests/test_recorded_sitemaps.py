"""Sitemaps, documents and rendered pages in recorded webs: what a build keeps of them, what a simulated crawl gets."""

from __future__ import annotations

from pathlib import Path

import pytest

import spoor
from spoor.errors import UsageError
from spoor.lab.build.builder import BuildOptions, build_web
from spoor.lab.build.gather import BuildReport
from spoor.lab.build.warc_source import read_warcs
from spoor.lab.runs import visits
from spoor.lab.serve import WebServer
from spoor.lab.sitemaps import written_sitemap
from spoor.lab.task import Task
from spoor.lab.web import Web
from spoor.lab.worlds import FIELD
from spoor.parse.sitemaps import read_sitemap
from spoor.records import Listed, SitemapFile
from tests.made_documents import ODT, odt
from tests.warcs import page, record, response

HOME, MAP, INDEX = "http://a.test/", "http://a.test/pages.xml", "http://a.test/sitemap_index.xml"
HIDDEN, OLD = "http://a.test/hidden", "http://a.test/old"
OTHER = "http://b.test/"
TRUTH = "url\tlabels\n" + "".join(f"{url}\trelevant\n" for url in (HOME, HIDDEN, OLD))
LISTED = f"""<urlset xmlns:xhtml="http://www.w3.org/1999/xhtml">
<url><loc>{HIDDEN}/</loc><lastmod>2026-11-15</lastmod><xhtml:link rel="alternate" hreflang="th" href="{HIDDEN}/"/></url>
<url><loc>{OLD}</loc></url><url><loc>http://a.test/never-fetched</loc></url><url><loc>{OTHER}</loc></url>
</urlset>"""
SCRIPTS = "<title>t</title><div id=root></div><script src=app.js></script>"


def build(folder: Path, *records: bytes) -> Web:
    warc, truth, report = folder / "crawl.warc", folder / "truth.tsv", BuildReport()
    warc.write_bytes(b"".join(records))
    truth.write_text(TRUTH)
    return build_web(folder / "web", read_warcs([warc], report, workers=1), BuildOptions("tiny", "here", truth), report)


def xml(url: str, body: str) -> bytes:
    return response(url, body, content_type="application/xml")


def conversion(url: str, html: str) -> bytes:
    """What a browser made of a page, as a crawl keeps it beside the response."""
    made = record("conversion", url, html.encode())
    return made.replace(b"application/http; msgtype=response", b"text/html; charset=utf-8")


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory) -> Web:
    """A home page without links, and two pages that only a sitemap lists, which only an index lists."""
    index = f"<sitemapindex><sitemap><loc>{MAP}</loc></sitemap></sitemapindex>"
    pages = (page(HOME), page(HIDDEN), page(OLD), page(OTHER))
    return build(tmp_path_factory.mktemp("sitemaps"), *pages, xml(INDEX, index), xml(MAP, LISTED))


def fetched(web: Web, **options: object) -> list[str]:
    task = Task(web.folder, "relevant", (HOME,), **options)  # type: ignore[arg-type]
    return [visit.url for visit in visits(task, "breadth-first")]


def test_a_build_keeps_what_sitemaps_list_and_claim(web: Web) -> None:
    assert web.sitemaps.find(MAP) == SitemapFile(
        "urlset",
        (
            Listed(HIDDEN, "th", "2026-11-15"),  # Listed with a slash at its end, recorded without.
            Listed(OLD),
            Listed("http://a.test/never-fetched"),
            Listed(OTHER),
        ),
        4,
    )
    assert web.sitemaps.announced == {"a.test": [INDEX]}
    assert web.sitemaps.pages_of("a.test") == [HIDDEN, OLD, "http://a.test/never-fetched"]


def test_a_simulated_crawl_gets_there_by_sitemaps_where_it_reads_them(web: Web) -> None:
    assert fetched(web) == [HOME]
    assert fetched(web, sitemaps=True) == [HOME, HIDDEN, OLD]


def test_what_sitemaps_list_can_be_reached_and_is_scored(web: Web) -> None:
    for conditions in ("lab", FIELD):
        done = spoor.compare(web, ["breadth-first"], seeds=[HOME], sitemaps=True, conditions=conditions)
        assert done.yardstick.relevant == 3
        assert [score.found for score in done.scores] == [3, 3]
    assert spoor.compare(web, ["breadth-first"], seeds=[HOME]).yardstick.relevant == 1


def test_the_compiled_driver_reads_no_sitemaps(web: Web) -> None:
    with pytest.raises(UsageError, match="it reads no sitemaps"):
        spoor.simulate(web, "breadth-first", seeds=[HOME], sitemaps=True, driver="compiled")


def test_a_served_sitemap_lists_the_same(web: Web) -> None:
    file = web.sitemaps.find(MAP)
    assert file is not None
    assert read_sitemap(MAP, written_sitemap(file).encode()) == file
    assert [WebServer(web)._purpose(url) for url in (MAP, f"{HOME}robots.txt", HOME)] == ["sitemap", "robots", "page"]


def test_a_rendered_page_has_the_links_of_both_and_the_longer_text(tmp_path: Path) -> None:
    shell = response(HOME, f"{SCRIPTS}<a href=/static>static</a>")
    made = "<title>t</title><p>words that a script wrote <a href=/made>made</a> <a href=/static>static</a>"
    script = response(f"{HOME}app.js", "let a", content_type="text/javascript")
    used = script.replace(
        b"Content-Type: application/http", b"WARC-Resource-Type: script\r\nContent-Type: application/http"
    )
    web = build(tmp_path, shell, used, page(OTHER), conversion(HOME, made))
    assert web.pages == 2
    assert [web.urls[target] for target in web.targets(0)] == [f"{HOME}static", f"{HOME}made"]
    assert [context[:3] for context in web.contexts[0]] == [
        ["static", "", ""],
        ["made", "words that a script wrote", "static"],
    ]
    assert web.texts[0][1] == "words that a script wrote made static"
    assert (web.needs_scripts, web.about["report"]["rendered"]) == (None, 1)


def test_what_a_script_lost_is_kept(tmp_path: Path) -> None:
    web = build(tmp_path, response(HOME, "<p>a text of some length <a href=/b>b</a>"), conversion(HOME, "<p>less"))
    assert (web.texts[0][1], len(web.targets(0))) == ("a text of some length b", 1)


def test_a_document_is_a_page_with_its_text_and_links(tmp_path: Path) -> None:
    link = f'<text:p>read <text:a xlink:href="{HIDDEN}">the report</text:a></text:p>'
    web = build(tmp_path, response(HOME, odt(link, "report"), content_type=ODT), page(HIDDEN))
    assert (web.texts[0][:2], web.contexts[0][0][:2]) == (["report", "read the report"], ["the report", "read"])
    assert fetched(web) == [HOME, HIDDEN]
