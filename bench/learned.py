"""What does learning on the way cost? Processor time of a visited page, part by part, and memory, on the recorded webs
that `spoor contest` builds; on generated webs where those are absent."""

from __future__ import annotations

import argparse
import tempfile
import time
import tracemalloc
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import mean

from bench.signs import DATA
from spoor.cli.tables import print_table
from spoor.contest.rows import chosen, read_rows
from spoor.course import Course, Task, read_seeds
from spoor.crawl import Crawl, Limits
from spoor.drivers.simulated import simulate
from spoor.events import Visited
from spoor.frontier import Frontier, MemoryStore
from spoor.records import Evidence, Hints, Link, Page, Sighting, WaitingLink
from spoor.roles import LinkScorer, WaitingLinks
from spoor.score.arrival import Arrival
from spoor.score.foresight import Foresight
from spoor.score.learned import Learned
from spoor.strategy import Strategy, wish_of
from spoor.webs.generate import Request, generate

ROWS = (
    "webkb/class=faculty/hub",
    "wikispeedia/subject.IT/relevant",
    "openoffice/lang=de/hub",
    "debian-docs/lang=ja/hub",
)
GENERATED = ("thai", "topical")
PARTS = ("reading links", "evidence, keys", "learning", "reviewing", "upkeep")
OF_LINKS = PARTS[:2]
"""These grow with the links of a page; the others do not."""
LINKS = 50
"""Links of the page that the figures are for."""


@dataclass
class Clocked(Learned):
    """Notes the seconds of processor time that each part takes, and what it was taken for."""

    seconds: Counter[str] = field(init=False, repr=False, compare=False, default_factory=Counter)
    times: Counter[str] = field(init=False, repr=False, compare=False, default_factory=Counter)
    kept: list[int] = field(init=False, repr=False, compare=False, default_factory=list)

    def hints(self, page: Page, links: Sequence[Link]) -> Sequence[Hints]:
        with self._clocked("reading links", len(links)):
            found = super().hints(page, links)
        self.kept += [len(hints) for hints in found]
        return found

    def evidence(self, sighting: Sighting, links: Sequence[Link]) -> Sequence[Evidence]:
        with self._clocked("evidence, keys", len(links)):
            found = super().evidence(sighting, links)
            self._keys(found)
        return found

    def learn(self, sighting: Sighting) -> None:
        with self._clocked("learning"):
            super().learn(sighting)

    def review(self, link: WaitingLink) -> Evidence:
        with self._clocked("reviewing"):
            found = super().review(link)
            self._keys([found])
        return found

    def revise(self, waiting: WaitingLinks) -> Iterator[tuple[str, Evidence]]:
        """With what the crawl does for each link that it is given."""
        with self._clocked("upkeep"):
            yield from super().revise(waiting)

    def _keys(self, found: Iterable[Evidence]) -> None:
        """The crawl asks for them next; asked for here as well, they are part of what is clocked."""
        for evidence in found:
            self.key(evidence)

    @contextmanager
    def _clocked(self, part: str, times: int = 1) -> Iterator[None]:
        begun = time.process_time()
        yield
        self.seconds[part] += time.process_time() - begun
        self.times[part] += times


@dataclass(frozen=True)
class Spent:
    """One crawl: the URLs visited in order, and the seconds it took, those of the processor and all."""

    order: Sequence[str]
    processor: float
    wall: float

    def each(self) -> float:
        """Milliseconds of processor time a visit."""
        return 1000 * self.processor / len(self.order)


def main(options: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m bench learned", description=__doc__)
    parser.add_argument("--webs", type=Path, default=Path("out/contest/webs"), metavar="DIR", help="(out/contest/webs)")
    parser.add_argument("--pages", type=int, default=5_000, metavar="N", help="of each generated web (default 5000)")
    arguments = parser.parse_args(options)
    with tempfile.TemporaryDirectory() as scratch:
        tasks = recorded(arguments.webs) or generated(Path(scratch), arguments.pages)
        parts, crawls = zip(*(lines(name, Course(task)) for name, task in tasks.items()), strict=True)
    print_table(("crawl", *PARTS, "together"), parts, f"\nmilliseconds of processor time for a page of {LINKS} links")
    columns = ("crawl", "visits", "ms/visit", "foreseen", "more", "learned, s", "breadth-first, s", "bytes/link")
    print_table(columns, crawls, "\nwhole crawls; foreseen: the same visits by one that knows them beforehand")
    print(f"\nwhat is learned takes {state() / 2**20:.1f} MiB, however long the crawl")


def recorded(webs: Path) -> dict[str, Task]:
    """Nothing unless all of it is there."""
    if not (DATA / "contest").is_dir() or not all((webs / name.partition("/")[0]).is_dir() for name in ROWS):
        return {}
    rows = chosen(read_rows(DATA), ROWS)
    return {row.name: Task(webs / row.web.name, row.target, read_seeds(row.seeds)) for row in rows}


def generated(folder: Path, pages: int) -> dict[str, Task]:
    for name in GENERATED:
        generate(Request(name, pages, 1, text=name == "thai"), folder / name, lambda _: None)
    return {name: Task(folder / name, "relevant", read_seeds(folder / name / "seeds.txt")) for name in GENERATED}


def lines(name: str, course: Course) -> tuple[list[str], list[str]]:
    """A line for each table, after a crawl in which everything is compiled and read that is needed once."""
    judge = course.judge()
    crawl(course, Learned(wish_of(judge)))
    clocked = Clocked(wish_of(judge))
    crawl(course, clocked)
    plain = crawl(course, Learned(wish_of(judge)))
    place = {url: number for number, url in enumerate(plain.order)}
    foreseen = crawl(course, Foresight(lambda url: place.get(url, len(place))))
    wall = (plain.wall, crawl(course, Arrival()).wall)
    costs = (plain.each(), foreseen.each(), plain.each() - foreseen.each())
    return (
        [name, *page_costs(clocked.seconds, clocked.times, len(plain.order))],
        [
            name,
            f"{len(plain.order):,}",
            *(f"{cost:.2f}" for cost in costs),
            *(f"{seconds:.1f}" for seconds in wall),
            f"{mean(clocked.kept):.0f}",
        ],
    )


def page_costs(seconds: Mapping[str, float], times: Mapping[str, int], visits: int) -> list[str]:
    each = [
        1000 * seconds[part] * LINKS / times[part] if part in OF_LINKS else 1000 * seconds[part] / visits
        for part in PARTS
    ]
    return [f"{cost:.2f}" for cost in (*each, sum(each))]


def crawl(course: Course, scorer: LinkScorer) -> Spent:
    """Of a web with contents, as far as the budget goes."""
    learned = scorer if isinstance(scorer, Learned) else None
    judge = course.judge()
    strategy = Strategy(judge, scorer) if learned is None else Strategy(judge, scorer, learned, upkeep=learned)
    crawling = Crawl(strategy, Frontier(MemoryStore()), Limits(visits=course.yardstick.budget))
    crawling.begin(course.web.urls[number] for number in course.seeds)
    world, wall, processor = course.world(with_content=True), time.perf_counter(), time.process_time()
    events = list(simulate(crawling, world))
    took = (time.process_time() - processor, time.perf_counter() - wall)
    return Spent([event.visit.url for event in events if isinstance(event, Visited)], *took)


def state() -> int:
    """Bytes that a scorer needs for what it will learn."""
    tracemalloc.start()
    scorer = Learned()
    size, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    del scorer
    return size
