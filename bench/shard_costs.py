"""What shards cost in processor time a page: one process, and crawls of several shards on Ray, of the same web with as
many connections. Counted are all processes of the crawl, Ray's own among them, in the second half of each crawl: by
then all shards have started, and pages cost less than the first ones, whose links are all new. Not counted is the
process that only demanding pages are read in, which costs what it takes to start. The crawls of one round begin at the
same time: where other programs are busy, wall clocks say nothing, and the same work takes more processor time or less.
One process begins sooner than shards do, so they do not run under the very same conditions.

How many times as fast N shards are on N cores where processors are the limit: N times what a page costs one process,
by what it costs all processes of the shards. The server has its own process; what that takes for a page says how much
faster it could be. Where the cost of several shards goes: the same crawls once more, with a clock at each stage."""

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
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from bench.live import WEB_PER_CRAWL, Watch, crawl, settings
from bench.served_web import Shape, served
from bench.stages import OTHER, Clock
from spoor.cli.simulating import shards_in
from spoor.cli.terminal import print_table
from spoor.crawling.share import Share
from spoor.errors import MissingExtra
from spoor.events import Event, Visited
from spoor.live import ray_cluster
from spoor.live.ray_cluster import ShardActor, check_ray, connected, crawl_in_actors
from spoor.live.running import Session
from spoor.live.shards import Coordinator, Totals
from spoor.settings import Config
from spoor.store.crawl_folder import CrawlFolder
from spoor.store.journal import open_to_read
from spoor.store.sharded_folder import ShardedFolder

T = TypeVar("T")
STARTING = 0.5
"""The share of the pages before the clock starts."""


def processor_seconds(process: int) -> float:
    with contextlib.suppress(OSError):  # it has just ended
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return 0.0


def below(process: int) -> Iterator[int]:
    """All processes that it has started, in any of its threads, and those they have."""
    with contextlib.suppress(OSError):
        for thread in Path(f"/proc/{process}/task").iterdir():
            for child in map(int, (thread / "children").read_text().split()):
                yield child
                yield from below(child)


# What each process takes.


@dataclass(frozen=True)
class Cost:
    """Processor milliseconds a page. `readers` are the processes in which demanding pages are read; `busiest` is the
    part of the visits that the busiest shard made, `speed` pages a second by the clock."""

    shards: list[float]
    coordinator: float
    ray: float
    readers: float
    busiest: float
    speed: float

    @property
    def whole(self) -> float:
        return sum(self.shards) + self.coordinator + self.ray


@dataclass
class Meter:
    """Processor seconds of each shard, of the coordinator, of Ray and of the readers, from the middle of the crawl to
    the last page that was reported."""

    folder: ShardedFolder
    shards: int
    starts_at: int
    coordinator: Coordinator | None = None
    began: tuple[int, list[float]] | None = None
    ended: tuple[int, list[float]] | None = None
    busiest: float = 0.0
    _looked_at: float = 0.0

    def tell(self, totals: Totals) -> None:
        """Looks twice a second at most: that takes long itself, and counts for the coordinator. Pages are those that
        are committed by then: the totals are older, and processors were busy since."""
        self.busiest = totals.busiest
        if self.began is None and totals.pages >= self.starts_at:
            assert self.coordinator is not None
            assert all(report and report.totals.pages for report in self.coordinator.reports), (
                "a shard has not begun yet"
            )
            self.began = self._pages(), self._seconds()
        elif self.began and totals.pages > (self.ended or self.began)[0] and time.monotonic() >= self._looked_at + 0.5:
            self._looked_at = time.monotonic()
            self.ended = self._pages(), self._seconds()

    def begin(self, coordinator: Coordinator) -> None:
        self.coordinator = coordinator

    def _pages(self) -> int:
        return sum(map(_pages_in, map(CrawlFolder, self.folder.folders())))

    def _seconds(self) -> list[float]:
        locks = [self.folder.shard(number) / "lock" for number in range(self.shards)]
        actors = [int(lock.read_text()) for lock in locks if lock.exists()]
        readers = {process for actor in actors for process in below(actor)}
        of_ray = set(below(os.getpid())) - set(actors) - readers
        around = (sum(map(processor_seconds, processes)) for processes in (of_ray, readers))
        return [*map(processor_seconds, actors), time.process_time(), *around, time.monotonic()]

    def cost(self) -> Cost:
        assert self.began is not None and self.ended is not None, "the crawl ended before it was warm"
        pages = self.ended[0] - self.began[0]
        each = [1000 * (b - a) / pages for a, b in zip(self.began[1], self.ended[1], strict=True)]
        *shards, coordinator, of_ray, readers, clock = each
        return Cost(shards, coordinator, of_ray, readers, self.busiest, 1000 / clock)


