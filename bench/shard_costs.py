"""What shards cost in processor time a page: one process, and crawls of several shards on Ray, of the same web. The
server has its own process, and is not counted. Wall clocks say nothing on a machine that is busy.

How many times as fast several shards are where processors are the limit: pages by processor seconds of the busiest
shard, against those of one process. Where the cost of several shards goes: as many in one process, with a stopwatch
at what is done for others."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench.live import WARMING, WEB_PER_CRAWL, settings, spoor
from bench.served_web import Shape, served
from spoor.cli.simulating import shards_in
from spoor.cli.terminal import print_table
from spoor.crawl import Crawl
from spoor.crawling.isolation import IsolatedParts
from spoor.crawling.share import Handover, Share
from spoor.live.ray_cluster import connected, crawl_in_actors
from spoor.live.shards import Coordinator, Shard, Totals
from spoor.store.mail import Mail
from spoor.store.sharded_folder import GrantedVisits, ShardedFolder


def processor_seconds(process: int) -> float:
    with contextlib.suppress(OSError):  # it has just ended
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return 0.0


def below(process: int) -> Iterator[int]:
    """All processes that it has started, and those they have."""
    with contextlib.suppress(OSError):
        for child in map(int, Path(f"/proc/{process}/task/{process}/children").read_text().split()):
            yield child
            yield from below(child)


# Shards in processes of their own.


@dataclass
class Meter:
    """Processor seconds of each shard, of the coordinator and of Ray, from the end of the warming up to the last page
    that was reported."""

    folder: ShardedFolder
    shards: int
    starts_at: int
    began: tuple[int, list[float]] | None = None
    ended: tuple[int, list[float]] | None = None
    busiest: float = 0.0
    _looked_at: float = 0.0

    def tell(self, totals: Totals) -> None:
        """Looks twice a second at most: that takes long itself, and counts for the coordinator."""
        self.busiest = totals.busiest
        if self.began is None and totals.pages >= self.starts_at:
            self.began = totals.pages, self._seconds()
        elif totals.pages > (self.ended or (0,))[0] and time.monotonic() >= self._looked_at + 0.5:
            self._looked_at = time.monotonic()
            self.ended = totals.pages, self._seconds()

    def _seconds(self) -> list[float]:
        locks = [self.folder.shard(number) / "lock" for number in range(self.shards)]
        actors = [int(lock.read_text()) for lock in locks if lock.exists()]
        of_ray = sum(processor_seconds(process) for process in set(below(os.getpid())) - set(actors))
        return [*map(processor_seconds, actors), time.process_time(), of_ray]

    def found(self) -> dict[str, Any]:
        assert self.began is not None and self.ended is not None, "the crawl ended before it was warm"
        *shards, coordinator, of_ray = (b - a for a, b in zip(self.began[1], self.ended[1], strict=True))
        pages = self.ended[0] - self.began[0]
        return {"pages": pages, "shards": shards, "coordinator": coordinator, "ray": of_ray, "most": self.busiest}


def measure(shards: int, strategy: str, pages: int, seeds: list[str]) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as path, connected(shards):
        folder = ShardedFolder(Path(path))
        meter = Meter(folder, shards, round(pages * WARMING))
        asked = settings(pages, seeds, strategy=strategy)
        asyncio.run(crawl_in_actors(folder, asked, shards, meter.tell, lambda coordinator: None))
    return meter.found()


# Shards in one process, with a stopwatch.


@dataclass
class Stopwatch:
    """Processor seconds by what is done. What is done within something else counts for itself only."""

    seconds: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))
    _names: list[str] = field(default_factory=lambda: ["everything else"])
    _since: float = field(default_factory=time.process_time)

    def _turn(self) -> None:
        now = time.process_time()
        self.seconds[self._names[-1]] += now - self._since
        self._since = now

    def on(self, owner: type, method: str, name: str) -> None:
        """Everything that this method does goes by the name, from now on."""
        plain: Callable[..., Any] = getattr(owner, method)

        def timed(*given: Any, **named: Any) -> Any:
            self._turn()
            self._names.append(name)
            try:
                return plain(*given, **named)
            finally:
                self._turn()
                self._names.pop()

        setattr(owner, method, timed)


async def in_one_process(path: Path, shards: int, strategy: str, pages: int, seeds: list[str]) -> dict[str, float]:
    """Processor milliseconds a page, by what they were for."""
    watch, folder = Stopwatch(), ShardedFolder(path)
    for method in ("send", "teach"):
        watch.on(Handover, method, "mail")
    for method in ("write", "opened", "letters", "delivered", "receivers", "count"):
        watch.on(Mail, method, "mail")
    watch.on(Crawl, "receive", "links of others")
    watch.on(IsolatedParts, "learn_from_others", "lessons of others")
    table, asked = folder.table(shards), settings(pages, seeds, strategy=strategy)
    parts = [Shard(folder.shard(number), Share(number, table), asked) for number in range(shards)]
    for part in parts:
        part.peers = parts
    marks: list[tuple[int, dict[str, float]]] = []

    def tell(totals: Totals) -> None:
        if totals.pages >= pages * WARMING and (not marks or totals.pages > marks[-1][0]):
            marks.append((totals.pages, dict(watch.seconds)))

    with contextlib.closing(GrantedVisits(folder.coordinator)) as granted:
        await Coordinator(parts, granted, pages).run(tell)
    (first, before), (last, after) = marks[0], marks[-1]
    return {name: 1000 * (after[name] - before.get(name, 0.0)) / (last - first) for name in after}


def main(options: Sequence[str] = ()) -> None:
    parser = argparse.ArgumentParser(prog="python -m bench shard-costs", description=__doc__)
    parser.add_argument("--pages", type=int, default=3000, help="visited by each crawl (3000)")
    parser.add_argument("--shards", default="2,4", help="numbers of shards (2,4)")
    parser.add_argument("--hosts", type=int, default=200, help="of the web (200)")
    parser.add_argument("--strategies", default="soft-focused,learned")
    parser.add_argument("--rounds", type=int, default=3, help="times that all is done (3)")
    asked = parser.parse_args(options)
    cores = sorted(os.sched_getaffinity(0))
    lines = []
    with served(Shape(asked.pages * WEB_PER_CRAWL, hosts=asked.hosts), cores) as seeds:
        for strategy in asked.strategies.split(",") * asked.rounds:
            alone = spoor("one process", 0, tuple(cores), strategy).run(asked.pages, seeds).main_cost
            lines.append([strategy, "1", f"{alone:.2f}", f"{alone:.2f}", "1.00", "", "", "", "1.00"])
            print(" ".join(lines[-1]), flush=True)
            for shards in shards_in(asked.shards):
                lines.append([strategy, str(shards), *_line(shards, strategy, asked.pages, seeds, alone)])
                print(" ".join(lines[-1]), flush=True)
    header = (
        "strategy",
        "shards",
        "CPU ms/page",
        "busiest",
        "its visits",
        "coordinator",
        "Ray",
        "for others",
        "speed-up",
    )
    print_table(header, lines)


def _line(shards: int, strategy: str, pages: int, seeds: list[str], alone: float) -> list[str]:
    given = [str(shards), strategy, str(pages), json.dumps(seeds)]
    found, parts = (_asked(how, given) for how in ("apart", "together"))
    costs = [1000 * seconds / found["pages"] for seconds in found["shards"]]
    around = [f"{1000 * found[name] / found['pages']:.2f}" for name in ("coordinator", "ray")]
    whole = sum(parts.values())
    others = ", ".join(f"{name} {parts[name] / whole:.1%}" for name in sorted(parts) if name != "everything else")
    most = f"{found['most']:.2f}"
    return [f"{sum(costs):.2f}", f"{max(costs):.2f}", most, *around, others, f"{alone / max(costs):.2f}"]


def _asked(how: str, given: Sequence[str]) -> dict[str, Any]:
    command = [sys.executable, "-m", "bench.shard_costs", how, *given]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


if __name__ == "__main__":
    how, count, name, most, web = sys.argv[1:]
    if how == "apart":
        print(json.dumps(measure(int(count), name, int(most), json.loads(web))))
    else:
        with tempfile.TemporaryDirectory() as folder:
            print(json.dumps(asyncio.run(in_one_process(Path(folder), int(count), name, int(most), json.loads(web)))))
