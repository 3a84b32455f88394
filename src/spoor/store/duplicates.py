"""Detects duplicates: equal payloads by digest, similar texts by SimHash."""

from __future__ import annotations

import sqlite3
from collections import OrderedDict
from collections.abc import Sequence
from typing import Any

from spoor.progress import Advance, unseen
from spoor.store.transactions import transaction
from spoor.store.warc import Kept
from spoor.store.warc_records import digest_of

FARTHEST = 3
"""Maximum Hamming distance, of 64 bits, between fingerprints of similar texts."""
BANDS = 4
"""Greater than FARTHEST, so that two similar fingerprints share at least one band."""
MOST_OWN = 1_000
"""Number of its last payloads that a worker process remembers until they are committed for certain."""
NOTHING = digest_of(b"")
BANDS_AT_ONCE = 1 << 14
"""Number of bands whose rows are added in one transaction, a sixteenth of all."""
_BAND_BITS = 64 // BANDS
ALL_BANDS = BANDS << _BAND_BITS
_MASKS = [sum(1 << bit for bit in range(first, 64, BANDS)) for first in range(BANDS)]
"""Every fourth bit, starting with each of the first four. Two similar fingerprints are equal under at least one mask:
this rejects most of those that only share a band."""

SCHEMA = """
CREATE TABLE IF NOT EXISTS digests (
    digest TEXT PRIMARY KEY, url TEXT NOT NULL, at REAL NOT NULL, record_id TEXT NOT NULL, warc_file TEXT NOT NULL,
    warc_offset INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS fingerprints (id INTEGER PRIMARY KEY, simhash INTEGER NOT NULL, url TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS bands (
    band INTEGER NOT NULL, fingerprint INTEGER NOT NULL, simhash INTEGER NOT NULL, PRIMARY KEY (band, fingerprint)
) WITHOUT ROWID;
"""
_SAME = "SELECT url, at, digest, record_id, warc_file, warc_offset FROM digests WHERE digest = ?"
_REMEMBER = (
    "INSERT INTO digests VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (digest) DO UPDATE SET url = excluded.url, "
    "at = excluded.at, record_id = excluded.record_id, warc_file = excluded.warc_file, "
    "warc_offset = excluded.warc_offset WHERE digests.warc_file = ''"
)
_IN_A_BAND = ", ".join("?" * BANDS)
_EQUAL_UNDER_A_MASK = " OR ".join(f"simhash & {mask:#x} = ? & {mask:#x}" for mask in _MASKS)
_CANDIDATES = f"SELECT fingerprint, simhash FROM bands WHERE band IN ({_IN_A_BAND}) AND ({_EQUAL_UNDER_A_MASK})"
_URL = "SELECT url FROM fingerprints WHERE id = ?"
BANDS_IN_SQL = [
    f"({place << _BAND_BITS} + (fingerprints.simhash >> {place * _BAND_BITS} & {(1 << _BAND_BITS) - 1}))"
    for place in range(BANDS)
]
"""SQL expressions: the bands of a row of `fingerprints`, as in `bands_of`."""


class SimilarTexts:
    """Fingerprints in memory. Stores only the first of several similar pages, so that a thousand duplicates cost no
    more than one."""

    def __init__(self) -> None:
        self._by_band: dict[int, list[tuple[int, str]]] = {}

    def alike(self, url: str, fingerprint: int | None, before: Sequence[str] = ()) -> str:
        """The URL of an earlier near-duplicate, of those known `before` or else of those stored here; "" if there is
        none, and then this page is stored. A page that is fetched again is not a duplicate of itself."""
        if fingerprint is None:
            return ""
        bands = bands_of(fingerprint)
        stored = (pair for band in bands for pair in self._by_band.get(band, ()))
        near = [*before, *(url for known, url in stored if _distance(known, fingerprint) <= FARTHEST)]
        if not near:
            for band in bands:
                self._by_band.setdefault(band, []).append((fingerprint, url))
        return next((other for other in near if other != url), "")

    def taken(self) -> list[tuple[int, str]]:
        """Removes all fingerprints, and returns them with their URLs."""
        pairs = list(dict.fromkeys(pair for pairs in self._by_band.values() for pair in pairs))
        self._by_band.clear()
        return pairs


class Duplicates:
    """New entries are held in memory until `write`, and so are digests that were looked up in vain; `db` has the
    rest."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self._kept: dict[str, Kept] = {}
        self._unknown: set[str] = set()
        self._new = SimilarTexts()

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
        """As in `SimilarTexts`, which has the new ones."""
        return self._new.alike(url, fingerprint, () if fingerprint is None else self._similar(fingerprint))

    def write(self, db: sqlite3.Connection) -> None:
        """Writes inside the caller's transaction on `db`."""
        rows = [(k.digest, k.url, k.at, k.record_id, k.file, k.offset) for k in self._kept.values()]
        db.executemany(_REMEMBER, rows)
        (last,) = db.execute("SELECT ifnull(max(id), 0) FROM fingerprints").fetchone()
        prints = [(row, simhash, url) for row, (simhash, url) in enumerate(self._new.taken(), last + 1)]
        db.executemany("INSERT INTO fingerprints VALUES (?, ?, ?)", prints)
        bands = [(band, row, simhash) for row, simhash, _ in prints for band in bands_of(simhash)]
        db.executemany("INSERT INTO bands VALUES (?, ?, ?)", bands)
        self._kept.clear()
        self._unknown.clear()

    def _similar(self, fingerprint: int) -> list[str]:
        """The URLs of similar pages in the file, oldest first. There are many candidates, of which few are similar:
        SQLite rejects most of them while it scans the bands, and only the URLs of similar ones are read."""
        candidates = self._db.execute(_CANDIDATES, (*bands_of(fingerprint), *[fingerprint] * BANDS))
        similar = {row for row, known in candidates if _distance(known, fingerprint) <= FARTHEST}
        return [url for row in sorted(similar) for (url,) in self._db.execute(_URL, (row,))]


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


def write_bands(db: sqlite3.Connection, advance: Advance = unseen) -> None:
    """Adds the rows of `bands` that are missing, in their order, in several transactions: in the order of fingerprints,
    every row would change another page of the file. Reports bands to `advance`."""
    for first in range(0, ALL_BANDS, BANDS_AT_ONCE):
        band = BANDS_IN_SQL[first >> _BAND_BITS]
        found = f"SELECT {band} AS band, id, simhash FROM fingerprints WHERE band BETWEEN ? AND ? ORDER BY band, id"
        with transaction(db):
            db.execute(f"INSERT OR IGNORE INTO bands {found}", (first, first + BANDS_AT_ONCE - 1))
        advance(BANDS_AT_ONCE)


def _distance(one: int, other: int) -> int:
    return ((one ^ other) & (1 << 64) - 1).bit_count()
