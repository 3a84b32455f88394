"""`spoor check`, `compact`, `export` and `report`: what to do with the folder of a crawl."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from pathlib import Path

from spoor import settings as config
from spoor.cli.command import SUMMARIES, Commands, add_command, add_workers
from spoor.cli.terminal import check_writable, progress
from spoor.errors import BadInput, UsageError
from spoor.live.session import AGENT, host_rules
from spoor.report.export import FORMATS, Report, Wish, count, export
from spoor.report.figures import Figures, figures
from spoor.report.page import write_page
from spoor.report.politeness import Conduct, Promise, conduct
from spoor.report.showing import duration, moment, plain, share, size
from spoor.store.crawl_folder import CrawlFolder, is_crawled_into, locked, open_for_crawling, open_for_reading
from spoor.store.folder_check import Findings, check, compact, open_for_checking, repair_folder

# `spoor check`: whether all of a crawl is still there and can be read; and what can be done where it cannot.


CHECK_EXAMPLES = """
spoor check my-crawl
spoor check my-crawl --repair
spoor check my-crawl --json
"""


def register_check(commands: Commands) -> None:
    parser = add_command(commands, "check", SUMMARIES["check"], CHECK_EXAMPLES, run_check)
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="the folder of a crawl; it may be running")
    parser.add_argument(
        "--repair", action="store_true", help="repair what can be repaired; damaged files are kept in folders `damaged`"
    )
    parser.add_argument("--json", action="store_true", help="print the findings as JSON")


def run_check(arguments: argparse.Namespace) -> int:
    folder = open_for_checking(arguments.folder)
    if arguments.repair:
        return _repair(folder, arguments.json)
    findings = _checked(folder)
    _print(folder, findings, [], None, arguments.json)
    return 1 if findings.damage else 0


def _repair(folder: CrawlFolder, as_json: bool) -> int:
    if is_crawled_into(folder):
        raise UsageError(f"a crawl is running in {folder.path}; stop it before --repair")
    with locked(folder):
        findings = _checked(folder)
        try:
            done = repair_folder(folder, findings)
        except OSError as error:
            told = f"cannot repair {folder.path}: {error.strerror or error}"
            raise BadInput(f"{told}; nothing was lost: make room, or take a copy that you may write to") from None
        remaining = _checked(folder) if done else findings
    _print(folder, findings, done, remaining, as_json)
    return 1 if findings.damage else 0


def _checked(folder: CrawlFolder) -> Findings:
    with progress("records checked") as advance:
        return check(folder, advance)


def _print(folder: CrawlFolder, findings: Findings, done: list[str], remaining: Findings | None, as_json: bool) -> None:
    if as_json:
        print(json.dumps(_as_json(folder, findings, done, remaining), ensure_ascii=False, indent=1))
        return
    for finding in findings.found:
        print(plain(str(finding), 4000))
    for told in done:
        print(f"repaired: {plain(told, 4000)}")
    if remaining is not None and done:
        for finding in remaining.found:
            print(f"remains: {plain(str(finding), 4000)}")
    print(summary_check(folder, findings, remaining))


def summary_check(folder: CrawlFolder, findings: Findings, remaining: Findings | None) -> str:
    checked = ", ".join(f"{number:,} {what}" for what, number in findings.checked.items()) or "nothing"
    verdict = "damage was found" if findings.damage else "all is well"
    if remaining is not None and findings.damage:
        verdict = "some damage remains" if remaining.damage else "all damage was repaired"
    return f"{plain(str(folder.path))}: {checked} checked; {verdict}"


def _as_json(folder: CrawlFolder, findings: Findings, done: list[str], remaining: Findings | None) -> dict[str, object]:
    return {
        "folder": str(folder.path),
        "checked": dict(findings.checked),
        "damage": findings.damage,
        "findings": [asdict(finding) for finding in findings.found],
        "repairs": done,
        "remaining": [] if remaining is None else [asdict(finding) for finding in remaining.found],
    }


# `spoor compact`: a crawl that has ended takes less room, and can still be read, checked and resumed.


COMPACT_EXAMPLES = """
spoor compact thai-pages
"""


def register_compact(commands: Commands) -> None:
    parser = add_command(commands, "compact", SUMMARIES["compact"], COMPACT_EXAMPLES, run_compact)
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="the folder of a crawl that is not running")


def run_compact(arguments: argparse.Namespace) -> int:
    if is_crawled_into(open_for_reading(arguments.folder)):
        raise UsageError(f"a crawl is running in {arguments.folder}; stop it first")
    with open_for_crawling(arguments.folder, progress) as folder:
        sizes = compact(folder)
    print(f"{arguments.folder}: {size(sizes.after)}, was {size(sizes.before)}")
    return 0


# `spoor export`: the texts that a crawl found, as a file for other tools.


EXPORT_EXAMPLES = """
spoor export my-crawl --format jsonl --out pages.jsonl
spoor export my-crawl --format parquet --out pages.parquet --all
spoor export my-crawl --format text --out corpus.txt
"""


def register_export(commands: Commands) -> None:
    parser = add_command(commands, "export", SUMMARIES["export"], EXPORT_EXAMPLES, run_export)
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="the folder of a crawl; it may be running")
    parser.add_argument("--format", choices=FORMATS, required=True, help="text: pages end with a form feed")
    parser.add_argument("--out", type=Path, required=True, metavar="FILE", help="file to write")
    parser.add_argument("--all", action="store_true", help="every page, not only the relevant ones")
    add_workers(parser)


def run_export(arguments: argparse.Namespace) -> int:
    folder = open_for_reading(arguments.folder)
    check_writable(arguments.out)
    wish = Wish(arguments.format, arguments.all, arguments.workers)
    with progress("pages", count(folder, wish.every)) as advance:
        report = export(folder, wish, arguments.out, advance)
    print(f"{arguments.out}: {summary_export(report)}")
    return 0


def summary_export(report: Report) -> str:
    asides = [f"{report[what]:,} {what}" for what in ("without main text", "not in the archive") if report[what]]
    return ", ".join([f"{report['exported']:,} pages", *asides])


# `spoor report`: what a crawl came to, as a page to look at; or whether it left every host in peace.


REPORT_EXAMPLES = """
spoor report my-crawl
spoor report my-crawl --out my-crawl.html
spoor report my-crawl --politeness
"""


def register_report(commands: Commands) -> None:
    parser = add_command(commands, "report", SUMMARIES["report"], REPORT_EXAMPLES, run_report)
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="the folder of a crawl; it may be running")
    parser.add_argument("--out", type=Path, metavar="FILE", help="file to write (report.html in the folder)")
    parser.add_argument(
        "--politeness",
        action="store_true",
        help="instead list every visit that broke a promise to a host; exit 1 if any",
    )


def run_report(arguments: argparse.Namespace) -> int:
    folder = open_for_reading(arguments.folder)
    if arguments.politeness:
        return _list_breaches(folder)
    out = arguments.out or folder.report
    check_writable(out)
    told = figures(folder)
    write_page(told, out)
    print(f"{summary_report(told)}\n{out}")
    return 0


def summary_report(told: Figures) -> str:
    totals, links = told.totals, told.links
    wanted = f"{totals.wanted:,} wanted ({share(totals.wanted, totals.pages)})"
    hosts = f"on {totals.hosts_with_wanted:,} of {totals.hosts:,} hosts"
    done = f"{told.name}: {totals.pages:,} pages in {duration(totals.seconds)}, {wanted} {hosts}"
    asides = f"{totals.failures:,} failed visits, {totals.redirects:,} redirects, {totals.duplicates:,} copies"
    waiting = links["waiting"] + links["returning"]
    queue = f"{waiting:,} links waiting, {links['parked']:,} parked, {totals.dropped:,} dropped"
    because = "not ended: it is running, or was cut off" if told.going_on else f"ended because {told.stops[-1].because}"
    return "\n".join([done, f"{asides}, {queue}", plain(because)])


def _list_breaches(folder: CrawlFolder) -> int:
    told = conduct(folder, promise_of(folder))
    for breach in told.breaches:
        print(f"{moment(breach.at)}  {plain(breach.url)}  {breach.how}")
    print(verdict(told))
    return 1 if told.breaches else 0


def promise_of(folder: CrawlFolder) -> Promise:
    """By the settings that the folder has now."""
    return Promise(host_rules(config.loads(folder.settings() or "", folder.path)), AGENT)


def verdict(told: Conduct) -> str:
    kept = "" if told.tightest is None else f" (tightest: {told.tightest:.3f} of the rest due)"
    return f"{told.visits:,} visits to {told.hosts:,} hosts, {len(told.breaches):,} broke a promise{kept}"
