"""The database of a crawl as of one moment, though the crawl may be running."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator

from spoor.errors import BadInput
from spoor.store.crawl_folder import CrawlFolder
from spoor.store.journal import open_to_read


@contextlib.contextmanager
def one_moment(folder: CrawlFolder) -> Iterator[sqlite3.Connection]:
    """What is committed later is not seen: numbers read one after the other agree. Changes nothing."""
    with contextlib.closing(open_to_read(folder.database)) as db:
        try:
            db.execute("BEGIN")
            yield db
        except sqlite3.Error as error:
            raise BadInput(f"cannot read {folder.database}: {error}") from None


def has_robots_files(db: sqlite3.Connection) -> bool:
    """Whether it knows robots.txt files by their URLs; before version 3 it was one for each host."""
    return db.execute("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'robots'").fetchone() is not None
