"""Options of the commands about the folder of a crawl: `spoor report`, `dashboard`, `why`, `ask`, `export`, `check` and
`compact`."""

from __future__ import annotations

import argparse
from pathlib import Path

from spoor.cli.command import Commands, add_command, add_crawl_folder, add_json, add_workers

REPORT_EXAMPLES = """
spoor report my-crawl
spoor report my-crawl --out my-crawl.html
spoor report my-crawl --politeness
spoor report my-crawl --json
"""

WHY_EXAMPLES = """
spoor why my-crawl https://example.org/about
"""

EXPORT_EXAMPLES = """
spoor export my-crawl --format jsonl --out pages.jsonl
spoor export my-crawl --format parquet --out pages.parquet --all
spoor export my-crawl --format text --out corpus.txt
"""

ASK_EXAMPLES = """
spoor ask my-crawl
spoor ask my-crawl --questions 20
"""

TRUST_EXAMPLES = """
spoor trust thai-pages --list
spoor trust thai-pages
"""

CHECK_EXAMPLES = """
spoor check my-crawl
spoor check my-crawl --repair
spoor check my-crawl --json
"""

COMPACT_EXAMPLES = """
spoor compact thai-pages
"""

DASHBOARD_EXAMPLES = """
spoor dashboard my-crawl
spoor dashboard thai-pages more-thai-pages --port 8800
spoor dashboard my-crawl --address 0.0.0.0
"""

DASHBOARD_PORT = 8737

EXPORT_FORMATS = ("jsonl", "parquet", "text")


def register_report(commands: Commands) -> None:
    summary = "summarise a crawl as report.html, or check its politeness"
    parser = add_command(commands, "report", summary, REPORT_EXAMPLES, "folders.run_report")
    add_crawl_folder(parser)
    parser.add_argument("--out", type=Path, metavar="FILE", help="file to write (report.html in the folder)")
    parser.add_argument(
        "--politeness",
        action="store_true",
        help="write no report; list every request that violated robots.txt or a delay, exit with 1 if there is one",
    )
    add_json(parser)


def register_dashboard(commands: Commands) -> None:
    summary = "watch and steer crawls in the browser"
    parser = add_command(commands, "dashboard", summary, DASHBOARD_EXAMPLES, "dashboards.run_dashboard")
    parser.add_argument(
        "folders", type=Path, nargs="+", metavar="FOLDER", help="the folder of a crawl; it may be running"
    )
    parser.add_argument(
        "--port",
        type=port,
        default=DASHBOARD_PORT,
        metavar="N",
        help=f"port to listen on; 0: any free port ({DASHBOARD_PORT})",
    )
    parser.add_argument(
        "--address",
        default="127.0.0.1",
        metavar="IP",
        help="IP address to listen on; other machines need the printed token (127.0.0.1)",
    )


def port(text: str) -> int:
    if not text.isdecimal() or int(text) > 65_535:
        raise argparse.ArgumentTypeError(f"{text!r} is not a port number from 0 to 65535")
    return int(text)


def register_why(commands: Commands) -> None:
    summary = "explain why a URL was fetched, has not been fetched yet, or never will be"
    parser = add_command(commands, "why", summary, WHY_EXAMPLES, "folders.run_why")
    add_crawl_folder(parser)
    parser.add_argument("url", metavar="URL", help="the URL in question")
    add_json(parser)


def register_ask(commands: Commands) -> None:
    summary = "answer questions about pages, to teach the judge of a crawl"
    parser = add_command(commands, "ask", summary, ASK_EXAMPLES, "answering.run_ask")
    add_crawl_folder(parser)
    parser.add_argument("--questions", type=int, metavar="N", help="stop after N answers (default: ask until you quit)")


def register_export(commands: Commands) -> None:
    summary = "write the texts that a crawl found to a file"
    parser = add_command(commands, "export", summary, EXPORT_EXAMPLES, "folders.run_export")
    add_crawl_folder(parser)
    parser.add_argument(
        "--format",
        choices=EXPORT_FORMATS,
        required=True,
        help="format of the file; in text, pages end with a form feed",
    )
    parser.add_argument("--out", type=Path, required=True, metavar="FILE", help="file to write")
    parser.add_argument("--all", action="store_true", help="every page, not only the relevant ones")
    add_workers(parser)
    add_json(parser)


def register_trust(commands: Commands) -> None:
    summary = "list and allow what the crawl in a folder may use on this machine"
    parser = add_command(commands, "trust", summary, TRUST_EXAMPLES, "trusting.run_trust")
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="the folder of a crawl that is to be resumed")
    parser.add_argument("--list", action="store_true", help="only list it, allow nothing")
    add_json(parser)


def register_check(commands: Commands) -> None:
    summary = "verify the database, archive, indexes and snapshots of a crawl"
    parser = add_command(commands, "check", summary, CHECK_EXAMPLES, "folders.run_check")
    add_crawl_folder(parser)
    parser.add_argument(
        "--repair",
        action="store_true",
        help="repair what can be repaired; damaged files are moved to folders `damaged`",
    )
    add_json(parser)


def register_compact(commands: Commands) -> None:
    summary = "shrink the folder of a finished crawl"
    parser = add_command(commands, "compact", summary, COMPACT_EXAMPLES, "folders.run_compact")
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="the folder of a crawl that is not running")
    add_json(parser)
