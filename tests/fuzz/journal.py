"""Rows of a crawl's database: what is written is read again, and what somebody forged crashes nothing."""

from __future__ import annotations

import contextlib
import sqlite3
import tempfile
from functools import cache
from pathlib import Path

from spoor import registry
from spoor.events import Failed, HostOpened, Redirected, Refusal, Refused, Visited
from spoor.judging.topic_judges import Keywords
from spoor.live.relearning import relearn_all
from spoor.pricing import Limits
from spoor.records import Verdict, Visit
from spoor.store.journal import Journal, PageFacts, events, lessons, pages
from spoor.strategy import Strategy
from spoor.urls import host_of, normalise
from tests.tiny import graph, url
from tests.written_crawl import crawl_into

TABLES = ("links", "hosts", "pages", "events", "counters", "dropped")


def rows_as_written(given: bytes) -> None:
    """A URL, a reason and a title, each in a line."""
    first, reason, title = [*given.decode("utf8", "replace").split("\n", 2), "", ""][:3]
    at = normalise(first) or "http://a.test/"
    visit, journal = Visit(at, host_of(at), 1, 2.0), Journal()
    with contextlib.closing(sqlite3.connect(":memory:")) as db:
        journal.create(db)
        journal.tell(at, PageFacts(title))
        refusal = Refusal(at, reason, parked=False)
        journal.note([Visited(visit, 3.0, 200, 4, Verdict(0.5, True, reason, title), 1, 0, (refusal,), 5)])
        journal.note([Failed(visit, 3.0, reason, None, 5), Redirected(visit, 3.0, at, reason, 5)])
        journal.note([HostOpened(visit, 3.0, 1.5), Refused(3.0, refusal)])
        journal.write(db)
        (page,) = pages(db)
        assert (page.url, page.because, page.title, page.label) == (at, reason, title, title)
        failed, redirected, opened, refused = events(db)
        assert failed.detail["reason"] == redirected.detail["because"] == refused.detail["because"] == reason
        assert opened.detail["delay"] == 1.5 and redirected.detail["to"] == at


def forged_rows(given: bytes) -> None:
    """One value of a good database is replaced. Errors are an answer here; only a process that crashes is none."""
    table = TABLES[(given[:1] or b"\0")[0] % len(TABLES)]
    with contextlib.closing(sqlite3.connect(":memory:")) as db:
        _good().backup(db)
        columns = [row[1] for row in db.execute(f"PRAGMA table_info({table})")]
        column = columns[(given[1:2] or b"\0")[0] % len(columns)]
        with contextlib.suppress(Exception):
            db.execute(f"UPDATE {table} SET {column} = ?", (_value(given[2:]),))
        for read in (pages, events, lessons):
            with contextlib.suppress(Exception):
                list(read(db))
        with contextlib.suppress(Exception):
            relearn_all(_learning(), db)


def _value(given: bytes) -> object:
    kind, rest = (given[:1] or b"\0")[0] % 4, given[1:]
    match kind:
        case 0:
            return rest
        case 1:
            return rest.decode("utf8", "replace")
        case 2:
            return int.from_bytes(rest[:7], "big", signed=True)
        case _:
            return None


@cache
def _good() -> sqlite3.Connection:
    """A crawl by the strategy that keeps most of its links."""
    folder = Path(tempfile.mkdtemp(prefix="spoor-fuzz-")) / "crawl"
    web = graph("S: A B C; A: D E; B: E F; C: S", relevant="S A D")
    return sqlite3.connect(crawl_into(folder, web, _learning(), [url("S")], limits=Limits(5)).database)


def _learning() -> Strategy:
    return registry.strategy("learned", Keywords(("horse",)))
