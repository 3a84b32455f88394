"""`spoor export`: the texts that a crawl found, as a file for other tools."""

from __future__ import annotations

import argparse
from pathlib import Path

from spoor.cli.command import Commands, add_command, add_workers
from spoor.cli.progress import progress
from spoor.cli.results import check_writable
from spoor.export import FORMATS, Report, Wish, count, export
from spoor.store.crawl_folder import open_for_reading

EXAMPLES = """
spoor export my-crawl --format jsonl --out pages.jsonl
spoor export my-crawl --format parquet --out pages.parquet --all
spoor export my-crawl --format text --out corpus.txt
"""


def register(commands: Commands) -> None:
    parser = add_command(commands, "export", "write the texts that a crawl found to a file", EXAMPLES, run)
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="the folder of a crawl; it may be running")
    parser.add_argument("--format", choices=FORMATS, required=True, help="text: pages end with a form feed")
    parser.add_argument("--out", type=Path, required=True, metavar="FILE", help="file to write")
    parser.add_argument("--all", action="store_true", help="every page, not only the relevant ones")
    add_workers(parser)


def run(arguments: argparse.Namespace) -> int:
    folder = open_for_reading(arguments.folder)
    check_writable(arguments.out)
    wish = Wish(arguments.format, arguments.all, arguments.workers)
    with progress("pages", count(folder, wish.every)) as advance:
        report = export(folder, wish, arguments.out, advance)
    print(f"{arguments.out}: {summary(report)}")
    return 0


def summary(report: Report) -> str:
    asides = [f"{report[what]:,} {what}" for what in ("without main text", "not in the archive") if report[what]]
    return ", ".join([f"{report['exported']:,} pages", *asides])
