"""Mail between shards that may lose their folders and go back to copies, which are minutes old.

Letters stay in the outbox until a copy of the receiver has them, so that they can be sent again when it goes back.

A sender that goes back has forgotten letters, and will write others by the same numbers. So every start of a shard is a
generation, with a number that was never used before (`copies`). It writes down up to which letter it knows what was
sent before: to that letter it has the same past as the generations before it. Receivers note the generation beside the
number. From that the sender knows which letters are news to a receiver: those after what it has heard, or after the
point where their pasts part, if that comes first.

A receiver takes a batch only if the sender knows exactly how much it has heard: both sides may have gone back since
they last spoke. Otherwise it takes nothing, and its answer says how much that is. Whatever a generation had sent that
its successors do not know stays with the receivers: its links count once more when their page is visited again.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from spoor.records import Mailed
from spoor.store.mail import LETTERS_AT_ONCE, NOTHING_HEARD, Answer, Batch, Heard, Letter, Mail
from spoor.store.mail import SCHEMA as MAIL

SCHEMA = """
CREATE TABLE IF NOT EXISTS generations (generation INTEGER PRIMARY KEY, sent TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS inbox_generations (sender INTEGER PRIMARY KEY, generation INTEGER NOT NULL);
"""


def begin_generation(db: sqlite3.Connection, generation: int) -> None:
    """Before anything else is written: what was sent so far is what this generation knows of the past."""
    db.executescript(MAIL + SCHEMA)
    sent = dict(db.execute("SELECT receiver, number FROM sent"))
    db.execute("INSERT INTO generations VALUES (?, ?)", (generation, json.dumps(sent)))


def mail_of(db: sqlite3.Connection, last_row: Callable[[], int], others: Sequence[int]) -> Mail:
    """Of a shard that may go back to a copy, or of one that may not."""
    is_copied = db.execute("SELECT 1 FROM sqlite_master WHERE name = 'generations'").fetchone()
    return CopiedMail(db, last_row, others) if is_copied else Mail(db, last_row)


def heard_in(db: sqlite3.Connection) -> dict[int, Heard]:
    """How far each sender has been heard, as of the last commit."""
    query = "SELECT sender, number, ifnull(generation, 0) FROM inbox LEFT JOIN inbox_generations USING (sender)"
    return {sender: Heard(number, generation) for sender, number, generation in db.execute(query)}


@dataclass
class CopiedMail(Mail):
    """`copied` is how far each sender has been heard in the copy to which this shard may go back at most. How far
    the `others` have heard this one, as they said last, is in `_heard`: nothing is sent to one that has not said.
    `_senders` has the generations of senders that were heard since the last commit, `_met` those that ever spoke."""

    others: Sequence[int] = ()

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

    # What leaves.

    def batch(self, to: int, most: int = LETTERS_AT_ONCE) -> Batch:
        return Batch(self.letters(to, most), self._generation, self._heard.get(to))

    def letters(self, to: int, most: int = LETTERS_AT_ONCE) -> list[Letter]:
        if to not in self._heard:
            return []
        query = "SELECT number, body FROM outbox WHERE receiver = ? AND number > ? ORDER BY number LIMIT ?"
        return [Letter(*row) for row in self.db.execute(query, (to, self._known(to, self._heard[to]), most))]

    def answered(self, to: int, answer: Answer) -> None:
        """A receiver that knows a later generation of this shard has nothing to say to this one."""
        if answer.heard.generation <= self._generation:
            self._heard[to] = answer.heard
            self.delivered(to, self._known(to, answer.copied))

    def receivers(self) -> list[int]:
        """Those for whom there are letters, and those that do not know yet that this generation has begun."""
        return [receiver for receiver, letters in self._unheard().items() if letters]

    def count(self) -> int:
        """Whoever has not said what it has heard may miss a letter."""
        return sum(self._unheard().values())

    def _unheard(self) -> dict[int, int]:
        sent = dict(self.db.execute("SELECT receiver, number FROM sent"))
        return {
            to: sent.get(to, 0) - self._known(to, self._heard[to]) if to in self._heard else 1 for to in self.others
        }

    def _known(self, to: int, heard: Heard) -> int:
        """Up to which letter a receiver knows what this generation has sent, having heard this or an earlier one."""
        later = (sent.get(to, 0) for generation, sent in self._pasts.items() if generation > heard.generation)
        return min([heard.number, *later])

    # What comes in.

    def taken(self, sender: int, batch: Batch) -> list[Mailed]:
        if batch.generation > self._met.get(sender, 0):
            self._met[sender] = batch.generation
            self._heard.pop(sender, None)  # It may have gone back.
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

    # What every commit writes.

    def write(self, db: sqlite3.Connection) -> None:
        super().write(db)
        db.executemany("INSERT OR REPLACE INTO inbox_generations VALUES (?, ?)", self._senders.items())
        self._senders.clear()
