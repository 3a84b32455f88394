"""Repairs damaged WARC files, and updates the database about lost records.

Unreadable bytes are replaced by a record of the same length that says so, so that all other records keep their offsets
in the index and the database. The damaged file itself is moved to the folder `damaged`.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import sqlite3
import uuid
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from spoor.result_files import replacing
from spoor.store.cdxj import Capture, capture_in
from spoor.store.transactions import transaction
from spoor.store.warc_records import (
    FIELDS,
    HEADER,
    Gap,
    Member,
    Unpacked,
    fields_block,
    packed,
    pieces,
    record,
    rewrapped,
)

# Repair of a WARC file: all readable records are kept, and so is the original file.


ASIDE = "damaged"
"""The folder for damaged originals."""
_COMMENT = 0x10
"""The gzip header flag for a comment, which ends with a zero byte."""
_COPIED = 1 << 20
_NOTHING = Unpacked()
"""Placeholder for the records, to save memory: there may be hundreds of thousands."""


@dataclass(frozen=True, slots=True)
class Move:
    """The bytes from `start` to before `end` are lost; those from `end` to the next move have moved `by` bytes towards
    the start of the file."""

    start: int
    end: int
    by: int = 0


@dataclass(frozen=True, slots=True)
class Repair:
    """The result of a repair. `aside` is the path of the original, or of its cut-off end; None if the file was empty.
    `left` is False if no record was readable and the file was removed."""

    file: Path
    aside: Path | None
    records: int
    lost: tuple[Gap, ...]
    moves: tuple[Move, ...]
    left: bool = True

    def __str__(self) -> str:
        if self.aside is None:
            return f"{self.file} was empty, and is removed"
        if not self.left:
            return f"{self.file} had no readable record; it is now {self.aside}"
        size = sum(gap.length for gap in self.lost)
        if len(self.lost) == 1 and self.lost[0].torn:
            return f"{self.file} ended in the middle of a record; the last {size:,} bytes are now {self.aside}"
        damage = f"{self.file} was damaged: {size:,} bytes in {len(self.lost)} places cannot be read"
        return f"{damage}; all {self.records:,} readable records are kept, the original is {self.aside}"


@dataclass(frozen=True, slots=True)
class Survey:
    """The structure of a WARC file: its pieces, without their content, and its captures."""

    pieces: tuple[Member | Gap, ...]
    captures: tuple[Capture, ...]


def survey(file: Path) -> Survey:
    found, captures = list[Member | Gap](), list[Capture]()
    for piece in pieces(file):
        if isinstance(piece, Member):
            if (capture := capture_in(piece, file.name)) is not None:
                captures.append(capture)
            piece = replace(piece, record=_NOTHING)
        found.append(piece)
    return Survey(tuple(found), tuple(captures))


def repair(file: Path, surveyed: Survey | None = None) -> Repair | None:
    """Returns None if every record is readable and nothing was changed. Can be interrupted at any time without losing a
    readable record. `surveyed` is the result of `survey`, if known."""
    found = (surveyed or survey(file)).pieces
    readable = [piece for piece in found if isinstance(piece, Member)]
    lost = tuple(piece for piece in found if isinstance(piece, Gap))
    if not lost and all(member.sound for member in readable):
        return _without_empty(file)
    if len(lost) == 1 and lost[0].torn and readable and all(member.sound for member in readable):
        done = Repair(file, _cut(file, lost[0]), len(readable), lost, _moves(lost, {}))
    elif readable:
        done = _rewritten(file, found)
    else:
        aside = _set_aside(file)
        file.unlink()
        done = Repair(file, aside, 0, lost, _moves(lost, {}), left=False)
    return done


def _without_empty(file: Path) -> Repair | None:
    if file.stat().st_size:
        return None
    file.unlink()
    return Repair(file, None, 0, (), (), left=False)


def _cut(file: Path, end: Gap) -> Path:
    """Cuts off the end and saves it."""
    aside = _folder(file) / f"{file.name}.torn"
    with file.open("rb") as whole, aside.open("wb") as torn:
        whole.seek(end.offset)
        shutil.copyfileobj(whole, torn, _COPIED)
        torn.flush()
        os.fsync(torn.fileno())
    os.truncate(file, end.offset)
    return aside


def _rewritten(file: Path, found: Sequence[Member | Gap]) -> Repair:
    """Gaps are filled, except at the end: no record after it has to keep its offset."""
    readable = [piece for piece in found if isinstance(piece, Member)]
    lost = tuple(piece for piece in found if isinstance(piece, Gap))
    fillers = {gap: filler for gap in lost if gap.end <= readable[-1].offset and (filler := _filler(file, gap))}
    aside = _set_aside(file)
    partial = _folder(file) / f".{file.name}.partial"
    with file.open("rb") as damaged, partial.open("wb") as mended:
        for piece in found:
            if isinstance(piece, Gap):
                mended.write(fillers.get(piece, b""))
            else:
                mended.writelines(_bytes_of(damaged.fileno(), piece))
        mended.flush()
        os.fsync(mended.fileno())
    os.replace(partial, file)
    return Repair(file, aside, len(readable), lost, _moves(lost, fillers))


def _bytes_of(file: int, member: Member) -> Iterator[bytes]:
    if not member.sound:
        yield rewrapped(os.pread(file, member.length, member.offset))
        return
    for start in range(member.offset, member.end, _COPIED):
        yield os.pread(file, min(_COPIED, member.end - start), start)


def _moves(lost: Iterable[Gap], fillers: dict[Gap, bytes]) -> tuple[Move, ...]:
    moves, by = list[Move](), 0
    for gap in lost:
        by += gap.length - len(fillers.get(gap, b""))
        moves.append(Move(gap.offset, gap.end, by))
    return tuple(moves)


def _filler(file: Path, gap: Gap) -> bytes | None:
    """A gzip member of the length of the gap, with a record that describes it; None if the gap is too short."""
    said = {"damaged": f"{gap.length} bytes from {gap.offset} on could not be read", "kept-in": f"{ASIDE}/{file.name}"}
    for fields in (said, {}):
        member = packed(_notice(file, gap, fields))
        spare = gap.length - len(member)
        if spare == 0:
            return member
        if spare > 0:
            header = HEADER[:3] + bytes([_COMMENT]) + HEADER[4:]
            return header + b" " * (spare - 1) + b"\0" + member[len(HEADER) :]
    return None


def _notice(file: Path, gap: Gap, fields: dict[str, str]) -> bytes:
    """Deterministic, so that an interrupted repair has the same result when repeated."""
    name = uuid.uuid5(uuid.NAMESPACE_URL, f"{file.name} {gap.offset} {gap.length}")
    headers = {"WARC-Record-ID": f"<{name.urn}>", "Content-Type": FIELDS}
    return record("metadata", file.stat().st_mtime, headers, fields_block(fields))


def _set_aside(file: Path) -> Path:
    """Keeps the original under another name, by hard link if possible, else as a copy. Overwrites no earlier one."""
    aside = _folder(file) / file.name
    for number in range(2, 1_000_000):
        if not aside.exists():
            break
        if aside.samefile(file):
            return aside
        aside = _folder(file) / f"{file.name}.{number}"
    with contextlib.suppress(OSError):
        os.link(file, aside)
        return aside
    with replacing(aside, f".{aside.name}.partial") as partial:
        shutil.copy2(file, partial)
    return aside


def _folder(file: Path) -> Path:
    folder = file.parent / ASIDE
    folder.mkdir(exist_ok=True)
    return folder


# Updates of the database after a repair: records that are lost or have moved.


_END = 2**62
"""Larger than any file."""
_WITHIN = "warc_file = ? AND warc_offset >= ? AND warc_offset < ?"


def follow(db: sqlite3.Connection, repair: Repair) -> None:
    """Pages of lost records stay in the journal, without a location in the archive; lost payloads are removed from the
    duplicates, so that they are stored if they are fetched again."""
    tables = {name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    if not {"pages", "digests"} <= tables:
        return
    ends = [move.start for move in repair.moves[1:]] + [_END]
    with transaction(db):
        for move, end in zip(repair.moves, ends, strict=False):
            lost, moved = (repair.file.name, move.start, move.end), (move.by, repair.file.name, move.end, end)
            for table in {"pages", "renders"} & tables:
                db.execute(f"UPDATE {table} SET warc_file = NULL, warc_offset = NULL WHERE {_WITHIN}", lost)
            db.execute(f"DELETE FROM digests WHERE {_WITHIN}", lost)
            if move.by:
                for table in {"pages", "renders", "digests"} & tables:
                    db.execute(f"UPDATE {table} SET warc_offset = warc_offset - ? WHERE {_WITHIN}", moved)
