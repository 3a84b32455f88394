"""`spoor completion`: a script by which a shell completes commands, options and files."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

from spoor.cli.main import parser
from spoor.errors import MissingExtra


def run_completion(arguments: argparse.Namespace) -> int:
    try:
        import shtab
    except ImportError:
        raise MissingExtra("completion needs shtab; install it with: pip install 'spoor[completion]'") from None
    commands = parser()
    for action in _actions(commands):
        if action.type is Path:
            action.complete = shtab.FILE  # type: ignore[attr-defined]
    print(shtab.complete(commands, arguments.shell))
    return 0


def _actions(of: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    """Of a parser and all parsers below it."""
    for action in of._actions:
        yield action
        if isinstance(action, argparse._SubParsersAction):
            for below in action.choices.values():
                yield from _actions(below)
