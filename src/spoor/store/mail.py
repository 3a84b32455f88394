"""Mail between shards, delivered exactly once: an outbox in the sender's database, sequence numbers in the receiver's.

A message (`Letter`) contains everything from one commit for one shard: links to its hosts, and outcomes of visits
(lessons). It is written in the transaction of the pages that it comes from. Messages to a receiver are numbered from 1
without gaps. The receiver stores the number of the last message of each sender in the transaction of its links and
lessons. The sender deletes messages that the receiver acknowledges. So either side may crash at any moment:
unacknowledged messages are sent again, and those already received are skipped by their number.
"""

from __future__ import annotations

import base64
import json
import sqlite3
import struct
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar, NamedTuple

from isal import isal_zlib

from spoor.errors import BadInput, BrokenContract
from spoor.frontier.rows import trail_of
from spoor.records import Handed, Lesson, Link, Mailed, Miss, Page, Sighting, Verdict, Visit, sighting_elsewhere
from spoor.urls import host_of

SCHEMA = """
CREATE TABLE IF NOT EXISTS outbox (
    receiver INTEGER NOT NULL, number INTEGER NOT NULL, body BLOB NOT NULL, PRIMARY KEY (receiver, number)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS sent (receiver INTEGER PRIMARY KEY, number INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS inbox (sender INTEGER PRIMARY KEY, number INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS lessons (id INTEGER PRIMARY KEY, after INTEGER NOT NULL, body BLOB NOT NULL);
CREATE INDEX IF NOT EXISTS lessons_by_place ON lessons (after);
"""
LETTERS_AT_ONCE = 100
MOST_BYTES = 16_000_000
"""Maximum size of the decompressed JSON in a message, which comes from another machine."""


class Letter(NamedTuple):
    number: int
    body: bytes


class Heard(NamedTuple):
    """The last message that a receiver has from a sender. Where shards may be restored from a copy, numbers belong to
    one generation of the sender; elsewhere there is only one generation."""

    number: int
    generation: int = 0


NOTHING_HEARD = Heard(0)


class Batch(NamedTuple):
    """Messages of a sender. Where shards may be restored from a copy, valid only for a receiver whose last message is
    `after`; None if the sender does not know it."""

    letters: Sequence[Letter]
    generation: int = 0
    after: Heard | None = None


class Answer(NamedTuple):
    """The acknowledgement of a receiver: its last committed message, and the last one that survives a loss of its
    folder."""

    heard: Heard
    copied: Heard


@dataclass
class Mail:
    """A `Post` that takes part in every commit of its store. `_sent`, `_received` and `_lessons` hold what was sent or
    received since the last commit. `last_row` returns the number of the last row in the journal of the receiver:
    lessons of other shards keep their position among its own, so that they are relearned in the same order."""

    db: sqlite3.Connection
    last_row: Callable[[], int] = lambda: 0

    may_go_back: ClassVar[bool] = False

    def __post_init__(self) -> None:
        self.db.executescript(SCHEMA)
        self._sent: dict[int, list[Mailed]] = {}
        self._received: dict[int, int] = {}
        self._lessons: list[tuple[int, bytes]] = []

    # Outgoing.

    def send(self, to: int, mailed: Mailed) -> None:
        self._sent.setdefault(to, []).append(mailed)

    def letters(self, to: int, most: int = LETTERS_AT_ONCE) -> list[Letter]:
        """Messages that the receiver has not acknowledged, as of the last commit, oldest first."""
        query = "SELECT number, body FROM outbox WHERE receiver = ? ORDER BY number LIMIT ?"
        return [Letter(*row) for row in self.db.execute(query, (to, most))]

    def count(self) -> int:
        """The number of unacknowledged messages."""
        return int(self.db.execute("SELECT count(*) FROM outbox").fetchone()[0])

    def receivers(self) -> list[int]:
        """The receivers of messages in the outbox."""
        return [receiver for (receiver,) in self.db.execute("SELECT DISTINCT receiver FROM outbox ORDER BY receiver")]

    def delivered(self, to: int, number: int) -> None:
        """Deletes messages that the receiver has stored durably: all up to this number."""
        self.db.execute("DELETE FROM outbox WHERE receiver = ? AND number <= ?", (to, number))

    # Incoming.

    def opened(self, sender: int, letters: Sequence[Letter]) -> list[Mailed]:
        """Returns the contents of new messages. The next commit marks them as received and must contain the links."""
        last = self._received.get(sender, self.last_received(sender))
        new = [letter for letter in letters if letter.number > last]
        if [letter.number for letter in new] != list(range(last + 1, last + 1 + len(new))):
            numbers = ", ".join(str(letter.number) for letter in new)
            raise BrokenContract(f"shard {sender} sent the letters {numbers} after {last}: some are missing")
        mailed = [one for letter in new for one in unpacked(letter.body)]
        if new:
            self._received[sender] = new[-1].number
        if lessons := b"".join(only_lessons(letter.body) for letter in new):
            self._lessons.append((self.last_row(), lessons))
        return mailed

    def last_received(self, sender: int) -> int:
        """The number of the last committed message, 0 if there is none."""
        found = self.db.execute("SELECT number FROM inbox WHERE sender = ?", (sender,)).fetchone()
        return 0 if found is None else int(found[0])

    # The exchange between two shards: a batch and its acknowledgement.

    def batch(self, to: int, most: int = LETTERS_AT_ONCE) -> Batch:
        return Batch(self.letters(to, most))

    def taken(self, sender: int, batch: Batch) -> list[Mailed]:
        """Like `opened`, for a batch."""
        return self.opened(sender, batch.letters)

    def answer(self, sender: int) -> Answer:
        heard = Heard(self.last_received(sender))
        return Answer(heard, heard)

    def answered(self, to: int, answer: Answer) -> None:
        self.delivered(to, answer.copied.number)

    # Written in every commit.

    def write(self, db: sqlite3.Connection) -> None:
        packed_before: dict[tuple[int, ...], bytes] = {}  # All other shards receive the same lessons.
        for receiver, mailed in self._sent.items():
            lessons = [one for one in mailed if not isinstance(one, Handed)]
            known = tuple(map(id, lessons))
            if known not in packed_before:
                packed_before[known] = _lessons_frame(lessons)
            links = [one for one in mailed if isinstance(one, Handed)]
            enclose(db, receiver, packed_before[known] + _links_frame(links))
        db.executemany("INSERT OR REPLACE INTO inbox VALUES (?, ?)", self._received.items())
        db.executemany("INSERT INTO lessons (after, body) VALUES (?, ?)", self._lessons)
        self._sent.clear()
        self._received.clear()
        self._lessons.clear()


