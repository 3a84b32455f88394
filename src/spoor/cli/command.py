"""How every sub-command is defined: a summary, arguments, and examples that can be pasted.

Nothing here or in `options` imports more than the standard library, so that help is fast; the implementation of a
command is imported when it runs.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

from spoor.errors import UsageError

Commands = Any
"""The return type of `ArgumentParser.add_subparsers`, which has no public name."""

LEVELS = ("debug", "info", "warning", "error")


class StoreOnce(argparse.Action):
    """Stores the value of an option; a second value is refused, because one of the two would be lost."""

    def __call__(
        self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: Any, option: str | None = None
    ) -> None:
        assert isinstance(parser, Parser)
        if option is not None and self.dest in parser.stored:
            both = f"{_shown(getattr(namespace, self.dest))} and {_shown(values)}"
            raise argparse.ArgumentError(self, f"given twice, as {both}; give it once")
        parser.stored.add(self.dest)
        setattr(namespace, self.dest, values)


def _shown(value: object) -> str:
    return ",".join(map(str, value)) if isinstance(value, list) else str(value)


class Parser(argparse.ArgumentParser):
    """Raises UsageError, one line, instead of printing the usage; sub-commands use the same class. `stored` are the
    options that have a value in the command line that is being parsed."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.stored: set[str] = set()
        for name in (None, "store"):
            self.register("action", name, StoreOnce)

    def parse_known_args(self, *arguments: Any, **options: Any) -> Any:
        self.stored.clear()
        return super().parse_known_args(*arguments, **options)

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message}; see `{self.prog} --help`")


def add_command(
    commands: Commands, name: str, summary: str, examples: str, run: str | None = None
) -> argparse.ArgumentParser:
    """A sub-command whose `--help` ends with `examples`. `run` names the function that implements it and returns the
    exit code (0 success, 1 failure), as `module.function` of `spoor.cli`. Without `run` the command only groups
    others."""
    parser: argparse.ArgumentParser = commands.add_parser(
        name,
        help=summary,
        description=summary[0].upper() + summary[1:] + ".",
        epilog="examples:\n" + "\n".join(f"  {line}" for line in examples.strip().splitlines()),
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=run is not None,  # A group would take options of its commands for abbreviations.
    )
    if run is not None:
        parser.set_defaults(run=run)
    add_output_options(parser)
    return parser


def add_output_options(parser: argparse.ArgumentParser) -> None:
    """The options of every command, before or after its name. Without defaults, so that a value before the name is not
    overwritten after it; `OUTPUT_DEFAULTS` are set once, for the program."""
    group = parser.add_argument_group("on every command")
    unset = argparse.SUPPRESS
    group.add_argument("--quiet", action="store_true", default=unset, help="results and errors only")
    group.add_argument("--log-file", type=Path, default=unset, metavar="FILE", help="append log records to a file")
    group.add_argument(
        "--log-level", choices=LEVELS, default=unset, help="lowest level to log (info in a file, else warning)"
    )


OUTPUT_DEFAULTS = {"quiet": False, "log_file": None, "log_level": None}


def add_workers(parser: argparse.ArgumentParser) -> None:
    """The option for the number of processes."""
    cores = os.cpu_count() or 1
    parser.add_argument(
        "--workers", type=at_least_one, default=cores, metavar="N", help="processes (default: all cores)"
    )


def at_least_one(text: str) -> int:
    from spoor.settings import MOST_WORKERS

    if int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text}: at least one is needed")
    if int(text) > MOST_WORKERS:
        raise argparse.ArgumentTypeError(f"{text}: {MOST_WORKERS} at most; a few per core are enough")
    return int(text)


def new_folder(text: str) -> Path:
    """The value of an option that names a folder to write."""
    if text == "-":
        raise argparse.ArgumentTypeError(f"{text!r}: a folder cannot be written to standard output; `./-` is its name")
    return Path(text)


def add_web(parser: argparse.ArgumentParser) -> None:
    made = "folder made by `spoor web build` or `spoor web generate`"
    parser.add_argument("web", type=Path, metavar="WEB", help=made)


def add_speeds(group: Any) -> None:
    """Options for the speeds of the hosts of a web. `group` is the result of `add_argument_group`."""
    group.add_argument("--latency", type=float, metavar="S", help="seconds, median over hosts (0.2)")
    group.add_argument("--bandwidth", type=float, metavar="B", help="bytes/s, median over hosts (500000)")


def add_several(
    parser: argparse.ArgumentParser, option: str, metavar: str, meaning: str, *earlier: str, **more: Any
) -> None:
    """An option whose values become a list. `earlier` are former names of the option; `more` is passed to
    `add_argument`."""
    meaning = f"{meaning}; may be given several times"
    parser.add_argument(option, *earlier, action="append", metavar=metavar, help=meaning, **more)


def add_crawl_folder(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="the folder of a crawl; it may be running")


def add_json(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print JSON instead")


def add_json_file(parser: argparse.ArgumentParser, what: str) -> None:
    """For commands that can also write their results to a file. The value is None if the option is absent."""
    parser.add_argument(
        "--json",
        nargs="?",
        type=Path,
        const=Path("-"),
        metavar="FILE",
        help=f"write {what} to FILE as JSON; without FILE, print JSON instead",
    )


def add_plot(parser: argparse.ArgumentParser, what: str) -> None:
    parser.add_argument("--plot", type=_svg_file, metavar="FILE.svg", help=f"plot {what}")


def _svg_file(text: str) -> Path:
    if Path(text).suffix.lower() != ".svg":
        raise argparse.ArgumentTypeError(f"{text}: plots are written as SVG; give a file name that ends in .svg")
    return Path(text)


PROXY_HELP = "HTTP proxy for every request; env: the proxies of HTTP_PROXY, HTTPS_PROXY, ALL_PROXY and NO_PROXY"


def add_proxy(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--proxy", type=_proxy, default="", metavar="URL", help=PROXY_HELP)


def _proxy(text: str) -> str:
    from spoor.checks import proxy

    return checked(proxy, text)


def checked(check: Callable[[str], str], text: str) -> str:
    """The value of an option, by the check of the setting of the same name."""
    try:
        return check(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{text!r}: {error}") from None
