"""How long it takes to resume a crawl by `learned`, with a snapshot and without, and what writing a snapshot costs.

Links and visits are put into the database as a crawl would, without fetching or judging a page.
"""

from __future__ import annotations

import argparse
import contextlib
import random
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from spoor import settings as config
from spoor.cli.terminal import print_table
from spoor.events import Visited
from spoor.frontier.entry import Entry
from spoor.frontier.frontier import Frontier
from spoor.frontier.sqlite import SqliteStore
from spoor.live.from_settings import strategy_of
from spoor.live.relearning import ROWS, relearn_all, snapshot_of
from spoor.ordering.learned.learned import Learned
from spoor.records import Link, Page, Sighting, Verdict, Visit
from spoor.settings import Config
from spoor.store.journal import Journal, place_at
from spoor.store.snapshots import Snapshots
from spoor.strategy import hinted
from spoor.urls import host_of

SETTINGS = config.loads(
    '[target]\nkeywords = ["horse"]\n[crawl]\nseeds = ["http://a.test/"]\nstrategy = "learned"\n'
    "[scope]\npages_per_host = 10000\n"
)
WORDS = ("horse", "steppe", "rider", "price", "login", "terms", "archive", "news", "about", "market", "river", "tent")
LINKS = 20
"""Of a page, all of which are visited."""
HOSTS = 5_000


class Writing:
    """A crawl whose pages are made up: one in six is relevant, mostly where the URL says so."""

    def __init__(self, store: SqliteStore, settings: Config = SETTINGS) -> None:
        self.store, self.journal = store, Journal.create(store.connection)
        store.write_along(self.journal.write)
        self.frontier, self.strategy, self._rng = Frontier(store), strategy_of(settings), random.Random(1)

    def until(self, rows: int) -> None:
        while self.journal.last < rows:
            self._page()

    def _page(self) -> None:
        links = [self._link(self.journal.last + number) for number in range(LINKS)]
        url = f"http://h{self._rng.randrange(HOSTS)}.test/page/{self.journal.last}"
        page, trail = Page(url, title=self._rng.choice(WORDS), links=tuple(links)), (self._rng.randrange(3), url)
        scorer = self.strategy.scorer
        assert isinstance(scorer, Learned)
        read = hinted(scorer, page, links)
        seen = Sighting(Visit(url, host_of(url), 0, 0.0), page, Verdict(0.0, False, ""), trail)
        for link, evidence in zip(read, scorer.evidence(seen, read), strict=True):
            assert isinstance(link.hints, bytes)
            place = (scorer.key(evidence), evidence, trail, 1, url)
            self._visit(Entry(link.url, host_of(link.url), *place, hints=link.hints))
        self.frontier.commit()

    def _link(self, number: int) -> Link:
        subject, other = self._rng.choices(WORDS, k=2)
        return Link(f"http://h{self._rng.randrange(HOSTS)}.test/{subject}/{number}", f"{subject} {other}", path="ul/li")

    def is_relevant(self, url: str, chance: float) -> bool:
        return ("horse" in url) != (chance < 0.1)

    def _visit(self, entry: Entry) -> None:
        now = float(self.journal.last)
        self.frontier.add(entry)
        known = {"key": entry.key, "evidence": entry.evidence, "trail": entry.trail, "hints": entry.hints}
        visit = Visit(entry.url, entry.host, self.frontier.visits, now, found_on=entry.found_on, **known)
        self.frontier.begin(entry, now)
        self.frontier.settle(entry.url, now)
        relevant = self.is_relevant(entry.url, self._rng.random())
        verdict = Verdict(float(relevant), relevant, "made up")
        sighting = Sighting(visit, Page(entry.url, text=f"{entry.url} {now}"), verdict, (int(not relevant), entry.url))
        for learner in self.strategy.learners():
            learner.learn(sighting)
        self.journal.note([Visited(visit, now, 200, 1000, verdict, 0, 0, (), 1)])


def written(writing: Writing, snapshots: Snapshots) -> list[str]:
    """Milliseconds of processor time in which the crawl waits, and those of the thread; the size."""
    place = place_at(writing.store.connection, writing.journal.last)
    assert place is not None
    began = time.thread_time()
    taken = snapshot_of(writing.strategy, place, "")
    copied = time.thread_time()
    file = snapshots.write(taken)
    spent = (copied - began, time.thread_time() - copied)
    return [f"{place.number:,}", *(f"{1000 * seconds:.0f}" for seconds in spent), f"{file.stat().st_size / 1e6:.1f}"]


def resumed(name: str, store: SqliteStore, snapshots: Snapshots | None) -> list[str]:
    """Seconds by the clock, and of processor time."""
    fresh, began, spent = strategy_of(SETTINGS), time.perf_counter(), time.thread_time()
    relearn_all(fresh, store.connection, snapshots=snapshots)
    return [name, f"{time.perf_counter() - began:.1f}", f"{time.thread_time() - spent:.1f}"]


def main(options: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m bench resume", description=__doc__)
    parser.add_argument("--visits", type=int, default=200_000, metavar="N", help="(200,000)")
    asked = parser.parse_args(options)
    with tempfile.TemporaryDirectory() as folder, contextlib.closing(SqliteStore(Path(folder) / "crawl.db")) as store:
        writing, late, last = Writing(store), Snapshots(Path(folder) / "late"), Snapshots(Path(folder) / "last")
        writing.until(1)
        costs = [written(writing, Snapshots(Path(folder) / "first"))]
        writing.until(asked.visits - ROWS)
        costs.append(written(writing, late))
        writing.until(asked.visits)
        costs.append(written(writing, last))
        print_table(["visits", "the crawl waits, ms", "the thread, ms", "file, MB"], costs)
        kinds = (("a snapshot of its end", last), (f"one {ROWS:,} visits older", late), ("no snapshot", None))
        print_table(["resumed with", "seconds", "processor"], [resumed(name, store, kept) for name, kept in kinds])
