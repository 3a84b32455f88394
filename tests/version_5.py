"""A crawl as version 5 wrote it: bands without the fingerprints themselves."""

from __future__ import annotations

import contextlib
import os
import signal
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from spoor.progress import Advance
from spoor.store.crawl_folder import CrawlFolder, open_for_crawling

BANDS = """
CREATE TABLE bands (
    band INTEGER NOT NULL, fingerprint INTEGER NOT NULL, PRIMARY KEY (band, fingerprint)
) WITHOUT ROWID
"""


def as_version_5(folder: CrawlFolder) -> CrawlFolder:
    with contextlib.closing(sqlite3.connect(folder.database, isolation_level=None)) as db:
        rows = db.execute("SELECT band, fingerprint FROM bands").fetchall()
        db.execute("DROP TABLE bands")
        db.execute(BANDS)
        db.executemany("INSERT INTO bands VALUES (?, ?)", rows)
    (folder.path / "version").write_text("spoor crawl 5\n")
    return folder


def migrate_and_die(path: Path, pieces: int) -> None:
    """Kills its own process after so many pieces of the table were written."""

    @contextlib.contextmanager
    def progress(doing: str, total: int | None) -> Iterator[Advance]:
        written = 0

        def advance(units: int) -> None:
            nonlocal written
            written += 1
            if written == pieces:
                os.kill(os.getpid(), signal.SIGKILL)

        if pieces == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        yield advance

    open_for_crawling(path, progress).__enter__()
