"""`spoor check`, `compact`, `export`, `report` and `why`: commands for the folder of a crawl."""

from __future__ import annotations

import argparse
import time
from dataclasses import asdict

from spoor import settings as config
from spoor.api.explaining import learned_lines, lines
from spoor.cli.terminal import check_result, print_json, progress, say, say_of, write_text
from spoor.errors import BadInput, UsageError
from spoor.live.from_settings import AGENT, host_rules
from spoor.report.export import DUPLICATES, NEED_SCRIPTS, NO_INDEX, NOT_KEPT, Report, Selection, count, export
from spoor.report.figures import PARTS, figures
from spoor.report.page import html_of, write_page
from spoor.report.politeness import PolitenessReport, PolitenessRules, conduct
from spoor.report.showing import count_of, duration, moment, plain, share, size, visits_in_words
from spoor.report.summary import Figures
from spoor.report.why import account
from spoor.storage_errors import not_written
from spoor.store.crawl_folder import CrawlFolder, is_crawled_into, locked, open_for_crawling, open_for_reading
from spoor.store.folder_check import Findings, check, compact, open_for_checking, repair_folder
from spoor.urls import normalise

# `spoor check`: verifies that a crawl is complete and readable, and repairs it if possible.


def run_check(arguments: argparse.Namespace) -> int:
    """Checks each shard; JSON has a line for each."""
    folders = [open_for_checking(part.path) for part in CrawlFolder(arguments.folder).parts]
    check_one = _repair if arguments.repair else _check
    return max([check_one(folder, arguments.json) for folder in folders], default=0)


def _check(folder: CrawlFolder, as_json: bool) -> int:
    findings = _checked(folder)
    _print(folder, findings, [], None, as_json)
    return 1 if findings.damage else 0


def _repair(folder: CrawlFolder, as_json: bool) -> int:
    if is_crawled_into(folder):
        raise UsageError(f"a crawl is running in {folder.path}; stop it before you repair it")
    with locked(folder):
        findings = _checked(folder)
        try:
            done = repair_folder(folder, findings)
        except OSError as error:
            problem = not_written(folder.path, error)
            raise BadInput(f"cannot repair {folder.path}, nothing was lost: {problem}") from None
        remaining = _checked(folder) if done else findings
    _print(folder, findings, done, remaining, as_json)
    return 1 if findings.damage else 0


def _checked(folder: CrawlFolder) -> Findings:
    with progress("records checked") as advance:
        return check(folder, advance)


def _print(folder: CrawlFolder, findings: Findings, done: list[str], remaining: Findings | None, as_json: bool) -> None:
    if as_json:
        print_json(_as_json(folder, findings, done, remaining))
        return
    for finding in findings.found:
        print(plain(str(finding), 4000))
    for line in done:
        print(f"repaired: {plain(line, 4000)}")
    if remaining is not None and done:
        for finding in remaining.found:
            print(f"remains: {plain(str(finding), 4000)}")
    say(summary_check(folder, findings, remaining))


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


# `spoor compact`: shrinks the folder of a finished crawl, which can still be read, checked and resumed.


def run_compact(arguments: argparse.Namespace) -> int:
    for part in open_for_reading(arguments.folder).parts:
        if is_crawled_into(part):
            raise UsageError(f"a crawl is running in {part.path}; stop it first")
        with open_for_crawling(part.path) as folder:
            sizes = compact(folder, progress)
        if arguments.json:
            print_json({"folder": str(part.path), **asdict(sizes)})
        else:
            say(f"{part.path}: {size(sizes.after)}, was {size(sizes.before)}")
    return 0


# `spoor export`: writes the texts of a crawl to a file for other tools.


def run_export(arguments: argparse.Namespace) -> int:
    folder = open_for_reading(arguments.folder)
    check_result(arguments.out, arguments.json)
    selection = Selection(arguments.format, arguments.all, arguments.workers)
    with progress("pages", count(folder, selection.every)) as advance:
        report = export(folder, selection, arguments.out, advance)
    if arguments.json:
        counts = {what.replace(" ", "_"): report[what] for what in ("exported", *ASIDES)}
        print_json({"file": str(arguments.out), **counts})
    else:
        say_of(arguments.out, f"{arguments.out}: {summary_export(report)}")
    return 0