def _pages_in(folder: CrawlFolder) -> int:
    with contextlib.closing(open_to_read(folder.database)) as db:
        return int(db.execute("SELECT count(*) FROM pages").fetchone()[0])


def measure(shards: int, strategy: str, pages: int, seeds: list[str]) -> Cost:
    """One process without shards, if there are none."""
    if not shards:
        return _alone(strategy, pages, seeds)
    with tempfile.TemporaryDirectory() as path, connected(shards):
        folder = ShardedFolder(Path(path))
        meter = Meter(folder, shards, round(pages * STARTING))
        asked = settings(pages, seeds, strategy=strategy)
        asyncio.run(crawl_in_actors(folder, asked, shards, meter.tell, meter.begin))
    return meter.cost()


def _alone(strategy: str, pages: int, seeds: list[str]) -> Cost:
    asked, watch = settings(pages, seeds, strategy=strategy), Watch(pages, STARTING)
    with tempfile.TemporaryDirectory() as path:
        asyncio.run(crawl(Path(path), asked, watch))
    run = watch.run()
    return Cost([run.main_cost], 0.0, 0.0, run.cost - run.main_cost, 1.0, run.speed)


# What each stage takes.


MAIL, LESSONS, ROUNDS, THREADS = "mail", "lessons of others", "rounds", "other threads"
STAGES = (
    ("fetching", "fetch.http:HttpFetcher.fetch"),
    ("reading", "live.page_reader:Reader.read"),
    ("judging", "judging.combined:CombinedJudge.judge"),
    ("archive", "live.archive:ResponseArchive.keep"),
    ("archive", "live.archive:Archive.describe"),
    ("archive", "live.archive:Archive.note"),
    ("offering", "crawling.scoring:Scoring.offer"),
    ("learning", "crawling.isolation:IsolatedParts.learn"),
    ("re-scoring", "crawling.scoring:Scoring.keep_up"),
    ("deciding", "crawl:Crawl.next_visit"),
    ("absorbing: the rest", "crawl:Crawl.absorb"),
    ("absorbing: the rest", "crawl:Crawl.receive"),
    ("committing", "frontier.sqlite:SqliteStore.commit"),
    ("links of others", "crawling.scoring:Scoring.receive"),
    (LESSONS, "crawling.isolation:IsolatedParts.learn_from_others"),
    (MAIL, "crawling.scoring:Scoring._foreign"),
    (MAIL, "crawling.share:Handover.teach"),
    (MAIL, "store.mail:Mail.write"),
    (MAIL, "store.mail:Mail.receivers"),
    (MAIL, "store.mail:Mail.letters"),
    (MAIL, "store.mail:Mail.opened"),
    (MAIL, "store.mail:Mail.answer"),
    (MAIL, "store.mail:Mail.delivered"),
    (ROUNDS, "store.mail:Mail.count"),
    (ROUNDS, "crawling.turns:Turns.best_gain"),
    (ROUNDS, "frontier.frontier:Frontier.best_keys"),
)
"""Not methods of the actor itself: Ray has its own version of these."""
HANDING_OVER = (MAIL, LESSONS, ROUNDS)
"""The stages that one process does not have. Links that others found would cost one process about as much. To write
down a link for others is part of offering: a clock at each link would take longer than that."""


