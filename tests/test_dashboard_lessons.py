"""A crawl whose judge is taught, in the dashboard: questions, answers, and what a lesson changed."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from spoor.store.crawl_folder import CrawlFolder
from tests.served_dashboard import ServedDashboard, served_dashboard
from tests.taught_crawl import TEXTS, TURNED, lesson, taught_crawl


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> CrawlFolder:
    return taught_crawl(tmp_path_factory.mktemp("taught") / "crawl")


@pytest.fixture(scope="module")
def dashboard(folder: CrawlFolder) -> Iterator[ServedDashboard]:
    with served_dashboard(folder) as served:
        served.until_searchable()
        yield served


def test_a_page_is_asked_about_with_the_deciding_words_marked(dashboard: ServedDashboard) -> None:
    asked = {one["url"]: one for one in dashboard.read("crawls/1/questions")["items"]}
    assert set(TEXTS) <= set(asked) and 0.0 < asked["http://b.test/"]["relevance"] < 1.0
    pieces = asked["http://a.test/"]["text"]
    assert "horses" in [piece["text"] for piece in pieces if piece["marked"]]
    assert "".join(piece["text"] for piece in pieces) == TEXTS["http://a.test/"]


def test_a_page_that_was_answered_is_not_asked_about_again(dashboard: ServedDashboard) -> None:
    assert dashboard.act(1, {"action": "mark", "url": "http://b.test/", "relevant": False}).json["done"]
    assert "http://b.test/" not in [one["url"] for one in dashboard.read("crawls/1/questions")["items"]]
    teaching = dashboard.read("crawls/1")["teaching"]
    assert (teaching["answers"], teaching["questions"], teaching["version"]) == (1, 30, 0)


def test_verdicts_that_a_lesson_turned_are_counted_again(folder: CrawlFolder, dashboard: ServedDashboard) -> None:
    while (before := dashboard.read("crawls/1"))["counted"] < 1.0:
        time.sleep(0.05)
    hosts = {row["host"]: row["relevant"] for row in dashboard.read("crawls/1/hosts")["items"]}
    lesson(folder)
    while (now := dashboard.read("crawls/1"))["counted"] < 1.0 or now["relevant"] == before["relevant"]:
        time.sleep(0.05)
    assert now["relevant"] == before["relevant"] + 1
    assert dashboard.read("crawls/1/curve")["points"][-1]["relevant"] == now["relevant"]
    again = {row["host"]: row["relevant"] for row in dashboard.read("crawls/1/hosts")["items"]}
    assert again == {**hosts, "a.test": hosts["a.test"] + 1}
    assert TURNED in [page["url"] for page in dashboard.read("crawls/1/pages?verdict=relevant")["items"]]
    assert {row["language"]: row["relevant"] for row in dashboard.read("crawls/1/languages")["items"]}["en"] == 1
    assert (now["teaching"]["version"], now["teaching"]["turned"], now["teaching"]["contradictions"]) == (1, 1, 2)
