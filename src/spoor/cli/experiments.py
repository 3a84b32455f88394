"""`spoor reproduce`: the experiment of a paper, its figures beside ours, each condition with yes or no."""

from __future__ import annotations

import argparse
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

from spoor.cli.command import SUMMARIES, Commands, add_command, add_workers
from spoor.cli.contests import build_recorded
from spoor.cli.terminal import print_table, progress
from spoor.errors import UsageError
from spoor.lab.comparison import workers
from spoor.lab.generate import generate
from spoor.lab.generate.chance import Request
from spoor.lab.papers import ahmm, core, correlation, language_specific, mongolian
from spoor.lab.papers import ahmm as ahmm_tables
from spoor.lab.papers import core as core_tables
from spoor.lab.papers import correlation as correlation_tables
from spoor.lab.papers.experiment import Condition
from spoor.lab.papers.mongolian import tables

# What the experiments of all papers are asked for and how they end: seeds, pages, a folder; conditions.


FEWEST_PAGES = 1000


def add_options(paper: argparse.ArgumentParser, seeds: Sequence[int], pages: int) -> None:
    usual = f"{seeds[0]}-{seeds[-1]}"
    paper.add_argument("--seeds", default=usual, metavar="A-B", help=f"webs to generate ({usual})")
    paper.add_argument("--pages", type=int, default=pages, metavar="N", help=f"pages of a web ({pages})")
    paper.add_argument("--keep", type=Path, metavar="FOLDER", help="keep the webs there (default: a temporary folder)")
    add_workers(paper)


def check_pages(pages: int) -> None:
    if pages < FEWEST_PAGES:
        raise UsageError(f"--pages {pages}: at least {FEWEST_PAGES} are needed to see anything")


def seeds_from(text: str) -> list[int]:
    first, _, last = text.partition("-")
    try:
        seeds = list(range(int(first), int(last or first) + 1))
    except ValueError:
        seeds = []
    if not seeds:
        raise UsageError(f"--seeds {text}: give two numbers, as in 301-310")
    return seeds


def in_data_folder(path: Path) -> Path:
    """Where there is one."""
    return Path(os.environ.get("SPOOR_DATA") or "../shared") / path


def report_conditions(conditions: Sequence[Condition]) -> int:
    """The exit code: 0 when all hold."""
    print("\nconditions:")
    for condition in conditions:
        print(f"  {condition.line()}")
    return 0 if all(condition.holds for condition in conditions) else 1


# `spoor reproduce ahmm`: an adaptive hidden Markov model, on webs whose anchors tell little, and much.


REPRODUCE_AHMM_EXAMPLES = """
spoor reproduce ahmm
spoor reproduce ahmm --seeds 1-3
"""


def register_reproduce_ahmm(papers: Commands) -> None:
    paper = add_command(
        papers,
        "ahmm",
        "a crawler with an adaptive hidden Markov model (2016)",
        REPRODUCE_AHMM_EXAMPLES,
        run_reproduce_ahmm,
    )
    add_options(paper, ahmm.SEEDS, ahmm.PAGES)


def run_reproduce_ahmm(arguments: argparse.Namespace) -> int:
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


# `spoor reproduce core`: ontology, rules and a dictionary, on webs partly in Hindi.


REPRODUCE_CORE_EXAMPLES = """
spoor reproduce core
spoor reproduce core --seeds 1-5
spoor reproduce core --seeds 1-5 --dictionary english-hindi.tsv
"""

DICTIONARY = Path("texts/english-hindi.tsv")
"""In the data folder, where there is one."""


def register_reproduce_core(papers: Commands) -> None:
    paper = add_command(
        papers, "core", "an ontology, rules and two languages", REPRODUCE_CORE_EXAMPLES, run_reproduce_core
    )
    add_options(paper, core.SEEDS, core.PAGES)
    told = "English words, a tab, Hindi senses with | between: for the pages and for the crawler"
    paper.add_argument("--dictionary", type=Path, metavar="FILE", help=told)


def run_reproduce_core(arguments: argparse.Namespace) -> int:
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


# `spoor reproduce`: the experiment of a paper, its figures beside ours, each condition with yes or no.


REPRODUCE_EXAMPLES = """
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


def register_reproduce(commands: Commands) -> None:
    parser = add_command(commands, "reproduce", SUMMARIES["reproduce"], REPRODUCE_EXAMPLES)
    papers = parser.add_subparsers(metavar="PAPER", required=True)
    paper = add_command(
        papers,
        "language-specific",
        "language-specific crawling on a simulator (2005)",
        REPRODUCE_EXAMPLES,
        run_language_specific,
    )
    add_options(paper, language_specific.SEEDS, language_specific.PAGES)
    paper = add_command(
        papers, "mongolian", "Mongolian pages by hyperlink correlation degree (2014)", REPRODUCE_EXAMPLES, run_mongolian
    )
    add_options(paper, mongolian.SEEDS, mongolian.PAGES)
    paper.add_argument("--words", type=Path, metavar="FILE", help="Mongolian words, one a line, for the pages")
    paper = add_command(
        papers, "correlation", "pages of a field by correlation analysis (2014)", REPRODUCE_EXAMPLES, run_correlation
    )
    add_options(paper, correlation.SEEDS, correlation.PAGES)
    paper.add_argument("--web", type=Path, metavar="WEB", help="a web with texts, instead of the usual one")
    paper.add_argument("--field", metavar="LABEL", help="the label of the wanted pages; goes with --web")
    register_reproduce_ahmm(papers)
    register_reproduce_core(papers)


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