class ThreadClock(Clock):
    """Of the thread that has the event loop: Ray has others."""

    def _note(self) -> None:
        now = time.thread_time_ns()
        self.took[self._stages[-1]] = self.took.get(self._stages[-1], 0) + now - self._since
        self._since = now


@dataclass
class Stages:
    """The time of each stage in this process, and how many pages are absorbed at once, in the second half."""

    starts_at: float
    clock: ThreadClock = field(default_factory=ThreadClock)
    pages: int = 0
    batches: int = 0
    _before: int = 0
    _process: float = 0.0

    def __post_init__(self) -> None:
        for stage, where in STAGES:
            self.clock.watch(stage, where)

    def __call__(self, events: list[Event]) -> None:
        pages = sum(isinstance(event, Visited) for event in events)
        self.pages += pages
        self.batches += pages > 0
        if not self._before and self.pages >= self.starts_at:
            self._before, self.pages, self.batches = self.pages, 0, 0
            self.clock.clear()
            self._process = time.process_time()

    def found(self) -> dict[str, Any]:
        self.clock.enter(OTHER)
        took = {stage: nanoseconds / 1e6 for stage, nanoseconds in self.clock.took.items()}
        took[THREADS] = 1000 * (time.process_time() - self._process) - sum(took.values())
        return {"pages": self.pages, "batches": self.batches, "took": took}


class WatchedActor(ShardActor):
    """Leaves in its folder what its stages took."""

    def __init__(self, folder: Path, share: Share, settings: Config, namespace: str) -> None:
        assert settings.crawl.max_pages is not None
        self._stages = Stages(settings.crawl.max_pages * STARTING / (len(share.others) + 1))
        super().__init__(folder, share, settings, namespace)

    @contextlib.asynccontextmanager
    async def _ready(self, session: Session) -> AsyncIterator[None]:
        run = session.run

        async def watched() -> AsyncIterator[list[Event]]:
            async for events in run():
                self._stages(events)
                yield events

        session.run = watched  # type: ignore[method-assign]
        async with super()._ready(session):
            yield

    async def stop(self, why: str) -> None:
        (self._folder / "stages.json").write_text(json.dumps(self._stages.found()))
        await super().stop(why)


def watched(shards: int, strategy: str, pages: int, seeds: list[str]) -> list[dict[str, Any]]:
    """Of each process; one without shards, if there are none."""
    asked = settings(pages, seeds, strategy=strategy)
    with tempfile.TemporaryDirectory() as path:
        if not shards:
            stages = Stages(pages * STARTING)
            asyncio.run(crawl(Path(path), asked, stages))
            return [stages.found()]
        folder = ShardedFolder(Path(path))
        with connected(shards):
            asyncio.run(crawl_in_actors(folder, asked, shards, lambda totals: None, lambda coordinator: None))
        return [json.loads((folder.shard(number) / "stages.json").read_text()) for number in range(shards)]


# Side by side.


COLUMNS = ("shards", "all processes", "shards", "busiest", "its visits", "coordinator", "Ray", "pages/s", "speed-up")


def main(options: Sequence[str] = ()) -> None:
    parser = argparse.ArgumentParser(prog="python -m bench shard-costs", description=__doc__)
    parser.add_argument("--pages", type=int, default=3000, help="visited by each crawl (3000)")
    parser.add_argument("--shards", default="2,4", help="numbers of shards (2,4)")
    parser.add_argument("--hosts", type=int, default=200, help="of the web (200)")
    parser.add_argument("--strategies", default="soft-focused,learned")
    parser.add_argument("--rounds", type=int, default=3, help="times that all is done; medians are printed (3)")
    asked = parser.parse_args(options)
    cores, counts = sorted(os.sched_getaffinity(0)), [0, *shards_in(asked.shards)]
    try:
        check_ray()
    except MissingExtra as error:
        print(error)
        return
    with served(Shape(asked.pages * WEB_PER_CRAWL, hosts=asked.hosts), cores) as seeds:
        server = next(below(os.getpid()))
        for strategy in asked.strategies.split(","):
            began, rounds = processor_seconds(server), range(asked.rounds)
            costs = [_at_once(_cost, counts, strategy, asked.pages, seeds) for _ in rounds]
            pages = asked.rounds * len(counts) * asked.pages
            title = f"\n{strategy}: milliseconds a page, medians of {asked.rounds}; server"
            title += f" {1000 * (processor_seconds(server) - began) / pages:.2f}"
            print_table(COLUMNS, _medians(counts, costs), title)
            _print_stages(strategy, counts, _at_once(_stages, counts, strategy, asked.pages, seeds))


