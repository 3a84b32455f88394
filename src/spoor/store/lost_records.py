"""What the database must know after a WARC file was repaired: which records are gone, and which lie elsewhere now."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator

from spoor.store.warc_repair import Repair

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
            db.execute(f"UPDATE pages SET warc_file = NULL, warc_offset = NULL WHERE {_WITHIN}", lost)
            db.execute(f"DELETE FROM digests WHERE {_WITHIN}", lost)
            if move.by:
                db.execute(f"UPDATE pages SET warc_offset = warc_offset - ? WHERE {_WITHIN}", moved)
                db.execute(f"UPDATE digests SET warc_offset = warc_offset - ? WHERE {_WITHIN}", moved)


@contextlib.contextmanager
def transaction(db: sqlite3.Connection) -> Iterator[None]:
    """All of it or nothing, for a connection that begins none by itself."""
    db.execute("BEGIN IMMEDIATE")
    try:
        yield
        db.execute("COMMIT")
    except BaseException:
        db.execute("ROLLBACK")
        raise
