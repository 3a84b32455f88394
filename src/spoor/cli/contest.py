"""`spoor contest`: every strategy on every row of a contest, into one table."""

from __future__ import annotations

import argparse
import csv
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from spoor.assembly import STRATEGIES
from spoor.cli.command import Commands, add_command, add_workers
from spoor.cli.progress import counted, progress
from spoor.cli.results import check_writable, write_text
from spoor.cli.tables import print_table
from spoor.cli.task_options import names_in
from spoor.contest import Comparison, compare, workers
from spoor.course import Task, read_seeds
from spoor.errors import BadInput
from spoor.webs.build.builder import Making, build_web
from spoor.webs.build.gather import Report
from spoor.webs.build.warc_source import read_warcs

EXAMPLES = """
spoor contest --out out/contest
spoor contest --data ../shared --strategies breadth-first,soft-focused,in-links --out out/contest
"""
COLUMNS = ("web", "target", "start", "seeds")


@dataclass(frozen=True)
class Row:
    """One line of contest.tsv; `web` and `seeds` as paths."""

    web: Path
    target: str
    start: str
    seeds: Path


def register(commands: Commands) -> None:
    parser = add_command(commands, "contest", "every strategy on every row of a contest, into one table", EXAMPLES, run)
    parser.add_argument(
        "--data", type=Path, metavar="DIR", help="holds contest/contest.tsv and webs/ ($SPOOR_DATA, ../shared)"
    )
    parser.add_argument("--out", type=Path, required=True, metavar="FOLDER", help="webs built, results.json, table.md")
    parser.add_argument("--strategies", metavar="A,B,…", default=",".join(STRATEGIES), help="(default: all)")
    add_workers(parser)


def run(arguments: argparse.Namespace) -> int:
    data = arguments.data or Path(os.environ.get("SPOOR_DATA") or "../shared")
    if not (data / "contest" / "contest.tsv").exists():
        print(f"there is no contest data in {data}; name its folder with --data or SPOOR_DATA")
        return 0
    check_writable(arguments.out / "results.json")
    rows = read_rows(data)
    strategies = names_in(arguments.strategies)
    build_webs(rows, arguments.out, arguments.workers)
    comparisons = []
    total = len(rows) * len({*strategies, "oracle"})
    with workers(arguments.workers) as pool, progress("strategies on rows", total) as advance:
        for row in rows:
            task = Task(_built(row, arguments.out), row.target, read_seeds(row.seeds))
            comparisons.append(compare(task, strategies, pool, advance))
    _report(rows, comparisons, arguments.out)
    return 0


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
            report, archive = Report(), recorded / "web.warc.xz"
            making = Making(recorded.name, archive.name, recorded / "truth.tsv")
            with progress(f"pages of {recorded.name}") as advance:
                build_web(folder, counted(read_warcs([archive], report, processes), advance), making, report)


def _built(row: Row, out: Path) -> Path:
    return out / "webs" / row.web.name


def _report(rows: Sequence[Row], comparisons: Sequence[Comparison], out: Path) -> None:
    names = [score.strategy for score in comparisons[0].scores]
    lines = [
        [f"{row.web.name} {row.target} {row.start}", *[f"{score.normalised:.3f}" for score in comparison.scores]]
        for row, comparison in zip(rows, comparisons, strict=True)
    ]
    columns = zip(*(comparison.scores for comparison in comparisons), strict=True)
    means = [sum(score.normalised or 0.0 for score in column) / len(rows) for column in columns]
    lines.append(["mean", *[f"{mean:.3f}" for mean in means]])
    print_table(["normalised area", *names], lines)
    write_text(out / "results.json", json.dumps([c.as_json() for c in comparisons], ensure_ascii=False) + "\n")
    write_text(out / "table.md", _markdown(["normalised area", *names], lines))


def _markdown(columns: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    rows = [columns, ["---"] * len(columns), *lines]
    return "\n".join("| " + " | ".join(row) + " |" for row in rows) + "\n"
