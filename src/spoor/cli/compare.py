"""`spoor compare`: several strategies on one web, side by side."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from spoor.cli.command import Commands, add_command, add_workers
from spoor.cli.conditions_options import add_conditions, conditions_from
from spoor.cli.progress import progress
from spoor.cli.results import check_writable, write_text
from spoor.cli.tables import print_table, score_table
from spoor.cli.task_options import add_task_options, names_in, task_from
from spoor.contest import Comparison, compare, course, workers
from spoor.measure.plot import plot_scores

EXAMPLES = """
spoor web generate --like thai --pages 30000 --seed 1 --out thai-web
spoor compare thai-web --target relevant --seeds thai-web/seeds.txt --strategies breadth-first,soft-focused
spoor compare thai-web --target relevant --seeds thai-web/seeds.txt --judge charset:th \\
    --strategies hard-focused,limited-distance:n=2,prioritised-limited-distance:n=2 --json r.json --plot r.svg
spoor compare thai-web --target relevant --seeds thai-web/seeds.txt --strategies breadth-first,soft-focused \\
    --conditions field --orders 5
"""


def register(commands: Commands) -> None:
    parser = add_command(
        commands, "compare", "run several strategies on a web and see who finds more, sooner", EXAMPLES, run
    )
    add_task_options(parser)
    add_conditions(parser)
    parser.add_argument("--strategies", required=True, metavar="A,B,…", help="names from `spoor strategies`")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the results as JSON")
    parser.add_argument("--plot", type=Path, metavar="FILE.svg", help="draw harvest, coverage (by time, too) and queue")
    add_workers(parser)


def run(arguments: argparse.Namespace) -> int:
    check_writable(arguments.json, arguments.plot)
    task = task_from(arguments, conditions_from(arguments))
    strategies = names_in(arguments.strategies)
    orders = arguments.orders or 1
    runs = len({*strategies, "oracle"}) * len(course(task).seed_orders(orders))
    with workers(arguments.workers) as pool, progress("runs", runs) as advance:
        comparison = compare(task, strategies, pool, advance, orders)
    show(comparison)
    if arguments.json:
        write_text(arguments.json, json.dumps(comparison.as_json(), ensure_ascii=False) + "\n")
    if arguments.plot:
        write_text(arguments.plot, plot_scores(comparison.scores, comparison.yardstick, describe(comparison)))
    return 0


def describe(comparison: Comparison) -> str:
    against = comparison.yardstick
    reach = f"{against.relevant:,} of {comparison.reachable:,} reachable pages are wanted"
    return f"{comparison.task.target} in {comparison.task.web.name}: {reach}, budget {against.budget:,} visits"


def show(comparison: Comparison) -> None:
    print_table(*score_table(comparison.scores), describe(comparison))
