"""Detects duplicates: equal payloads by digest, similar texts by SimHash."""

from __future__ import annotations

import sqlite3
from collections import OrderedDict
from typing import Any

from spoor.store.warc import Kept
from spoor.store.warc_records import digest_of

FARTHEST = 3
"""Maximum Hamming distance, of 64 bits, between fingerprints of similar texts."""
BANDS = 4
"""Greater than FARTHEST, so that two similar fingerprints share at least one band."""
MOST_OWN = 1_000
"""Number of its last payloads that a worker process remembers until they are committed for certain."""
NOTHING = digest_of(b"")
_BAND_BITS = 64 // BANDS

SCHEMA = """
CREATE TABLE IF NOT EXISTS digests (
    digest TEXT PRIMARY KEY, url TEXT NOT NULL, at REAL NOT NULL, record_id TEXT NOT NULL, warc_file TEXT NOT NULL,
    warc_offset INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS fingerprints (id INTEGER PRIMARY KEY, simhash INTEGER NOT NULL, url TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS bands (
    band INTEGER NOT NULL, fingerprint INTEGER NOT NULL, PRIMARY KEY (band, fingerprint)
) WITHOUT ROWID;
"""
_SAME = "SELECT url, at, digest, record_id, warc_file, warc_offset FROM digests WHERE digest = ?"
_REMEMBER = (
    "INSERT INTO digests VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET url = excluded.url, at = excluded.at, "
    "record_id = excluded.record_id, warc_file = excluded.warc_file, warc_offset = excluded.warc_offset "
    "WHERE digests.warc_file = ''"
)
_IN_A_BAND = ", ".join("?" * BANDS)
_ALIKE = f"SELECT id, simhash, url FROM bands JOIN fingerprints ON id = fingerprint WHERE band IN ({_IN_A_BAND})"


class Duplicates:
    """Stores only the first of several similar pages, so that a thousand duplicates cost no more than one. New entries
    are held in memory until `write`, and so are digests that were looked up in vain; `db` has the rest."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self._kept: dict[str, Kept] = {}
        self._unknown: set[str] = set()
        self._fingerprints: dict[int, list[tuple[int, str]]] = {}

    @staticmethod
    def create(db: sqlite3.Connection) -> None:
        db.executescript(SCHEMA)

    def same(self, digest: str) -> Kept | None:
        """The first stored response with this payload. Empty payloads are not duplicates."""
        if digest == NOTHING or digest in self._unknown:
            return None
        kept = self._kept.get(digest) or same_payload(self._db, digest)
        if kept is None:
            self._unknown.add(digest)
        return kept

    def remember(self, kept: Kept) -> None:
        """Stores the first response with its payload, or the first of them that is in the archive."""
        earlier = self.same(kept.digest)
        if earlier is None or (kept.file and not earlier.file):
            self._kept[kept.digest] = kept
            self._unknown.discard(kept.digest)

    def alike(self, url: str, fingerprint: int | None) -> str:
        """The URL of an earlier near-duplicate; "" if there is none, and then this page is stored. A page that is
        fetched again is not a duplicate of itself."""
        if fingerprint is None:
            return ""
        bands = bands_of(fingerprint)
        near = self._near(fingerprint, bands)
        if not near:
            for band in bands:
                self._fingerprints.setdefault(band, []).append((fingerprint, url))
        return next((other for other in near if other != url), "")

    def write(self, db: sqlite3.Connection) -> None:
        """Writes inside the caller's transaction on `db`."""
        rows = [(k.digest, k.url, k.at, k.record_id, k.file, k.offset) for k in self._kept.values()]
        db.executemany(_REMEMBER, rows)
        new = dict.fromkeys(pair for pairs in self._fingerprints.values() for pair in pairs)
        (last,) = db.execute("SELECT ifnull(max(id), 0) FROM fingerprints").fetchone()
        prints = [(row, simhash, url) for row, (simhash, url) in enumerate(new, last + 1)]
        db.executemany("INSERT INTO fingerprints VALUES (?, ?, ?)", prints)
        db.executemany(
            "INSERT INTO bands VALUES (?, ?)", [(band, row) for row, simhash, _ in prints for band in bands_of(simhash)]
        )
        self._kept.clear()
        self._unknown.clear()
        self._fingerprints.clear()

    def _near(self, fingerprint: int, bands: list[int]) -> list[str]:
        """The URLs of similar pages, those in the file first, oldest first. Few of the candidates are similar: it is
        faster to sort these than to let SQLite sort all."""
        candidates = self._db.execute(_ALIKE, bands).fetchall()
        written = sorted((row, url) for row, known, url in candidates if _distance(known, fingerprint) <= FARTHEST)
        new = (pair for band in bands for pair in self._fingerprints.get(band, ()))
        return [url for _, url in written] + [url for known, url in new if _distance(known, fingerprint) <= FARTHEST]


class StoredPayloads:
    """The stored payloads, for a process that only reads the database: those that are committed, and the last that it
    stored itself."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self._own: OrderedDict[str, Kept] = OrderedDict()

    def same(self, digest: str) -> Kept | None:
        return None if digest == NOTHING else self._own.get(digest) or same_payload(self._db, digest)

    def remember(self, kept: Kept) -> None:
        self._own[kept.digest] = kept
        if len(self._own) > MOST_OWN:
            self._own.popitem(last=False)


def same_payload(db: sqlite3.Connection, digest: str) -> Kept | None:
    row: tuple[Any, ...] | None = db.execute(_SAME, (digest,)).fetchone()
    return None if row is None else Kept(*row)


def bands_of(fingerprint: int) -> list[int]:
    """The four 16-bit bands of a fingerprint, each tagged with its position."""
    mask = (1 << _BAND_BITS) - 1
    return [place << _BAND_BITS | (fingerprint >> place * _BAND_BITS) & mask for place in range(BANDS)]


def _distance(one: int, other: int) -> int:
    return ((one ^ other) & (1 << 64) - 1).bit_count()
