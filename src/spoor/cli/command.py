"""How every sub-command introduces itself: a summary, arguments, and examples that can be pasted."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from typing import Any, NoReturn

from spoor.errors import UsageError
from spoor.settings import MOST_WORKERS

Commands = Any
"""What `ArgumentParser.add_subparsers` returns; argparse gives it no public name."""

Run = Callable[[argparse.Namespace], int]
"""Carries out a command and returns the exit code: 0 fine, 1 failed. Refusals are raised as SpoorError."""


SUMMARIES = {
    "demo": "two live crawls side by side, on a web made and served on this machine",
    "seeds": "find out where to start, from results of search sources",
    "crawl": "collect relevant pages from the web into a folder, or resume",
    "report": "summarise a crawl as report.html",
    "why": "say why a URL was fetched, not yet, or never",
    "export": "write the texts that a crawl found to a file",
    "check": "verify the database, archive, indexes and snapshots of a crawl",
    "compact": "make the folder of a crawl that has ended smaller",
    "web": "make webs for the simulator, and look at them",
    "simulate": "run one strategy on a web",
    "compare": "run several strategies on a web: which finds more, sooner?",
    "contest": "every strategy on every row of a contest",
    "tune": "find parameters of a strategy that suit a web",
    "reproduce": "run the experiment of a paper again",
    "train": "make a model from examples",
    "judge": "what a judge says of pages at hand, and which n-grams decide",
    "strategies": "list the strategies with their parameters and sources",
    "judges": "list the judges with their parameters and sources",
}
"""Every command of the first level, in the order of `spoor --help`."""


class Parser(argparse.ArgumentParser):
    """Refuses in one line instead of printing the usage; sub-commands are parsed by the same class."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message}; see `{self.prog} --help`")


def add_workers(parser: argparse.ArgumentParser) -> None:
    """How many processes may work side by side."""
    cores = os.cpu_count() or 1
    parser.add_argument(
        "--workers", type=at_least_one, default=cores, metavar="N", help="processes (default: all cores)"
    )


def at_least_one(text: str) -> int:
    if int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text}: at least one is needed")
    if int(text) > MOST_WORKERS:
        raise argparse.ArgumentTypeError(f"{text}: {MOST_WORKERS} at most; a few for each core are of use")
    return int(text)


def add_command(
    commands: Commands, name: str, summary: str, examples: str, run: Run | None = None
) -> argparse.ArgumentParser:
    """A sub-command whose `--help` ends with `examples`. Without `run` it only groups others."""
    parser: argparse.ArgumentParser = commands.add_parser(
        name,
        help=summary,
        description=summary[0].upper() + summary[1:] + ".",
        epilog="examples:\n" + "\n".join(f"  {line}" for line in examples.strip().splitlines()),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    if run is not None:
        parser.set_defaults(run=run)
    return parser
