"""The options by which `simulate` and `compare` are told under what conditions to run."""

from __future__ import annotations

import argparse
from dataclasses import replace
from typing import Any

from spoor.cli.command import at_least_one
from spoor.errors import UsageError
from spoor.webs.network import FIELD, NAMED, Conditions


def add_conditions(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--conditions",
        choices=tuple(NAMED),
        default="lab",
        help="lab (default): one visit at a time in a closed web, nothing takes time; field: what a live crawl meets",
    )
    add_orders(parser, 1)
    clock = parser.add_argument_group("virtual clock", "a value that is given overrides that of --conditions field")
    usual, field = Conditions(), FIELD
    clock.add_argument("--clock", action="store_true", help="let visits take virtual time, with a crawl delay per host")
    clock.add_argument(
        "--connections",
        type=int,
        metavar="N",
        help=f"visits at once ({usual.connections}; in the field {field.connections})",
    )
    clock.add_argument("--rest", type=float, metavar="S", help=f"crawl delay of a host in seconds ({usual.rest:g})")
    clock.add_argument("--latency", type=float, metavar="S", help=f"median over hosts ({usual.latency:g})")
    clock.add_argument("--bandwidth", type=float, metavar="B", help=f"bytes/s, median ({usual.bandwidth:.0f})")
    clock.add_argument(
        "--failures",
        type=float,
        metavar="P",
        help=f"share of visits that time out ({usual.failures:g}; in the field {field.failures:g})",
    )
    clock.add_argument("--clock-seed", type=int, metavar="K", dest="seed", help="draws the speeds of hosts (0)")


def add_orders(parser: argparse.ArgumentParser, usual: int) -> None:
    """`--orders`; None is what a command finds where it was not given."""
    parser.add_argument(
        "--orders", type=at_least_one, metavar="N", help=f"orders of the seeds to run from; figures are means ({usual})"
    )


def conditions_from(arguments: argparse.Namespace) -> Conditions | None:
    """None: the lab."""
    named = NAMED[arguments.conditions]
    if named is None and not arguments.clock:
        return None
    given = {name: getattr(arguments, name) for name in ("connections", "rest", "latency", "bandwidth", "failures")}
    check_conditions(given)
    if arguments.driver == "compiled":
        option = "--clock" if named is None else f"--conditions {arguments.conditions}"
        raise UsageError(f"{option} needs the simulated driver; leave out --driver compiled")
    given |= {"seed": arguments.seed, "open_web": arguments.unrecorded and arguments.unrecorded == "fail"}
    return replace(named or Conditions(), **{name: value for name, value in given.items() if value is not None})


def check_conditions(given: dict[str, Any]) -> None:
    """Values by the names of their options; None: not given."""
    for name, value in given.items():
        if value is None:
            continue
        if name in ("connections", "latency", "bandwidth") and not value > 0:
            raise UsageError(f"--{name} {value}: must be more than 0")
        if not value >= 0:
            raise UsageError(f"--{name} {value}: must not be negative")
        if name == "failures" and value >= 1:
            raise UsageError(f"--failures {value}: must be at least 0 and below 1")
