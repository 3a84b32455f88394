"""`spoor contest`: every strategy on every row of a contest, into one table."""

from __future__ import annotations

import argparse
import csv
import json
import os
from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from pathlib import Path

from spoor.assembly import STRATEGIES
from spoor.cli.command import Commands, add_command, add_workers
from spoor.cli.progress import Advance, counted, progress
from spoor.cli.results import check_writable, write_text
from spoor.cli.tables import print_table
from spoor.cli.task_options import names_in
from spoor.contest import Comparison, accuracy_of_judge, compare, refusal, workers
from spoor.course import Task, read_seeds
from spoor.errors import BadInput
from spoor.measure.accuracy import Accuracy
from spoor.webs.build.builder import Making, build_web
from spoor.webs.build.gather import Report
from spoor.webs.build.warc_source import read_warcs

EXAMPLES = """
spoor contest --out out/contest
spoor contest --data ../shared --strategies breadth-first,soft-focused,in-links --out out/contest
spoor contest --judge language --strategies soft-focused,n-crawl --out out/contest
"""
COLUMNS = ("web", "target", "start", "seeds")
UNDER_ANOTHER_NAME = ("b-crawl",)
"""Strategies that are the same as another one here."""


@dataclass(frozen=True)
class Row:
    """One line of contest.tsv; `web` and `seeds` as paths."""

    web: Path
    target: str
    start: str
    seeds: Path

    @property
    def language(self) -> str:
        """The tag that the target names; "" when it is about something else."""
        kind, _, tag = self.target.partition("=")
        return tag if kind == "lang" else ""


@dataclass(frozen=True)
class Result:
    """A row that was run; `accuracy` is that of the judge, None for a judge that knows the truth."""

    row: Row
    comparison: Comparison
    accuracy: Accuracy | None

    def figures(self, strategies: Sequence[str]) -> list[float | None]:
        """None for a strategy that did not take the row."""
        normalised = {score.strategy: score.normalised for score in self.comparison.scores}
        judge = [self.accuracy.precision, self.accuracy.recall] if self.accuracy else []
        return [*judge, *map(normalised.get, strategies)]


def register(commands: Commands) -> None:
    parser = add_command(commands, "contest", "every strategy on every row of a contest, into one table", EXAMPLES, run)
    parser.add_argument(
        "--data", type=Path, metavar="DIR", help="holds contest/contest.tsv and webs/ ($SPOOR_DATA, ../shared)"
    )
    parser.add_argument("--out", type=Path, required=True, metavar="FOLDER", help="webs built, results.json, table.md")
    everything = ",".join(name for name in STRATEGIES if name not in UNDER_ANOTHER_NAME)
    parser.add_argument("--strategies", metavar="A,B,…", default=everything, help="(default: all)")
    parser.add_argument(
        "--judge",
        choices=("truth", "language"),
        default="truth",
        help="truth (default), or for rows about a language the judge that reads texts, beside its accuracy",
    )
    add_workers(parser)


def run(arguments: argparse.Namespace) -> int:
    data = arguments.data or Path(os.environ.get("SPOOR_DATA") or "../shared")
    if not (data / "contest" / "contest.tsv").exists():
        print(f"there is no contest data in {data}; name its folder with --data or SPOOR_DATA")
        return 0
    check_writable(arguments.out / "results.json")
    by_language = arguments.judge == "language"
    rows = [row for row in read_rows(data) if row.language or not by_language]
    strategies = list(dict.fromkeys([*names_in(arguments.strategies), "oracle"]))
    build_webs(rows, arguments.out, arguments.workers)
    tasks = [_task(row, arguments.out, by_language) for row in rows]
    taken = _takers(strategies, tasks)
    with workers(arguments.workers) as pool, progress("strategies on rows", sum(map(len, taken))) as advance:
        results = [_result(*row, pool, advance) for row in zip(rows, tasks, taken, strict=True)]
    _report(results, strategies, arguments.out)
    return 0


