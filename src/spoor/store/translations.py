"""Translations that were paid for once, and how many texts stayed untranslated: a small database beside the crawl.

It is of use, not of importance: where it is damaged it begins anew, and where it cannot be written nothing is kept."""

from __future__ import annotations

import contextlib
import sqlite3
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

MOST_KEPT = 200_000
"""Translations in the file; of more the oldest are deleted."""
_PATIENCE = 2.0
"""Seconds to wait for another process that writes."""
_TABLES = """
PRAGMA synchronous = OFF;
CREATE TABLE IF NOT EXISTS translations (id INTEGER PRIMARY KEY AUTOINCREMENT, digest BLOB UNIQUE, text TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS untranslated (reason TEXT PRIMARY KEY, texts INTEGER NOT NULL);
"""


@dataclass(frozen=True, slots=True)
class Translations:
    """By the digest of a text and of what it was translated with. Several processes may use the file at once; it is
    opened for each use."""

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
        """Notes texts that stayed untranslated. Whether this is the first time, for this reason."""
        with contextlib.suppress(sqlite3.Error), self._opened() as db:
            known = db.execute("UPDATE untranslated SET texts = texts + ? WHERE reason = ?", (texts, reason)).rowcount
            if known == 0:
                db.execute("INSERT INTO untranslated VALUES (?, ?)", (reason, texts))
            return known == 0
        return True

    def untranslated(self) -> Counter[str]:
        """Texts by the reason."""
        if not self.path.exists():
            return Counter()
        with contextlib.suppress(sqlite3.Error), self._opened() as db:
            return Counter(dict(db.execute("SELECT reason, texts FROM untranslated ORDER BY texts DESC")))
        return Counter()

    @contextlib.contextmanager
    def _opened(self) -> Iterator[sqlite3.Connection]:
        """One transaction. A file that is no database is deleted, and begun anew the next time."""
        with contextlib.closing(sqlite3.connect(self.path, timeout=_PATIENCE)) as db:
            try:
                db.executescript(_TABLES)
                with db:
                    yield db
            except sqlite3.OperationalError:  # Locked, or no room.
                raise
            except sqlite3.DatabaseError:
                self.path.unlink(missing_ok=True)
                raise
