"""A crawl on disk whose judge can be taught, and a lesson for it; no network, no waiting."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from spoor.events import Taught
from spoor.frontier.sqlite import SqliteStore
from spoor.records import Page, Verdict
from spoor.store.crawl_folder import CrawlFolder
from spoor.store.journal import Journal, open_to_read
from spoor.store.journal import pages as page_rows
from spoor.teaching.kept_pages import JudgedPage, KeptPages, Revision, Version
from spoor.teaching.student import sample
from tests.written_crawl import HOSTILE_URL, SETTINGS, small_crawl

TEXTS = {"http://a.test/": "horses on the steppe", "http://b.test/": "engines and wheels"}
TURNED = "http://a.test/plain"
"""Not relevant at first, relevant after the lesson."""


def taught_crawl(path: Path) -> CrawlFolder:
    """A small crawl; of each of its pages is kept what a judge needs that looks for horses."""
    folder = small_crawl(path)
    target = '[target]\nabout = "horses and riders"\n\n[teacher]\nquestions = 30\n'
    folder.write_settings(SETTINGS.replace('[target]\nscript = "mongolian"\n', target))
    with closing(open_to_read(folder.database)) as db:
        rows = [row for row in page_rows(db) if row.url != HOSTILE_URL]  # No judge was ever given such a page.
    kept = KeptPages()
    for row in rows:
        text = TEXTS.get(row.url, "nothing much")
        kept.keep(JudgedPage(row.url, 0, 0.5, True, {}, sample(Page(row.url, text=text)), row.title, text))
    _write(folder, kept)
    return folder


def lesson(folder: CrawlFolder) -> None:
    """It turns the verdict on one page."""
    kept, verdict = KeptPages(), Verdict(0.9, True, "probability 0.90, version 1")
    kept.learned(Version(1, 0.0, (), 0.2, 0), [Revision(TURNED, "a.test", 0.9, verdict)])
    _write(folder, kept, Taught(0.0, 1, answers=1, changed=1, gain=1, surprises=0, contradictions=2))


def _write(folder: CrawlFolder, kept: KeptPages, *events: Taught) -> None:
    """In one transaction, as a crawl does."""
    with closing(SqliteStore(folder.database)) as store:
        journal = Journal.create(store.connection)
        KeptPages.create(store.connection)
        journal.note(events)
        for part in (journal, kept):
            store.write_along(part.write)
        store.commit(store.counters())
