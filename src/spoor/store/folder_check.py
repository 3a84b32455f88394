"""Checks a crawl folder, repairs it as far as possible, and compacts it."""

from __future__ import annotations

import contextlib
import os
import shutil
import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from spoor.errors import BadInput, UsageError
from spoor.frontier.rows import ONLY_FOR_CRAWLING
from spoor.progress import Advance, Progress, silently, unseen
from spoor.result_files import replacing
from spoor.store import cdxj
from spoor.store.cdxj import Capture
from spoor.store.crawl_folder import CrawlFolder, is_crawled_into, is_ours
from spoor.store.database_check import UNREADABLE, check_database, open_checked
from spoor.store.database_repair import rebuild
from spoor.store.incidents import Finding, Tell, counted
from spoor.store.sqlite_files import write_sums
from spoor.store.sqlite_version import require_sqlite
from spoor.store.transactions import transaction
from spoor.store.warc_records import Gap, Member, pieces
from spoor.store.warc_repair import follow, repair, survey

# The archive: every record is readable, and at the place that index and database state.


@dataclass(frozen=True)
class Archive:
    """The WARC files of a folder. `written_to`: a crawl is appending to them."""

    folder: Path
    written_to: bool = False

    def files(self) -> list[Path]:
        return sorted(self.folder.glob("*.warc.gz"))


@dataclass(frozen=True)
class Misplaced:
    """Database rows with a wrong location, and the correct offset of the record; None if it is not in the file."""

    pages: dict[int, int | None] = field(default_factory=dict)
    digests: dict[str, int | None] = field(default_factory=dict)


def check_archive(archive: Archive, db: sqlite3.Connection | None, tell: Tell, advance: Advance) -> None:
    """`db` is None if the database cannot be read. `advance` is called with the number of records read."""
    files = archive.files()
    if db is not None:
        list_places(db, files)
    for file in files:
        captures = list(_captures(archive, file, tell, advance))
        _check_index(archive, file, captures, tell)
        if db is not None:
            _tell_misplaced(db, file, captures, tell)
    _check_strays(archive, files, db, tell)


def _captures(archive: Archive, file: Path, tell: Tell, advance: Advance) -> Iterator[Capture]:
    """Yields the captures of a file, and reports its problems to `tell`."""
    is_finished = cdxj.index_of(file).exists()
    for piece in pieces(file):
        if isinstance(piece, Gap):
            if not (archive.written_to and not is_finished):
                tell(_gap(file, piece, is_finished))
            continue
        advance(1)
        for what in _wrong_with(piece):
            tell(Finding("archive", _name(file), f"the record at byte {piece.offset:,} {what}"))
        if (capture := cdxj.capture_in(piece, file.name)) is not None:
            yield capture


def _gap(file: Path, gap: Gap, is_finished: bool) -> Finding:
    if gap.torn and not is_finished:
        problem = f"ends in the middle of a record ({gap.length:,} bytes), because the crawl was killed"
        return Finding(
            "archive", _name(file), f"{problem}; the next start moves these bytes to another file", damage=False
        )
    what = f"bytes {gap.offset:,} to {gap.end - 1:,} cannot be read; the records before and after can"
    return Finding("archive", _name(file), what)


def _wrong_with(member: Member) -> Iterator[str]:
    record = member.record
    if not member.sound:
        yield "has a damaged gzip header or trailer; its content is intact"
    if not record.is_record:
        yield "is not a WARC record of the stated size"
        return
    if _differs(record.headers.get("warc-block-digest", ""), record.block_digest):
        yield "has a wrong digest"
    is_response = record.headers.get("warc-type") == "response"
    if is_response and _differs(record.headers.get("warc-payload-digest", ""), record.payload_digest):
        yield "has a payload with a wrong digest"


def _differs(said: str, found: str) -> bool:
    """Digests of other types than ours are ignored."""
    return said.startswith("sha1:") and len(said) == len(found) and said != found


def _check_index(archive: Archive, file: Path, captures: Iterable[Capture], tell: Tell) -> None:
    name = _name(cdxj.index_of(file))
    try:
        said = cdxj.index_of(file).read_text("utf8", "replace")
    except FileNotFoundError:
        if not archive.written_to:
            tell(
                Finding(
                    "index", name, "is missing, because the crawl was killed; the next start writes it", damage=False
                )
            )
        return
    except OSError as error:
        tell(Finding("index", name, f"cannot be read: {error.strerror}"))
        return
    expected = cdxj.text_of(captures)
    if said != expected:
        lines, right = said.split("\n")[:-1], set(expected.split("\n")[:-1])
        wrong, missing = [n for n, line in enumerate(lines, 1) if line not in right], len(right.difference(lines))
        first = f" (first {wrong[0]})" if wrong else ""
        problem = f"{counted(len(wrong), 'line')} that lead to no such record{first}"
        order = "" if wrong or missing else "; lines are unsorted or duplicated"
        tell(Finding("index", name, f"{problem}, {counted(missing, 'record')} that it lacks{order}"))