def _task(row: Row, out: Path, by_language: bool) -> Task:
    judge = f"language:{row.language}" if by_language else "truth"
    return Task(out / "webs" / row.web.name, row.target, read_seeds(row.seeds), judge)


def _takers(strategies: Sequence[str], tasks: Sequence[Task]) -> list[list[str]]:
    """Which strategies take each task. One that takes none was asked for in vain, and says why."""
    refusals = [{strategy: refusal(task, strategy) for strategy in strategies} for task in tasks]
    for strategy in strategies:
        reasons = [refused[strategy] for refused in refusals]
        if reasons and reasons[0] and all(reasons):
            raise reasons[0]
    return [[strategy for strategy, reason in refused.items() if reason is None] for refused in refusals]


def _result(row: Row, task: Task, strategies: Sequence[str], pool: Executor, advance: Advance) -> Result:
    accuracy = pool.submit(accuracy_of_judge, task) if task.judge != "truth" else None
    comparison = compare(task, strategies, pool, advance)
    return Result(row, comparison, accuracy.result() if accuracy else None)


def read_rows(data: Path) -> list[Row]:
    with (data / "contest" / "contest.tsv").open(encoding="utf8", newline="") as file:
        reader = csv.DictReader(file, delimiter="\t")
        missing = set(COLUMNS) - set(reader.fieldnames or ())
        if missing:
            raise BadInput(f"{file.name} lacks the column {missing.pop()!r}")
        return [
            Row(data / "webs" / row["web"], row["target"], row["start"], data / "contest" / row["seeds"])
            for row in reader
        ]


def build_webs(rows: Sequence[Row], out: Path, processes: int) -> None:
    """Each recorded web is built once; a later contest finds it."""
    for recorded in dict.fromkeys(row.web for row in rows):
        folder = out / "webs" / recorded.name
        if not folder.exists():
            build_recorded(recorded, folder, processes)


def build_recorded(recorded: Path, folder: Path, processes: int) -> None:
    """`recorded` is a folder of the data: web.warc.xz and truth.tsv."""
    report, archive = Report(), recorded / "web.warc.xz"
    making = Making(recorded.name, archive.name, recorded / "truth.tsv")
    with progress(f"pages of {recorded.name}") as advance:
        build_web(folder, counted(read_warcs([archive], report, processes), advance), making, report)


def _report(results: Sequence[Result], strategies: Sequence[str], out: Path) -> None:
    judge = ["precision", "recall"] if any(result.accuracy for result in results) else []
    columns = ["normalised area", *judge, *strategies]
    figures = [result.figures(strategies) for result in results]
    figures.append([_mean(column) for column in zip(*figures, strict=True)])
    names = [f"{result.row.web.name} {result.row.target} {result.row.start}" for result in results]
    lines = [[name, *map(_cell, row)] for name, row in zip([*names, "mean"], figures, strict=True)]
    print_table(columns, lines)
    told = [result.comparison.as_json() | _accuracy_as_json(result) for result in results]
    write_text(out / "results.json", json.dumps(told, ensure_ascii=False) + "\n")
    write_text(out / "table.md", _markdown(columns, lines))


def _accuracy_as_json(result: Result) -> dict[str, dict[str, float | None]]:
    return {"accuracy": result.accuracy.as_json()} if result.accuracy else {}


def _cell(number: float | None) -> str:
    return "" if number is None else f"{number:.3f}"


def _mean(column: Sequence[float | None]) -> float | None:
    """None for a strategy that did not take all rows: its mean could not be compared."""
    numbers = [number for number in column if number is not None]
    return sum(numbers) / len(numbers) if len(numbers) == len(column) else None


def _markdown(columns: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    rows = [columns, ["---"] * len(columns), *lines]
    return "\n".join("| " + " | ".join(row) + " |" for row in rows) + "\n"
