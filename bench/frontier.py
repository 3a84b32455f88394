"""The frontier: offers and visits a second, and memory, with a million and with ten million links waiting; or, with
--hub, what a page with half a million links costs."""

from __future__ import annotations

import argparse
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from bench.hub import compare
from spoor.frontier.entry import Entry
from spoor.frontier.frontier import Frontier
from spoor.frontier.memory import MemoryStore
from spoor.frontier.sqlite import SqliteStore
from spoor.ordering.learned.learned import Learned

HOSTS_PER_MILLION = 10_000
LINKS_PER_PAGE = 40
AT_HOME = 0.8
"""The share of a page's links that stay on its host."""

HINTS = 180
"""Bytes that the strategy `learned` keeps of a link, in the mean."""

PAGES_PER_BATCH, PAGES_PER_FILLING = 10, 500
MEASURED_BATCHES = 200


def links(waiting: int, seed: int) -> Iterator[list[tuple[str, str]]]:
    """The links of one page after another: URL and host. Nearly all are new."""
    rng = random.Random(seed)
    hosts = [f"h{number}.test" for number in range(waiting * HOSTS_PER_MILLION // 1_000_000)]
    while True:
        home = rng.choice(hosts)
        page = [home if rng.random() < AT_HOME else rng.choice(hosts) for _ in range(LINKS_PER_PAGE)]
        yield [(f"http://{host}/section/{rng.getrandbits(40):010x}/page.html", host) for host in page]


def offer(frontier: Frontier, page: list[tuple[str, str]], rng: random.Random, learned: bool) -> None:
    known = frontier.find([url for url, _ in page])
    found_on = f"http://{page[0][1]}/section/{rng.getrandbits(40):010x}/page.html"
    for (url, host), entry in zip(page, known, strict=True):
        if entry is None:
            frontier.add((as_learned if learned else plain)(url, host, found_on, rng))


def plain(url: str, host: str, found_on: str, rng: random.Random) -> Entry:
    score = round(rng.random(), 3)
    return Entry(url, host, (score,), {"relevance": score}, 0, 3, found_on)


def as_learned(url: str, host: str, found_on: str, rng: random.Random) -> Entry:
    """With all that the strategy `learned` keeps of a link."""
    score = round(rng.random(), 3)
    evidence = dict.fromkeys(Learned.merge, score)
    key = (float(round(6 * score) - 4), 0.0, -3.0)
    return Entry(url, host, key, evidence, (0, found_on), 3, found_on, hints=rng.randbytes(HINTS))


def measure(kind: str, waiting: int, learned: bool, folder: Path) -> None:
    """Fills a frontier, then offers and visits; prints one line of figures."""
    before = resident()
    frontier = Frontier(MemoryStore() if kind == "memory" else SqliteStore(folder / "frontier.db"))
    pages, rng = links(waiting, 1), random.Random(2)
    while len(frontier) < waiting:
        batch(frontier, pages, rng, learned, PAGES_PER_FILLING)
    with Stopwatch() as offering:
        for _ in range(MEASURED_BATCHES):
            batch(frontier, pages, rng, learned)
    visits = MEASURED_BATCHES * PAGES_PER_BATCH * 5
    with Stopwatch() as visiting:
        visit(frontier, visits)
    offers = MEASURED_BATCHES * PAGES_PER_BATCH * LINKS_PER_PAGE
    memory = resident() - before
    print(
        f"{kind:<7}{waiting:>11,} waiting   offers {offering.rates(offers)}   visits {visiting.rates(visits)}   "
        f"{memory / 2**20:>6,.0f} MiB   {memory / waiting:>4,.0f} bytes/link"
    )


class Stopwatch:
    """Wall time, and the time of the processor alone, which other work on the machine hardly disturbs."""

    def __enter__(self) -> Stopwatch:
        self._wall, self._processor = time.perf_counter(), time.process_time()
        return self

    def __exit__(self, *_: object) -> None:
        self.wall, self.processor = time.perf_counter() - self._wall, time.process_time() - self._processor

    def rates(self, count: int) -> str:
        return f"{count / self.wall:>8,.0f}/s ({count / self.processor:>8,.0f} per CPU second)"


def batch(
    frontier: Frontier,
    pages: Iterator[list[tuple[str, str]]],
    rng: random.Random,
    learned: bool,
    count: int = PAGES_PER_BATCH,
) -> None:
    """One absorbed batch: one transaction."""
    for _ in range(count):
        offer(frontier, next(pages), rng, learned)
    frontier.commit()


def visit(frontier: Frontier, visits: int) -> None:
    """The best link, in transit, settled; a transaction for every batch of them."""
    for number in range(visits):
        entry = frontier.peek(float(number))
        assert entry is not None
        frontier.begin(entry, float(number))
        frontier.settle(entry.url, float(number))
        if number % PAGES_PER_BATCH == 0:
            frontier.commit()


def resident() -> int:
    """The largest amount of memory this process has held, in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def main(options: Sequence[str]) -> None:
    """Each measurement in a process of its own, so that memory is its own too."""
    parser = argparse.ArgumentParser(prog="python -m bench frontier", description=__doc__)
    parser.add_argument("--waiting", type=int, nargs="+", default=[1_000_000, 10_000_000], metavar="N")
    parser.add_argument("--learned", action="store_true", help="with what the strategy learned keeps of every link")
    parser.add_argument("--hub", type=int, nargs="?", const=500_000, metavar="N", help="a page with N links (500000)")
    parser.add_argument("--visits", type=int, default=300, metavar="N", help="after the hub (default 300)")
    arguments = parser.parse_args(options)
    if arguments.hub:
        for hosts in (1, 1_000):
            compare(arguments.hub, hosts, arguments.visits)
        return
    print(f"frontier: pages of {LINKS_PER_PAGE} links, {PAGES_PER_BATCH} pages a transaction", flush=True)
    kept = ["learned"] if arguments.learned else []
    for waiting in arguments.waiting:
        for kind in ("memory", "sqlite"):
            subprocess.run([sys.executable, "-m", "bench.frontier", kind, str(waiting), *kept], check=True)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        measure(sys.argv[1], int(sys.argv[2]), "learned" in sys.argv[3:], Path(scratch))