def list_places(db: sqlite3.Connection, files: Iterable[Path]) -> None:
    """Creates a temporary table of the archive locations in the database, by file; "" stands for missing files. The
    database itself is not changed."""
    db.executescript(
        "DROP TABLE IF EXISTS temp.places; DROP TABLE IF EXISTS temp.present; "
        "CREATE TEMP TABLE present (name TEXT PRIMARY KEY); "
        "CREATE TEMP TABLE places AS SELECT warc_file AS file, id AS page, NULL AS digest FROM pages "
        "WHERE warc_file <> '' UNION ALL SELECT warc_file, NULL, digest FROM digests WHERE warc_file <> '';"
    )
    db.executemany("INSERT INTO temp.present VALUES (?)", [(file.name,) for file in files])
    db.execute("UPDATE temp.places SET file = '' WHERE file NOT IN (SELECT name FROM temp.present)")
    db.execute("CREATE INDEX temp.places_by_file ON places (file)")


def misplaced(db: sqlite3.Connection, file: Path, captures: Iterable[Capture]) -> Misplaced:
    """Compares the table of `list_places` with the captures. A record of a missing file may be found in this one."""
    at = {capture.offset: capture for capture in captures}
    by_url = {(capture.url, capture.digest): offset for offset, capture in at.items()}
    by_digest = {capture.digest: offset for offset, capture in at.items() if capture.mime != cdxj.REVISIT}
    found = Misplaced()
    pages = "SELECT file, id, url, pages.digest, warc_offset FROM temp.places JOIN pages ON id = page"
    for name, number, url, digest, offset in db.execute(f"{pages} WHERE file IN ('', ?)", (file.name,)):
        there, place = at.get(offset), by_url.get((url, digest))
        is_right = there is not None and (there.url, there.digest) == (url, digest)
        if (name and not is_right) or (not name and place is not None):
            found.pages[number] = place
    payloads = "SELECT file, digests.digest, warc_offset FROM temp.places JOIN digests USING (digest)"
    for name, digest, offset in db.execute(f"{payloads} WHERE file IN ('', ?)", (file.name,)):
        there, place = at.get(offset), by_digest.get(digest)
        is_right = there is not None and there.digest == digest and there.mime != cdxj.REVISIT
        if (name and not is_right) or (not name and place is not None):
            found.digests[digest] = place
    return found


def _tell_misplaced(db: sqlite3.Connection, file: Path, captures: Iterable[Capture], tell: Tell) -> None:
    found = misplaced(db, file, captures)
    for rows, what in ((found.pages, "page"), (found.digests, "payload")):
        if rows:
            lost = sum(place is None for place in rows.values())
            problem = f"{counted(len(rows), what)} of crawl.db not where it says ({lost:,} of them nowhere in the file)"
            tell(Finding("archive", _name(file), problem))


def _check_strays(archive: Archive, files: list[Path], db: sqlite3.Connection | None, tell: Tell) -> None:
    """Reports indexes and database rows of missing files."""
    indexes = {cdxj.index_of(file) for file in files}
    for index in sorted(set(archive.folder.glob("*.cdxj")) - indexes):
        tell(Finding("index", _name(index), "is the index of a missing file; restore that file"))
    if db is None:
        return
    rows = "SELECT warc_file, count(*) FROM temp.places JOIN pages ON id = page WHERE file = '' GROUP BY 1 ORDER BY 1"
    for name, number in db.execute(rows).fetchall():
        problem = f"is missing, but crawl.db has {counted(number, 'page')} in it; restore it"
        tell(Finding("archive", f"warc/{name}", problem))


def _name(file: Path) -> str:
    return f"{file.parent.name}/{file.name}"


# The whole folder: check and repair.


@dataclass
class Findings:
    """The problems found, and the numbers of items checked."""

    found: list[Finding] = field(default_factory=list)
    checked: Counter[str] = field(default_factory=Counter)

    @property
    def damage(self) -> bool:
        return any(finding.damage for finding in self.found)


def open_for_checking(path: Path) -> CrawlFolder:
    """Opens a crawl folder, even a damaged one."""
    require_sqlite()
    folder = CrawlFolder(path)
    if not path.is_dir():
        raise UsageError(f"there is no folder {path}")
    if not is_ours(folder):
        raise UsageError(f"{path} is not a crawl folder; create one with `spoor crawl --out FOLDER`")
    return folder


