"""`spoor reproduce`: the experiment of a paper, its figures beside ours, each condition with yes or no."""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from spoor.cli.command import Commands, add_command, add_workers
from spoor.cli.progress import progress
from spoor.cli.tables import print_table
from spoor.contest import workers
from spoor.errors import UsageError
from spoor.reproduce import language_specific

EXAMPLES = """
spoor reproduce language-specific
spoor reproduce language-specific --seeds 1-3 --keep webs
"""

FEWEST_PAGES = 1000


def register(commands: Commands) -> None:
    parser = add_command(commands, "reproduce", "run the experiment of a paper again", EXAMPLES)
    papers = parser.add_subparsers(metavar="PAPER", required=True)
    first, last = language_specific.SEEDS[0], language_specific.SEEDS[-1]
    paper = add_command(
        papers, "language-specific", "language-specific crawling on a simulator (2005)", EXAMPLES, run_language_specific
    )
    paper.add_argument("--seeds", default=f"{first}-{last}", metavar="A-B", help=f"webs to generate ({first}-{last})")
    paper.add_argument("--pages", type=int, default=language_specific.PAGES, metavar="N", help="pages of a web (30000)")
    paper.add_argument("--keep", type=Path, metavar="FOLDER", help="keep the webs there (default: a temporary folder)")
    add_workers(paper)


def run_language_specific(arguments: argparse.Namespace) -> int:
    seeds = _range(arguments.seeds)
    if arguments.pages < FEWEST_PAGES:
        raise UsageError(f"--pages {arguments.pages}: at least {FEWEST_PAGES} are needed to see anything")
    with (
        tempfile.TemporaryDirectory() as scratch,
        workers(arguments.workers) as pool,
        progress("webs crawled", 2 * len(seeds)) as advance,
    ):
        folder = arguments.keep or Path(scratch)
        experiment = language_specific.reproduce(seeds, arguments.pages, folder, pool, advance)
    return _report(experiment)


def _report(experiment: language_specific.Experiment) -> int:
    print("published:")
    for line in language_specific.PUBLISHED:
        print(f"  {line}")
    title = f"\nours, seeds {experiment.seeds[0]}–{experiment.seeds[-1]}, mean (range):"
    rows = language_specific.table("Thai-like", experiment.thai)
    print_table(language_specific.COLUMNS, rows + language_specific.table("Japanese-like", experiment.japanese), title)
    conditions = language_specific.conditions(experiment)
    print("\nconditions:")
    for condition in conditions:
        print(f"  {condition.line()}")
    return 0 if all(condition.holds for condition in conditions) else 1


def _range(text: str) -> list[int]:
    first, _, last = text.partition("-")
    try:
        seeds = list(range(int(first), int(last or first) + 1))
    except ValueError:
        seeds = []
    if not seeds:
        raise UsageError(f"--seeds {text}: give two numbers, as in 301-310")
    return seeds
