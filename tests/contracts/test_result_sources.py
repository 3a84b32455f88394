"""What every search source promises: normalised URLs, no more than asked for; failures, never exceptions."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from spoor.fetch.decoding import FetchLimits
from spoor.fetch.http import HttpFetcher
from spoor.records import Failure, Response
from spoor.seeding.asking import Listing, ResultSource, asking, page_url
from spoor.seeding.search import KINDS, source
from tests.search_server import search_server

SPECS = {
    "file": "file:FOLDER/results.txt",
    "searxng": "searxng:HOST",
    "opensearch": "opensearch:HOST/rss?q={searchTerms}",
    "cdx": "cdx:HOST/cdx?url=u.test",
}
QUERIES = ("computer science", "गणित & 'x' \"y\" #1 {searchTerms}", "%")


@pytest.fixture(autouse=True)
def _results(tmp_path: Path) -> None:
    (tmp_path / "results.txt").write_text("https://a.test/\nhttps://a.test/#again\nhttps://b.test/é\n", "utf8")


@pytest.fixture(params=SPECS)
def spec(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return SPECS[request.param].replace("FOLDER", str(tmp_path))


def asked(spec: str, query: str, most: int) -> Sequence[Listing] | Failure:
    async def run() -> Sequence[Listing] | Failure:
        fetcher = HttpFetcher("spoor", FetchLimits(whole=5.0), time.time, allow_private=True)
        async with search_server() as server, fetcher as client:
            return await source(spec.replace("HOST", server.url(""))).listings(query, most, asking(client))

    return asyncio.run(run())


def test_every_kind_of_source_is_held_to_this() -> None:
    assert SPECS.keys() == KINDS.keys()


def test_urls_are_normalised_and_no_more_than_asked_for(spec: str) -> None:
    for most in (1, 50):
        found = asked(spec, "computer science", most)
        assert not isinstance(found, Failure) and any(listing.urls for listing in found)
        for listing in found:
            assert listing.engine and len(listing.urls) <= most
            assert all(page_url(url) == url for url in listing.urls)


@pytest.mark.parametrize("query", QUERIES)
def test_any_query_can_be_asked(spec: str, query: str) -> None:
    assert not isinstance(asked(spec, query, 50), Failure)


def test_it_prints_as_the_code_that_makes_it(spec: str) -> None:
    made: ResultSource = source(spec.replace("HOST", "http://a.test"))
    assert repr(made).startswith(type(made).__name__ + "(")


def test_a_web_that_is_down_is_a_failure(spec: str) -> None:
    async def nobody(url: str) -> Response | Failure:
        return Failure("connection refused")

    found = asyncio.run(source(spec.replace("HOST", "http://a.test")).listings("words", 50, nobody))
    assert isinstance(found, Failure) is not spec.startswith("file:")
