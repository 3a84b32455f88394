"""Sitemaps and feeds in a crawl: asked for as robots.txt is, let in a few URLs first, more where they are relevant."""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import random
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import islice
from pathlib import Path

import pytest
from aiohttp import web as http

from spoor.crawl import Crawl
from spoor.crawling.sitemap_budget import FIRST_PAGES
from spoor.errors import SpoorError
from spoor.events import Event, Failed, Redirected, Refused, SitemapRead, Visited
from spoor.frontier.entry import HostRules
from spoor.frontier.frontier import Frontier
from spoor.frontier.memory import MemoryStore
from spoor.frontier.sqlite import SqliteStore
from spoor.judging.combined import Truth
from spoor.lab.build.builder import BuildOptions, build_web
from spoor.lab.build.gather import BuildReport
from spoor.lab.build.warc_source import read_warcs, warc_files
from spoor.lab.delays import politeness
from spoor.lab.simulated import simulate
from spoor.lab.web import Web
from spoor.lab.worlds import WrittenWorld
from spoor.live.from_settings import AGENT
from spoor.live.relearning import relearn_all
from spoor.live.session import open_session
from spoor.ordering.admissions import AllOf
from spoor.ordering.scope import Scope
from spoor.ordering.simple import Arrival
from spoor.ordering.strategies import STRATEGIES
from spoor.pricing import Limits
from spoor.records import Failure, Link, Listed, Outcome, Page, Redirect, RobotsRules, SitemapFile
from spoor.registry import strategy
from spoor.report.figures import figures
from spoor.report.politeness import PolitenessRules, conduct
from spoor.report.why import account
from spoor.roles import Admission
from spoor.settings import Config, Crawling, Politeness, Target
from spoor.store.crawl_folder import open_for_crawling, open_for_reading
from spoor.store.journal import Journal
from spoor.strategy import AdmitAll, Strategy
from tests.logged_hosts import LoggedHosts, says, serving

POLITE = HostRules(delay=1.0, ask_first=True)
HOME, MAP = "http://a.test/", "http://a.test/sitemap.xml"
ANNOUNCED = {"http://a.test/robots.txt": RobotsRules("Sitemap: http://a.test/map.xml")}


def page(number: int, host: str = "a") -> str:
    return f"http://{host}.test/{number}"


def urlset(*urls: str, cut: str = "") -> SitemapFile:
    return SitemapFile("urlset", tuple(map(Listed, urls)), len(urls), cut)


def index(*urls: str) -> SitemapFile:
    return SitemapFile("index", tuple(map(Listed, urls)), len(urls))


def world(
    files: Mapping[str, Outcome], relevant: Sequence[str] = (), rules: Mapping[str, Outcome] | None = None
) -> WrittenWorld:
    """A home page without links, sitemaps, and the pages that they list."""
    listed = [each.url for file in files.values() if isinstance(file, SitemapFile) for each in file.listed]
    pages: dict[str, Outcome] = {url: Page(url) for url in [HOME, *listed]}
    return WrittenWorld({**pages, **files}, frozenset([HOME, *relevant]), rules=rules or {})


def crawled(
    web: WrittenWorld,
    seed: str = HOME,
    limits: Limits | None = None,
    hosts: HostRules = POLITE,
    admission: Admission | None = None,
) -> list[Event]:
    chosen = Strategy(Truth("relevant", web.truth), Arrival(), admission=admission or AdmitAll())
    crawl = Crawl(chosen, Frontier(MemoryStore(), hosts), limits or Limits(sitemaps=True))
    crawl.begin([seed])
    return list(simulate(crawl, web))


def pages(events: Sequence[Event]) -> list[str]:
    return [event.visit.url for event in events if isinstance(event, Visited)]


def asked(events: Sequence[Event]) -> list[str]:
    """Sitemaps, in the order in which they were asked for."""
    came = (event for event in events if isinstance(event, SitemapRead | Failed | Redirected))
    return [event.visit.url for event in came if event.visit.purpose == "sitemap"]


def read(events: Sequence[Event]) -> list[SitemapRead]:
    return [event for event in events if isinstance(event, SitemapRead)]


# Which are asked for, and when.


def test_a_host_with_a_relevant_page_is_asked_for_its_sitemap() -> None:
    events = crawled(world({MAP: urlset(page(1), page(2))}))
    assert pages(events) == [HOME, page(1), page(2)]
    assert asked(events) == [MAP]


def test_a_host_without_relevant_pages_is_not_asked() -> None:
    web = WrittenWorld({HOME: Page(HOME), MAP: urlset(page(1))})
    assert asked(crawled(web)) == []


