"""`spoor`: reads the command line, runs one command, and turns refusals into one line and an exit code."""

from __future__ import annotations

import atexit
import contextlib
import os
import sqlite3
import sys
from collections.abc import Collection, Sequence
from importlib import import_module
from typing import NoReturn

from spoor import __version__
from spoor.cli.command import SUMMARIES, Parser
from spoor.errors import SpoorError

MODULES = {
    "demo": "demo_crawls",
    "seeds": "seeds",
    "crawl": "crawling",
    "report": "folders",
    "why": "explaining",
    "export": "folders",
    "check": "folders",
    "compact": "folders",
    "web": "webs",
    "simulate": "simulating",
    "compare": "simulating",
    "contest": "contests",
    "tune": "simulating",
    "reproduce": "experiments",
    "train": "training",
    "judge": "catalogue",
    "strategies": "catalogue",
    "judges": "catalogue",
}
"""Where each command is; only the one that was asked for is imported."""


def parser(asked: Collection[str] = tuple(SUMMARIES)) -> Parser:
    """Knows the options of the commands in `asked`, and of the others what they are for."""
    top = Parser(
        prog="spoor",
        description="Collect relevant pages from the web while fetching as little else as possible.",
        epilog="`spoor COMMAND --help` shows the options and examples of a command.",
    )
    top.add_argument("--version", action="version", version=f"spoor {__version__}")
    commands = top.add_subparsers(metavar="COMMAND", required=True)
    for name, summary in SUMMARIES.items():
        if name in asked:
            getattr(import_module(f"spoor.cli.{MODULES[name]}"), f"register_{name}")(commands)
        else:
            commands.add_parser(name, help=summary)
    return top


def main(argv: Sequence[str] | None = None) -> int:
    try:
        given = sys.argv[1:] if argv is None else argv
        arguments = parser(given[:1]).parse_args(given)
        return int(arguments.run(arguments))
    except SpoorError as error:
        print(f"spoor: {error}", file=sys.stderr)
        return error.exit_code
    except (sqlite3.Error, UnicodeDecodeError) as error:  # The second when damaged bytes are in what SQLite says.
        remedy = "`spoor check FOLDER` says what is wrong with it, and with --repair keeps all that can be read"
        print(f"spoor: the database of the crawl cannot be used: {error}; {remedy}", file=sys.stderr)
        return 1
    except BrokenPipeError:
        # The reader of a pipe (head, less) went away; there is nobody left to tell.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        print("spoor: interrupted", file=sys.stderr)
        return 130


def program() -> NoReturn:
    """The `spoor` command."""
    leave(main())


def leave(code: int) -> NoReturn:
    """Ends the process and leaves its memory to the system: to take that apart object by object takes longer than a
    crawl may that was told to stop."""
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):  # The reader of a pipe went away, or it is closed.
            stream.flush()
    os._exit(code)
