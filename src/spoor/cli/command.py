"""How every sub-command introduces itself: a summary, arguments, and examples that can be pasted."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from typing import Any, NoReturn

from spoor.config import MOST_WORKERS
from spoor.errors import UsageError

Commands = Any
"""What `ArgumentParser.add_subparsers` returns; argparse gives it no public name."""

Run = Callable[[argparse.Namespace], int]
"""Carries out a command and returns the exit code: 0 fine, 1 failed. Refusals are raised as SpoorError."""


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