def test_nobody_is_asked_unless_the_crawl_is_to_read_sitemaps() -> None:
    assert pages(crawled(world({MAP: urlset(page(1))}), limits=Limits())) == [HOME]


def test_the_sitemaps_that_robots_txt_names_are_asked_for_in_place_of_the_usual_one() -> None:
    events = crawled(world({"http://a.test/map.xml": urlset(page(1))}, rules=ANNOUNCED))
    assert (asked(events), pages(events)) == (["http://a.test/map.xml"], [HOME, page(1)])


def test_a_feed_that_a_relevant_page_names_is_asked_for() -> None:
    feed = "http://a.test/feed"
    web = world({feed: SitemapFile("feed", (Listed(page(1), "mn", "2026-11-15"),), 1)})
    home = Page(HOME, feeds=("http://b.test/feed", feed))
    events = crawled(WrittenWorld({**web.outcomes, HOME: home}, web.relevant))
    assert (asked(events), pages(events)) == ([MAP, feed], [HOME, page(1)])


def test_a_sitemap_on_a_host_outside_the_scope_is_not_asked_for() -> None:
    here, elsewhere = "http://a.test/map.xml", "http://b.test/map.xml"
    rules = {"http://a.test/robots.txt": RobotsRules(f"Sitemap: {elsewhere}\nSitemap: {here}")}
    web = world({elsewhere: urlset(page(1)), here: Redirect("http://b.test/sitemap.xml")}, rules=rules)
    scoped = AllOf((Scope(hosts=("a.test",)),))
    assert asked(crawled(web, admission=scoped)) == [here]
    assert set(asked(crawled(web))) == {elsewhere, here, "http://b.test/sitemap.xml"}


def test_a_sitemap_that_robots_txt_disallows_is_not_asked_for() -> None:
    rules = {"http://a.test/robots.txt": RobotsRules("User-agent: *\nDisallow: /sitemap.xml")}
    events = crawled(world({MAP: urlset(page(1))}, rules=rules))
    assert [e.refusal.because for e in events if isinstance(e, Refused)] == ["robots.txt disallows it"]
    assert pages(events) == [HOME]


def test_sitemaps_wait_for_their_host_as_pages_do() -> None:
    events = crawled(world({MAP: urlset(*map(page, range(5)))}))
    assert politeness(events, 1.0).violations == ()


def test_sitemaps_are_not_counted_as_pages() -> None:
    events = crawled(world({MAP: urlset(*map(page, range(5)))}), limits=Limits(visits=3, sitemaps=True))
    assert [event.visit.number for event in events if isinstance(event, Visited)] == [0, 1, 2]
    assert len(read(events)) == 1


def test_a_sitemap_that_fails_is_tried_again_and_costs_no_page() -> None:
    events = crawled(world({MAP: Failure("HTTP 503", again_after=60.0)}))
    assert asked(events) == [MAP] * 3
    assert pages(events) == [HOME]


def test_a_redirect_of_a_sitemap_is_followed_but_not_to_a_page() -> None:
    moved = "http://a.test/sitemap_index.xml"
    followed = crawled(world({MAP: Redirect(moved), moved: urlset(page(1))}))
    assert pages(followed) == [HOME, page(1)]
    events = crawled(world({MAP: Redirect("http://a.test/not-found")}))
    assert [e.because for e in events if isinstance(e, Redirected)] == ["not a sitemap by its name"]


# How much is let in.


