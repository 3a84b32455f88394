"""A crawl whose judge is taught, in the dashboard: questions, answers, and what a lesson changed. No network."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import closing

import pytest

from spoor.events import Taught
from spoor.frontier.sqlite import SqliteStore
from spoor.records import Page, Verdict
from spoor.store.crawl_folder import CrawlFolder
from spoor.store.journal import Journal, open_to_read
from spoor.store.journal import pages as page_rows
from spoor.teaching.kept_pages import JudgedPage, KeptPages, Revision, Version
from spoor.teaching.student import sample
from tests.served_dashboard import ServedDashboard, served_dashboard
from tests.written_crawl import SETTINGS, small_crawl

TEXTS = {"http://a.test/": "horses on the steppe", "http://b.test/": "engines and wheels"}
TURNED = "http://a.test/plain"
"""Not relevant at first, relevant after the lesson."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> CrawlFolder:
    folder = small_crawl(tmp_path_factory.mktemp("taught") / "crawl")
    target = '[target]\nabout = "horses and riders"\n\n[teacher]\nquestions = 30\n'
    folder.write_settings(SETTINGS.replace('[target]\nscript = "mongolian"\n', target))
    with closing(open_to_read(folder.database)) as db:
        rows = list(page_rows(db))
    kept = KeptPages()
    for row in rows:
        text = TEXTS.get(row.url, "nothing much")
        kept.keep(JudgedPage(row.url, 0, 0.5, True, {}, sample(Page(row.url, text=text)), row.title, text))
    written(folder, kept, None)
    return folder


@pytest.fixture(scope="module")
def dashboard(folder: CrawlFolder) -> Iterator[ServedDashboard]:
    with served_dashboard(folder) as served:
        served.until_searchable()
        yield served


def written(folder: CrawlFolder, kept: KeptPages, event: Taught | None) -> None:
    """In one transaction, as by a crawl."""
    with closing(SqliteStore(folder.database)) as store:
        journal = Journal.create(store.connection)
        KeptPages.create(store.connection)
        journal.note([event] if event else [])
        for part in (journal, kept):
            store.write_along(part.write)
        store.commit(store.counters())


def test_a_page_is_asked_about_with_the_deciding_words_marked(dashboard: ServedDashboard) -> None:
    asked = {one["url"]: one for one in dashboard.read("crawls/1/questions")["items"]}
    assert set(TEXTS) <= set(asked) and 0.0 < asked["http://b.test/"]["relevance"] < 1.0
    horses = [piece["text"] for piece in asked["http://a.test/"]["text"] if piece["marked"]]
    assert (
        "horses" in horses
        and "".join(piece["text"] for piece in asked["http://a.test/"]["text"]) == TEXTS["http://a.test/"]
    )


def test_a_page_that_was_answered_is_not_asked_about_again(dashboard: ServedDashboard) -> None:
    assert dashboard.act(1, {"action": "mark", "url": "http://b.test/", "relevant": False}).json["done"]
    assert "http://b.test/" not in [one["url"] for one in dashboard.read("crawls/1/questions")["items"]]
    teaching = dashboard.read("crawls/1")["teaching"]
    assert (teaching["answers"], teaching["questions"], teaching["version"]) == (1, 30, 0)


def test_verdicts_that_a_lesson_turned_are_counted_again(folder: CrawlFolder, dashboard: ServedDashboard) -> None:
    before = dashboard.read("crawls/1")
    hosts = {row["host"]: row["relevant"] for row in dashboard.read("crawls/1/hosts")["items"]}
    kept = KeptPages()
    verdict = Verdict(0.9, True, "probability 0.90, version 1")
    kept.learned(Version(1, 0.0, (), 0.2, before["requests"]), [Revision(TURNED, "a.test", 0.9, verdict)])
    written(folder, kept, Taught(0.0, 1, 1, 1, 1, 0, 2))
    while (now := dashboard.read("crawls/1"))["counted"] < 1.0 or now["relevant"] == before["relevant"]:
        time.sleep(0.05)
    assert now["relevant"] == before["relevant"] + 1
    assert dashboard.read("crawls/1/curve")["points"][-1]["relevant"] == now["relevant"]
    again = {row["host"]: row["relevant"] for row in dashboard.read("crawls/1/hosts")["items"]}
    assert again == {**hosts, "a.test": hosts["a.test"] + 1}
    listed = dashboard.read("crawls/1/pages?verdict=relevant")["items"]
    assert TURNED in [page["url"] for page in listed]
    assert {row["language"]: row["relevant"] for row in dashboard.read("crawls/1/languages")["items"]}["en"] == 1
    assert (now["teaching"]["version"], now["teaching"]["turned"], now["teaching"]["contradictions"]) == (1, 1, 2)
