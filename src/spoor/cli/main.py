"""`spoor`: reads the command line, runs one command, and turns refusals into one line and an exit code."""

from __future__ import annotations

import atexit
import contextlib
import os
import sqlite3
import sys
from collections.abc import Sequence
from typing import NoReturn

from spoor import __version__
from spoor.cli import (
    catalogue,
    check,
    compact,
    compare,
    contest,
    crawl,
    demo,
    export,
    judge,
    report,
    reproduce,
    seeds,
    simulate,
    train,
    tune,
    web,
    why,
)
from spoor.cli.command import Parser
from spoor.errors import SpoorError

COMMANDS = (
    demo,
    seeds,
    crawl,
    report,
    why,
    export,
    check,
    compact,
    web,
    simulate,
    compare,
    contest,
    tune,
    reproduce,
    train,
    judge,
    catalogue,
)


def parser() -> Parser:
    top = Parser(
        prog="spoor",
        description="Collect the pages you want from the web while fetching as little else as possible.",
        epilog="`spoor COMMAND --help` shows the options and examples of a command.",
    )
    top.add_argument("--version", action="version", version=f"spoor {__version__}")
    commands = top.add_subparsers(metavar="COMMAND", required=True)
    for module in COMMANDS:
        module.register(commands)
    return top


def main(argv: Sequence[str] | None = None) -> int:
    try:
        arguments = parser().parse_args(argv)
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
