"""Seeds from search sources: what engines agree on comes first, and a source that misbehaves is told, not obeyed."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spoor.errors import UsageError
from spoor.fetch.decoding import FetchLimits
from spoor.fetch.http import HttpFetcher
from spoor.records import Failure
from spoor.seeding.asking import Listing, asking, json_in
from spoor.seeding.search import Gathered, Seed, agreed, gather, seed_file, source
from spoor.seeding.sources import links_in
from tests.search_server import SearchServer, search_server

SHORT = FetchLimits(connect=1.0, idle=1.0, whole=1.0)


def ask(*specs: str, query: str = "computer science", most: int = 50) -> tuple[Gathered, SearchServer]:
    """Of the search server, whose address stands for HOST."""

    async def run() -> tuple[Gathered, SearchServer]:
        async with search_server() as server, fetcher() as client:
            sources = {spec: source(spec.replace("HOST", server.url(""))) for spec in specs}
            return await gather(sources, query, most, asking(client), lambda _: None), server

    return asyncio.run(run())


def fetcher() -> HttpFetcher:
    return HttpFetcher("spoor", SHORT, time.time, allow_private=True)


def listings(spec: str, query: str = "computer science", most: int = 50) -> dict[str, tuple[str, ...]]:
    """The URLs by engine; the search server itself is called `host`."""
    gathered, server = ask(spec, query=query, most=most)
    assert not gathered.failed
    host = f"127.0.0.1:{server.port}"
    return {"host" if one.engine == host else one.engine: one.urls for one in gathered.listings}


def reason(spec: str) -> str:
    (failure,) = ask(spec)[0].failed.values()
    return failure.reason


def told(seeds: Sequence[Seed]) -> list[tuple[str, str]]:
    return [(seed.url, seed.confidence) for seed in seeds]


class TestAgreement:
    def test_check_c6_of_the_paper(self) -> None:
        results = [("G", "u1 u2 u2 u3"), ("Y", "u1 u4"), ("M", "u5 u5")]
        seeds = agreed(Listing(engine, tuple(urls.split())) for engine, urls in results)
        high, medium, low = [("u1", "high")], [("u5", "medium"), ("u2", "medium")], [("u4", "low"), ("u3", "low")]
        assert told(seeds) == high + medium + low

    def test_within_a_class_the_best_place_decides_and_then_the_url(self) -> None:
        seeds = agreed([Listing("G", ("b", "c")), Listing("Y", ("a", "d"))])
        assert [(seed.url, seed.rank) for seed in seeds] == [("a", 1), ("b", 1), ("c", 2), ("d", 2)]

    def test_two_lists_of_one_engine_are_no_agreement(self) -> None:
        assert told(agreed([Listing("G", ("a",)), Listing("G", ("a",))])) == [("a", "medium")]

    def test_a_seed_tells_who_named_it(self) -> None:
        assert agreed([Listing("G", ("a",)), Listing("Y", ("b", "a"))])[0] == Seed("a", "high", ("G", "Y"), 1)

    def test_the_file_has_the_best_first_and_says_why(self) -> None:
        seeds = agreed([Listing("G", ("https://a.test/", "https://b.test/")), Listing("Y", ("https://b.test/",))])
        assert seed_file("some  words", seeds).splitlines() == [
            "# 2 seeds for: some words",
            "# high: named by two engines or more",
            "https://b.test/",
            "# low: named once",
            "https://a.test/",
        ]


class TestSearXng:
    def test_every_engine_behind_it_is_one_of_its_own(self) -> None:
        found = listings("searxng:HOST/", most=2)
        assert found == {
            "one": ("https://a.test/", "https://b.test/"),
            "two": ("https://a.test/",),
            "host": ("https://c.test/",),
        }

    def test_pages_are_asked_for_until_there_are_enough_or_no_more(self) -> None:
        assert listings("searxng:HOST")["one"][2:] == ("https://page.test/2", "https://page.test/3")
        assert len(ask("searxng:HOST", most=4)[1].asked) == 1

    def test_what_came_before_a_failure_is_used(self) -> None:
        assert listings("searxng:HOST/tired/search")["two"] == ("https://a.test/",)

    def test_the_query_is_escaped_and_own_parameters_are_kept(self) -> None:
        _, server = ask("searxng:HOST/search?language=hi", query="a&b गणित", most=1)
        assert server.asked == ["/search?language=hi&q=a%26b+%E0%A4%97%E0%A4%A3%E0%A4%BF%E0%A4%A4&format=json&pageno=1"]

    @pytest.mark.parametrize(
        ("path", "told"),
        [
            ("html", "returns HTML or XML instead of JSON"),
            ("garbage", "returns something else instead of JSON"),
            ("nested", "returns something else instead of JSON"),
            ("other", "returns JSON without a list of results"),
            ("forbidden", "HTTP 403; many instances do not allow format=json"),
            ("missing", "HTTP 404"),
            ("hanging", "timed out"),
        ],
    )
    def test_misbehaviour_is_a_reason(self, path: str, told: str) -> None:
        assert reason(f"searxng:HOST/{path}") == told


class TestOpenSearch:
    def test_a_feed_gives_the_link_of_each_entry(self) -> None:
        assert listings("opensearch:HOST/rss?q={searchTerms}") == {"host": ("https://a.test/", "https://b.test/")}
        assert listings("opensearch:HOST/atom?q={searchTerms}") == {"host": ("https://c.test/",)}

    def test_places_are_filled_in_and_optional_ones_may_stay_empty(self) -> None:
        _, server = ask("opensearch:HOST/rss?q={searchTerms}&n={count?}&x={time:start?}", query="a b&c", most=7)
        assert server.asked == ["/rss?q=a%20b%26c&n=7&x="]

    def test_redirects_are_followed_but_not_for_ever(self) -> None:
        assert listings("opensearch:HOST/moved?q={searchTerms}")["host"][0] == "https://a.test/"
        assert reason("opensearch:HOST/circle?q={searchTerms}") == "redirects in a loop"

    @pytest.mark.parametrize(
        ("path", "told"),
        [
            ("bomb", "returns a feed that cannot be parsed: it has a DOCTYPE"),
            ("html", "returns HTML instead of a feed"),
            ("large-html", "returns HTML instead of a feed"),
            ("cdx", "returns a feed that cannot be parsed: not well-formed"),
            ("svg", "returns XML that is not an RSS or Atom feed"),
        ],
    )
    def test_misbehaviour_is_a_reason(self, path: str, told: str) -> None:
        assert told in reason(f"opensearch:HOST/{path}?q={{searchTerms}}")

    def test_a_deep_feed_does_no_harm(self) -> None:
        assert links_in(b"<rss><item>" + b"<x>" * 200_000 + b"</x>" * 200_000 + b"</item></rss>") == []


class TestCdxIndex:
    def test_pages_are_ranked_by_the_words_in_their_urls(self) -> None:
        found = listings("cdx:HOST/cdx?url=*.u.test", query="courses of computer science")
        assert found == {"host": ("https://u.test/ComputerScienceCourses", "https://u.test/computer-science")}

    def test_html_of_status_200_is_asked_for_as_lines_of_json(self) -> None:
        assert ask("cdx:HOST/cdx?url=u.test/*")[1].asked == ["/cdx?url=u.test/*&output=json&filter=%3Dstatus%3A200"]
        assert ask("cdx:HOST/cdx?url=u.test&filter=x&output=json")[1].asked == ["/cdx?url=u.test&filter=x&output=json"]

    def test_a_table_with_names_in_its_first_row_is_an_index_too(self) -> None:
        assert listings("cdx:HOST/table?url=u.test") == {"host": ("https://u.test/computer",)}

    def test_of_an_answer_that_never_ends_the_whole_lines_are_used(self) -> None:
        assert "https://u.test/computer-science" in listings("cdx:HOST/trickle?url=u.test")["host"]

    def test_misbehaviour_is_a_reason(self) -> None:
        assert reason("cdx:HOST/html?url=u.test") == "returns HTML or XML instead of JSON"
        assert reason("cdx:HOST/numbers?url=u.test") == "returns JSON that is not a CDX index"


class TestResultFile:
    @pytest.mark.parametrize(
        ("name", "content"),
        [
            ("r.txt", "# comment\nhttps://a.test/\n\nHTTPS://B.test/#x\nno url\n"),
            ("r.csv", "https://a.test/,A\nhttps://b.test/,B\n"),
            ("r.csv", "2,https://b.test/,B\n1,https://a.test/,A\n"),
            ("r.tsv", "title\turl\trank\nB\thttps://b.test/\t10\nA\thttps://a.test/\t9\nno url\n"),
            ("r.json", '["https://a.test/", "https://b.test/", 1]'),
            ("r.json", '[{"url": "https://a.test/"}, {"url": "https://b.test/"}, {}]'),
            ("r.json", '{"results": [{"url": "https://a.test/"}, {"url": "https://b.test/"}]}'),
        ],
    )
    def test_each_shape_is_read_in_the_order_of_ranks(self, tmp_path: Path, name: str, content: str) -> None:
        (tmp_path / name).write_text(content, "utf8")
        urls = ("https://a.test/", "https://b.test/")
        assert listings(f"file:{tmp_path / name}") == {str(tmp_path / name): urls}

    def test_saved_results_are_told_apart_by_engine(self, tmp_path: Path) -> None:
        saved = {"results": [{"url": "https://a.test/", "engines": ["one", "two"]}]}
        (tmp_path / "r.json").write_text(json.dumps(saved), "utf8")
        assert listings(f"file:{tmp_path / 'r.json'}") == {"one": ("https://a.test/",), "two": ("https://a.test/",)}

    @pytest.mark.parametrize(
        ("name", "content", "told"),
        [
            ("r.txt", b"\xff\xfe\x00", "holds no http(s) URL"),
            ("r.csv", b"", "holds no http(s) URL"),
            ("r.tsv", b'"' + b"x" * 200_000, "is not a table: field larger than field limit (131072)"),
            ("r.json", b"<html>", "returns HTML or XML instead of JSON"),
            ("r.json", b"7", "holds no http(s) URL"),
        ],
    )
    def test_a_file_of_something_else_is_a_reason(self, tmp_path: Path, name: str, content: bytes, told: str) -> None:
        (tmp_path / name).write_bytes(content)
        assert reason(f"file:{tmp_path / name}") == told

    def test_a_file_that_is_not_there_is_a_reason(self, tmp_path: Path) -> None:
        assert reason(f"file:{tmp_path / 'none.txt'}") == "cannot be read: No such file or directory"


def test_one_source_that_hangs_does_not_keep_the_others() -> None:
    gathered, _ = ask("searxng:HOST/hanging", "opensearch:HOST/rss?q={searchTerms}")
    assert gathered.failed.keys() == {"searxng:HOST/hanging"}
    assert [len(listing.urls) for listing in gathered.listings] == [2]


@pytest.mark.parametrize(
    ("spec", "told"),
    [
        ("google", "unknown source 'google'; known are file:PATH, searxng:URL, opensearch:TEMPLATE, cdx:URL"),
        ("file:", "unknown source 'file:'"),
        ("searxng:search.test", "source 'search.test': not an http(s) URL"),
        ("opensearch:https://a.test/", "opensearch:https://a.test/ has no {searchTerms} for the query"),
        ("opensearch:a.test/{searchTerms}", "not an http(s) URL"),
        (
            "opensearch:https://a.test/{searchTerms}/{user}",
            "unknown parameter {user}; known are {searchTerms}, {count}",
        ),
        ("cdx:https://a.test/cdx", "lacks a filter for captures; add ?url="),
    ],
)
def test_a_source_that_cannot_be_meant_is_refused(spec: str, told: str) -> None:
    with pytest.raises(UsageError) as refusal:
        source(spec)
    assert told in str(refusal.value)


@given(st.binary() | st.text().map(str.encode))
def test_answers_of_any_kind_never_raise(body: bytes) -> None:
    json_in(body)
    assert isinstance(links_in(body), Failure)
