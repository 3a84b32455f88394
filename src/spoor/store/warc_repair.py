"""A damaged WARC file made readable again, and what the database must know of lost records.

What cannot be read is replaced by a record that says so and is just as long, so that all others stay where the index
and the database know them to be. The damaged file itself goes to the folder `damaged` beside.
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

from spoor.files import replacing
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

# A damaged WARC file made readable again: every record on both sides of the damage is kept, and so is the file
# as it was.


ASIDE = "damaged"
"""The folder for what was damaged."""
_COMMENT = 0x10
"""The flag of a gzip header after which a comment follows, ended by a zero."""
_COPIED = 1 << 20
_NOTHING = Unpacked()
"""In place of the heads of records, of which there may be hundreds of thousands."""


@dataclass(frozen=True, slots=True)
class Move:
    """What became of the bytes of a file: those from `start` to before `end` are lost, those from `end` on, up to the
    next move, lie `by` bytes nearer to the start of the file than they did."""

    start: int
    end: int
    by: int = 0


@dataclass(frozen=True, slots=True)
class Repair:
    """`aside` is where what was there before is kept, None: the file was empty. `left` is False when no record could
    be read, and so the file is gone."""

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
    """A WARC file read from end to end: its pieces, without what they hold, and the captures among them."""

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
    """None: every record of the file can be read, and nothing was changed. Safe to be interrupted at any time: until
    it is done, and after it, all that could be read can be. `surveyed` is what `survey` found, if it was asked."""
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
    """Takes the end off, and keeps it."""
    aside = _folder(file) / f"{file.name}.torn"
    with file.open("rb") as whole, aside.open("wb") as torn:
        whole.seek(end.offset)
        shutil.copyfileobj(whole, torn, _COPIED)
        torn.flush()
        os.fsync(torn.fileno())
    os.truncate(file, end.offset)
    return aside


def _rewritten(file: Path, found: Sequence[Member | Gap]) -> Repair:
    """A gap at the end needs no filler: nothing after it has to stay where it is."""
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
    """A gzip member as long as the gap, with a record that says what was there; None: the gap is too short for one."""
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
    """The same for the same damage, so that a repair that was interrupted ends as it would have."""
    name = uuid.uuid5(uuid.NAMESPACE_URL, f"{file.name} {gap.offset} {gap.length}")
    headers = {"WARC-Record-ID": f"<{name.urn}>", "Content-Type": FIELDS}
    return record("metadata", file.stat().st_mtime, headers, fields_block(fields))


def _set_aside(file: Path) -> Path:
    """The same bytes under another name: a second name for them where the disk has such, else a copy. An earlier file
    of that name stays."""
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


# What the database must know after a WARC file was repaired: which records are gone, and which lie elsewhere
# now.


_END = 2**62
"""No file has so many bytes."""
_WITHIN = "warc_file = ? AND warc_offset >= ? AND warc_offset < ?"


def follow(db: sqlite3.Connection, repair: Repair) -> None:
    """Pages whose record is lost stay in the journal, without a place in the archive; payloads that are lost are
    forgotten, so that they are kept when they come again."""
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
