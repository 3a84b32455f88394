"""What does learning on the way cost? Processor time of a visited page, part by part, and memory, on the recorded webs
that `spoor contest` builds; on generated webs where those are absent."""

from __future__ import annotations

import argparse
import tempfile
import time
import tracemalloc
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import mean

import numpy as np

from bench.signs import DATA
from spoor import registry
from spoor.cli.terminal import print_table
from spoor.crawl import Crawl
from spoor.events import Visited
from spoor.frontier.frontier import Frontier
from spoor.frontier.memory import MemoryStore
from spoor.lab.contest import chosen, read_rows
from spoor.lab.generate import generate
from spoor.lab.generate.chance import Request
from spoor.lab.simulated import simulate
from spoor.lab.task import PreparedTask, Task, read_seeds
from spoor.ordering.learned.learned import Learned
from spoor.ordering.simple import KnownOrder
from spoor.pricing import Limits
from spoor.records import Evidence, Hints, Key, Link, Page, Sighting, WaitingLink
from spoor.roles import WaitingLinks
from spoor.strategy import Strategy, prior_of

ROWS = (
    "webkb/class=faculty/hub",
    "wikispeedia/subject.IT/relevant",
    "openoffice/lang=de/hub",
    "debian-docs/lang=ja/hub",
)
GENERATED = ("thai", "topical")
PARTS = ("reading links", "evidence, keys", "learning", "reviewing", "upkeep")
OF_LINKS = PARTS[:2]
"""What these take is a straight line over the links of a page; of the others it is the mean over all visits."""
LINKS = 50
"""Links of the page that the figures are for."""


@dataclass
class Clocked(Learned):
    """Notes for every call of a part the links it was about and the seconds of processor time it took."""

    took: dict[str, list[tuple[int, float]]] = field(
        init=False, repr=False, compare=False, default_factory=lambda: defaultdict(list)
    )
    kept: list[int] = field(init=False, repr=False, compare=False, default_factory=list)

    def cost(self, part: str, visits: int) -> float:
        """Milliseconds for a page of `LINKS` links."""
        links, seconds = np.array(self.took[part]).T
        of_page = np.polyval(np.polyfit(links, seconds, 1), LINKS) if part in OF_LINKS else seconds.sum() / visits
        return 1000 * float(of_page)

    def hints(self, page: Page, links: Sequence[Link]) -> Sequence[Hints]:
        with self._clocked("reading links", len(links)):
            found = super().hints(page, links)
        self.kept += [len(hints) for hints in found]
        return found

    def offered(
        self, sighting: Sighting, links: Sequence[Link], known: Sequence[Evidence | None]
    ) -> Sequence[tuple[Evidence, Key]]:
        with self._clocked("evidence, keys", len(links)):
            return super().offered(sighting, links, known)

    def learn(self, sighting: Sighting) -> None:
        with self._clocked("learning"):
            super().learn(sighting)

    def reviewed(self, link: WaitingLink) -> tuple[Evidence, Key]:
        with self._clocked("reviewing"):
            return super().reviewed(link)

    def revise(self, waiting: WaitingLinks) -> Iterator[tuple[str, Evidence]]:
        """With what the crawl does for each link that it is given."""
        with self._clocked("upkeep"):
            yield from super().revise(waiting)

    @contextmanager
    def _clocked(self, part: str, links: int = 1) -> Iterator[None]:
        begun = time.process_time()
        yield
        self.took[part].append((links, time.process_time() - begun))


@dataclass(frozen=True)
class Spent:
    """One crawl: the URLs visited in order, and the seconds it took, those of the processor and all."""

    order: Sequence[str]
    processor: float
    wall: float


def main(options: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m bench learned", description=__doc__)
    parser.add_argument("--webs", type=Path, default=Path("out/contest/webs"), metavar="DIR", help="(out/contest/webs)")
    parser.add_argument("--pages", type=int, default=5_000, metavar="N", help="of each generated web (default 5000)")
    parser.add_argument("--rounds", type=int, default=3, metavar="K", help="the least of K is printed (default 3)")
    arguments = parser.parse_args(options)
    with tempfile.TemporaryDirectory() as scratch:
        tasks = recorded(arguments.webs) or generated(Path(scratch), arguments.pages)
        parts, crawls = zip(
            *(lines(name, PreparedTask(task), arguments.rounds) for name, task in tasks.items()), strict=True
        )
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


def lines(name: str, prepared_task: PreparedTask, rounds: int) -> tuple[list[str], list[str]]:
    """A line for each table."""
    judge = prepared_task.judge()
    learned, breadth_first = (registry.strategy(strategy, judge) for strategy in ("learned", "breadth-first"))
    visits = crawl(prepared_task, learned).order  # Whatever is needed once is compiled and read here.
    place = {url: number for number, url in enumerate(visits)}
    foreseeing = Strategy(judge, KnownOrder(lambda url: place.get(url, len(place))))
    clocked = [Clocked(prior_of(judge)) for _ in range(rounds)]
    for one in clocked:
        crawl(prepared_task, replace(learned, scorer=one, upkeep=one))
    plain, foreseen, breadth = (
        least([crawl(prepared_task, strategy.fresh()) for _ in range(rounds)])
        for strategy in (learned, foreseeing, breadth_first)
    )
    costs = [min(one.cost(part, len(visits)) for one in clocked) for part in PARTS]
    each = [1000 * spent.processor / len(visits) for spent in (plain, foreseen)]
    return (
        [name, *(f"{cost:.2f}" for cost in (*costs, sum(costs)))],
        [
            name,
            f"{len(visits):,}",
            *(f"{cost:.2f}" for cost in (*each, each[0] - each[1])),
            *(f"{spent.wall:.1f}" for spent in (plain, breadth)),
            f"{mean(clocked[0].kept):.0f}",
        ],
    )


def least(crawls: Sequence[Spent]) -> Spent:
    """Other work on the machine can only add."""
    return min(crawls, key=lambda spent: spent.processor)


def crawl(prepared_task: PreparedTask, strategy: Strategy) -> Spent:
    """Of a web with contents, as far as the budget goes."""
    crawling = Crawl(strategy, Frontier(MemoryStore()), Limits(visits=prepared_task.yardstick.budget))
    crawling.begin(prepared_task.web.urls[number] for number in prepared_task.seeds)
    world, wall, processor = prepared_task.world(with_content=True), time.perf_counter(), time.process_time()
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
