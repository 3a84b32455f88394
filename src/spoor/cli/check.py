"""`spoor check`: whether all of a crawl is still there and can be read; and what can be done where it cannot."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from pathlib import Path

from spoor.cli.command import Commands, add_command
from spoor.cli.progress import progress
from spoor.errors import BadInput, UsageError
from spoor.report.showing import plain
from spoor.store.crawl_folder import CrawlFolder, is_crawled_into, locked
from spoor.store.folder_check import Findings, check, open_for_checking, repair_folder

EXAMPLES = """
spoor check my-crawl
spoor check my-crawl --repair
spoor check my-crawl --json
"""


def register(commands: Commands) -> None:
    parser = add_command(
        commands, "check", "verify the database, archive, indexes and snapshots of a crawl", EXAMPLES, run
    )
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="the folder of a crawl; it may be running")
    parser.add_argument(
        "--repair", action="store_true", help="repair what can be repaired; damaged files are kept in folders `damaged`"
    )
    parser.add_argument("--json", action="store_true", help="print the findings as JSON")


def run(arguments: argparse.Namespace) -> int:
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
    print(summary(folder, findings, remaining))


def summary(folder: CrawlFolder, findings: Findings, remaining: Findings | None) -> str:
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
