"""A served web answers as the simulated one does: the same pages, failures, rules and times."""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace
from http.client import HTTPConnection
from pathlib import Path

import numpy as np
import pytest

from spoor import registry
from spoor.cli.main import main
from spoor.lab.web import Web
from spoor.lab.worlds import Conditions, Network, RecordedWorld
from spoor.live.downloader import LiveDownloader, PageFetcher
from spoor.live.from_settings import fetcher_for
from spoor.live.page_reader import Reader
from spoor.records import Failure, Judged, Outcome, Page, Redirect, RobotsRules, SitemapFile, Trouble, Visit
from spoor.settings import Config, Crawling
from spoor.urls import host_of, robots_url
from tests import warcs
from tests.made_documents import ODT, odt
from tests.served import served, serving

LOG = """url,status
http://a.test/,200
http://a.test/old,301
http://a.test/new,200
http://a.test/gone,404
http://b.test/,200
https://b.test/2,200
"""
LINKS = """source,target,anchor
http://a.test/,http://b.test/,b
http://a.test/,http://a.test/old,old
http://a.test/old,http://a.test/new,
http://b.test/,http://elsewhere.test/,elsewhere
"""
URLS = [line.partition(",")[0] for line in LOG.splitlines()[1:]]
QUICK = Conditions(latency=0.001, bandwidth=1e9, delay=0.25, failures=0.4, seed=3)


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory) -> Web:
    folder = tmp_path_factory.mktemp("served")
    (folder / "log.csv").write_text(LOG)
    (folder / "links.csv").write_text(LINKS)
    assert main(["web", "build", str(folder / "log.csv"), str(folder / "links.csv"), "--out", str(folder / "web")]) == 0
    return Web.open(folder / "web")


def simulated(web: Web, conditions: Conditions) -> Network:
    return Network(RecordedWorld(web, np.zeros(web.pages, np.bool_), with_content=True, open_ended=True), conditions)


def page_visit(url: str, tries: int = 0) -> Visit:
    return Visit(url, host_of(url), 0, 0.0, tries=tries)


def rules_visit(url: str) -> Visit:
    return Visit(robots_url(url), host_of(url), 0, 0.0, "robots")


async def live(web: Web, conditions: Conditions | None, visits: list[Visit]) -> list[tuple[Outcome, float]]:
    """What a live crawl makes of each visit, one after another, and the seconds it took."""
    reader = Reader.of(registry.strategy("breadth-first", registry.judge("pattern:x")))
    taken = []
    async with (
        served(web, conditions) as proxy,
        fetcher_for(Config(crawl=Crawling(seeds=("http://a.test/",), proxy=proxy))) as fetcher,
    ):
        downloader = LiveDownloader(PageFetcher(fetcher, reader))
        for visit in visits:
            began = time.perf_counter()
            taken.append((await downloader.fetch(visit), time.perf_counter() - began))
    return taken


def shape(outcome: Outcome) -> tuple[object, ...]:
    """What a crawl goes by; a page is told by its links."""
    match outcome:
        case Failure(_, again_after, whole_host):
            return "failure", again_after, whole_host
        case Redirect(to):
            return "redirect", to
        case RobotsRules(text):
            return "rules", text
        case Judged(page):
            return shape(page)
        case Trouble(reason):
            return "trouble", reason
        case SitemapFile(kind):
            return "sitemap", kind
        case page:
            return "page", [link.url for link in page.links]


@pytest.mark.parametrize("retry_after", [60.0, 7])
def test_a_served_web_fails_redirects_and_answers_as_the_simulated_one_try_by_try(retry_after: float, web: Web) -> None:
    visits = [page_visit(url, tries) for tries in range(3) for url in URLS]
    conditions = replace(QUICK, retry_after=retry_after)
    network = simulated(web, conditions)
    told = [shape(outcome) for outcome, _ in asyncio.run(live(web, conditions, visits))]
    assert told == [shape(network.fetch(visit)[0]) for visit in visits]
    assert {kind for kind, *_ in told} == {"page", "redirect", "failure"}
    assert ("failure", retry_after, False) in told and ("failure", None, False) in told