def enclose(db: sqlite3.Connection, receiver: int, body: bytes) -> None:
    """Adds a message to the outbox, within a transaction of the caller."""
    count = "INSERT INTO sent VALUES (?, 1) ON CONFLICT (receiver) DO UPDATE SET number = number + 1 RETURNING number"
    ((number,),) = db.execute(count, (receiver,)).fetchall()
    db.execute("INSERT INTO outbox VALUES (?, ?, ?)", (receiver, number, body))


def lessons_of_others(db: sqlite3.Connection, after: int) -> Iterator[tuple[float, Lesson]]:
    """Yields the lessons of other shards since a row of the journal, each with its position: 7.5 is between rows 7 and
    8. Yields nothing if the crawl is not a shard."""
    if not db.execute("SELECT 1 FROM sqlite_master WHERE name = 'lessons'").fetchone():
        return
    for place, body in db.execute("SELECT after, body FROM lessons WHERE after >= ? ORDER BY after, id", (after,)):
        yield from ((place + 0.5, lesson) for lesson in unpacked(body) if not isinstance(lesson, Handed))


# The binary format of a message: frames with lessons, as compressed JSON, or with the links of pages. There the numbers
# follow the JSON uncompressed: they are most of a link and hardly compressible. Another process wrote the message, so
# it is validated when it is read.


LESSONS, LINKS = b"L", b"P"
HEAD = 5
"""Size of the header of each frame in bytes: its type and length."""
_LENGTH = struct.Struct("<I")
"""The length of the JSON in a frame with links."""
BARE = Link("")[1:-1]
"""The default values of the fields of a link between its URL and its hints."""


def packed(batch: Sequence[Mailed]) -> bytes:
    return _lessons_frame([one for one in batch if not isinstance(one, Handed)]) + _links_frame(
        [one for one in batch if isinstance(one, Handed)]
    )


def _lessons_frame(lessons: Sequence[Lesson]) -> bytes:
    return _frame(LESSONS, _deflated([_lesson_row(lesson) for lesson in lessons])) if lessons else b""


def _links_frame(links: Sequence[Handed]) -> bytes:
    """Groups links by page, so that the fields of the page and the names of the evidence are written once."""
    pages: list[list[Any]] = []
    numbers: list[bytes] = []
    last: tuple[int, list[str]] | None = None
    for handed in links:
        of = id(handed.sighting), list(handed.evidence)
        if of != last:
            pages.append([*_page_row(handed.sighting), of[1], []])
            last = of
        pages[-1][-1].append(_link_row(handed))
        numbers.append(_doubles(len(of[1])).pack(*handed.evidence.values()))
        if isinstance(handed.link.hints, bytes):
            numbers.append(handed.link.hints)
    deflated = _deflated(pages)
    return _frame(LINKS, b"".join((_LENGTH.pack(len(deflated)), deflated, *numbers))) if links else b""


@lru_cache
def _doubles(count: int) -> struct.Struct:
    return struct.Struct(f"<{count}d")


def _deflated(rows: list[Any]) -> bytes:
    return isal_zlib.compress(json.dumps(rows, separators=(",", ":")).encode(), 1)


def _frame(kind: bytes, content: bytes) -> bytes:
    return kind + len(content).to_bytes(HEAD - 1, "big") + content


