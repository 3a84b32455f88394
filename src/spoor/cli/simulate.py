"""`spoor simulate`: one strategy on one web, with or without a virtual clock."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from spoor.cli.command import Commands, add_command
from spoor.cli.progress import progress
from spoor.cli.results import check_writable, write_text
from spoor.cli.tables import SCORE_COLUMNS, print_table, score_row
from spoor.cli.task_options import add_task_options, task_from
from spoor.clocked import Timing, run_clocked
from spoor.contest import run as run_strategy
from spoor.course import Course
from spoor.errors import UsageError
from spoor.measure.harvest import Score, measure
from spoor.measure.information import Information, information
from spoor.webs.network import Conditions

EXAMPLES = """
spoor web generate --like thai --pages 30000 --seed 1 --out thai-web
spoor simulate thai-web --strategy soft-focused --target relevant --seeds thai-web/seeds.txt
spoor simulate thai-web --strategy soft-focused --target relevant --seeds thai-web/seeds.txt \\
    --clock --connections 32 --rest 1 --failures 0.02 --json soft.json
"""


def register(commands: Commands) -> None:
    parser = add_command(commands, "simulate", "run one strategy on a web", EXAMPLES, run)
    add_task_options(parser)
    parser.add_argument("--strategy", required=True, metavar="S", help="a name from `spoor strategies`")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the result as JSON")
    clock = parser.add_argument_group("virtual clock")
    usual = Conditions()
    clock.add_argument("--clock", action="store_true", help="let visits take virtual time and hosts rest in between")
    clock.add_argument("--connections", type=int, default=16, metavar="N", help="visits under way at once (16)")
    clock.add_argument("--rest", type=float, default=usual.rest, metavar="S", help="seconds a host rests (1)")
    clock.add_argument("--latency", type=float, default=usual.latency, metavar="S", help="median over hosts (0.2)")
    clock.add_argument("--bandwidth", type=float, default=usual.bandwidth, metavar="B", help="bytes/s, median (500000)")
    clock.add_argument(
        "--failures", type=float, default=usual.failures, metavar="P", help="share of visits that fail (0)"
    )
    clock.add_argument("--clock-seed", type=int, default=usual.seed, metavar="K", help="draws the hosts' speeds (0)")


def run(arguments: argparse.Namespace) -> int:
    check_writable(arguments.json)
    if arguments.clock and arguments.driver == "compiled":
        raise UsageError("--clock needs the simulated driver; leave out --driver compiled")
    course = Course(task_from(arguments))
    against = course.yardstick
    timing = None
    with progress(arguments.strategy, None if not arguments.clock else against.budget) as advance:
        if arguments.clock:
            done, timing = run_clocked(
                course, arguments.strategy, _conditions(arguments), arguments.connections, advance
            )
        else:
            done = run_strategy(course.task, arguments.strategy)
    ceiling = measure("oracle", run_strategy(course.task, "oracle"), against).area
    score = measure(arguments.strategy, done, against, ceiling)
    collected = information(done, timing.elapsed if timing else None)
    print_table(SCORE_COLUMNS, [score_row(score)])
    if timing:
        _show(timing)
    _show_information(collected)
    if arguments.json:
        told = _as_json(score, timing) | {"information": collected.as_json()}
        write_text(arguments.json, json.dumps(told, ensure_ascii=False) + "\n")
    return 0


def _conditions(arguments: argparse.Namespace) -> Conditions:
    for name in ("connections", "latency", "bandwidth"):
        if getattr(arguments, name) <= 0:
            raise UsageError(f"--{name} {getattr(arguments, name)}: must be more than 0")
    if arguments.rest < 0:
        raise UsageError(f"--rest {arguments.rest}: must not be negative")
    if not 0 <= arguments.failures < 1:
        raise UsageError(f"--failures {arguments.failures}: must be at least 0 and below 1")
    speeds = (arguments.latency, arguments.bandwidth, arguments.rest)
    return Conditions(*speeds, arguments.failures, arguments.clock_seed)


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


def _as_json(score: Score, timing: Timing | None) -> dict[str, Any]:
    return score.as_json() | ({"clock": timing.as_json()} if timing else {})
