"""A crawl on disk that was stopped and resumed, by clocks that may be wrong: no network, no waiting."""

from __future__ import annotations

import contextlib
from pathlib import Path

from spoor.crawl import Crawl
from spoor.frontier.frontier import Frontier
from spoor.frontier.sqlite import SqliteStore
from spoor.lab.simulated import simulate
from spoor.ordering.simple import Arrival
from spoor.pricing import Limits
from spoor.store.crawl_folder import CrawlFolder, open_for_crawling
from spoor.store.journal import Journal, set_back
from spoor.store.run_time import RunTime
from spoor.store.tables import create_tables
from spoor.strategy import Strategy
from tests.tiny import graph, truth, url
from tests.written_crawl import POLITE, SETTINGS

NOON = 1_794_744_000.0
WEB = graph("a.test/: a.test/1 a.test/2 a.test/3 a.test/4 b.test/; b.test/: b.test/1")


def crawled_in_two_runs(path: Path, clocks: tuple[float, float]) -> CrawlFolder:
    """Stops after four visits to pages, and is resumed. The clocks of the two runs begin so many seconds after noon."""
    for clock, visits in zip(clocks, (4, None), strict=True):
        _run(path, NOON + clock, visits)
    return CrawlFolder(path)


def _run(path: Path, now: float, visits: int | None) -> None:
    with open_for_crawling(path) as folder, contextlib.closing(SqliteStore(folder.database)) as store:
        create_tables(store.connection)
        journal, behind = Journal.create(store.connection), set_back(store.connection, now)
        run_time = RunTime.create(store.connection, lambda: now, behind)
        for part in (journal, run_time):
            store.write_along(part.write)
        crawl = Crawl(Strategy(truth(WEB), Arrival()), Frontier(store, POLITE, resumed_at=now), Limits(visits), journal)
        crawl.resume(now, set_back=behind)
        crawl.begin([url("a.test/")])
        run_time.begin(journal.last)
        for event in simulate(crawl, WEB, now=now):
            now = max(now, event.at)
        journal.end(now, crawl.ended())
        run_time.end()
        crawl.frontier.commit()
        folder.write_settings(SETTINGS)
