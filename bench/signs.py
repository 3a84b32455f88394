"""What is each kind of evidence about the language of a link worth? On the language rows of the contest: everything,
and each kind left out."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from pathlib import Path
from statistics import mean

from spoor.cli.contests import build_webs
from spoor.cli.terminal import print_table, progress
from spoor.lab.comparison import compare, workers
from spoor.lab.contest import Row, read_rows
from spoor.lab.task import Task, read_seeds
from spoor.ordering.language_order import WEIGHTS, ServerLanguage

DATA = Path(os.environ.get("SPOOR_DATA") or Path(__file__).resolve().parents[2] / "shared")
BESIDE = ("breadth-first", "soft-focused", "language-focused", "server-language")
SIGNS_ONLY = "+".join(name for name in WEIGHTS if name != "referrer")
LEFT_OUT = (
    *(f"server-language:without={name}" for name in ServerLanguage.merge),
    f"server-language:without={SIGNS_ONLY}",
)


def main(options: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m bench signs", description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("out/contest"), metavar="DIR", help="where webs/ is or goes")
    parser.add_argument("--judge", choices=("truth", "language"), default="truth", help="language: reads the texts")
    parser.add_argument("--workers", type=int, default=2, metavar="N", help="processes (default 2)")
    arguments = parser.parse_args(options)
    if not (DATA / "contest").is_dir():
        print(f"signs: no contest in {DATA}; set SPOOR_DATA to the folder that has it")
        return
    rows = [row for row in read_rows(DATA) if row.target.startswith("lang=")]
    build_webs([row.web for row in rows], arguments.out / "webs", arguments.workers)
    scores = areas(rows, arguments)
    print_table(("strategy", "mean", *names(rows)), [line(*of_one) for of_one in scores.items()], "normalised area")


def areas(rows: Sequence[Row], arguments: argparse.Namespace) -> dict[str, list[float]]:
    """The normalised areas of each strategy, row by row."""
    found: dict[str, list[float]] = {name: [] for name in (*BESIDE, *LEFT_OUT)}
    total = len(rows) * (len(found) + 1)
    with workers(arguments.workers) as pool, progress("strategies on rows", total) as advance:
        for row in rows:
            language = row.target.removeprefix("lang=")
            judge = f"language:{language}" if arguments.judge == "language" else "truth"
            task = Task(arguments.out / "webs" / row.web.name, row.target, read_seeds(row.seeds), judge)
            for score in compare(task, list(found), pool, advance).scores:
                if score.strategy in found:
                    found[score.strategy].append(score.normalised or 0.0)
    return found


def names(rows: Sequence[Row]) -> list[str]:
    return [f"{row.web.name.partition('-')[0]} {row.target.removeprefix('lang=')} {row.start}" for row in rows]


def line(strategy: str, found: Sequence[float]) -> list[str]:
    return [strategy, f"{mean(found):.3f}", *(f"{area:.3f}" for area in found)]
