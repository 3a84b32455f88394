"""What shards cost in harvest: `learned` as one crawl of N shards on rows of the contest, against one process. Areas
are normalised, over visits and (in the field) over virtual time; means over orders of the seeds, in each of which the
network is another. Intervals of 90 % by resampling rows and orders."""

from __future__ import annotations

import argparse
import random
from collections.abc import Sequence
from pathlib import Path
from statistics import mean

from bench.signs import DATA
from spoor.cli.contests import build_webs
from spoor.cli.simulating import shards_in
from spoor.cli.terminal import print_table
from spoor.lab.contest import Row, chosen, read_rows
from spoor.lab.measures import beside
from spoor.lab.runs import prepared_task, run, score, scored
from spoor.lab.sharded import Sharding
from spoor.lab.task import Task, read_seeds
from spoor.lab.worlds import NAMED

ROWS = (
    "webkb/class=course/relevant,webkb/class=faculty/relevant,webkb/class=student/hub,webkb/class=project/hub,"
    "openoffice/lang=de/relevant,weblogs/lang=en/relevant,weblogs/code=java/hub,debian-docs/lang=zh/hub"
)
DRAWS = 2000

Areas = dict[int, list[float]]
"""Of one row, by the number of shards: one for each order of the seeds."""


def areas(row: Row, task: Task, counts: Sequence[int], orders: int, late: int) -> tuple[Areas, Areas]:
    """By visits and by time; the second is empty in the lab."""
    by_visits: Areas = {count: [] for count in counts}
    by_time: Areas = {count: [] for count in counts if task.conditions}
    prepared = prepared_task(task)
    for order in range(len(prepared.seed_orders(orders))):
        oracle = score(task, "oracle", order)
        for count in counts:
            done = run(task, "learned", order, sharding=Sharding(count, late))
            figures = beside(scored(task, "learned", order, done), oracle, prepared.yardstick)
            by_visits[count].append(figures.normalised or 0.0)
            if task.conditions:
                by_time[count].append(figures.normalised_time or 0.0)
    print(row.name, {n: [round(a, 3) for a in found] for n, found in by_visits.items()}, flush=True)
    return by_visits, by_time


def ratio(rows: Sequence[Areas], count: int) -> str:
    """The mean area of so many shards over that of one, and its interval."""
    rng, drawn = random.Random(0), []
    for _ in range(DRAWS):
        picked = [rng.choice(rows) for _ in rows]
        orders = [(row, rng.randrange(len(row[1]))) for row in picked for _ in row[1]]
        drawn.append(_quotient([(row[count][order], row[1][order]) for row, order in orders]))
    drawn.sort()
    whole = _quotient([pair for row in rows for pair in zip(row[count], row[1], strict=True)])
    return f"{whole:.3f} [{drawn[DRAWS // 20]:.3f}, {drawn[-DRAWS // 20]:.3f}]"


def _quotient(pairs: Sequence[tuple[float, float]]) -> float:
    of_one = mean(one for _, one in pairs)
    return mean(several for several, _ in pairs) / of_one if of_one else 1.0


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
    lines = []
    for name in asked.conditions.split(","):
        tasks = [
            Task(asked.webs / row.web.name, row.target, read_seeds(row.seeds), conditions=NAMED[name]) for row in rows
        ]
        found = [areas(row, task, counts, asked.orders, asked.late) for row, task in zip(rows, tasks, strict=True)]
        for count in counts[1:]:
            by_time = [row for _, row in found if row]
            lines.append([name, str(count), ratio([row for row, _ in found], count)])
            lines[-1].append(ratio(by_time, count) if by_time else "")
    print_table(["conditions", "shards", "area over visits", "area over time"], lines)
