"""`spoor why`: where one URL was found, its score, and why it was fetched, not yet, or never."""

from __future__ import annotations

import argparse
import time
from pathlib import Path

from spoor.api.explaining import learned_lines, lines
from spoor.cli.command import SUMMARIES, Commands, add_command
from spoor.cli.terminal import progress
from spoor.errors import UsageError
from spoor.live.session import AGENT
from spoor.report.showing import plain
from spoor.report.why import account
from spoor.store.crawl_folder import open_for_reading
from spoor.urls import normalise

WHY_EXAMPLES = """
spoor why my-crawl https://example.org/about
"""


def register_why(commands: Commands) -> None:
    parser = add_command(commands, "why", SUMMARIES["why"], WHY_EXAMPLES, run_why)
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="the folder of a crawl; it may be running")
    parser.add_argument("url", metavar="URL", help="the URL in question")


def run_why(arguments: argparse.Namespace) -> int:
    folder = open_for_reading(arguments.folder)
    url = normalise(arguments.url)
    if url is None:
        raise UsageError(f"{plain(arguments.url)!r} is not an http or https URL, such as https://example.org/about")
    told = account(folder, url, AGENT)
    print(plain(told.url, 4000))
    for name, what in lines(told, time.time(), learned_lines(folder, told, progress)):
        print(f"  {name:<11} {plain(what, 4000)}")
    return 0
