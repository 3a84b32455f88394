"""Mail between shards that may lose their folders and be restored from copies, which are minutes old.

Messages stay in the outbox until a copy of the receiver contains them, so that they can be sent again after a restore.

A restored sender has lost messages and will reuse their numbers. So every start of a shard is a generation with a new
number (`copies`). It stores the number of the last message sent before it: up to that message it shares its history
with the earlier generations. Receivers store the generation beside the number. From both, the sender knows which
messages are new to a receiver: those after the last one received, or after the point where the histories diverge, if
that comes first.

A receiver accepts a batch only if the sender knows exactly which message it received last: either side may have been
restored since their last exchange. Otherwise it accepts nothing, and its answer contains that number. Messages of a
generation that its successors do not know remain with the receivers: their links are counted again when the page is
visited again.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from spoor.records import Mailed
from spoor.store.mail import LETTERS_AT_ONCE, NOTHING_HEARD, Answer, Batch, Heard, Letter, Mail
from spoor.store.mail import SCHEMA as MAIL

SCHEMA = """
CREATE TABLE IF NOT EXISTS generations (generation INTEGER PRIMARY KEY, sent TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS inbox_generations (sender INTEGER PRIMARY KEY, generation INTEGER NOT NULL);
"""


def begin_generation(db: sqlite3.Connection, generation: int) -> None:
    """Starts a generation and stores the last message sent to each receiver. Must come before any other write."""
    db.executescript(MAIL + SCHEMA)
    sent = dict(db.execute("SELECT receiver, number FROM sent"))
    db.execute("INSERT INTO generations VALUES (?, ?)", (generation, json.dumps(sent)))


def mail_of(db: sqlite3.Connection, last_row: Callable[[], int], others: Sequence[int]) -> Mail:
    """The mail of a shard, with or without copies."""
    is_copied = db.execute("SELECT 1 FROM sqlite_master WHERE name = 'generations'").fetchone()
    return CopiedMail(db, last_row, others) if is_copied else Mail(db, last_row)


def heard_in(db: sqlite3.Connection) -> dict[int, Heard]:
    """The last message received from each sender, as of the last commit."""
    query = "SELECT sender, number, ifnull(generation, 0) FROM inbox LEFT JOIN inbox_generations USING (sender)"
    return {sender: Heard(number, generation) for sender, number, generation in db.execute(query)}


@dataclass
class CopiedMail(Mail):
    """The mail of a shard that may be restored from a copy. `copied` has the last message of each sender in the oldest
    copy that a restore may use. `_heard` has the last message that each of the `others` acknowledged; nothing is sent
    to a shard without an entry. `_senders` has the generations of senders received since the last commit, `_met` the
    latest generation seen of each sender."""

    others: Sequence[int] = ()

    may_go_back: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        self.db.executescript(SCHEMA)
        self.copied: Mapping[int, Heard] = {}
        self._heard: dict[int, Heard] = {}
        self._met: dict[int, int] = {}
        self._senders: dict[int, int] = {}
        pasts = {number: json.loads(sent) for number, sent in self.db.execute("SELECT * FROM generations")}
        self._pasts = {number: {int(to): int(last) for to, last in sent.items()} for number, sent in pasts.items()}
        self._generation = max(self._pasts)

    # Outgoing.

    def batch(self, to: int, most: int = LETTERS_AT_ONCE) -> Batch:
        return Batch(self.letters(to, most), self._generation, self._heard.get(to))

    def letters(self, to: int, most: int = LETTERS_AT_ONCE) -> list[Letter]:
        if to not in self._heard:
            return []
        query = "SELECT number, body FROM outbox WHERE receiver = ? AND number > ? ORDER BY number LIMIT ?"
        return [Letter(*row) for row in self.db.execute(query, (to, self._known(to, self._heard[to]), most))]

    def answered(self, to: int, answer: Answer) -> None:
        """Ignores the answer of a receiver that knows a later generation of this shard."""
        if answer.heard.generation <= self._generation:
            self._heard[to] = answer.heard
            self.delivered(to, self._known(to, answer.copied))

    def receivers(self) -> list[int]:
        """Receivers with unacknowledged messages, and those that have not yet answered this generation."""
        return [receiver for receiver, letters in self._unheard().items() if letters]

    def count(self) -> int:
        """The number of unacknowledged messages. A receiver that has not answered yet counts as one."""
        return sum(self._unheard().values())

    def _unheard(self) -> dict[int, int]:
        sent = dict(self.db.execute("SELECT receiver, number FROM sent"))
        return {
            to: sent.get(to, 0) - self._known(to, self._heard[to]) if to in self._heard else 1 for to in self.others
        }

    def _known(self, to: int, heard: Heard) -> int:
        """The last message of this generation that a receiver has, given what it received of this or an earlier one."""
        later = (sent.get(to, 0) for generation, sent in self._pasts.items() if generation > heard.generation)
        return min([heard.number, *later])

    # Incoming.

    def taken(self, sender: int, batch: Batch) -> list[Mailed]:
        if batch.generation > self._met.get(sender, 0):
            self._met[sender] = batch.generation
            self._heard.pop(sender, None)  # It may have been restored from a copy.
        heard = self.answer(sender).heard
        if sender in self._senders:
            heard = Heard(self._received[sender], self._senders[sender])
        if batch.after != heard or batch.generation < heard.generation or not batch.letters:
            return []
        self._senders[sender] = batch.generation
        self._received[sender] = batch.letters[0].number - 1
        return self.opened(sender, batch.letters)

    def answer(self, sender: int) -> Answer:
        query = "SELECT generation FROM inbox_generations WHERE sender = ?"
        (generation,) = self.db.execute(query, (sender,)).fetchone() or (0,)
        return Answer(Heard(self.last_received(sender), generation), self.copied.get(sender, NOTHING_HEARD))

    # Written in every commit.

    def write(self, db: sqlite3.Connection) -> None:
        super().write(db)
        db.executemany("INSERT OR REPLACE INTO inbox_generations VALUES (?, ?)", self._senders.items())
        self._senders.clear()
