"""`spoor reproduce core`: ontology, rules and a dictionary, on webs partly in Hindi."""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from spoor.cli.command import Commands, add_command
from spoor.cli.progress import progress
from spoor.cli.reproduce_options import add_options, check_pages, in_data_folder, report_conditions, seeds_from
from spoor.cli.tables import print_table
from spoor.contest import workers
from spoor.reproduce import core, core_tables
from spoor.webs.generate import Request

EXAMPLES = """
spoor reproduce core
spoor reproduce core --seeds 1-5
spoor reproduce core --seeds 1-5 --dictionary english-hindi.tsv
"""

DICTIONARY = Path("texts/english-hindi.tsv")
"""In the data folder, where there is one."""


def register(papers: Commands) -> None:
    paper = add_command(papers, "core", "an ontology, rules and two languages", EXAMPLES, run)
    add_options(paper, core.SEEDS, core.PAGES)
    told = "English words, a tab, Hindi senses with | between: for the pages and for the crawler"
    paper.add_argument("--dictionary", type=Path, metavar="FILE", help=told)


def run(arguments: argparse.Namespace) -> int:
    seeds = seeds_from(arguments.seeds)
    check_pages(arguments.pages)
    request = Request("courses", arguments.pages, seeds[0], text=True, words=_dictionary(arguments.dictionary))
    with (
        tempfile.TemporaryDirectory() as scratch,
        workers(arguments.workers) as pool,
        progress("seeds crawled", len(seeds)) as advance,
    ):
        experiment = core.reproduce(seeds, request, arguments.keep or Path(scratch), pool, advance)
    words = request.words or "the generator's own; give one with --dictionary"
    print("published:", *core.PUBLISHED, sep="\n  ")
    print(f"\nthe dictionary: {words}")
    title = f"\nours: seeds {seeds[0]}–{seeds[-1]}, {experiment.budget} visits, mean (range)"
    print_table(core_tables.FOUND, core_tables.found_rows(experiment), title)
    print_table(core_tables.CURVE, core_tables.curve_rows(experiment), "\nharvest curves, mean relevant pages found:")
    return report_conditions(core.conditions(experiment))


def _dictionary(given: Path | None) -> Path | None:
    """The one asked for, that of the data folder, or none."""
    usual = in_data_folder(DICTIONARY)
    return given or (usual if usual.exists() else None)