def test_of_a_long_list_a_few_evenly_spread_pages_are_let_in() -> None:
    events = crawled(world({MAP: urlset(*map(page, range(1000)))}))
    assert pages(events) == [HOME, *(page(number) for number in range(0, 1000, 1000 // FIRST_PAGES))]
    assert [(event.listed, event.added) for event in read(events)] == [(1000, FIRST_PAGES)]


def test_more_are_let_in_where_a_quarter_was_relevant() -> None:
    urls = [page(number) for number in range(1000)]
    events = crawled(world({MAP: urlset(*urls)}, relevant=urls))
    assert [event.added for event in read(events)] == [50, 50, 100, 200, 400, 200]
    assert sorted(pages(events)) == sorted([HOME, *urls])


def test_pages_that_were_known_before_do_not_count() -> None:
    urls = [page(number) for number in range(60)]
    web = world({MAP: urlset(*urls)})
    home = Page(HOME, links=tuple(map(Link, urls[:20])))
    events = crawled(WrittenWorld({**web.outcomes, HOME: home}, web.relevant))
    assert [event.added for event in read(events)] == [40]


def test_an_index_is_read_with_a_few_of_its_sitemaps_first() -> None:
    children = [f"http://a.test/map{number}.xml" for number in range(10)]
    files = {child: urlset(page(number)) for number, child in enumerate(children)}
    events = crawled(world({MAP: index(*children), **files}))
    assert asked(events) == [MAP, children[0], children[3], children[6]]


def test_an_index_is_read_again_where_its_sitemaps_led_to_relevant_pages() -> None:
    children = [f"http://a.test/map{number}.xml" for number in range(4)]
    files = {child: urlset(*(page(100 * n + m) for m in range(40))) for n, child in enumerate(children)}
    listed = [each.url for file in files.values() for each in file.listed]
    events = crawled(world({MAP: index(*children), **files}, relevant=listed))
    assert sorted(pages(events)) == sorted([HOME, *listed])


# What is hostile.


def test_pages_of_other_hosts_are_left_out() -> None:
    events = crawled(world({MAP: urlset(page(1, "b"), page(1))}))
    assert pages(events) == [HOME, page(1)]
    assert [event.foreign for event in read(events)] == [1]


def test_a_sitemap_on_another_host_speaks_for_the_host_whose_robots_txt_names_it() -> None:
    rules = {"http://a.test/robots.txt": RobotsRules("Sitemap: http://cdn.test/map.xml")}
    events = crawled(world({"http://cdn.test/map.xml": urlset(page(1), page(2, "c"))}, rules=rules))
    assert pages(events) == [HOME, page(1)]


def test_indexes_in_indexes_without_end_are_bounded() -> None:
    endless = {f"http://a.test/map{number}.xml": index(f"http://a.test/map{number + 1}.xml") for number in range(99)}
    events = crawled(world({MAP: index("http://a.test/map0.xml"), **endless}))
    assert [event.cut for event in read(events)] == ["", "", "an index nested too deeply"]


def test_an_index_that_lists_itself_is_read_once() -> None:
    assert len(read(crawled(world({MAP: index(MAP)})))) == 1


def test_a_robots_txt_with_many_sitemaps_is_asked_for_a_few() -> None:
    lines = "\n".join(f"Sitemap: http://a.test/map{number}.xml" for number in range(1000))
    rules = {"http://a.test/robots.txt": RobotsRules(lines)}
    assert len(asked(crawled(world({}, rules=rules)))) == 3


# Strategies, and crawls that are stopped.


def drawn(seed: int) -> WrittenWorld:
    """Hosts with a few links, and sitemaps in which half of the pages are relevant."""
    rng = random.Random(seed)
    outcomes: dict[str, Outcome] = {}
    relevant = set()
    for name in "abc":
        urls = [page(number, name) for number in range(45)]
        for url in [f"http://{name}.test/", *urls]:
            links = [f"http://{rng.choice('abc')}.test/", *rng.sample(urls, 2)]
            outcomes[url] = Page(url, links=tuple(Link(link, "horse") for link in links))
            relevant |= {url} if rng.random() < 0.5 else set()
        children = [f"http://{name}.test/map{number}.xml" for number in range(3)]
        outcomes[f"http://{name}.test/sitemap.xml"] = index(*children)
        for number, child in enumerate(children):
            outcomes[child] = urlset(*urls[number::3]) if number else Failure("HTTP 503", again_after=5.0)
    return WrittenWorld(outcomes, relevant | {HOME}, {"b.test": 0.25})


def go_on(file: Path, web: WrittenWorld, name: str, now: float = 0.0, most: int | None = None) -> list[Event]:
    with contextlib.closing(SqliteStore(file)) as store:
        journal = Journal.create(store.connection)
        store.write_along(journal.write)
        fresh = strategy(name, Truth("relevant", web.truth))
        relearn_all(fresh, store.connection)
        crawl = Crawl(fresh, Frontier(store, POLITE), Limits(sitemaps=True), journal)
        crawl.begin([HOME])
        return list(islice(simulate(crawl, web, now=now), most))


def requests(events: Sequence[Event]) -> list[str]:
    made = (event for event in events if isinstance(event, Visited | Redirected | Failed | SitemapRead))
    return [event.visit.url for event in made if event.visit.purpose != "robots"]


@pytest.mark.parametrize(("most", "seed"), [(1, 0), (3, 1), (40, 2)])
def test_a_crawl_stopped_again_and_again_asks_for_the_same(
    most: int, seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("spoor.crawling.sitemap_budget.FIRST_PAGES", 5)
    web = drawn(seed)
    whole = go_on(tmp_path / "whole.db", web, "learned")
    assert max(Counter(event.visit.url for event in read(whole)).values()) > 1, "no sitemap was asked for more"
    events: list[Event] = []
    while more := go_on(tmp_path / "crawl.db", web, "learned", events[-1].at if events else 0.0, most):
        events += more
    assert requests(events) == requests(whole)


@pytest.mark.parametrize("name", sorted(STRATEGIES))
def test_every_strategy_takes_links_of_sitemaps(name: str) -> None:
    web = drawn(1)
    try:
        fresh = strategy(name, Truth("relevant", web.truth))
    except SpoorError:
        pytest.skip("needs a model or words")
    crawl = Crawl(fresh, Frontier(MemoryStore(), POLITE), Limits(visits=60, sitemaps=True))
    crawl.begin([HOME])
    assert read(list(simulate(crawl, web)))


# Over real sockets.

FEED = "<rss><channel><language>th</language><item><link>/page9</link></item></channel></rss>"
HEAD = "<html><head><link rel=alternate type=application/rss+xml href=/feed></head>"


def listing(*urls: str) -> str:
    items = "".join(f"<url><loc>{url}</loc><lastmod>2026-11-15</lastmod></url>" for url in urls)
    return f"<urlset>{items}</urlset>"


def served() -> LoggedHosts:
    """A host with a packed sitemap that lists a page of another, a broken one, one that declares entities, a feed."""
    packed = gzip.compress(listing("/page7", "http://b.test/").encode())
    answers = {
        ("a", "/"): says(f"{HEAD}<p>a page", content_type="text/html"),
        ("a", "/map.xml.gz"): lambda before: http.Response(body=packed, content_type="application/gzip"),
        ("a", "/broken.xml"): says(listing("/page8") + "</x>"),
        ("a", "/bomb.xml"): says('<!DOCTYPE urlset [<!ENTITY a "b">]><urlset/>'),
        ("a", "/feed"): says(FEED),
    }
    hosts = LoggedHosts({"a": "127.0.93.1"}, answers)
    lines = (f"Sitemap: {{}}/{name}" for name in ("map.xml.gz", "broken.xml", "bomb.xml"))
    rules = "\n".join(lines)
    answers["a", "/robots.txt"] = lambda before: http.Response(text=rules.format(*[hosts.url("a", "")] * 3))
    return hosts


async def live(folder: Path, hosts: LoggedHosts) -> list[Event]:
    async with serving(hosts):
        crawling = Crawling(seeds=(hosts.url("a"),), strategy="breadth-first", allow_private=True, sitemaps=True)
        settings = Config(Target(pattern="page"), crawling, politeness=Politeness(host_delay=0.0))
        with open_for_crawling(folder) as opened:
            async with open_session(opened, settings) as session:
                return [event async for batch in session.run() for event in batch]


def test_a_live_crawl_reads_sitemaps_and_the_report_says_what_was_wrong_with_them(tmp_path: Path) -> None:
    events = asyncio.run(live(tmp_path / "crawl", served()))
    assert {url.rpartition("/")[2] for url in pages(events)} >= {"page7", "page8", "page9"}
    folder = open_for_reading(tmp_path / "crawl")
    found = figures(folder)
    assert (found.totals.sitemaps_read, found.totals.sitemap_links) == (3, 3)
    assert {incident.what for incident in found.incidents if "sitemap" in incident.what} == {
        "a sitemap lists URLs of other hosts, which were left out",
        "a sitemap was not read to its end: broken XML: not well-formed (invalid token)",
    }
    assert [reason.because for reason in found.failures] == ["sitemap: declares entities"]
    listed = next(url for url in pages(events) if url.endswith("page9"))
    assert account(folder, listed, "spoor").listed == Listed(listed, "th")
    assert conduct(folder, PolitenessRules(HostRules(ask_first=True), AGENT)).breaches == ()
    kept = recorded(folder.path, tmp_path / "web").sitemaps
    assert [url.rpartition("/")[2] for url in next(iter(kept.announced.values()))] == [
        "map.xml.gz",
        "broken.xml",
        "feed",
    ]
    assert [len(file.listed) for url in kept.named if (file := kept.find(url))] == [2, 1, 1]


def recorded(crawl: Path, out: Path) -> Web:
    """The web that the archive of a crawl holds."""
    counts = BuildReport()
    return build_web(out, read_warcs(warc_files(crawl), counts, workers=1), BuildOptions("crawled", "here"), counts)
