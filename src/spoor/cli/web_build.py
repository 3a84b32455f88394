"""`spoor web build`: a web from what a crawl has recorded."""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from pathlib import Path

from spoor.cli.command import Commands, add_command, add_workers
from spoor.cli.progress import counted, progress
from spoor.errors import BadInput, UsageError
from spoor.webs.build.builder import Making, build_web
from spoor.webs.build.gather import Report
from spoor.webs.build.log_source import read_logs
from spoor.webs.build.packed import Packed
from spoor.webs.build.tables import is_table
from spoor.webs.build.warc_source import read_warcs, warc_files
from spoor.webs.web import Web

EXAMPLES = """
spoor web build crawl.warc.gz --out my-web
spoor web build my-crawl --out my-web --truth labels.tsv
spoor web build log.csv links.csv --out my-web
"""

ALWAYS_TOLD = ("redirects", "duplicates", "non-HTML", "errors", "broken", "truncated")


def register(kinds: Commands) -> None:
    parser = add_command(kinds, "build", "make a web from WARC files, a crawl folder or a crawl log", EXAMPLES, run)
    parser.add_argument(
        "source",
        nargs="+",
        type=Path,
        metavar="SOURCE",
        help="WARC (plain, .gz, .xz, .lz4, .zst), crawl folder, or a log and its links (.csv, .parquet)",
    )
    parser.add_argument("--out", type=Path, required=True, metavar="WEB", help="folder to make")
    parser.add_argument(
        "--truth", type=Path, metavar="TSV", help="labels of pages: columns url and labels, tab-separated"
    )
    parser.add_argument("--exact", action="store_true", help="links lead only to the very URL, not to near misses")
    parser.add_argument("--name", help="name of the web (default: that of the folder)")
    add_workers(parser)


def run(arguments: argparse.Namespace) -> int:
    began = time.monotonic()
    report = Report()
    records = _records(arguments.source, report, arguments.workers)
    made_from = " ".join(map(str, arguments.source))
    making = Making(arguments.name or arguments.out.resolve().name, made_from, arguments.truth, arguments.exact)
    with progress("pages read") as advance:
        web = build_web(arguments.out, counted(records, advance), making, report)
    print(_summary(web, time.monotonic() - began))
    return 0


def _records(sources: list[Path], report: Report, workers: int | None) -> Iterator[Packed]:
    for source in sources:
        if not source.exists():
            raise BadInput(f"there is no file or folder {source}")
    tables = [source for source in sources if is_table(source)]
    if not tables:
        return read_warcs([file for source in sources for file in warc_files(source)], report, workers)
    if len(tables) < len(sources):
        raise UsageError("give either WARC files and crawl folders, or a log and its links, not both")
    return read_logs(tables, report)


def _summary(web: Web, seconds: float) -> str:
    """What was built and what was noticed on the way; the rarer things only when they occurred."""
    about, noticed = web.about, dict(web.about["report"])
    facts = {"pages": web.pages, "hosts": about["hosts"], "links": about["links"]}
    facts |= {"unrecorded link targets": about["unrecorded"], "labels": len(web.labels)}
    facts |= {what: noticed.pop(what, 0) for what in ALWAYS_TOLD}
    facts |= {what: count for what, count in sorted(noticed.items()) if count}
    lines = [f"{what:<42}{count:>12,}" for what, count in facts.items()]
    return "\n".join([f"{web.folder} built in {seconds:.1f} s", *lines])
