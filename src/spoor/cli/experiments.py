"""`spoor reproduce`: the experiment of a paper, its figures beside ours, each condition with yes or no."""

from __future__ import annotations

import argparse
import os
import tempfile
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from spoor.cli.contests import build_recorded
from spoor.cli.terminal import print_json, print_table, progress
from spoor.errors import UsageError
from spoor.lab.comparison import workers
from spoor.lab.generate import generate
from spoor.lab.generate.chance import Request
from spoor.lab.papers import ahmm, core, correlation, language_specific, mongolian
from spoor.lab.papers.experiment import Condition
from spoor.lab.papers.mongolian import Table

# What the experiments of all papers are asked for and how they end: seeds, pages, a folder; conditions.


FEWEST_PAGES = 1000


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


def _ours(seeds: Sequence[int]) -> str:
    return f"ours: seeds {seeds[0]}–{seeds[-1]}, mean (range)"


def in_data_folder(path: Path) -> Path:
    """Where there is one."""
    return Path(os.environ.get("SPOOR_DATA") or "../shared") / path


def report(parts: Sequence[str | Table], conditions: Sequence[Condition], as_json: bool) -> int:
    """Prints tables with what is said before and after them, and the conditions. The exit code: 0 when all hold."""
    if as_json:
        tables = [asdict(part) for part in parts if isinstance(part, Table)]
        checked = [asdict(condition) | {"holds": condition.holds} for condition in conditions]
        print_json({"tables": tables, "conditions": checked})
    else:
        _show(parts, conditions)
    return 0 if all(condition.holds for condition in conditions) else 1


def _show(parts: Sequence[str | Table], conditions: Sequence[Condition]) -> None:
    for part in parts:
        if isinstance(part, Table):
            print_table(part.columns, part.rows, f"\n{part.title}")
        else:
            print(part)
    print("\nconditions:")
    for condition in conditions:
        print(f"  {condition.line()}")


# `spoor reproduce ahmm`: an adaptive hidden Markov model, on webs whose anchors tell little, and much.


def run_ahmm(arguments: argparse.Namespace) -> int:
    seeds = seeds_from(arguments.seeds)
    check_pages(arguments.pages)
    with (
        tempfile.TemporaryDirectory() as scratch,
        workers(arguments.workers) as pool,
        progress("webs crawled", len(ahmm.WEBS) * len(seeds)) as advance,
    ):
        experiment = ahmm.reproduce(seeds, arguments.pages, arguments.keep or Path(scratch), pool, advance)
    parts = (
        Table(_ours(seeds), ahmm.PRECISION, ahmm.precision_rows(experiment)),
        Table(
            "contribution of each part: precision, key expected where no other is named",
            ahmm.PARTS,
            ahmm.ablation_rows(experiment),
        ),
        "\n".join(["", *ahmm.findings(experiment)]),
    )
    return report(parts, ahmm.conditions(experiment), arguments.json)


# `spoor reproduce core`: ontology, rules and a dictionary, on webs partly in Hindi.


DICTIONARY = Path("texts/english-hindi.tsv")
"""In the data folder, where there is one."""


def run_core(arguments: argparse.Namespace) -> int:
    seeds = seeds_from(arguments.seeds)
    check_pages(arguments.pages)
    request = Request("courses", arguments.pages, seeds[0], text=True, words=_dictionary(arguments.dictionary))
    with (
        tempfile.TemporaryDirectory() as scratch,
        workers(arguments.workers) as pool,
        progress("seeds crawled", len(seeds)) as advance,
    ):
        folder = arguments.keep or Path(scratch)
        experiment = core.reproduce(seeds, request, folder, pool, advance, arguments.translator)
    words = request.words or "the generator's own; give one with --dictionary"
    words = f"{words}; ML-CORE reads by the translator of {arguments.translator}" if arguments.translator else words
    parts = (
        "\n  ".join(["published:", *core.PUBLISHED]),
        f"\nthe dictionary: {words}",
        Table(f"{_ours(seeds)}, {experiment.budget} fetches", core.FOUND, core.found_rows(experiment)),
        Table("harvest curves, mean relevant pages found:", core.CURVE, core.curve_rows(experiment)),
    )
    return report(parts, core.conditions(experiment), arguments.json)


def _dictionary(given: Path | None) -> Path | None:
    """The one asked for, that of the data folder, or none."""
    usual = in_data_folder(DICTIONARY)
    return given or (usual if usual.exists() else None)


# `spoor reproduce`: the experiment of a paper, its figures beside ours, each condition with yes or no.


WORDS = Path("texts/mongolian-menksoft-words.txt")
RECORDED = Path("webs/wikispeedia")
"""In the data folder, where there is one."""
FIELD = "subject.Science.Biology"
"""Of the recorded web."""


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
    about = f"ours: seeds {seeds[0]}–{seeds[-1]}, mean; a tick is a twelfth of the fetches"
    parts: list[str | Table] = [f"Mongolian pages are made of {words}", about, *mongolian.tables(experiment)]
    return report(parts, mongolian.conditions(experiment), arguments.json)


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
    parts = (
        f"the field: pages labelled {ground.field} of the web {ground.web.name}",
        Table(_ours(seeds), correlation.COLUMNS, correlation.collected_rows(experiment)),
        Table("how soon:", correlation.AREAS, correlation.area_rows(experiment)),
    )
    return report(parts, correlation.conditions(experiment), arguments.json)


def _grounds(arguments: argparse.Namespace, seeds: Sequence[int], folder: Path) -> dict[int, correlation.Ground]:
    """The web asked for, the recorded one of the data folder, or one generated for each seed."""
    if (arguments.web is None) != (arguments.field is None):
        raise UsageError("--web and --field go together: a web, and the label of the relevant pages in it")
    if arguments.web is not None:
        return dict.fromkeys(seeds, correlation.Ground(arguments.web, arguments.field))
    if (recorded := in_data_folder(RECORDED)).exists():
        if not (web := folder / f"{RECORDED.name}-{correlation.PARSING.main_text}").exists():
            build_recorded(recorded, web, arguments.workers, correlation.PARSING)
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
    rows = language_specific.table("Thai-like", experiment.thai)
    rows += language_specific.table("Japanese-like", experiment.japanese)
    published = "\n  ".join(["published:", *language_specific.PUBLISHED])
    parts = (published, Table(_ours(seeds), language_specific.COLUMNS, rows))
    return report(parts, language_specific.conditions(experiment), arguments.json)
