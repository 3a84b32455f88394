"""How cost grows with the number of waiting links: offers, visits, opening and deciding, in SQLite, with all that the
strategy `learned` keeps of a link. Times are of the processor; what follows opening begins with nothing of the file in
the page cache of the system."""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from bench.deciding import RULES, decided
from bench.frontier import (
    LINKS_PER_PAGE,
    MEASURED_BATCHES,
    PAGES_PER_BATCH,
    PAGES_PER_FILLING,
    Stopwatch,
    batch,
    links,
    visit,
)
from bench.long_crawl import evict, peak
from spoor.cli.terminal import print_table
from spoor.frontier.frontier import Frontier
from spoor.frontier.sqlite import SqliteStore
from spoor.live.process import search_seldom_for_circles

SIZES = (10_000, 100_000, 1_000_000, 10_000_000)

MOST_PAGES = MEASURED_BATCHES * PAGES_PER_BATCH
MOST_VISITS = 5_000
"""In a measurement; of a small frontier so few that it hardly changes."""


@dataclass(frozen=True)
class Costs:
    """Seconds of the processor: of an offer, a visit and a decision, and of opening until the first link is known.
    `opening_wall` is that by the clock. Bytes of memory at most, more than before, and of the file."""

    offer: float
    visit: float
    opening: float
    opening_wall: float
    decision: float
    memory: int
    file: int
    bytes_a_link: float

    def row(self, waiting: int) -> list[str]:
        micro = (f"{1e6 * one:.0f}" for one in (self.offer, self.visit, self.decision))
        opened = (f"{1000 * one:.0f}" for one in (self.opening, self.opening_wall))
        size = (f"{self.memory / 2**20:,.0f}", f"{self.file / 2**20:,.0f}", f"{self.bytes_a_link:,.0f}")
        return [f"{waiting:,}", *micro, *opened, *size]


HEADS = (
    "waiting",
    "offer, µs",
    "visit, µs",
    "decision, µs",
    "opening, ms",
    "by the clock, ms",
    "memory, MiB",
    "file, MiB",
    "bytes a link",
)


def measure(waiting: int, folder: Path) -> Costs:
    search_seldom_for_circles()
    before, file = peak(), folder / "frontier.db"
    pages, visits = min(MOST_PAGES, waiting // 200), min(MOST_VISITS, waiting // 10)
    offering, visiting, held = _filled(file, waiting, pages, visits)
    size = file.stat().st_size
    evict(folder)
    with Stopwatch() as opening:
        frontier = Frontier(SqliteStore(file), RULES)
        assert frontier.peek(0.0) is not None
    decided(frontier, frontier.visits + 1)  # Every host at hand is asked for its best link once.
    deciding, _, _ = decided(frontier, frontier.visits + visits)
    return Costs(
        offer=offering.processor / (pages * LINKS_PER_PAGE),
        visit=visiting.processor / visits,
        opening=opening.processor,
        opening_wall=opening.wall,
        decision=deciding.processor / visits,
        memory=peak() - before,
        file=size,
        bytes_a_link=size / held,
    )


def _filled(file: Path, waiting: int, pages: int, visits: int) -> tuple[Stopwatch, Stopwatch, int]:
    """A file with that many waiting links; what it then took to offer those of so many pages more, and to make so many
    visits; and how many links it has at the end."""
    store = SqliteStore(file)
    frontier = Frontier(store)
    source, rng = links(waiting, 1), random.Random(2)
    while len(frontier) < waiting:
        batch(frontier, source, rng, learned=True, count=min(PAGES_PER_FILLING, waiting // 400))
    with Stopwatch() as offering:
        for _ in range(pages // PAGES_PER_BATCH):
            batch(frontier, source, rng, learned=True)
    with Stopwatch() as visiting:
        visit(frontier, visits)
    frontier.commit()
    held = len(frontier) + visits
    store.close()
    return offering, visiting, held


def main(options: Sequence[str]) -> None:
    """Each size in a process of its own, so that memory is its own too."""
    parser = argparse.ArgumentParser(prog="python -m bench growth", description=__doc__)
    parser.add_argument("--waiting", type=int, nargs="+", default=SIZES, metavar="N")
    rows = []
    for waiting in parser.parse_args(options).waiting:
        command = [sys.executable, "-m", "bench.growth", str(waiting)]
        found = json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)
        rows.append(Costs(**found).row(waiting))
        print(*rows[-1], sep="  ", flush=True)
    print_table(HEADS, rows)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        print(json.dumps(asdict(measure(int(sys.argv[1]), Path(scratch)))))
