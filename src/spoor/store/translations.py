"""A cache of paid translations, and counts of untranslated texts: a small database beside the crawl.

It is optional: if it is damaged, it is recreated; if it cannot be written, nothing is cached.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

MOST_KEPT = 200_000
"""Most translations in the file; the oldest are deleted."""
_PATIENCE = 2.0
"""Timeout in seconds for a lock of another process."""
_TABLES = """
PRAGMA synchronous = OFF;
CREATE TABLE IF NOT EXISTS translations (id INTEGER PRIMARY KEY AUTOINCREMENT, digest BLOB UNIQUE, text TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS untranslated (reason TEXT PRIMARY KEY, texts INTEGER NOT NULL);
"""


@dataclass(frozen=True, slots=True)
class Translations:
    """Translations by digest of text and translator. Several processes may use the file; each use opens it."""

    path: Path
    most: int = MOST_KEPT

    def known(self, digests: Sequence[bytes]) -> dict[bytes, str]:
        found: dict[bytes, str] = {}
        with contextlib.suppress(sqlite3.Error), self._opened() as db:
            for digest in digests:
                found.update(db.execute("SELECT digest, text FROM translations WHERE digest = ?", (digest,)))
        return found

    def keep(self, translations: Mapping[bytes, str]) -> None:
        with contextlib.suppress(sqlite3.Error), self._opened() as db:
            rows = translations.items()
            db.executemany("INSERT OR IGNORE INTO translations (digest, text) VALUES (?, ?)", rows)
            oldest = "(SELECT max(id) FROM translations) - ?"
            db.execute(f"DELETE FROM translations WHERE id <= {oldest}", (self.most,))

    def count(self, reason: str, texts: int) -> bool:
        """Counts untranslated texts. Returns whether this reason is new."""
        with contextlib.suppress(sqlite3.Error), self._opened() as db:
            known = db.execute("UPDATE untranslated SET texts = texts + ? WHERE reason = ?", (texts, reason)).rowcount
            if known == 0:
                db.execute("INSERT INTO untranslated VALUES (?, ?)", (reason, texts))
            return known == 0
        return True

    def untranslated(self) -> Counter[str]:
        """The number of untranslated texts by reason."""
        if not self.path.exists():
            return Counter()
        with contextlib.suppress(sqlite3.Error), self._opened() as db:
            return Counter(dict(db.execute("SELECT reason, texts FROM untranslated ORDER BY texts DESC")))
        return Counter()

    @contextlib.contextmanager
    def _opened(self) -> Iterator[sqlite3.Connection]:
        """One transaction. A file that is not a database is deleted, and created again at the next use."""
        with contextlib.closing(sqlite3.connect(self.path, timeout=_PATIENCE)) as db:
            try:
                db.executescript(_TABLES)
                with db:
                    yield db
            except sqlite3.OperationalError:  # Locked, or disk full.
                raise
            except sqlite3.DatabaseError:
                self.path.unlink(missing_ok=True)
                raise
