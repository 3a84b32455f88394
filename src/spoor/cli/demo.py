"""`spoor demo`: a focused crawl beside breadth-first, on a web made on the spot. No network, under a minute."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from spoor.cli.command import Commands, add_command
from spoor.cli.compare import describe, show
from spoor.cli.progress import progress
from spoor.cli.results import write_text
from spoor.contest import compare, workers
from spoor.course import Task, read_seeds
from spoor.measure.plot import plot_scores
from spoor.webs.generate import Request, generate

EXAMPLES = """
spoor demo
spoor demo --out somewhere/else
"""
PAGES, SEED, BUDGET = 30_000, 1, 6_000
STRATEGIES = (
    "breadth-first",
    "hard-focused",
    "soft-focused",
    "limited-distance:n=2",
    "prioritised-limited-distance:n=2",
)


def register(commands: Commands) -> None:
    parser = add_command(
        commands, "demo", "a focused crawl beside breadth-first, on a web made on the spot", EXAMPLES, run
    )
    parser.add_argument("--out", type=Path, default=Path("out/demo"), metavar="FOLDER", help="(default: out/demo)")


def run(arguments: argparse.Namespace) -> int:
    web = arguments.out / "thai-web"
    if not web.exists():
        with progress("pages of a Thai-like web", PAGES) as advance:
            generate(Request("thai", PAGES, SEED), web, advance)
    task = Task(web, "relevant", read_seeds(web / "seeds.txt"), judge="charset:th", budget=BUDGET)
    with workers(os.cpu_count() or 1) as pool, progress("crawls", len(STRATEGIES) + 1) as advance:
        comparison = compare(task, STRATEGIES, pool, advance)
    show(comparison)
    scores = {score.strategy: score for score in comparison.scores}
    focused, plain = scores["soft-focused"], scores["breadth-first"]
    told = f"soft-focused found {focused.found:,} Thai pages, breadth-first {plain.found:,}"
    print(f"\nWith the same {focused.visits:,} visits {told}.")
    picture = arguments.out / "demo.svg"
    write_text(picture, plot_scores(comparison.scores, comparison.yardstick, describe(comparison)))
    print(f"The curves are in {picture}. Next: spoor compare --help")
    return 0
