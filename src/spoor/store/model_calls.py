"""What a language model was asked and answered, and what that cost: paid for once, counted over every resume."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from dataclasses import dataclass, field, replace

SCHEMA = """
CREATE TABLE IF NOT EXISTS model_calls (
    id INTEGER PRIMARY KEY, digest BLOB NOT NULL, url TEXT NOT NULL, at REAL NOT NULL, cost REAL NOT NULL,
    answered INTEGER NOT NULL, relevant INTEGER
);
"""
_COLUMNS = "id, digest, url, at, cost, answered, relevant"


@dataclass(frozen=True, slots=True)
class ModelCall:
    """`digest` is that of all that was asked. `cost` is the most that it can be until the answer tells. An answer that
    is neither yes nor no has `relevant` None. As a row of the database, where yes is 1."""

    number: int
    digest: bytes
    url: str
    at: float
    cost: float
    answered: bool = False
    relevant: bool | None = None


@dataclass
class ModelCalls:
    """All calls of a crawl. What is new is written by `write`, in the transaction of whoever `commit` is; a call is
    committed before it is made, so that a crawl that is killed knows of it."""

    commit: Callable[[], None]
    _calls: dict[int, ModelCall] = field(default_factory=dict)
    _new: dict[int, ModelCall] = field(default_factory=dict, init=False)

    @staticmethod
    def create(db: sqlite3.Connection, commit: Callable[[], None]) -> ModelCalls:
        """With those that are in the database."""
        db.executescript(SCHEMA)
        rows = db.execute(f"SELECT {_COLUMNS} FROM model_calls ORDER BY id").fetchall()
        calls = [ModelCall(*row) for row in rows]
        return ModelCalls(commit, {call.number: call for call in calls})

    @property
    def count(self) -> int:
        return len(self._calls)

    @property
    def cost(self) -> float:
        return sum(call.cost for call in self._calls.values())

    def answered(self, digest: bytes) -> ModelCall | None:
        """None: nobody asked, or no answer came."""
        return next((call for call in self._calls.values() if call.answered and call.digest == digest), None)

    def is_undecided(self, url: str) -> bool:
        """Whether it was asked about the page and could not say."""
        return any(call.answered and call.relevant is None and call.url == url for call in self._calls.values())

    def begin(self, digest: bytes, url: str, at: float, cost: float) -> ModelCall:
        call = ModelCall(max(self._calls, default=0) + 1, digest, url, at, cost)
        self._keep(call)
        return call

    def end(self, call: ModelCall, cost: float, relevant: bool | None) -> None:
        self._keep(replace(call, cost=cost, answered=True, relevant=relevant))

    def fail(self, call: ModelCall, cost: float) -> None:
        self._keep(replace(call, cost=cost))

    def _keep(self, call: ModelCall) -> None:
        self._calls[call.number] = self._new[call.number] = call
        self.commit()

    def write(self, db: sqlite3.Connection) -> None:
        """Inside the transaction of the caller."""
        rows = [(c.number, c.digest, c.url, c.at, c.cost, c.answered, c.relevant) for c in self._new.values()]
        db.executemany(f"INSERT OR REPLACE INTO model_calls ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?)", rows)
        self._new.clear()
