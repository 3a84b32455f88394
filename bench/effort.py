"""Requests against time: `learned` under field conditions with efforts from 0 (fewest requests) to 1 (fastest), on rows
of the contest. Areas are shares of the relevant pages, over the visits of the budget and over its virtual time at 1."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from statistics import mean

from bench.signs import DATA
from spoor import registry
from spoor.cli.contests import build_webs
from spoor.cli.terminal import print_table
from spoor.crawl import Crawl
from spoor.events import Failed, Redirected, Visited
from spoor.frontier.entry import HostRules
from spoor.frontier.frontier import Frontier
from spoor.frontier.memory import MemoryStore
from spoor.lab.contest import Row, chosen, read_rows
from spoor.lab.simulated import simulate
from spoor.lab.task import PreparedTask, Task, read_seeds
from spoor.lab.worlds import FIELD, Network
from spoor.ordering.admissions import AllOf, RespectNofollow
from spoor.pricing import Limits
from spoor.strategy import Strategy

EFFORTS = (0.0, 0.2, 0.5, 0.8, 1.0)
ROWS = "webkb/class=student,openoffice/lang=de,weblogs/lang=en,weblogs/code=java,debian-docs/lang=zh"


def found_at(row: Row, webs: Path, effort: float) -> tuple[PreparedTask, list[tuple[float, bool]]]:
    """The end of every visit in virtual seconds, and whether it brought a relevant page."""
    prepared_task = PreparedTask(Task(webs / row.web.name, row.target, read_seeds(row.seeds), conditions=FIELD))
    named = registry.strategy("learned", prepared_task.judge())
    strategy = Strategy(
        named.judge, named.scorer, named.trail, AllOf((RespectNofollow(), named.admission)), named.upkeep
    )
    rules = HostRules(delay=FIELD.delay, ask_first=True)
    limits = Limits(visits=prepared_task.yardstick.budget, effort=effort)
    crawl, world = Crawl(strategy, Frontier(MemoryStore(), rules), limits), prepared_task.world(with_content=True)
    crawl.begin(prepared_task.web.urls[number] for number in prepared_task.seeds)
    events = simulate(crawl, Network(world, FIELD), FIELD.connections)
    visits = (e for e in events if isinstance(e, Visited | Redirected | Failed) and e.visit.purpose == "page")
    return prepared_task, [(e.at, isinstance(e, Visited) and world.truth(e.visit.url)) for e in visits]


def main(options: Sequence[str] = ()) -> None:
    parser = argparse.ArgumentParser(prog="python -m bench effort", description=__doc__)
    parser.add_argument("--rows", default=ROWS)
    parser.add_argument("--webs", type=Path, default=Path("out/contest/webs"), help="where `spoor contest` built them")
    asked = parser.parse_args(options)
    if not (DATA / "contest" / "contest.tsv").exists():
        print(f"effort: no contest in {DATA}; set SPOOR_DATA to the folder that has it")
        return
    rows = chosen(read_rows(DATA), asked.rows.split(","))
    build_webs([row.web for row in rows], asked.webs, 2)
    lines = []
    for effort in EFFORTS:
        areas, shares, elapsed, halves = [], [], [], []
        for row in rows:
            prepared_task, visits = found_at(row, asked.webs, effort)
            against = prepared_task.yardstick
            finds = [place for place, (_, found) in enumerate(visits) if found]
            areas.append(sum(against.budget - place for place in finds) / against.relevant / against.budget)
            shares.append(len(finds) / against.relevant)
            elapsed.append(visits[-1][0])
            half = -(-against.relevant // 2)
            halves.append(visits[finds[half - 1]][0] if len(finds) >= half else None)
        reached = [half for half in halves if half is not None]
        lines.append(
            [
                f"{effort:g}",
                f"{mean(areas):.3f}",
                f"{mean(shares):.3f}",
                f"{mean(elapsed):,.0f}",
                f"{len(reached)} of {len(rows)}",
                f"{mean(reached):,.0f}" if reached else "",
            ]
        )
    columns = ("effort", "area by visits", "found", "virtual s", "half found", "half at, s")
    print_table(columns, lines, f"learned in the field, means over {len(rows)} rows")


if __name__ == "__main__":
    main()