def _at_once(measured: Callable[..., T], counts: Sequence[int], *given: Any) -> list[T]:
    """For each number of shards, all under the same conditions."""
    with ThreadPoolExecutor(len(counts)) as pool:
        return list(pool.map(lambda count: measured(count, *given), counts))


def _cost(shards: int, strategy: str, pages: int, seeds: list[str]) -> Cost:
    cost = Cost(**_asked("cost", shards, strategy, pages, seeds))
    print(strategy, shards or 1, f"{cost.whole:.2f}", cost, flush=True)
    return cost


def _medians(counts: Sequence[int], costs: Sequence[Sequence[Cost]]) -> Iterator[list[str]]:
    for place, count in enumerate(counts):
        of = [row[place] for row in costs]
        faster = (max(1, count) * row[0].whole / row[place].whole for row in costs)
        parts = [
            [cost.whole for cost in of],
            [sum(cost.shards) for cost in of],
            [max(cost.shards) for cost in of],
            [cost.busiest for cost in of],
            [cost.coordinator for cost in of],
            [cost.ray for cost in of],
            [cost.speed for cost in of],
            faster,
        ]
        yield [str(count or "one process"), *(f"{statistics.median(part):.2f}" for part in parts)]


def _stages(shards: int, strategy: str, pages: int, seeds: list[str]) -> dict[str, float]:
    """Milliseconds a page by stage, all processes together, and pages a batch."""
    found = _asked("stages", shards, strategy, pages, seeds)
    visited = sum(one["pages"] for one in found)
    took = {
        stage: sum(one["took"].get(stage, 0.0) for one in found) / visited for stage in (*ALL_STAGES, OTHER, THREADS)
    }
    return {**took, PER_BATCH: visited / sum(one["batches"] for one in found)}


ALL_STAGES = tuple(dict.fromkeys(stage for stage, _ in STAGES))
PER_BATCH = "pages a batch"


def _print_stages(strategy: str, counts: Sequence[int], columns: Sequence[dict[str, float]]) -> None:
    lines = [[name, *(f"{column[name]:.3f}" for column in columns)] for name in columns[0]]
    wholes = [sum(column.values()) - column[PER_BATCH] for column in columns]
    lines.append(["all stages", *(f"{whole:.3f}" for whole in wholes)])
    over = (sum(column[name] for name in HANDING_OVER) / whole for column, whole in zip(columns, wholes, strict=True))
    lines.append(["handing over", *(f"{part:.1%}" for part in over)])
    print_table((strategy, *(str(count or "one process") for count in counts)), lines, "\nmilliseconds a page, once")


def _asked(what: str, *given: Any) -> Any:
    command = [sys.executable, "-m", "bench.shard_costs", what, *map(json.dumps, given)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


if __name__ == "__main__":
    from bench import shard_costs  # Actors are made from classes that can be imported.

    what, *given = sys.argv[1:]
    shards, strategy, pages, seeds = map(json.loads, given)
    if what == "cost":
        print(json.dumps(asdict(shard_costs.measure(shards, strategy, pages, seeds))))
    else:
        ray_cluster.ShardActor = shard_costs.WatchedActor  # type: ignore[misc]
        print(json.dumps(shard_costs.watched(shards, strategy, pages, seeds)))
