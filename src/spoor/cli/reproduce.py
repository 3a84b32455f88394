"""`spoor reproduce`: the experiment of a paper, its figures beside ours, each condition with yes or no."""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Sequence
from pathlib import Path

from spoor.cli import reproduce_ahmm, reproduce_core
from spoor.cli.command import Commands, add_command
from spoor.cli.contest_webs import build_recorded
from spoor.cli.progress import progress
from spoor.cli.reproduce_options import add_options, check_pages, in_data_folder, report_conditions, seeds_from
from spoor.cli.tables import print_table
from spoor.contest import workers
from spoor.errors import UsageError
from spoor.reproduce import correlation, correlation_tables, language_specific, mongolian
from spoor.reproduce.mongolian_tables import tables
from spoor.webs.generate import Request, generate

EXAMPLES = """
spoor reproduce language-specific
spoor reproduce language-specific --seeds 1-3 --keep webs
spoor reproduce mongolian --seeds 1-3
spoor reproduce correlation --seeds 1-3 --keep webs
spoor reproduce ahmm --seeds 1-3
spoor reproduce core --seeds 1-5 --dictionary english-hindi.tsv
"""

WORDS = Path("texts/mongolian-menksoft-words.txt")
RECORDED = Path("webs/wikispeedia")
"""In the data folder, where there is one."""
FIELD = "subject.Science.Biology"
"""Of the recorded web."""


def register(commands: Commands) -> None:
    parser = add_command(commands, "reproduce", "run the experiment of a paper again", EXAMPLES)
    papers = parser.add_subparsers(metavar="PAPER", required=True)
    paper = add_command(
        papers, "language-specific", "language-specific crawling on a simulator (2005)", EXAMPLES, run_language_specific
    )
    add_options(paper, language_specific.SEEDS, language_specific.PAGES)
    paper = add_command(
        papers, "mongolian", "Mongolian pages by hyperlink correlation degree (2014)", EXAMPLES, run_mongolian
    )
    add_options(paper, mongolian.SEEDS, mongolian.PAGES)
    paper.add_argument("--words", type=Path, metavar="FILE", help="Mongolian words, one a line, for the pages")
    paper = add_command(
        papers, "correlation", "pages of a field by correlation analysis (2014)", EXAMPLES, run_correlation
    )
    add_options(paper, correlation.SEEDS, correlation.PAGES)
    paper.add_argument("--web", type=Path, metavar="WEB", help="a web with texts, instead of the usual one")
    paper.add_argument("--field", metavar="LABEL", help="the label of the wanted pages; goes with --web")
    reproduce_ahmm.register(papers)
    reproduce_core.register(papers)


def run_mongolian(arguments: argparse.Namespace) -> int:
    seeds = seeds_from(arguments.seeds)
    check_pages(arguments.pages)
    request = Request("mongolian", arguments.pages, seeds[0], text=True, words=_words(arguments.words))
    with (
        tempfile.TemporaryDirectory() as scratch,
        workers(arguments.workers) as pool,
        progress("webs crawled", len(seeds)) as advance,
    ):
        experiment = mongolian.reproduce(seeds, request, arguments.keep or Path(scratch), pool, advance)
    words = f"the words of {request.words}" if request.words else "the generator's own words; give a list with --words"
    print(f"Mongolian pages are made of {words}")
    print(f"ours: seeds {seeds[0]}–{seeds[-1]}, mean; a tick is a twelfth of the visits")
    for table in tables(experiment):
        print_table(table.columns, table.rows, f"\n{table.title}")
    return report_conditions(mongolian.conditions(experiment))


def _words(given: Path | None) -> Path | None:
    """The list asked for, that of the data folder, or none."""
    usual = in_data_folder(WORDS)
    return given or (usual if usual.exists() else None)


def run_correlation(arguments: argparse.Namespace) -> int:
    seeds = seeds_from(arguments.seeds)
    check_pages(arguments.pages)
    with tempfile.TemporaryDirectory() as scratch, workers(arguments.workers) as pool:
        grounds = _grounds(arguments, seeds, arguments.keep or Path(scratch))
        with progress("draws crawled", len(seeds)) as advance:
            experiment = correlation.reproduce(grounds, pool, advance)
    ground = grounds[seeds[0]]
    print(f"the field: pages labelled {ground.field} of the web {ground.web.name}")
    title = f"\nours: seeds {seeds[0]}–{seeds[-1]}, mean (range)"
    print_table(correlation_tables.COLUMNS, correlation_tables.collected_rows(experiment), title)
    print_table(correlation_tables.AREAS, correlation_tables.area_rows(experiment), "\nhow soon:")
    return report_conditions(correlation.conditions(experiment))


def _grounds(arguments: argparse.Namespace, seeds: Sequence[int], folder: Path) -> dict[int, correlation.Ground]:
    """The web asked for, the recorded one of the data folder, or one generated for each seed."""
    if (arguments.web is None) != (arguments.field is None):
        raise UsageError("--web and --field go together: a web, and the label of the wanted pages in it")
    if arguments.web is not None:
        return dict.fromkeys(seeds, correlation.Ground(arguments.web, arguments.field))
    if (recorded := in_data_folder(RECORDED)).exists():
        if not (web := folder / RECORDED.name).exists():
            build_recorded(recorded, web, arguments.workers)
        return dict.fromkeys(seeds, correlation.Ground(web, FIELD))
    return {seed: correlation.Ground(_topical(folder, arguments.pages, seed), "relevant") for seed in seeds}


def _topical(folder: Path, pages: int, seed: int) -> Path:
    web = folder / f"topical-{seed}"
    if not web.exists():
        generate(Request("topical", pages, seed, text=True), web, lambda pages: None)
    return web


def run_language_specific(arguments: argparse.Namespace) -> int:
    seeds = seeds_from(arguments.seeds)
    check_pages(arguments.pages)
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
    return report_conditions(language_specific.conditions(experiment))
