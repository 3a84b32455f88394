"""`spoor reproduce`: runs the experiment of a paper, shows published and own figures, and checks claims."""

from __future__ import annotations

import argparse
import contextlib
import os
import signal
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from multiprocessing import active_children
from pathlib import Path

from spoor.cli.contests import build_recorded
from spoor.cli.terminal import check_writable, print_json, print_table, progress, write_text
from spoor.errors import UsageError
from spoor.lab.comparison import workers
from spoor.lab.generate import MOST_PAGES
from spoor.lab.generate.chance import Request
from spoor.lab.generate.pages import TEXT_LIMIT
from spoor.lab.papers import ahmm, core, correlation, language_specific, mongolian
from spoor.lab.papers.experiment import Chart, Claim, Setup, Table, all_hold, claim_lines, generated
from spoor.lab.plots import redrawn

# Common to the experiments of all papers: seeds, pages, a folder; claims.


FEWEST_PAGES = 1000


def check_pages(pages: int, most: int) -> None:
    if pages < FEWEST_PAGES:
        raise UsageError(f"--pages {pages}: at least {FEWEST_PAGES} are needed for meaningful figures")
    if pages > most:
        raise UsageError(f"--pages {pages}: at most {most}")


def seeds_from(text: str) -> list[int]:
    first, _, last = text.partition("-")
    try:
        seeds = list(range(int(first), int(last or first) + 1))
    except ValueError:
        seeds = []
    if not seeds:
        raise UsageError(f"--seeds {text}: give two numbers, as in 401-410")
    return seeds


@contextlib.contextmanager
def _setup(arguments: argparse.Namespace, most_pages: int = TEXT_LIMIT) -> Iterator[Setup]:
    seeds = seeds_from(arguments.seeds)
    check_pages(arguments.pages, most_pages)
    check_writable(arguments.plot)
    with _ended_by_signals(), tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as scratch:
        pool = workers(arguments.workers)
        try:
            yield Setup(seeds, arguments.keep or Path(scratch), pool, progress)
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


