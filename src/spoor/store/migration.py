"""How a crawl folder of an earlier version becomes one of this: step by step, each of which may be repeated, so that
one that was killed is simply done again."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path

from spoor.frontier import packed_evidence
from spoor.frontier.packed_evidence import EvidenceNames

Advance = Callable[[int], None]
Progress = Callable[[str, int | None], AbstractContextManager[Advance]]
"""Told what is done and of how many units; from then on how many more have been done."""
ROWS = 10_000
"""Written in one transaction."""


@contextlib.contextmanager
def silently(doing: str, total: int | None) -> Iterator[Advance]:
    yield lambda units: None


def pack_evidence(database: Path, progress: Progress) -> None:
    """From 3 to 4: evidence was JSON with its names in every row."""
    with contextlib.closing(sqlite3.connect(database, isolation_level=None)) as db:
        if db.execute("SELECT 1 FROM sqlite_master WHERE name = 'links'").fetchone() is None:
            return
        db.execute(packed_evidence.SCHEMA)
        names = EvidenceNames.of(db)
        (last,) = db.execute("SELECT ifnull(max(id), 0) FROM links").fetchone()
        with progress("packing what is known of links", last) as advance:
            for first in range(0, last + 1, ROWS):
                _pack_rows(db, names, first)
                advance(ROWS)


def _pack_rows(db: sqlite3.Connection, names: EvidenceNames, first: int) -> None:
    query = "SELECT id, evidence FROM links WHERE id BETWEEN ? AND ? AND typeof(evidence) = 'text'"
    db.execute("BEGIN IMMEDIATE")
    found = db.execute(query, (first, first + ROWS - 1)).fetchall()
    rows = [(packed, row) for row, text in found if (packed := _packed(names, text)) is not None]
    db.executemany("UPDATE links SET evidence = ? WHERE id = ?", rows)
    names.write(db)
    db.execute("COMMIT")


def _packed(names: EvidenceNames, text: str) -> bytes | None:
    """None: it cannot be read. It stays as it is, for `spoor check` to be found."""
    try:
        return names.pack(names.unpack(text))
    except (ValueError, RecursionError):
        return None


STEPS: dict[str, Callable[[Path, Progress], None]] = {"spoor crawl 3": pack_evidence}
"""What leads on from each version to the next, in this order."""
