"""`spoor strategies` and `spoor judges`: what there is, with parameters, defaults and sources."""

from __future__ import annotations

import argparse

from spoor.assembly import JUDGES, STRATEGIES, Named
from spoor.cli.command import Commands, add_command


def register(commands: Commands) -> None:
    strategies = "spoor strategies\nspoor compare WEB --strategies breadth-first,limited-distance:n=3 …"
    add_command(
        commands, "strategies", "list the strategies with their parameters and sources", strategies, _strategies
    )
    judges = "spoor judges\nspoor compare WEB --judge charset:th:sources=meta …"
    add_command(commands, "judges", "list the judges with their parameters and sources", judges, _judges)


def _strategies(arguments: argparse.Namespace) -> int:
    return _list(STRATEGIES)


def _judges(arguments: argparse.Namespace) -> int:
    return _list(JUDGES)


def _list(named: dict[str, Named]) -> int:
    for name, entry in named.items():
        subject = ":SUBJECT" if entry.subjects else ""
        settings = "".join(f":{parameter}={value}" for parameter, value in entry.parameters().items())
        print(f"{name}{subject}{settings}")
        subjects = f"subjects: {', '.join(entry.subjects)}" if entry.subjects else ""
        for line in filter(None, (entry.says, subjects, entry.source)):
            print(f"    {line}")
    return 0