def check(folder: CrawlFolder, advance: Advance = unseen) -> Findings:
    """Checks read-only; a crawl may be running."""
    findings = Findings()
    running = is_crawled_into(folder)
    readable = check_database(folder.database, not running, findings.found.append)
    archive = Archive(folder.warcs, running)
    if not readable and archive.files() and folder.database.exists() and not folder.database.stat().st_size:
        findings.found.append(Finding("database", folder.database.name, "is empty; restore it from a backup"))

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
    """Counts the rows of the main tables; False if they cannot be read."""
    try:
        for table in ("links", "pages", "digests"):
            checked[table] = int(db.execute(f"SELECT count(*) FROM {table}").fetchone()[0])
    except UNREADABLE:
        return False
    return True


def repair_folder(folder: CrawlFolder, findings: Findings) -> list[str]:
    """Repairs the problems found, and returns a line for each step. The caller must hold the lock of the folder."""
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
    """The database to correct; None if it is missing or unreadable."""
    if not folder.database.exists():
        return None
    db = opened.enter_context(contextlib.closing(sqlite3.connect(folder.database, isolation_level=None)))
    try:
        list_places(db, Archive(folder.warcs).files())
    except UNREADABLE:
        return None
    return db


def _repair_database(folder: CrawlFolder) -> list[str]:
    rebuilt = rebuild(folder.database) if folder.database.exists() else None
    return [] if rebuilt is None else [f"{folder.database.name}: {rebuilt}"]


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
        done.append(f"{cdxj.index_of(file)} was rewritten, {counted(len(captures), 'line')}")
    if db is not None and (corrected := _corrected(db, file.name, misplaced(db, file, captures))):
        done.append(f"crawl.db: {corrected} of {file.name}")
    return done


def _read(file: Path) -> bytes | None:
    try:
        return file.read_bytes()
    except OSError:
        return None


def _corrected(db: sqlite3.Connection, file: str, wrong: Misplaced) -> str:
    """Corrects locations of records within the file, and clears those of lost records."""
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


# Compaction of a finished crawl: drops what only a running crawl needs and can rebuild.


STEPS_BETWEEN_CHECKS = 1_000_000
"""SQLite virtual machine steps between two progress checks: some tenths of a second."""


@dataclass(frozen=True, slots=True)
class Sizes:
    """Total size of all files of a folder, in bytes."""

    before: int
    after: int


def compact(folder: CrawlFolder, progress: Progress = silently) -> Sizes:
    """The caller must hold the lock. The folder can be read, checked and resumed as before: dropped indexes are rebuilt
    on resume. The database is replaced atomically."""
    before, database = _size(folder.path), folder.database
    try:
        with replacing(database, f".{database.name}.partial", durable=True) as copy:
            copy.unlink(missing_ok=True)
            with progress("bytes written", database.stat().st_size) as advance:
                _copy_compactly(database, copy, advance)
            shutil.copymode(database, copy)
    except (sqlite3.OperationalError, OSError) as error:
        room = f"this needs as much free disk space as {database} has, and no other process may read it meanwhile"
        raise BadInput(f"cannot compact {database}: {error}; {room}; nothing was lost") from None
    for older in folder.snapshots.files()[1:]:
        older.unlink(missing_ok=True)
    return Sizes(before, _size(folder.path))


def _copy_compactly(database: Path, copy: Path, advance: Advance) -> None:
    """VACUUM INTO copies once; plain VACUUM copies twice, through the WAL. The new database must not have a WAL beside
    it: that of the old one, which readers might keep open, would be taken for its own."""
    reported = 0

    def tell() -> None:
        nonlocal reported
        size = copy.stat().st_size if copy.exists() else 0
        advance(max(0, size - reported))
        reported = max(size, reported)

    with contextlib.closing(sqlite3.connect(database, isolation_level=None)) as db:
        db.execute("PRAGMA journal_mode = DELETE")
        for index in ONLY_FOR_CRAWLING:
            db.execute(f"DROP INDEX IF EXISTS {index}")
        db.set_progress_handler(tell, STEPS_BETWEEN_CHECKS)
        db.execute("VACUUM INTO ?", (str(copy),))
    tell()
    with contextlib.closing(sqlite3.connect(copy, isolation_level=None)) as made:
        made.execute("PRAGMA journal_mode = WAL")


def _size(folder: Path) -> int:
    total = 0
    for directory, _, names in os.walk(folder):
        for name in names:
            with contextlib.suppress(FileNotFoundError):
                total += (Path(directory) / name).stat().st_size
    return total
