"""`spoor reproduce ahmm`: an adaptive hidden Markov model, on webs whose anchors tell little, and much."""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from spoor.cli.command import Commands, add_command
from spoor.cli.progress import progress
from spoor.cli.reproduce_options import add_options, check_pages, report_conditions, seeds_from
from spoor.cli.tables import print_table
from spoor.contest import workers
from spoor.reproduce import ahmm, ahmm_tables

EXAMPLES = """
spoor reproduce ahmm
spoor reproduce ahmm --seeds 1-3
"""


def register(papers: Commands) -> None:
    paper = add_command(papers, "ahmm", "a crawler with an adaptive hidden Markov model (2016)", EXAMPLES, run)
    add_options(paper, ahmm.SEEDS, ahmm.PAGES)


def run(arguments: argparse.Namespace) -> int:
    seeds = seeds_from(arguments.seeds)
    check_pages(arguments.pages)
    with (
        tempfile.TemporaryDirectory() as scratch,
        workers(arguments.workers) as pool,
        progress("webs crawled", len(ahmm.WEBS) * len(seeds)) as advance,
    ):
        experiment = ahmm.reproduce(seeds, arguments.pages, arguments.keep or Path(scratch), pool, advance)
    title = f"ours: seeds {seeds[0]}–{seeds[-1]}, mean (range)"
    print_table(ahmm_tables.PRECISION, ahmm_tables.precision_rows(experiment), title)
    rows = ahmm_tables.ablation_rows(experiment)
    print_table(
        ahmm_tables.PARTS, rows, "\nwhat each part contributes: precision, key expected where no other is named"
    )
    print("", *ahmm_tables.findings(experiment), sep="\n")
    return report_conditions(ahmm.conditions(experiment))
