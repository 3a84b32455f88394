"""Does a live crawl find what the clocked simulation finds? Six rows of the contest, each crawled through `spoor web
serve` under field conditions that are sped up, and simulated under the same conditions with the same judge, from the
same orders of the seeds."""

from __future__ import annotations

import argparse
import asyncio
import math
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from itertools import repeat
from multiprocessing import get_context
from pathlib import Path
from random import Random
from statistics import mean, variance

from bench.signs import DATA
from spoor import settings as config
from spoor.cli.contests import build_webs
from spoor.cli.terminal import print_table
from spoor.cli.webs import DRAWN
from spoor.crawl import Crawl
from spoor.events import Event, Failed, Redirected, Visited
from spoor.frontier.entry import HostRules
from spoor.frontier.frontier import Frontier
from spoor.frontier.memory import MemoryStore
from spoor.lab.contest import Row, chosen, read_rows
from spoor.lab.leaderboard import interval
from spoor.lab.runs import prepared_task, run
from spoor.lab.simulated import simulate
from spoor.lab.task import Task, read_seeds
from spoor.lab.worlds import FIELD, ComparedWorld, Conditions, Network
from spoor.live.from_settings import strategy_of
from spoor.live.session import open_session
from spoor.pricing import Limits
from spoor.records import Outcome, Visit
from spoor.roles import World
from spoor.settings import Config, Crawling, Politeness, Target
from spoor.store.crawl_folder import open_for_crawling

ROWS = (
    "wikispeedia/subject.Science.Biology/hub",
    "wikispeedia/subject.Science.Biology/relevant",
    "openoffice/lang=de/relevant",
    "openoffice/lang=sr/relevant",
    "weblogs/lang=ko/hub",
    "weblogs/lang=ko/relevant",
)
MOMENT, DRAWS = 0.01, 5
"""Simulations are repeated so often with answers that each take a moment longer, so many seconds in the mean, as they
do on a machine that has something else to do: how far these are apart is what chance does to a single crawl."""
COLUMNS = (
    "row",
    "visits",
    "times as fast",
    "live",
    "simulated",
    "difference",
    "95 % interval",
    "simulated with jitter",
    "difference from these",
    "failed live",
    "failed simulated",
    "s live",
    "s simulated",
)


@dataclass(frozen=True)
class Found:
    """What a crawl came to: relevant pages by the labels of the web, the share of visits without a page, seconds."""

    relevant: int
    failed: float
    seconds: float


@dataclass(frozen=True)
class Late:
    """A world whose answers come a moment later."""

    world: World
    chance: Random

    def fetch(self, visit: Visit) -> tuple[Outcome, float]:
        outcome, seconds = self.world.fetch(visit)
        return outcome, seconds + self.chance.expovariate(1 / MOMENT)

    def truth(self, url: str) -> bool:
        return self.world.truth(url)


