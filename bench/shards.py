"""What shards cost in harvest: `learned` as one crawl of N shards on rows of the contest, against one shard. The area
below found(visits) and, in the field, below found(time) until one shard is done; means over orders of the seeds, in
each of which the network is another. The figure is the mean over rows of the ratio of these means; intervals of 90 % by
resampling rows and orders."""

from __future__ import annotations

import argparse
import random
from collections.abc import Sequence
from pathlib import Path
from statistics import mean

import numpy as np

from bench.signs import DATA
from spoor.cli.contests import build_webs
from spoor.cli.simulating import shards_in
from spoor.cli.terminal import print_table
from spoor.lab.contest import chosen, read_rows
from spoor.lab.measures import area_by_time
from spoor.lab.runs import prepared_task, run
from spoor.lab.sharded import Sharding
from spoor.lab.task import Task, read_seeds
from spoor.lab.worlds import NAMED

ROWS = (
    "webkb/class=course/relevant,weblogs/code=python/relevant,webkb/class=project/hub,weblogs/lang=en/relevant,"
    "webkb/class=faculty/relevant,weblogs/code=java/hub,webkb/class=student/hub,openoffice/lang=de/relevant"
)
DRAWS = 2000

Areas = dict[int, list[float]]
"""Of one row, by the number of shards: one for each order of the seeds."""


def areas(task: Task, counts: Sequence[int], orders: int, late: int) -> tuple[Areas, Areas]:
    """By visits and by time; the second is empty in the lab."""
    by_visits: Areas = {count: [] for count in counts}
    by_time: Areas = {count: [] for count in counts if task.conditions}
    prepared = prepared_task(task)
    for order in range(len(prepared.seed_orders(orders))):
        until = 0.0
        for count in counts:
            done = run(task, "learned", order, sharding=Sharding(count, late))
            against = prepared.yardstick
            left = np.clip(against.budget - np.flatnonzero(done.found), 0, None)
            by_visits[count].append(float(left.sum()) / against.budget / against.relevant)
            if done.timing is not None:
                until = until or done.timing.elapsed
                by_time[count].append(area_by_time(done.timing.ends[done.found].tolist(), against.relevant, until))
    return by_visits, by_time


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


def main(options: Sequence[str] = ()) -> None:
    parser = argparse.ArgumentParser(prog="python -m bench shards", description=__doc__)
    parser.add_argument("--rows", default=ROWS)
    parser.add_argument("--shards", default="1,4,8", help="numbers of shards; 1 is always run (1,4,8)")
    parser.add_argument("--orders", type=int, default=5, help="orders of the seeds (5)")
    parser.add_argument("--late", type=int, default=0, help="rounds by which mail is late (0)")
    parser.add_argument("--conditions", default="lab,field")
    parser.add_argument("--webs", type=Path, default=Path("out/contest/webs"), help="where `spoor contest` built them")
    asked = parser.parse_args(options)
    if not (DATA / "contest" / "contest.tsv").exists():
        print(f"shards: no contest in {DATA}; set SPOOR_DATA to the folder that has it")
        return
    rows, counts = chosen(read_rows(DATA), asked.rows.split(",")), sorted({1, *shards_in(asked.shards)})
    build_webs([row.web for row in rows], asked.webs, 2)
    found: dict[str, list[tuple[Areas, Areas]]] = {name: [] for name in asked.conditions.split(",")}
    for row in rows:
        for name, so_far in found.items():
            seeds, web = read_seeds(row.seeds), asked.webs / row.web.name
            so_far.append(areas(Task(web, row.target, seeds, conditions=NAMED[name]), counts, asked.orders, asked.late))
            means = [f"{count}: {mean(of):.3f}" for count, of in so_far[-1][0].items()]
            print(f"{row.name} {name} {', '.join(means)}", flush=True)
    lines = []
    for name, so_far in found.items():
        for count in counts[1:]:
            by_time = [by_time for _, by_time in so_far if by_time]
            lines.append([name, str(count), ratio([by_visits for by_visits, _ in so_far], count)])
            lines[-1].append(ratio(by_time, count) if by_time else "")
    print_table(["conditions", "shards", "area over visits", "area over time"], lines)