def test_every_host_has_the_rules_of_the_simulated_one_recorded_or_not(web: Web) -> None:
    visits = [rules_visit(f"http://{host}/") for host in ("a.test", "b.test", "elsewhere.test", "h7.test", "h8.test")]
    network = simulated(web, QUICK)
    rules = [outcome for outcome, _ in asyncio.run(live(web, QUICK, visits))]
    simulated_rules = [network.fetch(visit)[0] for visit in visits]
    assert all(isinstance(rule, RobotsRules) for rule in rules + simulated_rules)
    assert [rule.text for rule in rules] == [rule.text for rule in simulated_rules]  # type: ignore[union-attr]


def test_a_page_that_was_never_recorded_fails_for_good(web: Web) -> None:
    never = Conditions(latency=0.001, failures=0.0)
    (outcome, _), *_ = asyncio.run(live(web, never, [page_visit("http://elsewhere.test/")]))
    assert outcome == Failure("HTTP 404")


def test_an_answer_takes_the_time_that_the_network_draws(web: Web) -> None:
    slow = Conditions(latency=0.05, bandwidth=50_000.0, failures=0.4, seed=3)
    visits = [rules_visit("http://a.test/"), *map(page_visit, URLS)]
    network = simulated(web, slow)
    for visit, (_, seconds) in zip(visits, asyncio.run(live(web, slow, visits)), strict=True):
        assert seconds >= network.fetch(visit)[1] - 0.002, visit.url


def test_without_conditions_nothing_fails_and_no_host_has_rules(web: Web) -> None:
    visits = [page_visit("http://a.test/", tries) for tries in range(5)] + [rules_visit("http://a.test/")]
    *pages, rules = [shape(outcome) for outcome, _ in asyncio.run(live(web, None, visits))]
    assert pages == [("page", ["http://b.test/", "http://a.test/old"])] * 5
    assert rules == ("rules", "")


HTML = "text/html; charset=TIS-620"
THAI = '<html><title>ไทย</title><p>ภาษา <b>ไทย</b> <a href="x">ต่อ</a></p><!-- kept -->'.encode("tis-620")
DOCUMENT = odt("<text:p>words</text:p>", "report")
SITE = (
    warcs.response("http://a.test/", THAI, content_type=HTML, x_robots_tag="noindex, nofollow"),
    warcs.response("http://a.test/x.html", '<a href="y">y</a>', content_type="Text/HTML"),
    warcs.response("http://a.test/folder/", '<a href="../x">x</a>'),
    warcs.response("http://a.test/report", DOCUMENT, content_type=ODT),
    warcs.response("http://a.test/picture", b"\x89PNG", content_type="image/png"),
    warcs.response("http://a.test/robots.txt", "User-agent: *\nDisallow: /", content_type="text/plain"),
    warcs.response("http://a.test/gone", "<p>gone", 404),
)


def built(folder: Path, *words: str) -> Web:
    (folder / "site.warc").write_bytes(b"".join(SITE))
    words = ("--workers", "1", *words)
    assert main(["web", "build", str(folder / "site.warc"), "--out", str(folder / "web"), *words]) == 0
    return Web.open(folder / "web")


def sent(web: Web, *urls: str) -> list[tuple[int, str | None, str | None, bytes]]:
    """Status, Content-Type, X-Robots-Tag or Location, and body of each answer."""
    found = []
    with serving(web) as proxy:
        connection = HTTPConnection(proxy.removeprefix("http://"))
        for url in urls:
            connection.request("GET", url)
            answer = connection.getresponse()
            told = answer.getheader("X-Robots-Tag") or answer.getheader("Location")
            found.append((answer.status, answer.getheader("Content-Type"), told, answer.read()))
        connection.close()
    return found


def test_a_page_is_sent_as_it_was_seen_byte_for_byte_with_its_headers(tmp_path: Path) -> None:
    thai, html, document = sent(built(tmp_path), "http://a.test/", "http://a.test/x.html", "http://a.test/report")
    assert thai == (200, HTML, "noindex, nofollow", THAI)
    assert html == (200, "Text/HTML", None, b'<a href="y">y</a>')
    assert document == (200, ODT, None, DOCUMENT)


def test_a_page_without_a_content_type_is_sent_without_one(tmp_path: Path) -> None:
    untyped = warcs.record("response", "http://a.test/", b"HTTP/1.1 200 OK\r\n\r\n<title>t</title>")
    (tmp_path / "site.warc").write_bytes(untyped)
    assert main(["web", "build", str(tmp_path / "site.warc"), "--out", str(tmp_path / "web"), "--workers", "1"]) == 0
    assert sent(Web.open(tmp_path / "web"), "http://a.test/") == [(200, "", None, b"<title>t</title>")]