@dataclass(frozen=True)
class Trial:
    """One row from one order of its seeds. `task` has the conditions, all of whose times are divided by `speed`, and a
    judge that both crawls can ask; each order has draws of its own."""

    row: Row
    order: int
    strategy: str
    speed: float
    task: Task

    @property
    def conditions(self) -> Conditions:
        assert self.task.conditions is not None
        return replace(self.task.conditions, seed=self.task.conditions.seed + self.order)

    def with_jitter(self) -> list[int]:
        """Relevant pages found by simulations of which no two have the same delays."""
        return [self._simulated_late(Random(draw)) for draw in range(DRAWS)]

    def _simulated_late(self, chance: Random) -> int:
        settings, prepared, conditions = self.settings(proxy=""), prepared_task(self.task), self.conditions
        rules = HostRules(delay=conditions.delay, ask_first=True)
        crawl = Crawl(strategy_of(settings), Frontier(MemoryStore(), rules), Limits(self.task.budget))
        crawl.begin(settings.crawl.seeds)
        network = Network(ComparedWorld(prepared.world(with_content=True)), conditions)
        return self._found(list(simulate(crawl, Late(network, chance), conditions.connections))).relevant

    def both(self) -> tuple[Found, list[int]]:
        return self.simulated(), self.with_jitter()

    def simulated(self) -> Found:
        done = run(self.task, self.strategy, self.order)
        assert done.timing is not None and done.failed is not None
        return Found(int(done.found.sum()), float(done.failed.mean()), done.timing.elapsed)

    def settings(self, proxy: str) -> Config:
        prepared, conditions = prepared_task(self.task), self.conditions
        crawling = Crawling(
            seeds=tuple(prepared.web.urls[number] for number in prepared.seed_orders(self.order + 1)[self.order]),
            strategy=self.strategy,
            max_pages=self.task.budget,
            connections=conditions.connections,
            proxy=proxy,
        )
        judged = config.target_in(Path(self.task.judge))
        return Config(judged, crawling, politeness=Politeness(host_delay=conditions.delay))

    def live(self, proxy: str, folder: Path) -> Found:
        return self._found(asyncio.run(self._crawled(proxy, folder)))

    async def _crawled(self, proxy: str, folder: Path) -> list[Event]:
        events: list[Event] = []
        with open_for_crawling(folder) as opened:
            async with open_session(opened, self.settings(proxy)) as session:
                async for batch in session.run():
                    events += batch
        return events

    def _found(self, events: Sequence[Event]) -> Found:
        truth = prepared_task(self.task).world(with_content=False).truth
        over = [event for event in events if isinstance(event, Visited | Redirected | Failed)]
        pages = [event for event in over if event.visit.purpose == "page"]
        relevant = sum(isinstance(event, Visited) and truth(event.visit.url) for event in pages)
        without = sum(not isinstance(event, Visited) for event in pages)
        seconds = max(event.at for event in over) - min(event.visit.at for event in over)
        return Found(relevant, without / len(pages), seconds)


@dataclass(frozen=True)
class Result:
    trial: Trial
    live: Found
    simulated: Found
    late: list[int]

    def __str__(self) -> str:
        found = f"live {self.live.relevant}, simulated {self.simulated.relevant}, with jitter {self.late}"
        return f"{self.trial.row.name}: {found}; {self.live.seconds:.0f} and {self.simulated.seconds:.0f} s"


