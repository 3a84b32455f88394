"""`spoor why`: where one URL was found, its score, and why it was fetched, not yet, or never."""

from __future__ import annotations

import argparse
import time

from spoor.api.explaining import learned_lines, lines
from spoor.cli.terminal import print_json, progress
from spoor.errors import UsageError
from spoor.live.session import AGENT
from spoor.report.showing import plain
from spoor.report.why import account
from spoor.store.crawl_folder import open_for_reading
from spoor.urls import normalise


def run_why(arguments: argparse.Namespace) -> int:
    folder = open_for_reading(arguments.folder)
    url = normalise(arguments.url)
    if url is None:
        raise UsageError(f"{plain(arguments.url)!r} is not an http or https URL, such as https://example.org/about")
    known = account(folder, url, AGENT)
    found = list(lines(known, time.time(), learned_lines(folder, known, progress)))
    if arguments.json:
        print_json({"url": known.url, "lines": [{"name": name, "what": what} for name, what in found]})
        return 0
    print(plain(known.url, 4000))
    for name, what in found:
        print(f"  {name:<11} {plain(what, 4000)}")
    return 0
