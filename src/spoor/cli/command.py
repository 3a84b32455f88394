"""How every sub-command introduces itself: a summary, arguments, and examples that can be pasted."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

Commands = Any
"""What `ArgumentParser.add_subparsers` returns; argparse gives it no public name."""

Run = Callable[[argparse.Namespace], int]
"""Carries out a command and returns the exit code: 0 fine, 1 failed. Refusals are raised as SpoorError."""


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