def main(options: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m bench live-vs-simulated", description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("out/contest"), metavar="DIR", help="where webs/ is or goes")
    parser.add_argument("--rows", default=",".join(ROWS), metavar="A,B", help="rows of the contest (six of three webs)")
    parser.add_argument("--strategy", default="learned", metavar="S", help="a name from `spoor strategies` (learned)")
    parser.add_argument("--budget", type=int, default=300, metavar="N", help="visits at most (300)")
    parser.add_argument("--orders", type=int, default=5, metavar="K", help="orders of the seeds, one after another (5)")
    parser.add_argument("--seconds", type=float, default=60.0, metavar="S", help="that a live crawl may take (60)")
    arguments = parser.parse_args(options)
    if not (DATA / "contest").is_dir():
        print(f"live-vs-simulated: no contest in {DATA}; set SPOOR_DATA to the folder that has it")
        return
    rows = chosen(read_rows(DATA), arguments.rows.split(","))
    build_webs([row.web for row in rows], arguments.out / "webs", 2)
    results: dict[Row, list[Result]] = {row: [] for row in rows}
    with tempfile.TemporaryDirectory() as name, processes(len(rows)) as pool:
        judges = [written_judge(row, arguments, Path(name)) for row in rows]
        for order in range(arguments.orders):
            trials = list(pool.map(trial, rows, repeat(order), judges, repeat(arguments)))
            lives = live_together(trials, pool, Path(name) / str(order))
            for one, live, (simulated, late) in zip(trials, lives, pool.map(Trial.both, trials), strict=True):
                results[one.row].append(Result(one, live, simulated, late))
            print(f"order {order + 1} of {arguments.orders}, load {os.getloadavg()[0]:.1f}", file=sys.stderr)
            for of_row in results.values():
                print(f"    {of_row[-1]}", file=sys.stderr)
    title = f"{arguments.strategy}, relevant pages found live and simulated, {arguments.orders} orders"
    print_table(COLUMNS, [line(row, of_row) for row, of_row in results.items()], title)


def processes(count: int) -> ProcessPoolExecutor:
    """Forked, so that every crawl begins with everything loaded, and those of an order begin together."""
    return ProcessPoolExecutor(count, get_context("fork"))


def task_of(row: Row, arguments: argparse.Namespace) -> Task:
    return Task(arguments.out / "webs" / row.web.name, row.target, read_seeds(row.seeds))


def written_judge(row: Row, arguments: argparse.Namespace, folder: Path) -> Path:
    """A perfect judge: a pattern that the URLs of labelled pages match and nothing else. It says nothing beforehand
    about links."""
    prepared = prepared_task(task_of(row, arguments))
    labelled = (re.escape(prepared.web.urls[int(number)]) for number in prepared.relevant.nonzero()[0])
    file = folder / f"{row.name.replace('/', '-')}.toml"
    file.write_text(config.dumps(Config(Target(pattern=f"^(?:{'|'.join(labelled)})$"))), "utf8")
    return file


def trial(row: Row, order: int, judge: Path, arguments: argparse.Namespace) -> Trial:
    """Sped up as much as it takes to be over in time, by the virtual time of a simulation at the speed of the field."""
    task = task_of(row, arguments)
    budget = min(prepared_task(task).yardstick.budget, arguments.budget)
    at_field_speed = replace(task, judge=str(judge), budget=budget, conditions=FIELD)
    takes = Trial(row, order, arguments.strategy, 1.0, at_field_speed).simulated().seconds
    speed = max(1.0, takes / arguments.seconds)
    sped_up = replace(at_field_speed, conditions=faster(FIELD, speed))
    return Trial(row, order, arguments.strategy, speed, sped_up)


def faster(conditions: Conditions, speed: float) -> Conditions:
    """All times divided by `speed`; servers tell whole seconds after which to try again."""
    return replace(
        conditions,
        latency=conditions.latency / speed,
        bandwidth=conditions.bandwidth * speed,
        delay=conditions.delay / speed,
        retry_after=math.ceil(conditions.retry_after / speed),
    )


def live_together(trials: Sequence[Trial], pool: ProcessPoolExecutor, folder: Path) -> list[Found]:
    """At the same time, since a crawl mostly waits. Every server is up before the first crawl begins."""
    folder.mkdir()
    servers = [server_of(one) for one in trials]
    try:
        proxies = [proxy_of(server) for server in servers]
        return list(pool.map(Trial.live, trials, proxies, [folder / str(number) for number in range(len(trials))]))
    finally:
        for server in servers:
            server.terminate()
            server.communicate()


def server_of(trial: Trial) -> subprocess.Popen[str]:
    drawn = [f"--{option.replace('_', '-')}={getattr(trial.conditions, name)!r}" for option, name in DRAWN.items()]
    asked = ["--port=0", "--conditions=field", *drawn]
    command = [sys.executable, "-m", "spoor", "web", "serve", str(trial.task.web), *asked]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def proxy_of(server: subprocess.Popen[str]) -> str:
    """Once it is up."""
    assert server.stdout is not None
    return server.stdout.readline().split("proxy ")[1].split(";")[0]


def line(row: Row, results: Sequence[Result]) -> list[str]:
    """Means over the orders. With jitter: the mean, and the spread of a single crawl around it."""
    lives, simulations = [one.live for one in results], [one.simulated for one in results]
    live, simulated = (mean(one.relevant for one in found) for found in (lives, simulations))
    differences = [(one.live.relevant - one.simulated.relevant) / max(1.0, simulated) for one in results]
    low, high = interval([differences])
    later = mean(mean(one.late) for one in results)
    spread = math.sqrt(mean(variance(one.late) for one in results))
    speeds = [one.trial.speed for one in results]
    return [
        row.name,
        str(results[0].trial.task.budget),
        f"{min(speeds):.1f} to {max(speeds):.1f}",
        f"{live:.1f}",
        f"{simulated:.1f}",
        f"{mean(differences):+.1%}",
        f"{low:+.1%} to {high:+.1%}",
        f"{later:.1f} ± {spread:.1f}",
        f"{live / max(1.0, later) - 1:+.1%}",
        *(f"{mean(one.failed for one in found):.0%}" for found in (lives, simulations)),
        *(f"{mean(one.seconds for one in found):.0f}" for found in (lives, simulations)),
    ]
