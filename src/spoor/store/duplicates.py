"""Was this payload, or nearly this text, seen before? Equal payloads by digest, similar texts by SimHash."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from typing import Any

from spoor.store.warc import Kept
from spoor.store.warc_records import digest_of

FARTHEST = 3
"""Bits of 64 in which the fingerprints of similar texts may differ."""
BANDS = 4
"""More than FARTHEST, so that two similar fingerprints have at least one band in common."""
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
_ALIKE = (
    f"SELECT simhash, url FROM bands JOIN fingerprints ON id = fingerprint WHERE band IN ({_IN_A_BAND}) ORDER BY id"
)


class Duplicates:
    """Remembers the first of each kind: what is like an earlier page is not remembered itself, so that a thousand
    copies cost no more than one. What is new since the last `write` is held here; `db` has the rest."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self._kept: dict[str, Kept] = {}
        self._fingerprints: dict[int, list[tuple[int, str]]] = {}

    @staticmethod
    def create(db: sqlite3.Connection) -> None:
        db.executescript(SCHEMA)

    def same(self, digest: str) -> Kept | None:
        """The response that came with this payload; that two have none makes them no duplicates."""
        return None if digest == NOTHING else self._kept.get(digest) or same_payload(self._db, digest)

    def remember(self, kept: Kept) -> None:
        """The first with its payload, or the first that is in the archive."""
        earlier = self.same(kept.digest)
        if earlier is None or (kept.file and not earlier.file):
            self._kept[kept.digest] = kept

    def alike(self, url: str, fingerprint: int | None) -> str:
        """The URL of an earlier page with nearly the same text; "": there is none, and this one is remembered. A page
        that comes again is not like itself."""
        if fingerprint is None:
            return ""
        near = [other for known, other in self._candidates(fingerprint) if _distance(known, fingerprint) <= FARTHEST]
        if not near:
            for band in bands_of(fingerprint):
                self._fingerprints.setdefault(band, []).append((fingerprint, url))
        return next((other for other in near if other != url), "")

    def write(self, db: sqlite3.Connection) -> None:
        """Inside the transaction of the caller, whose database `db` is."""
        rows = [(k.digest, k.url, k.at, k.record_id, k.file, k.offset) for k in self._kept.values()]
        db.executemany(_REMEMBER, rows)
        for simhash, url in dict.fromkeys(pair for pairs in self._fingerprints.values() for pair in pairs):
            row = db.execute("INSERT INTO fingerprints (simhash, url) VALUES (?, ?)", (simhash, url)).lastrowid
            db.executemany("INSERT INTO bands VALUES (?, ?)", [(band, row) for band in bands_of(simhash)])
        self._kept.clear()
        self._fingerprints.clear()

    def _candidates(self, fingerprint: int) -> Iterable[tuple[int, str]]:
        bands = bands_of(fingerprint)
        yield from self._db.execute(_ALIKE, bands).fetchall()
        for band in bands:
            yield from self._fingerprints.get(band, ())


def same_payload(db: sqlite3.Connection, digest: str) -> Kept | None:
    row: tuple[Any, ...] | None = db.execute(_SAME, (digest,)).fetchone()
    return None if row is None else Kept(*row)


def bands_of(fingerprint: int) -> list[int]:
    """Quarters of a fingerprint, each marked with its place."""
    mask = (1 << _BAND_BITS) - 1
    return [place << _BAND_BITS | (fingerprint >> place * _BAND_BITS) & mask for place in range(BANDS)]


def _distance(one: int, other: int) -> int:
    return ((one ^ other) & (1 << 64) - 1).bit_count()
