"""`spoor report`: what a crawl came to, as a page to look at; or whether it left every host in peace."""

from __future__ import annotations

import argparse
from pathlib import Path

from spoor import config
from spoor.cli.command import Commands, add_command
from spoor.cli.results import check_writable
from spoor.report.figures import Figures, figures
from spoor.report.page import write_page
from spoor.report.politeness import Conduct, Promise, conduct
from spoor.report.showing import duration, moment, plain, share
from spoor.session import AGENT, host_rules
from spoor.store.crawl_folder import CrawlFolder, open_for_reading

EXAMPLES = """
spoor report my-crawl
spoor report my-crawl --out my-crawl.html
spoor report my-crawl --politeness
"""


def register(commands: Commands) -> None:
    parser = add_command(commands, "report", "show what a crawl came to, as report.html", EXAMPLES, run)
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="the folder of a crawl; it may be running")
    parser.add_argument("--out", type=Path, metavar="FILE", help="file to write (report.html in the folder)")
    parser.add_argument(
        "--politeness",
        action="store_true",
        help="instead list every visit that broke a promise to a host; exit 1 if any",
    )


def run(arguments: argparse.Namespace) -> int:
    folder = open_for_reading(arguments.folder)
    if arguments.politeness:
        return _list_breaches(folder)
    out = arguments.out or folder.report
    check_writable(out)
    told = figures(folder)
    write_page(told, out)
    print(f"{summary(told)}\n{out}")
    return 0


def summary(told: Figures) -> str:
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
