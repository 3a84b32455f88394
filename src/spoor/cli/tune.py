"""`spoor tune`: try parameters of a strategy on a web, and see which suit it."""

from __future__ import annotations

import argparse
import json
import shlex
from pathlib import Path
from typing import get_args

from spoor import assembly
from spoor.cli.command import Commands, add_command, add_workers
from spoor.cli.compare import describe
from spoor.cli.progress import progress
from spoor.cli.results import check_writable, write_text
from spoor.cli.tables import SCORE_COLUMNS, print_table, score_row
from spoor.cli.task_options import add_task_options, task_from
from spoor.contest import Comparison, workers
from spoor.errors import UsageError
from spoor.tune import Objective, grid, simplex, tune, value

EXAMPLES = """
spoor web generate --like mongolian --text --pages 5000 --seed 1 --out mongolian-web
spoor tune mongolian-web --strategy n-crawl:language=mn-Mong --target relevant \\
    --seeds mongolian-web/seeds.txt --budget 300 --simplex t,s,d --step 0.25
spoor tune mongolian-web --strategy prioritised-limited-distance --target relevant \\
    --seeds mongolian-web/seeds.txt --vary n=0,1,2,3,4 --objective normalised
"""
MOST = 500
SHOWN = 10


def register(commands: Commands) -> None:
    parser = add_command(commands, "tune", "find parameters of a strategy that suit a web", EXAMPLES, run)
    add_task_options(parser)
    parser.add_argument("--strategy", required=True, metavar="S", help="a name from `spoor strategies`")
    parser.add_argument("--simplex", metavar="A,B,…", help="parameters that are weights and add up to 1")
    parser.add_argument("--step", type=float, default=0.1, metavar="X", help="between two weights (0.1)")
    parser.add_argument(
        "--vary", action="append", default=[], metavar="NAME=V,V,…", help="values to try; may be given several times"
    )
    parser.add_argument(
        "--objective", choices=get_args(Objective), default="ar", help="accuracy rate at the budget (ar), or area"
    )
    parser.add_argument("--most", type=int, default=MOST, metavar="N", help=f"refuse more combinations ({MOST})")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all results as JSON, best first")
    add_workers(parser)


def run(arguments: argparse.Namespace) -> int:
    check_writable(arguments.json)
    strategies = _combinations(arguments)
    task = task_from(arguments)
    with workers(arguments.workers) as pool, progress("combinations", len(strategies) + 1) as advance:
        tried = tune(task, strategies, arguments.objective, pool, advance)
    _show(tried, arguments.objective)
    print(f"\nrun the best with:\n  {_command(arguments, tried.scores[0].strategy)}")
    if arguments.json:
        told = tried.as_json() | {"objective": arguments.objective}
        write_text(arguments.json, json.dumps(told, ensure_ascii=False) + "\n")
    return 0


def _combinations(arguments: argparse.Namespace) -> list[str]:
    """Refuses what no strategy can be made of before anything runs."""
    if not arguments.simplex and not arguments.vary:
        raise UsageError("nothing to tune; name weights with --simplex t,s,d or values with --vary n=1,2,3")
    varied = dict(map(_values, arguments.vary))
    names = [name.strip() for name in arguments.simplex.split(",")] if arguments.simplex else []
    twice = [name for name in names if name in varied or names.count(name) > 1]
    if twice or len(varied) < len(arguments.vary):
        raise UsageError(f"{twice[0] if twice else 'a parameter'} is given twice; name each in one --simplex or --vary")
    weights = simplex(names, arguments.step) if names else [()]
    strategies = grid(arguments.strategy, varied, weights)
    for strategy in strategies:
        assembly.strategy_named(strategy)
    if len(strategies) > arguments.most:
        remedy = f"try fewer values, or allow them with --most {len(strategies)}"
        raise UsageError(f"{len(strategies):,} combinations are more than {arguments.most:,}; {remedy}")
    return strategies


def _values(text: str) -> tuple[str, list[str]]:
    name, _, values = text.partition("=")
    found = [value.strip() for value in values.split(",") if value.strip()]
    if not name or not found:
        raise UsageError(f"--vary {text}: give a parameter and its values, as in n=1,2,3")
    return name.strip(), found


def _show(tried: Comparison, objective: Objective) -> None:
    best = tried.scores[:SHOWN]
    rows = [[*score_row(score), f"{value('ar', score, tried.yardstick):.3f}"] for score in best]
    among = f"the best {len(best)} of {len(tried.scores)} by {objective}"
    print_table([*SCORE_COLUMNS, "ar"], rows, f"{describe(tried)}; {among}")


def _command(arguments: argparse.Namespace, strategy: str) -> str:
    """As it can be pasted: the same task, one strategy."""
    words = ["spoor", "simulate", arguments.web, "--strategy", strategy, "--target", arguments.target]
    words += ["--seeds", arguments.seeds, "--judge", arguments.judge]
    words += ["--budget", arguments.budget] if arguments.budget else []
    words += ["--unrecorded", arguments.unrecorded] if arguments.unrecorded else []
    return shlex.join(map(str, words))