ASIDES = ("without main text", NO_INDEX, NOT_KEPT, "not in the archive", NEED_SCRIPTS)

REMEDIES = {NO_INDEX: " left out (`--all` exports them)"}


def summary_export(report: Report) -> str:
    asides = [count_of(report[DUPLICATES], "duplicate")] if report[DUPLICATES] else []
    asides += [f"{report[what]:,} {what}{REMEDIES.get(what, '')}" for what in ASIDES if report[what]]
    return ", ".join([f"{report['exported']:,} pages", *asides])


# `spoor report`: a summary of a crawl as a page, or a check of its politeness.


def run_report(arguments: argparse.Namespace) -> int:
    folder = open_for_reading(arguments.folder)
    if arguments.politeness:
        return _list_breaches(folder, arguments.json)
    out = arguments.out or folder.report
    check_result(out, arguments.json)
    with progress("figures counted", len(PARTS)) as advance:
        found = figures(folder, advance)
    if arguments.out is None:
        write_page(found, out)
    else:
        write_text(out, html_of(found))
    if arguments.json:
        print_json({"file": str(out), **_totals(found)})
    else:
        say_of(out, summary_report(found), str(out))
    return 0


def summary_report(figures: Figures) -> str:
    totals, links = figures.totals, figures.links
    relevant = f"{totals.relevant:,} relevant ({share(totals.relevant, totals.pages)})"
    if totals.relevant_duplicates:
        relevant += f", {count_of(totals.relevant_duplicates, 'duplicate')} among them,"
    hosts = f"on {totals.hosts_with_relevant:,} of {totals.hosts:,} hosts"
    left = f", {totals.not_kept:,} not stored" if totals.not_kept else ""
    done = f"{figures.name}: {count_of(totals.pages, 'page')} in {duration(totals.seconds)}, {relevant} {hosts}{left}"
    listed = f", {totals.sitemap_links:,} links queued from {totals.sitemaps_read:,} sitemaps"
    listed = listed if totals.sitemaps_read else ""
    asides = f"{visits_in_words(totals)}; {totals.duplicates:,} duplicates"
    asides += f", {totals.internal_errors:,} internal errors" if totals.internal_errors else ""
    asides += f", {totals.needs_scripts:,} pages need scripts" if totals.needs_scripts else ""
    asides += f", {totals.rendered:,} rendered ({totals.gained:,} gained)" if totals.rendered else ""
    waiting = links["waiting"] + links["returning"]
    queue = f"{waiting:,} links waiting, {links['parked']:,} parked, {totals.dropped:,} dropped{listed}"
    because = (
        "not ended: it is running, or was killed" if figures.going_on else f"ended because {figures.stops[-1].because}"
    )
    return "\n".join([done, f"{asides}, {queue}", plain(because)])


def _totals(figures: Figures) -> dict[str, object]:
    because = None if figures.going_on else figures.stops[-1].because
    return {"name": figures.name, **figures.totals.as_json(), "links": dict(figures.links), "ended_because": because}


def _list_breaches(folder: CrawlFolder, as_json: bool) -> int:
    found = conduct(folder, promise_of(folder))
    if as_json:
        print_json(asdict(found))
        return 1 if found.breaches else 0
    for breach in found.breaches:
        print(f"{moment(breach.at)}  {plain(breach.url)}  {breach.how}")
    say(verdict(found))
    return 1 if found.breaches else 0


def promise_of(folder: CrawlFolder) -> PolitenessRules:
    """From the current settings of the folder."""
    return PolitenessRules(host_rules(config.loads(folder.settings() or "", folder.path)), AGENT)


def verdict(conduct: PolitenessReport) -> str:
    kept = "" if conduct.tightest is None else f" (tightest: {conduct.tightest:.3f} of the delay due)"
    return f"{conduct.visits:,} visits to {conduct.hosts:,} hosts, {len(conduct.breaches):,} violated a rule{kept}"


# `spoor why`: where one URL was found, its score, and why it was fetched, not yet, or never.


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