def unpacked(body: bytes) -> list[Mailed]:
    try:
        return [mailed for kind, content in _frames(body) for mailed in _READ[kind](content)]
    except _UNREADABLE as error:
        raise BadInput(f"a letter of another shard cannot be read: {error}") from None


_UNREADABLE = (ValueError, KeyError, AttributeError, TypeError, zlib.error, RecursionError, struct.error)


def only_lessons(body: bytes) -> bytes:
    """The lessons of a valid message, themselves a message; b"" if there are none."""
    return b"".join(body[start:end] for kind, start, end in _places(body) if kind == LESSONS)


def _places(body: bytes) -> Iterator[tuple[bytes, int, int]]:
    """Yields the type, the start and the end of each frame."""
    start = 0
    while start < len(body):
        end = start + HEAD + int.from_bytes(body[start + 1 : start + HEAD], "big")
        yield body[start : start + 1], start, end
        start = end


def _frames(body: bytes) -> Iterator[tuple[bytes, bytes]]:
    end = 0
    for kind, start, end in _places(body):
        yield kind, body[start + HEAD : end]
    if end != len(body) or not body:
        raise ValueError("it is not whole")


def _inflated(content: bytes) -> list[Any]:
    decompressor = zlib.decompressobj()
    text = decompressor.decompress(content, MOST_BYTES)
    if decompressor.unconsumed_tail:
        raise ValueError("it is too long")
    rows: list[Any] = json.loads(text)
    return rows


def _page_row(sighting: Sighting) -> list[Any]:
    visit, verdict = sighting.visit, sighting.verdict
    return [visit.url, visit.depth, sighting.trail, verdict.relevance, verdict.relevant]


def _link_row(handed: Handed) -> list[Any]:
    """Hints that are bytes follow the JSON; the row contains only their length."""
    link = handed.link
    said = link.url if link[1:-1] == BARE else list(link[:-1])
    hints = len(link.hints) if isinstance(link.hints, bytes) else list(link.hints)
    more = (handed.redirects, handed.is_seed, handed.again)
    return [said, hints, *more] if any(more) else [said, hints]


def _links(content: bytes) -> Iterator[Handed]:
    (length,) = _LENGTH.unpack_from(content)
    place = _LENGTH.size + length
    for url, depth, trail, relevance, relevant, names, rows in _inflated(content[_LENGTH.size : place]):
        sighting = sighting_elsewhere(url, depth, trail_of(trail), relevance, relevant)
        doubles = _doubles(len(names))
        for said, hints, *more in rows:
            evidence = dict(zip(names, doubles.unpack_from(content, place), strict=True))
            place += doubles.size
            if isinstance(hints, int):
                hints, place = content[place : place + hints], place + hints
            else:
                hints = tuple(map(float, hints))
            fields = (said, *BARE) if isinstance(said, str) else said
            yield Handed(Link._make((*fields, hints)), evidence, sighting, *more)
    if place != len(content):
        raise ValueError("it is not whole")


def _lesson_row(lesson: Lesson) -> list[Any]:
    match lesson:
        case Sighting(visit, page, verdict, trail):
            judged = (verdict.relevance, verdict.relevant)
            return ["page", _dumped_visit(visit), trail, page.status, page.duplicate_of, *judged]
        case Miss(visit, because):
            return ["miss", _dumped_visit(visit), because]


def _lessons(content: bytes) -> Iterator[Lesson]:
    for kind, *row in _inflated(content):
        yield _KINDS[kind](*row)


_READ: Mapping[bytes, Callable[[bytes], Iterator[Mailed]]] = {LESSONS: _lessons, LINKS: _links}


def _sighting(
    visit: list[Any], trail: Any, status: int, duplicate_of: str, relevance: float, relevant: bool
) -> Sighting:
    visited = _visit(*visit)
    page = Page(visited.url, status, duplicate_of=duplicate_of)
    return Sighting(visited, page, Verdict(relevance, relevant, ""), trail_of(trail))


def _miss(visit: list[Any], because: str) -> Miss:
    return Miss(_visit(*visit), because)


_KINDS: Mapping[str, Callable[..., Lesson]] = {"page": _sighting, "miss": _miss}


def _dumped_visit(visit: Visit) -> list[Any]:
    known = (list(visit.key), dict(visit.evidence), visit.trail, visit.depth, visit.found_on)
    return [visit.url, visit.number, visit.at, *known, base64.b64encode(visit.hints).decode()]


def _visit(
    url: str, number: int, at: float, key: list[float], evidence: dict[str, float], trail: Any, *rest: Any
) -> Visit:
    depth, found_on, hints = rest
    return Visit(
        url,
        host_of(url),
        number,
        at,
        key=tuple(map(float, key)),
        evidence=_evidence(evidence),
        trail=trail_of(trail),
        depth=depth,
        found_on=found_on,
        hints=base64.b64decode(hints, validate=True),
    )


def _evidence(evidence: dict[str, float]) -> dict[str, float]:
    return {name: float(value) for name, value in evidence.items()}
