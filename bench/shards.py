"""What shards cost in harvest: `learned` as one crawl of N shards on rows of the contest, against one shard. The area
below found(visits) and, in the field, below found(time) until one shard is done; means over orders of the seeds, in
each of which the network and the hosts of each shard are others. The figure is the mean over rows of the ratio of these
means; intervals of 90 % by resampling rows and orders."""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from itertools import product
from pathlib import Path
from statistics import mean

import numpy as np

from bench.signs import DATA
from spoor.cli.contests import build_webs
from spoor.cli.simulating import shards_in
from spoor.cli.terminal import print_table
from spoor.lab.contest import Row, chosen, read_rows
from spoor.lab.measures import area_by_time
from spoor.lab.runs import prepared_task, run
from spoor.lab.sharded import Sharding
from spoor.lab.task import Task, read_seeds, seed_orders
from spoor.lab.worlds import NAMED

ROWS = (
    "webkb/class=course/relevant,weblogs/code=python/relevant,webkb/class=project/hub,weblogs/lang=en/relevant,"
    "webkb/class=faculty/relevant,weblogs/code=java/hub,webkb/class=student/hub,openoffice/lang=de/relevant"
)
DRAWS = 2000

Areas = dict[int, list[float]]
"""Of one row, by the number of shards: one for each order of the seeds."""


@dataclass(frozen=True)
class Result:
    """Of one run. `by_time` and `elapsed` are 0 in the lab, where no time goes by."""

    row: str
    conditions: str
    order: int
    shards: int
    by_visits: float
    by_time: float = 0.0
    elapsed: float = 0.0

    @property
    def name(self) -> tuple[str, str, int, int]:
        return self.row, self.conditions, self.order, self.shards


def measured(row: Row, webs: Path, conditions: str, order: int, sharding: Sharding, until: float) -> Result:
    """`until` is when one shard is done; 0: this is it."""
    task = Task(webs / row.web.name, row.target, read_seeds(row.seeds), conditions=NAMED[conditions])
    done, against = run(task, "learned", order, sharding=sharding), prepared_task(task).yardstick
    left = np.clip(against.budget - np.flatnonzero(done.found), 0, None)
    name, by_visits = (row.name, conditions, order, sharding.shards), float(left.sum()) / against.budget
    if done.timing is None:
        return Result(*name, by_visits / against.relevant)
    ends, elapsed = done.timing.ends[done.found].tolist(), done.timing.elapsed
    return Result(*name, by_visits / against.relevant, area_by_time(ends, against.relevant, until or elapsed), elapsed)


def ratio(rows: Sequence[Areas], count: int) -> str:
    """The area of so many shards over that of one, and its interval."""
    rng, drawn = random.Random(0), []
    for _ in range(DRAWS):
        picked = [rng.choice(rows) for _ in rows]
        drawn.append(mean(_quotient(row, count, rng.choices(range(len(row[1])), k=len(row[1]))) for row in picked))
    drawn.sort()
    whole = mean(_quotient(row, count, range(len(row[1]))) for row in rows)
    return f"{whole:.3f} [{drawn[DRAWS // 20]:.3f}, {drawn[-DRAWS // 20]:.3f}]"


def _quotient(row: Areas, count: int, orders: Sequence[int]) -> float:
    of_one = sum(row[1][order] for order in orders)
    return sum(row[count][order] for order in orders) / of_one if of_one else 1.0


def print_ratios(results: Sequence[Result], counts: Sequence[int]) -> None:
    """For each row, and over all; of the orders from which one shard and several were run."""
    lines = []
    for name, count in product(dict.fromkeys(result.conditions for result in results), counts[1:]):
        here = [result for result in results if result.conditions == name and result.shards in (1, count)]
        by_row = {row: [result for result in here if result.row == row] for row in {r.row: None for r in here}}
        both = {row: of for row, of in by_row.items() if _orders(of, 1) & _orders(of, count)}
        for label, rows in (*((row, [of]) for row, of in both.items()), ("all", [*both.values()])):
            by_visits = [_areas(row, count, lambda result: result.by_visits) for row in rows]
            by_time = [_areas(row, count, lambda result: result.by_time) for row in rows]
            runs = sum(len(row[count]) for row in by_visits)
            lines.append([name, str(count), label, str(runs), ratio(by_visits, count)])
            lines[-1].append(ratio(by_time, count) if NAMED[name] else "")
    print_table(["conditions", "shards", "row", "orders", "area over visits", "area over time"], lines)


def _orders(row: Sequence[Result], shards: int) -> set[int]:
    return {result.order for result in row if result.shards == shards}


def _areas(row: Sequence[Result], count: int, area: Callable[[Result], float]) -> Areas:
    of = {(result.shards, result.order): area(result) for result in row}
    orders = sorted(_orders(row, 1) & _orders(row, count))
    return {shards: [of[shards, order] for order in orders] for shards in (1, count)}


def main(options: Sequence[str] = ()) -> None:
    parser = argparse.ArgumentParser(prog="python -m bench shards", description=__doc__)
    parser.add_argument("--rows", default=ROWS)
    parser.add_argument("--shards", default="1,4,8", help="numbers of shards; 1 is always run (1,4,8)")
    parser.add_argument("--orders", type=int, default=5, help="orders of the seeds (5)")
    parser.add_argument("--late", type=int, default=0, help="rounds by which mail is late (0)")
    parser.add_argument("--conditions", default="lab,field")
    parser.add_argument("--webs", type=Path, default=Path("out/contest/webs"), help="where `spoor contest` built them")
    parser.add_argument("--results", type=Path, help="JSON lines: what is there is not run again, what is run is added")
    asked = parser.parse_args(options)
    if not (DATA / "contest" / "contest.tsv").exists():
        print(f"shards: no contest in {DATA}; set SPOOR_DATA to the folder that has it")
        return
    rows, counts = chosen(read_rows(DATA), asked.rows.split(",")), sorted({1, *shards_in(asked.shards)})
    build_webs([row.web for row in rows], asked.webs, 2)
    kept = asked.results.read_text().splitlines() if asked.results and asked.results.exists() else []
    done = {result.name: result for result in (Result(**json.loads(line)) for line in kept)}
    for order, row, name, count in product(range(asked.orders), rows, asked.conditions.split(","), counts):
        if (row.name, name, order, count) not in done and order < len(seed_orders(read_seeds(row.seeds), asked.orders)):
            of_one = done.get((row.name, name, order, 1))
            until = 0.0 if of_one is None else of_one.elapsed
            result = measured(row, asked.webs, name, order, Sharding(count, asked.late), until)
            done[result.name] = result
            print(f"{row.name} {name}, order {order}, {count}: {result.by_visits:.3f}", flush=True)
            if asked.results:
                with asked.results.open("a") as file:
                    file.write(json.dumps(asdict(result)) + "\n")
    print_ratios([*done.values()], counts)
