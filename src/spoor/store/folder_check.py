"""The folder of a crawl, checked from end to end, and repaired as far as that is possible."""

from __future__ import annotations

import contextlib
import sqlite3
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from spoor.errors import UsageError
from spoor.store import cdxj
from spoor.store.archive_check import Archive, Misplaced, check_archive, list_places, misplaced
from spoor.store.checksums import write_sums
from spoor.store.crawl_folder import RESUMABLE, CrawlFolder, is_crawled_into, is_current, is_ours
from spoor.store.database_check import UNREADABLE, check_database, open_checked
from spoor.store.database_repair import rebuild
from spoor.store.findings import Finding, counted
from spoor.store.lost_records import follow, transaction
from spoor.store.warc_repair import repair, survey

Advance = Callable[[int], None]


@dataclass
class Findings:
    """What was found, and how much was looked at."""

    found: list[Finding] = field(default_factory=list)
    checked: Counter[str] = field(default_factory=Counter)

    @property
    def damage(self) -> bool:
        return any(finding.damage for finding in self.found)


def open_for_checking(path: Path) -> CrawlFolder:
    """A folder in which a crawl was begun, whatever is left of it."""
    folder = CrawlFolder(path)
    if not path.is_dir():
        raise UsageError(f"there is no folder {path}")
    if not is_ours(folder, RESUMABLE):
        raise UsageError(f"{path} is not a crawl folder; `spoor crawl --out FOLDER` makes one")
    if not is_current(folder):
        raise UsageError(f"{path} is of an older version; `spoor crawl --out {path}` brings it to this one")
    return folder


def check(folder: CrawlFolder, advance: Advance = lambda records: None) -> Findings:
    """Changes nothing. A crawl may be running."""
    findings = Findings()
    running = is_crawled_into(folder)
    readable = check_database(folder.database, not running, findings.found.append)
    archive = Archive(folder.warcs, running)
    if not readable and archive.files() and folder.database.exists() and not folder.database.stat().st_size:
        findings.found.append(Finding("database", folder.database.name, "is empty; put it back from a copy"))

    def read(records: int) -> None:
        findings.checked["records"] += records
        advance(records)

    with contextlib.ExitStack() as opened:
        db = opened.enter_context(contextlib.closing(open_checked(folder.database))) if readable else None
        if db is not None and not _count(db, findings.checked):
            db = None
        check_archive(archive, db, findings.found.append, read)
    if snapshots := folder.snapshots.check(findings.found.append):
        findings.checked["snapshots"] = snapshots
    return findings


def _count(db: sqlite3.Connection, checked: Counter[str]) -> bool:
    """Whether there is anything to count."""
    try:
        for table in ("links", "pages", "digests"):
            checked[table] = int(db.execute(f"SELECT count(*) FROM {table}").fetchone()[0])
    except UNREADABLE:
        return False
    return True


def repair_folder(folder: CrawlFolder, findings: Findings) -> list[str]:
    """Says what was done about what was found. The folder is locked by the caller."""
    done: list[str] = []
    if any(finding.part == "database" and finding.damage for finding in findings.found):
        done += _repair_database(folder)
    with contextlib.ExitStack() as opened:
        db = _opened(folder, opened)
        for file in Archive(folder.warcs).files():
            done += _repair_file(file, db)
    done += folder.snapshots.remove_damaged()
    with contextlib.suppress(OSError):
        write_sums(folder.database)
    return done


def _opened(folder: CrawlFolder, opened: contextlib.ExitStack) -> sqlite3.Connection | None:
    """The database to be corrected; None: it cannot be."""
    if not folder.database.exists():
        return None
    db = opened.enter_context(contextlib.closing(sqlite3.connect(folder.database, isolation_level=None)))
    try:
        list_places(db, Archive(folder.warcs).files())
    except UNREADABLE:
        return None
    return db


def _repair_database(folder: CrawlFolder) -> list[str]:
    told = rebuild(folder.database) if folder.database.exists() else None
    return [] if told is None else [f"{folder.database.name}: {told}"]


def _repair_file(file: Path, db: sqlite3.Connection | None) -> list[str]:
    done: list[str] = []
    found = survey(file)
    if (repaired := repair(file, found)) is not None:
        done.append(str(repaired))
        if db is not None:
            follow(db, repaired)
        if not repaired.left:
            cdxj.index_of(file).unlink(missing_ok=True)
            return done
    captures = found.captures if repaired is None else tuple(cdxj.captures(file))
    text = cdxj.text_of(captures)
    if _read(cdxj.index_of(file)) != text.encode():
        cdxj.write(file, text)
        done.append(f"{cdxj.index_of(file)} was written anew, {counted(len(captures), 'line')}")
    if db is not None and (told := _corrected(db, file.name, misplaced(db, file, captures))):
        done.append(f"crawl.db: {told} of {file.name}")
    return done


def _read(file: Path) -> bytes | None:
    try:
        return file.read_bytes()
    except OSError:
        return None


def _corrected(db: sqlite3.Connection, file: str, wrong: Misplaced) -> str:
    """What is elsewhere in the file is looked for there; what is lost has no place any more."""
    if not wrong.pages and not wrong.digests:
        return ""
    with transaction(db):
        for number, place in wrong.pages.items():
            values = (None if place is None else file, place, number)
            db.execute("UPDATE pages SET warc_file = ?, warc_offset = ? WHERE id = ?", values)
        for digest, place in wrong.digests.items():
            if place is None:
                db.execute("DELETE FROM digests WHERE digest = ?", (digest,))
            else:
                db.execute("UPDATE digests SET warc_file = ?, warc_offset = ? WHERE digest = ?", (file, place, digest))
    return (
        f"the places of {counted(len(wrong.pages), 'page')} and {counted(len(wrong.digests), 'payload')} were corrected"
    )
