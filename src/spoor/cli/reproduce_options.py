"""What the experiments of all papers are asked for and how they end: seeds, pages, a folder; conditions."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from pathlib import Path

from spoor.cli.command import add_workers
from spoor.errors import UsageError
from spoor.reproduce.conditions import Condition

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
