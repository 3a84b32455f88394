"""The live crawl: pages a second and processor time a page, of spoor doing everything and of Scrapy doing less."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from bench.served_web import Shape, served
from spoor.cli.terminal import print_table
from spoor.events import Event, Visited
from spoor.live.process import give_back_large_blocks, search_seldom_for_circles
from spoor.live.session import open_session
from spoor.settings import Config, Crawling, Politeness, Target
from spoor.store.crawl_folder import open_for_crawling

CONNECTIONS = 64
WEB_PER_CRAWL = 3
"""How many times larger the web is than the crawl, so that links go on being new."""
WARMING = 0.1
"""The share of the pages before the clock starts: processes begin, hosts are opened, caches fill."""

PLAIN = "soft-focused"
"""The strategy of the crawls that are compared: the cost of choosing is told apart."""

EARLIER = ", beside"
"""Added to the name of a crawl by the spoor of another checkout."""

HOW_TO_INSTALL = "Scrapy is not installed, so it is not compared; pip install scrapy==2.19.0"


@dataclass(frozen=True)
class Run:
    """One crawl. `seconds` are those of the wall clock, `processor` those of all its processes, `main` those of the one
    that has the frontier. Without workers all pages are read there but the few that are demanding; the process for
    those takes a second or more to start, once, however long the crawl."""

    pages: int
    seconds: float
    processor: float
    main: float = 0.0

    @property
    def speed(self) -> float:
        return self.pages / self.seconds

    @property
    def cost(self) -> float:
        """Milliseconds of processor time a page."""
        return 1000 * self.processor / self.pages

    @property
    def main_cost(self) -> float:
        """The same of the process that has the frontier."""
        return 1000 * self.main / self.pages


@dataclass(frozen=True)
class Contestant:
    """`command` is given the number of pages and the seeds, and prints a `Run` as JSON. It is run in the folder
    `where`."""

    name: str
    command: tuple[str, ...]
    cores: tuple[int, ...]
    where: Path | None = None

    def run(self, pages: int, seeds: list[str]) -> Run:
        command = [*self.command, str(pages), json.dumps(seeds)]
        pinned = ["taskset", "--cpu-list", ",".join(map(str, self.cores))]
        done = subprocess.run([*pinned, *command], stdout=subprocess.PIPE, text=True, check=True, cwd=self.where)
        return Run(**json.loads(done.stdout))


def main(options: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m bench live", description=__doc__)
    parser.add_argument("--pages", type=int, default=3000, metavar="N", help="visited by each crawl")
    parser.add_argument("--rounds", type=int, default=3, metavar="K", help="the median of K is printed")
    parser.add_argument("--scrapy", default=sys.executable, metavar="PYTHON", help="an interpreter that has Scrapy")
    parser.add_argument(
        "--beside", type=Path, metavar="CHECKOUT", help="crawl also with the spoor of this checkout, after make install"
    )
    arguments = parser.parse_args(options)
    shape = Shape(arguments.pages * WEB_PER_CRAWL)
    first, *others = sorted(os.sched_getaffinity(0))
    two = (first, *others[:1])
    alone = [spoor("one process", 0, two[:1]), spoor("one process that learns", 0, two[:1], "learned")]
    if arguments.beside is not None:
        alone += [beside(one, arguments.beside.resolve()) for one in alone]
    alone += scrapies(arguments.scrapy, two[:1])
    workers = [spoor("1 worker", 1, two[:1]), spoor("1 worker", 1, two), spoor("2 workers", 2, two)]
    workers.append(spoor("2 workers, learned", 2, two, "learned"))
    runs: dict[Contestant, list[Run]] = {}
    for contestants, cores in ((alone, others[-1:] or two), (workers, others[1:] or two)):
        with served(shape, cores) as seeds:
            for _ in range(arguments.rounds):
                for one in contestants:
                    runs.setdefault(one, []).append(one.run(arguments.pages, seeds))
                    tell(one, runs[one][-1])
    print_runs(runs, f"live crawl: {arguments.pages:,} pages of a web of {shape.pages:,}, median of {arguments.rounds}")
    print_speeds({one: median(each, lambda run: run.speed) for one, each in runs.items()})
    print_costs({(one.name, len(one.cores)): each for one, each in runs.items()})


def spoor(name: str, workers: int, cores: tuple[int, ...], strategy: str = PLAIN) -> Contestant:
    return Contestant(f"spoor, {name}", (sys.executable, "-m", "bench.live", str(workers), strategy), cores)


def beside(one: Contestant, checkout: Path) -> Contestant:
    """The same crawl by the spoor of another checkout."""
    python = str(checkout / ".venv/bin/python")
    return replace(one, name=one.name + EARLIER, command=(python, *one.command[1:]), where=checkout)


def scrapies(python: str, cores: tuple[int, ...]) -> list[Contestant]:
    if subprocess.run([python, "-c", "import scrapy"], stderr=subprocess.DEVNULL, check=False).returncode:
        print(HOW_TO_INSTALL)
        return []
    script = str(Path(__file__).with_name("scrapy_spiders.py"))
    return [Contestant(f"Scrapy, {style}", (python, script, style), cores) for style in ("documented", "tuned")]


def tell(one: Contestant, run: Run) -> None:
    place = f"{one.name} on {len(one.cores)} core{'s' * (len(one.cores) > 1)}"
    costs = f"{run.cost:>8.2f} CPU ms/page{run.main_cost:>8.2f} in the main process"
    print(f"  {place:<40}{run.speed:>7.0f} pages/s{costs}", flush=True)


def median(runs: list[Run], of: Callable[[Run], float]) -> float:
    return statistics.median(map(of, runs))


def print_runs(runs: dict[Contestant, list[Run]], title: str) -> None:
    rows = [
        [
            one.name,
            str(len(one.cores)),
            f"{median(each, lambda r: r.speed):.0f}",
            f"{median(each, lambda r: r.cost):.2f}",
            f"{median(each, lambda r: r.main_cost):.2f}",
        ]
        for one, each in runs.items()
    ]
    print_table(("crawler", "cores", "pages/s", "CPU ms/page", "main process"), rows, title)


def print_speeds(speeds: dict[Contestant, float]) -> None:
    by_name = {(one.name, len(one.cores)): speed for one, speed in speeds.items()}
    alone, two = by_name["spoor, one process", 1], by_name.get(("spoor, 2 workers", 2))
    for style in ("documented", "tuned"):
        if other := by_name.get((f"Scrapy, {style}", 1)):
            print(f"spoor / Scrapy, {style}: {alone / other:.2f}")
    if two:
        print(f"2 workers on 2 cores / 1 worker on 1 core: {two / by_name['spoor, 1 worker', 1]:.2f}")
        print(f"2 workers on 2 cores / 1 worker on 2 cores: {two / by_name['spoor, 1 worker', 2]:.2f}")
        print(f"2 workers on 2 cores / one process on 1 core: {two / alone:.2f}")


def print_costs(runs: dict[tuple[str, int], list[Run]]) -> None:
    """Ratios of processor time, round by round."""
    plain, learning = runs["spoor, one process", 1], runs["spoor, one process that learns", 1]
    for name, of, others in (
        ("learned / soft-focused", learning, plain),
        ("soft-focused / that of the checkout beside", plain, runs.get((f"spoor, one process{EARLIER}", 1))),
        ("learned / that of the checkout beside", learning, runs.get((f"spoor, one process that learns{EARLIER}", 1))),
        ("Scrapy, documented / learned", runs.get(("Scrapy, documented", 1)), learning),
        ("learned with 2 workers / without", runs.get(("spoor, 2 workers, learned", 2)), learning),
    ):
        if of and others:
            print_ratios(
                f"processor time, {name}", [one.cost / other.cost for one, other in zip(of, others, strict=True)]
            )
    of_main = [one.main_cost / other.main_cost for one, other in zip(learning, plain, strict=True)]
    print_ratios("without the process for demanding pages, learned / soft-focused", of_main)


def print_ratios(what: str, ratios: Sequence[float]) -> None:
    print(f"{what}: {', '.join(f'{ratio:.2f}' for ratio in ratios)}; median {statistics.median(ratios):.2f}")


def settings(pages: int, seeds: Sequence[str], workers: int = 0, strategy: str = PLAIN) -> Config:
    """Everything that spoor does, without the delays that politeness would ask for."""
    crawling = Crawling(
        seeds=tuple(seeds),
        strategy=strategy,
        max_pages=pages,
        workers=workers,
        connections=CONNECTIONS,
        allow_private=True,
    )
    return Config(Target(language="th"), crawling, politeness=Politeness(host_delay=0.0))


async def crawl(folder: Path, asked: Config, watch: Callable[[list[Event]], None]) -> None:
    """`watch` is shown the events of each batch, after it was committed."""
    give_back_large_blocks()
    search_seldom_for_circles()
    with open_for_crawling(folder) as opened:
        async with open_session(opened, asked) as session:
            async for events in session.run():
                watch(events)


class Watch:
    """The time from the end of the warming up to the last page. Clocks are read twice, not after every batch: asking
    for processor time takes long on some machines."""

    def __init__(self, pages: int, warming: float = WARMING) -> None:
        self._starts_at, self._ends_at = round(pages * warming), pages
        self._pages = 0
        self._began: tuple[int, Times] | None = None
        self._ended: tuple[int, Times] | None = None

    def __call__(self, events: list[Event]) -> None:
        self._pages += sum(isinstance(event, Visited) for event in events)
        if self._began is None and self._pages >= self._starts_at:
            self._began = self._pages, times()
        if self._ended is None and self._pages >= self._ends_at:
            self._ended = self._pages, times()

    def run(self) -> Run:
        assert self._began is not None, "the crawl ended before it was warm"
        first, began = self._began
        last, ended = self._ended or (self._pages, times())
        return Run(last - first, *(end - start for start, end in zip(began, ended, strict=True)))


Times = tuple[float, float, float]
"""Seconds: by the wall clock, of all processes, of the main one."""


def times() -> Times:
    return time.perf_counter(), processor_seconds(), time.process_time()


def processor_seconds() -> float:
    """Of this process, and of its workers and theirs, which are still alive."""
    return time.process_time() + sum(_of_children(os.getpid()))


def _of_children(process: int) -> Iterator[float]:
    """The processor seconds that each took, and each of its own."""
    with contextlib.suppress(OSError):  # it has just ended
        for child in Path(f"/proc/{process}/task/{process}/children").read_text().split():
            fields = Path(f"/proc/{child}/stat").read_text().rpartition(")")[2].split()
            yield (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
            yield from _of_children(int(child))


def measure(workers: int, strategy: str, pages: int, seeds: list[str]) -> Run:
    watch = Watch(pages)
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(crawl(Path(folder), settings(pages, seeds, workers, strategy), watch))
    return watch.run()


if __name__ == "__main__":
    workers, strategy, pages, seeds = sys.argv[1:]
    print(json.dumps(vars(measure(int(workers), strategy, int(pages), json.loads(seeds)))))
