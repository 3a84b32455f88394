"""Options of the commands that steer a crawl: `spoor pause`, `block`, `mark` and others."""

from __future__ import annotations

import argparse

from spoor.cli.command import Commands, add_command, add_crawl_folder, add_json

MARKS = {"relevant": True, "not-relevant": False, "none": None}
"""Possible marks of a page; the last one removes an earlier mark."""


def _add_action(commands: Commands, name: str, summary: str, examples: str) -> argparse.ArgumentParser:
    parser = add_command(commands, name, summary, examples, "acting.run_action")
    add_crawl_folder(parser)
    parser.add_argument("--who", default="", metavar="NAME", help="who asks for it (the user of the process)")
    parser.set_defaults(asked=name)
    add_json(parser)
    return parser


def register_pause(commands: Commands) -> None:
    summary = "make no new requests in a crawl until `spoor unpause`, also after a restart"
    _add_action(commands, "pause", summary, "spoor pause my-crawl")


def register_unpause(commands: Commands) -> None:
    _add_action(commands, "unpause", "end the pause of a crawl", "spoor unpause my-crawl")


def register_stop(commands: Commands) -> None:
    summary = "end a running crawl as Ctrl-C does; `spoor crawl --out FOLDER` resumes it"
    _add_action(commands, "stop", summary, "spoor stop my-crawl")


def register_budget(commands: Commands) -> None:
    summary = "change the budget of requests or minutes of a crawl"
    parser = _add_action(commands, "budget", summary, "spoor budget my-crawl --max-pages 50000")
    parser.add_argument("--max-pages", type=int, metavar="N", help="stop after N fetches, over all runs")
    parser.add_argument("--max-minutes", type=float, metavar="M", help="stop after M minutes of a run")


def register_add_seeds(commands: Commands) -> None:
    summary = "add seeds to a crawl; they are fetched before all waiting links"
    parser = _add_action(commands, "add-seeds", summary, "spoor add-seeds my-crawl https://example.org/")
    parser.add_argument("urls", nargs="+", metavar="URL", help="seed to add")


BLOCK_EXAMPLES = """
spoor block my-crawl ads.example.org
spoor block my-crawl 'example.org/calendar/*'
spoor block my-crawl '*.example.org'
"""


def register_block(commands: Commands) -> None:
    summary = "fetch nothing more from a host, or from URLs that match a pattern; waiting links are parked"
    parser = _add_action(commands, "block", summary, BLOCK_EXAMPLES)
    parser.add_argument("pattern", metavar="PATTERN", help="a host or a URL; a star matches any characters")


def register_unblock(commands: Commands) -> None:
    summary = "remove a block; parked links wait again"
    parser = _add_action(commands, "unblock", summary, "spoor unblock my-crawl ads.example.org")
    parser.add_argument("pattern", metavar="PATTERN", help="pattern of the block")


def register_slow(commands: Commands) -> None:
    summary = "lengthen the host delay of one host"
    parser = _add_action(commands, "slow", summary, "spoor slow my-crawl www.example.org 30")
    parser.add_argument("host", metavar="HOST", help="name of the host, with its port if it has one")
    parser.add_argument("seconds", type=float, metavar="S", help="seconds, at least what politeness requires")


def register_mark(commands: Commands) -> None:
    summary = "mark a page as relevant or not, whatever the judge found"
    parser = _add_action(commands, "mark", summary, "spoor mark my-crawl https://example.org/about not-relevant")
    parser.add_argument("url", metavar="URL", help="of a page that was fetched")
    parser.add_argument("relevant", choices=tuple(MARKS), metavar="MARK", help=f"one of {', '.join(MARKS)}")
