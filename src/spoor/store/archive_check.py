"""Can every record of the archive be read, and is each where the index and the database say?"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from spoor.store import cdxj
from spoor.store.cdxj import Capture
from spoor.store.findings import Finding, Tell, counted
from spoor.store.members import Gap, Member, pieces

Advance = Callable[[int], None]


@dataclass(frozen=True)
class Archive:
    """The WARC files of a folder. `written_to`: a crawl is adding to them."""

    folder: Path
    written_to: bool = False

    def files(self) -> list[Path]:
        return sorted(self.folder.glob("*.warc.gz"))


@dataclass(frozen=True)
class Misplaced:
    """Rows of the database that lead to no such record, with the place where the record is instead; None: nowhere."""

    pages: dict[int, int | None] = field(default_factory=dict)
    digests: dict[str, int | None] = field(default_factory=dict)


def check_archive(archive: Archive, db: sqlite3.Connection | None, tell: Tell, advance: Advance) -> None:
    """`db` None: the database cannot be read. `advance` is told how many records were read."""
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
    """Those of a file, telling what is wrong with it on the way."""
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
        told = f"ends in the middle of a record ({gap.length:,} bytes), as a killed crawl leaves it"
        return Finding("archive", _name(file), f"{told}; the next start puts these aside", damage=False)
    what = f"bytes {gap.offset:,} to {gap.end - 1:,} cannot be read; the records before and after can"
    return Finding("archive", _name(file), what)


def _wrong_with(member: Member) -> Iterator[str]:
    record = member.record
    if not member.sound:
        yield "has a damaged gzip header or trailer; what it holds is whole"
    if not record.is_record:
        yield "is not a WARC record of the size that it says"
        return
    if _differs(record.headers.get("warc-block-digest", ""), record.block_digest):
        yield "has another digest than it says"
    is_response = record.headers.get("warc-type") == "response"
    if is_response and _differs(record.headers.get("warc-payload-digest", ""), record.payload_digest):
        yield "has a payload with another digest than it says"


def _differs(said: str, found: str) -> bool:
    """Digests of kinds that we do not write are passed over."""
    return said.startswith("sha1:") and len(said) == len(found) and said != found


def _check_index(archive: Archive, file: Path, captures: Iterable[Capture], tell: Tell) -> None:
    name = _name(cdxj.index_of(file))
    try:
        said = cdxj.index_of(file).read_text("utf8", "replace")
    except FileNotFoundError:
        if not archive.written_to:
            tell(
                Finding(
                    "index", name, "is missing, as a killed crawl leaves it; the next start writes it", damage=False
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
        told = f"{counted(len(wrong), 'line')} that lead to no such record" + (f" (first {wrong[0]})" if wrong else "")
        order = "" if wrong or missing else "; lines are not in order, or twice there"
        tell(Finding("index", name, f"{told}, {counted(missing, 'record')} that it lacks{order}"))


def list_places(db: sqlite3.Connection, files: Iterable[Path]) -> None:
    """Makes a table of the places that the database names, by file; "" stands for files that are not there. Nothing is
    written to the database itself."""
    db.executescript(
        "DROP TABLE IF EXISTS temp.places; DROP TABLE IF EXISTS temp.present; "
        "CREATE TEMP TABLE present (name TEXT PRIMARY KEY); "
        "CREATE TEMP TABLE places AS SELECT warc_file AS file, id AS page, NULL AS digest FROM pages "
        "WHERE warc_file IS NOT NULL UNION ALL SELECT warc_file, NULL, digest FROM digests WHERE warc_file <> '';"
    )
    db.executemany("INSERT INTO temp.present VALUES (?)", [(file.name,) for file in files])
    db.execute("UPDATE temp.places SET file = '' WHERE file NOT IN (SELECT name FROM temp.present)")
    db.execute("CREATE INDEX temp.places_by_file ON places (file)")


def misplaced(db: sqlite3.Connection, file: Path, captures: Iterable[Capture]) -> Misplaced:
    """By the table of `list_places`. What is said to be in a file that is not there may turn out to be in this one."""
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
            told = f"{counted(len(rows), what)} of crawl.db not where it says ({lost:,} of them nowhere in the file)"
            tell(Finding("archive", _name(file), told))


def _check_strays(archive: Archive, files: list[Path], db: sqlite3.Connection | None, tell: Tell) -> None:
    """Indexes and rows of the database for files that are not there."""
    indexes = {cdxj.index_of(file) for file in files}
    for index in sorted(set(archive.folder.glob("*.cdxj")) - indexes):
        tell(Finding("index", _name(index), "is the index of a file that is not there; put it back"))
    if db is None:
        return
    rows = "SELECT warc_file, count(*) FROM temp.places JOIN pages ON id = page WHERE file = '' GROUP BY 1 ORDER BY 1"
    for name, number in db.execute(rows).fetchall():
        told = f"is not there, but crawl.db has {counted(number, 'page')} in it; put it back"
        tell(Finding("archive", f"warc/{name}", told))


def _name(file: Path) -> str:
    return f"{file.parent.name}/{file.name}"