@contextlib.contextmanager
def _ended_by_signals() -> Iterator[None]:
    """SIGTERM ends a run as an interrupt from the keyboard does, which reaches the workers as well."""

    def end(number: int, frame: object) -> None:
        running = active_children()
        for worker in running:
            worker.terminate()
        for worker in running:
            worker.join()
        raise KeyboardInterrupt

    before = {name: signal.signal(name, end) for name in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for name, handler in before.items():
            signal.signal(name, handler)


def _ours(seeds: Sequence[int]) -> str:
    return f"ours: seeds {seeds[0]}–{seeds[-1]}, mean (95 % interval)"


def in_data_folder(path: Path) -> Path:
    """The folder may not exist."""
    return Path(os.environ.get("SPOOR_DATA") or "../shared") / path


def _given_or_usual(given: Path | None, usual: Path) -> Path | None:
    """The given file, that of the data folder, or None."""
    found = in_data_folder(usual)
    return given or (found if found.exists() else None)


@dataclass(frozen=True)
class Result:
    """The output of an experiment: tables with text before and after them, charts, and claims."""

    parts: Sequence[str | Table]
    charts: Sequence[Chart]
    claims: Sequence[Claim]


def report(result: Result, arguments: argparse.Namespace) -> int:
    """Returns the exit code: 0 if all tested claims hold."""
    if arguments.plot is not None:
        write_text(arguments.plot, redrawn(result.charts))
    if arguments.json:
        print_json(_keyed(result))
    else:
        _show(result)
    return 0 if all_hold(result.claims) else 1


def _keyed(result: Result) -> dict[str, object]:
    return {
        "notes": [part.strip() for part in result.parts if isinstance(part, str)],
        "tables": [part.as_json() for part in result.parts if isinstance(part, Table)],
        "charts": [asdict(chart) for chart in result.charts],
        "claims": [claim.as_json() for claim in result.claims],
    }


def _show(result: Result) -> None:
    for part in result.parts:
        if isinstance(part, Table):
            print_table(list(part.columns), part.as_text(), f"\n{part.title}")
        else:
            print(part)
    print("", *claim_lines(result.claims), sep="\n")


# `spoor reproduce ahmm`: an adaptive hidden Markov model, on webs with uninformative or informative anchors, and with
# typical paths.


def run_ahmm(arguments: argparse.Namespace) -> int:
    with _setup(arguments) as setup:
        experiment = ahmm.reproduce(setup, arguments.pages)
    parts = (
        Table(_ours(setup.seeds), ahmm.PRECISION, ahmm.precision_rows(experiment)),
        Table(
            "contribution of each part: precision; AHMM has the key argmax, all else expected where no other is named",
            ahmm.PARTS,
            ahmm.ablation_rows(experiment),
        ),
        Table(
            "effect of the path model: pages in common with S alone, and AHMM's visits by the likeliest layer",
            ahmm.EFFECT,
            ahmm.effect_rows(experiment),
        ),
        Table(
            "what each part adds: precision, and the number of webs on which it is better",
            ahmm.ADDED,
            ahmm.added_rows(experiment),
        ),
    )
    return report(Result(parts, ahmm.charts(experiment), ahmm.claims(experiment)), arguments)


# `spoor reproduce core`: ontology, rules and a dictionary, on webs partly in Hindi.


DICTIONARY = Path("texts/english-hindi.tsv")
"""In the data folder, if it exists."""


def run_core(arguments: argparse.Namespace) -> int:
    dictionary = _given_or_usual(arguments.dictionary, DICTIONARY)
    with _setup(arguments) as setup:
        request = Request("courses", arguments.pages, setup.seeds[0], text=True, words=dictionary)
        experiment = core.reproduce(setup, request, arguments.translator)
    words = dictionary or "the generator's own; give one with --dictionary"
    words = f"{words}; ML-CORE reads by the translator of {arguments.translator}" if arguments.translator else words
    parts = (
        "\n  ".join(["published:", *core.PUBLISHED]),
        f"\nthe dictionary: {words}",
        Table(f"{_ours(setup.seeds)}, {experiment.budget} fetches", core.FOUND, core.found_rows(experiment)),
        Table("harvest curves, mean relevant pages found:", core.CURVE, core.curve_rows(experiment)),
    )
    return report(Result(parts, core.charts(experiment), core.claims(experiment)), arguments)


# `spoor reproduce`: the other papers.


WORDS = Path("texts/mongolian-menksoft-words.txt")
RECORDED = Path("webs/wikispeedia")
"""In the data folder, if it exists."""
FIELD = "subject.Science.Biology"
"""The relevant label of the recorded web."""


def run_mongolian(arguments: argparse.Namespace) -> int:
    given = _given_or_usual(arguments.words, WORDS)
    with _setup(arguments) as setup:
        request = Request("mongolian", arguments.pages, setup.seeds[0], text=True, words=given)
        experiment = mongolian.reproduce(setup, request)
    words = f"the words of {given}" if given else "the generator's own words; give a list with --words"
    about = f"ours: seeds {setup.seeds[0]}–{setup.seeds[-1]}, mean; a tick is a twelfth of the fetches"
    parts: list[str | Table] = [f"Mongolian pages are made of {words}", about, *mongolian.tables(experiment)]
    return report(Result(parts, mongolian.charts(experiment), mongolian.claims(experiment)), arguments)


def run_correlation(arguments: argparse.Namespace) -> int:
    with _setup(arguments) as setup:
        grounds = _grounds(arguments, setup)
        experiment = correlation.reproduce(setup, grounds)
    parts = (
        _field(grounds),
        Table(_ours(setup.seeds), correlation.COLUMNS, correlation.collected_rows(experiment)),
        Table("how soon:", correlation.AREAS, correlation.area_rows(experiment)),
    )
    return report(Result(parts, correlation.charts(experiment), correlation.claims(experiment)), arguments)


def _field(grounds: Sequence[correlation.LabelledWeb]) -> str:
    field, web = grounds[0].field, grounds[0].web.name
    if not grounds[0].generated:
        return f"the field: pages labelled {field} of the web {web}"
    missing = in_data_folder(RECORDED)
    return (
        f"there is no {missing}: webs are generated, of so few words that their recall and accuracy say nothing\n"
        f"  (SPOOR_DATA names the data folder; --web and --field give another web)\n"
        f"the field: pages labelled {field} of generated webs"
    )


def _grounds(arguments: argparse.Namespace, setup: Setup) -> list[correlation.LabelledWeb]:
    """The given web, the recorded one of the data folder, or one generated for each seed."""
    if (arguments.web is None) != (arguments.field is None):
        raise UsageError("--web and --field go together: a web, and the label of the relevant pages in it")
    if arguments.web is not None:
        return [correlation.LabelledWeb(arguments.web, arguments.field)] * len(setup.seeds)
    if (recorded := in_data_folder(RECORDED)).exists():
        if not (web := setup.folder / f"{RECORDED.name}-{correlation.PARSING.main_text}").exists():
            build_recorded(recorded, web, arguments.workers, correlation.PARSING)
        return [correlation.LabelledWeb(web, FIELD)] * len(setup.seeds)
    requests = [
        Request("topical", arguments.pages, seed, text=True, parsing=correlation.PARSING) for seed in setup.seeds
    ]
    webs = [generated(request, setup.folder / f"topical-{request.seed}") for request in requests]
    return [correlation.LabelledWeb(web, "relevant", generated=True) for web in webs]


def run_language_specific(arguments: argparse.Namespace) -> int:
    with _setup(arguments, MOST_PAGES) as setup:
        experiment = language_specific.reproduce(setup, arguments.pages)
    rows = language_specific.rows("Thai-like", experiment.thai)
    rows += language_specific.rows("Japanese-like", experiment.japanese)
    published = "\n  ".join(["published:", *language_specific.PUBLISHED])
    ours = Table(_ours(setup.seeds), language_specific.COLUMNS, rows)
    parts = (published, ours, f"\n{language_specific.AT_THE_ENDS}")
    return report(Result(parts, language_specific.charts(experiment), language_specific.claims(experiment)), arguments)
