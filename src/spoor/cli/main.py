"""`spoor`: parses the command line, runs one command, and turns errors into one line and an exit code."""

from __future__ import annotations

import atexit
import contextlib
import os
import sqlite3
import sys
from argparse import Namespace
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import NoReturn, cast

from spoor import __version__
from spoor.cli.command import OUTPUT_DEFAULTS, Parser, add_output_options
from spoor.cli.options import checkups, crawl_actions, crawl_folders, crawls, models, simulations, web_actions
from spoor.cli.streams import LostOutput, make_usable
from spoor.errors import SpoorError
from spoor.storage_errors import is_of_surroundings, remedy_of

REGISTER = (
    crawls.register_demo,
    crawls.register_seeds,
    crawls.register_crawl,
    crawl_folders.register_trust,
    crawl_actions.register_pause,
    crawl_actions.register_unpause,
    crawl_actions.register_stop,
    crawl_actions.register_budget,
    crawl_actions.register_add_seeds,
    crawl_actions.register_block,
    crawl_actions.register_unblock,
    crawl_actions.register_slow,
    crawl_actions.register_mark,
    crawl_folders.register_report,
    crawl_folders.register_dashboard,
    crawl_folders.register_why,
    crawl_folders.register_ask,
    crawl_folders.register_export,
    crawl_folders.register_check,
    crawl_folders.register_compact,
    web_actions.register_web,
    simulations.register_simulate,
    simulations.register_compare,
    simulations.register_contest,
    simulations.register_tune,
    simulations.register_reproduce,
    models.register_train,
    models.register_judge,
    models.register_strategies,
    models.register_judges,
    models.register_completion,
    checkups.register_doctor,
)
"""Every top-level command, in the order of `spoor --help`."""


def parser() -> Parser:
    top = Parser(
        prog="spoor",
        description="Collect relevant pages from the web while fetching as little else as possible.",
        epilog="`spoor COMMAND --help` shows the options and examples of a command.",
        allow_abbrev=False,  # It would take `--log` of a command for an abbreviation of its own.
    )
    top.add_argument("--version", action="version", version=f"spoor {__version__}")
    top.set_defaults(**OUTPUT_DEFAULTS)
    commands = top.add_subparsers(metavar="COMMAND", required=True)
    for register in REGISTER:
        register(commands)
    add_output_options(top)
    return top


def command(name: str) -> Callable[[Namespace], int]:
    """The function `module.function` of this package. Imported on demand, because its dependencies take a second to
    load."""
    module, _, function = name.partition(".")
    return cast(Callable[[Namespace], int], getattr(import_module(f"spoor.cli.{module}"), function))


def main(argv: Sequence[str] | None = None) -> int:
    try:
        code = run(_parsed(argv))
        sys.stdout.flush()
        return code
    except SpoorError as error:
        print(f"spoor: {error}", file=sys.stderr)
        return error.exit_code
    except (sqlite3.Error, UnicodeDecodeError) as error:  # The second if an SQLite message contains damaged bytes.
        print(f"spoor: the database of the crawl cannot be used: {error}; {remedy_of(error)}", file=sys.stderr)
        return 1
    except BrokenPipeError:
        # The reader of the pipe (head, less) has closed it; no message can be printed.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        if not is_of_surroundings(error):
            raise
        print(f"spoor: {error}; {remedy_of(error)}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("spoor: interrupted", file=sys.stderr)
        return 130


def _parsed(argv: Sequence[str] | None) -> Namespace:
    """Help is written before the process ends."""
    try:
        return parser().parse_args(argv)
    finally:
        sys.stdout.flush()


def run(arguments: Namespace) -> int:
    from spoor.cli.logs import logged
    from spoor.cli.terminal import quietly

    with quietly(arguments.quiet), logged(arguments.log_file, arguments.log_level):
        return command(arguments.run)(arguments)


def program() -> NoReturn:
    """Entry point of the `spoor` command."""
    make_usable()
    leave(main())


def leave(code: int) -> NoReturn:
    """Ends the process without freeing its objects one by one, which takes longer than a stopped crawl may take."""
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        # The pipe was closed by its reader, or the stream is closed or full.
        with contextlib.suppress(OSError, ValueError, LostOutput):
            stream.flush()
    os._exit(code)