def test_near_misses_are_answered_with_the_page_or_lead_to_it(tmp_path: Path) -> None:
    near, www, folder, other = sent(
        built(tmp_path), "http://a.test/x", "http://www.a.test/x.html", "http://a.test/folder", "http://a.test/z"
    )
    assert near[3] == www[3] == b'<a href="y">y</a>'
    assert (folder[0], folder[2]) == (301, "http://a.test/folder/"), "its relative links would lead elsewhere"
    assert other[0] == 404


def test_a_web_that_was_built_without_near_misses_is_served_without(tmp_path: Path) -> None:
    web = built(tmp_path, "--exact")
    assert [answer[0] for answer in sent(web, "http://a.test/x", "http://a.test/x.html")] == [404, 200]


def test_the_header_that_forbids_to_follow_links_holds_in_a_simulation_too(tmp_path: Path) -> None:
    web = built(tmp_path)
    page, _ = simulated(web, QUICK).world.fetch(page_visit("http://a.test/"))
    assert isinstance(page, Page) and [link.nofollow for link in page.links] == [True]


def test_other_media_are_empty_and_a_recorded_robots_txt_forbids_nothing_as_in_a_simulation(tmp_path: Path) -> None:
    picture, rules = sent(built(tmp_path), "http://a.test/picture", "http://a.test/robots.txt")
    assert picture == (200, "image/png", None, b"")
    assert (rules[0], rules[3]) == (200, b"")


def test_a_web_of_which_no_html_is_known_is_served_as_links(web: Web) -> None:
    ((status, kind, _, body),) = sent(web, "http://a.test/")
    assert (web.has_html, status, kind) == (False, 200, "text/html")
    assert body.decode().count("<a ") == 2 and '<p><a href="http://b.test/">b</a></p>' in body.decode()


PLACES = "".join(f"<p>{n}: <a href=/{n}>Plaça Nova, São João, Škofja Loka</a></p>" for n in range(3))


@pytest.mark.parametrize("charset", ["utf-8", "iso-8859-2", "windows-1252", "windows-1257"])
@pytest.mark.parametrize("declared", ["header", "page", "nowhere"])
def test_a_page_reads_the_same_in_its_charset_however_it_is_declared(
    charset: str, declared: str, tmp_path: Path
) -> None:
    meta = f'<meta charset="{charset}">' if declared == "page" else ""
    kind = f"text/html; charset={charset}" if declared == "header" else "text/html"
    body = f"<html>{meta}<title>Plaça</title>{PLACES}".encode(charset, "xmlcharrefreplace")
    (tmp_path / "web.warc").write_bytes(warcs.response("http://a.test/", body, content_type=kind))
    assert main(["web", "build", str(tmp_path / "web.warc"), "--out", str(tmp_path / "web"), "--workers", "1"]) == 0
    web = Web.open(tmp_path / "web")
    page, _ = simulated(web, QUICK).world.fetch(page_visit("http://a.test/"))
    ((outcome, _),) = asyncio.run(live(web, None, [page_visit("http://a.test/")]))
    assert isinstance(outcome, Judged)
    assert isinstance(page, Page)
    assert (outcome.page.title, outcome.page.text) == (page.title, page.text)


@pytest.mark.parametrize(
    ("flags", "complaint"),
    [
        (["--latency", "0.1"], "--latency has no effect under lab conditions; add --conditions field"),
        (["--conditions", "lab", "--clock-seed", "2"], "--clock-seed has no effect under lab conditions"),
        (["--conditions", "field", "--latency", "0"], "--latency 0.0: must be more than 0"),
        (["--conditions", "field", "--rest", "-1"], "--rest -1.0: must not be negative"),
        (["--conditions", "field", "--retry-after", "-1"], "--retry-after -1: must not be negative"),
        (["--conditions", "field", "--failures", "1"], "--failures 1.0: must be at least 0 and below 1"),
    ],
)
def test_conditions_that_make_no_sense_are_refused(
    flags: list[str], complaint: str, web: Web, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["web", "serve", str(web.folder), "--port", "0", *flags]) == 2
    assert complaint in capsys.readouterr().err
