"""Links between shards, each delivered exactly once: an outbox in the sender's database, numbers in the receiver's.

A letter has all links of one commit to one shard. It is written in the transaction of the pages that it comes from, and
numbered for its receiver from 1, without gaps. The receiver writes down the number of the last letter of each sender in
the transaction of the links. The sender deletes what the receiver says it has. So either side may die at any moment:
what was not answered is sent again, and what is known by its number is passed over.
"""

from __future__ import annotations

import base64
import json
import sqlite3
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from spoor.errors import BadInput, BrokenContract
from spoor.frontier.rows import trail_of
from spoor.records import Handed, Link

SCHEMA = """
CREATE TABLE IF NOT EXISTS outbox (
    receiver INTEGER NOT NULL, number INTEGER NOT NULL, body BLOB NOT NULL, PRIMARY KEY (receiver, number)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS sent (receiver INTEGER PRIMARY KEY, number INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS inbox (sender INTEGER PRIMARY KEY, number INTEGER NOT NULL);
"""
LETTERS_AT_ONCE = 100
MOST_BYTES = 16_000_000
"""Of one letter, unpacked: it comes from another machine."""


class Letter(NamedTuple):
    number: int
    body: bytes


@dataclass
class Mail:
    """A `Post`, and a writer in every commit of its store. What was sent or received since the last commit is held in
    `_sent` and `_received`."""

    db: sqlite3.Connection

    def __post_init__(self) -> None:
        self.db.executescript(SCHEMA)
        self._sent: dict[int, list[Handed]] = {}
        self._received: dict[int, int] = {}

    # What leaves.

    def send(self, to: int, handed: Handed) -> None:
        self._sent.setdefault(to, []).append(handed)

    def letters(self, to: int, most: int = LETTERS_AT_ONCE) -> list[Letter]:
        """What a receiver has not answered yet, as of the last commit, oldest first."""
        query = "SELECT number, body FROM outbox WHERE receiver = ? ORDER BY number LIMIT ?"
        return [Letter(*row) for row in self.db.execute(query, (to, most))]

    def receivers(self) -> list[int]:
        """Those for whom there are letters."""
        return [receiver for (receiver,) in self.db.execute("SELECT DISTINCT receiver FROM outbox ORDER BY receiver")]

    def delivered(self, to: int, number: int) -> None:
        """A receiver has all letters up to this number for good."""
        self.db.execute("DELETE FROM outbox WHERE receiver = ? AND number <= ?", (to, number))

    # What comes in.

    def opened(self, sender: int, letters: Sequence[Letter]) -> list[Handed]:
        """The links of letters that are new. They count as received with the next commit, which must have the links."""
        last = self._received.get(sender, self.last_received(sender))
        new = [letter for letter in letters if letter.number > last]
        if [letter.number for letter in new] != list(range(last + 1, last + 1 + len(new))):
            numbers = ", ".join(str(letter.number) for letter in new)
            raise BrokenContract(f"shard {sender} sent the letters {numbers} after {last}: some are missing")
        handed = [one for letter in new for one in unpacked(letter.body)]
        if new:
            self._received[sender] = new[-1].number
        return handed

    def last_received(self, sender: int) -> int:
        """The number of the last letter that is committed; 0: none."""
        found = self.db.execute("SELECT number FROM inbox WHERE sender = ?", (sender,)).fetchone()
        return 0 if found is None else int(found[0])

    # What every commit writes.

    def write(self, db: sqlite3.Connection) -> None:
        for receiver, handed in self._sent.items():
            count = "INSERT INTO sent VALUES (?, 1) ON CONFLICT DO UPDATE SET number = number + 1 RETURNING number"
            ((number,),) = db.execute(count, (receiver,)).fetchall()
            db.execute("INSERT INTO outbox VALUES (?, ?, ?)", (receiver, number, packed(handed)))
        db.executemany("INSERT OR REPLACE INTO inbox VALUES (?, ?)", self._received.items())
        self._sent.clear()
        self._received.clear()


# A letter as bytes: JSON, compressed. Another process wrote it, so it is checked when it is read.


def packed(links: Sequence[Handed]) -> bytes:
    return zlib.compress(json.dumps([_row(handed) for handed in links], separators=(",", ":")).encode(), 1)


def unpacked(body: bytes) -> list[Handed]:
    try:
        decompressor = zlib.decompressobj()
        text = decompressor.decompress(body, MOST_BYTES)
        if decompressor.unconsumed_tail:
            raise ValueError("it is too long")
        return [_handed(*row) for row in json.loads(text)]
    except (ValueError, TypeError, zlib.error, RecursionError) as error:
        raise BadInput(f"a letter of another shard cannot be read: {error}") from None


def _row(handed: Handed) -> list[Any]:
    link = handed.link
    hints = base64.b85encode(link.hints).decode() if isinstance(link.hints, bytes) else list(link.hints)
    found = (handed.depth, handed.found_on, handed.relevance, handed.relevant)
    return [[*link[:-1], hints], dict(handed.evidence), handed.trail, *found, *_rest(handed)]


def _rest(handed: Handed) -> tuple[int, bool, bool]:
    return handed.redirects, handed.is_seed, handed.again


def _handed(link: list[Any], evidence: dict[str, float], trail: Any, *rest: Any) -> Handed:
    *said, hints = link
    read = base64.b85decode(hints) if isinstance(hints, str) else tuple(map(float, hints))
    numbers = {name: float(value) for name, value in evidence.items()}
    return Handed(Link._make((*said, read)), numbers, trail_of(trail), *rest)
