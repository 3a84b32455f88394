"""A crawl that has ended, made smaller: what only a running crawl needs, and can make again, is left out."""

from __future__ import annotations

import contextlib
import os
import sqlite3
from dataclasses import dataclass
from pathlib import Path

from spoor.errors import BadInput
from spoor.frontier.sqlite import ONLY_FOR_CRAWLING
from spoor.store.crawl_folder import CrawlFolder


@dataclass(frozen=True, slots=True)
class Sizes:
    """Of all files of a folder, in bytes."""

    before: int
    after: int


def compact(folder: CrawlFolder) -> Sizes:
    """The folder is locked by the caller. It can be read, checked and resumed as before: the indexes that are dropped
    are made again when it is resumed. Whatever happens meanwhile, the database is as it was or compact."""
    before = _size(folder.path)
    try:
        with contextlib.closing(sqlite3.connect(folder.database, isolation_level=None)) as db:
            db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            for index in ONLY_FOR_CRAWLING:
                db.execute(f"DROP INDEX IF EXISTS {index}")
            db.execute("VACUUM")
            db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    except sqlite3.OperationalError as error:
        room = f"that takes as much room again as {folder.database} has"
        raise BadInput(f"cannot compact {folder.database}: {error}; {room}, nothing was lost") from None
    for older in folder.snapshots.files()[1:]:
        older.unlink(missing_ok=True)
    return Sizes(before, _size(folder.path))


def _size(folder: Path) -> int:
    total = 0
    for directory, _, names in os.walk(folder):
        for name in names:
            with contextlib.suppress(FileNotFoundError):
                total += (Path(directory) / name).stat().st_size
    return total
