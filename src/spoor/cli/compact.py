"""`spoor compact`: a crawl that has ended takes less room, and can still be read, checked and resumed."""

from __future__ import annotations

import argparse
from pathlib import Path

from spoor.cli.command import Commands, add_command
from spoor.cli.progress import progress
from spoor.errors import UsageError
from spoor.report.showing import size
from spoor.store.compaction import compact
from spoor.store.crawl_folder import is_crawled_into, open_for_crawling, open_for_reading

EXAMPLES = """
spoor compact thai-pages
"""


def register(commands: Commands) -> None:
    parser = add_command(commands, "compact", "make the folder of a crawl that has ended smaller", EXAMPLES, run)
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="the folder of a crawl that is not running")


def run(arguments: argparse.Namespace) -> int:
    if is_crawled_into(open_for_reading(arguments.folder)):
        raise UsageError(f"a crawl is running in {arguments.folder}; stop it first")
    with open_for_crawling(arguments.folder, progress) as folder:
        sizes = compact(folder)
    print(f"{arguments.folder}: {size(sizes.after)}, was {size(sizes.before)}")
    return 0
