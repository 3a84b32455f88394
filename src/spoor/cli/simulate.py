"""`spoor simulate`: one strategy on one web, with or without a virtual clock."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from spoor.cli.command import Commands, add_command
from spoor.cli.conditions_options import add_conditions, conditions_from
from spoor.cli.progress import progress
from spoor.cli.results import check_writable, write_text
from spoor.cli.tables import print_table, score_table
from spoor.cli.task_options import add_task_options, task_from
from spoor.contest import compared, course, scored
from spoor.contest import run as run_strategy
from spoor.contest import score as score_of
from spoor.measure.information import Information, information
from spoor.measure.timing import Timing

EXAMPLES = """
spoor web generate --like thai --pages 30000 --seed 1 --out thai-web
spoor simulate thai-web --strategy soft-focused --target relevant --seeds thai-web/seeds.txt
spoor simulate thai-web --strategy soft-focused --target relevant --seeds thai-web/seeds.txt \\
    --clock --connections 32 --rest 1 --failures 0.02 --json soft.json
spoor simulate thai-web --strategy soft-focused --target relevant --seeds thai-web/seeds.txt --conditions field
"""


def register(commands: Commands) -> None:
    parser = add_command(commands, "simulate", "run one strategy on a web", EXAMPLES, run)
    add_task_options(parser)
    parser.add_argument("--strategy", required=True, metavar="S", help="a name from `spoor strategies`")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the result as JSON")
    add_conditions(parser)


def run(arguments: argparse.Namespace) -> int:
    check_writable(arguments.json)
    task, strategy = task_from(arguments, conditions_from(arguments)), arguments.strategy
    orders = range(len(course(task).seed_orders(arguments.orders or 1)))
    budget = course(task).yardstick.budget * len(orders)
    with progress(strategy, budget if task.conditions else None) as advance:
        runs = [run_strategy(task, strategy, order, advance) for order in orders]
    own = [scored(task, strategy, order, done) for order, done in zip(orders, runs, strict=True)]
    oracles = [score_of(task, "oracle", order) for order in orders]
    score, first = compared(task, {strategy: own, "oracle": oracles}).scores[0], runs[0]
    collected = information(first, first.timing.elapsed if first.timing else None)
    print_table(*score_table([score]))
    if first.timing:
        _show(first.timing)
    _show_information(collected)
    if arguments.json:
        clock = {"clock": first.timing.as_json()} if first.timing else {}
        told = score.as_json() | clock | {"information": collected.as_json()}
        write_text(arguments.json, json.dumps(told, ensure_ascii=False) + "\n")
    return 0


def _show(timing: Timing) -> None:
    polite = timing.politeness
    print(f"virtual time   {timing.elapsed:,.1f} s, {timing.pages_per_second:,.2f} pages/s")
    kept = "no host was visited twice" if polite.tightest is None else f"tightest {polite.tightest:.3f} of the rest due"
    print(
        f"politeness     {polite.visits:,} visits to {polite.hosts:,} hosts, {len(polite.violations)} too soon ({kept})"
    )


def _show_information(collected: Information) -> None:
    everything, kept = collected.downloaded, collected.stored
    told = [f"IS {everything.total:,.1f} MB = AIS {everything.accurate:,.1f} + FIS {everything.fault:,.1f}"]
    told += [] if everything.accuracy is None else [f"AR {everything.accuracy:.3f}"]
    told += [] if kept.accuracy is None else [f"AR of the {kept.pages:,} stored {kept.accuracy:.3f}"]
    told += [] if collected.speed is None else [f"CS {collected.speed:,.1f} MB/h"]
    print(f"information    {'; '.join(told)}")
