"""Calls of a language model with answers and costs: each is paid for once, and counted across resumes."""

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
    """A call, as a row of the database. `digest` is that of the whole request. `cost` is an upper bound until the
    response states it. `relevant` is None for an answer that is neither yes nor no."""

    number: int
    digest: bytes
    url: str
    at: float
    cost: float
    answered: bool = False
    relevant: bool | None = None


@dataclass
class ModelCalls:
    """All calls of a crawl. `write` stores new ones in the transaction of `commit`. A call is committed before it is
    made, so that a killed crawl does not forget it."""

    commit: Callable[[], None]
    _calls: dict[int, ModelCall] = field(default_factory=dict)
    _new: dict[int, ModelCall] = field(default_factory=dict, init=False)

    @staticmethod
    def create(db: sqlite3.Connection, commit: Callable[[], None]) -> ModelCalls:
        """Loads the calls in the database."""
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
        """The answered call with this digest; None if it was not made, or not answered."""
        return next((call for call in self._calls.values() if call.answered and call.digest == digest), None)

    def is_undecided(self, url: str) -> bool:
        """Whether the model was asked about the page and could not decide."""
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
        """Writes inside the caller's transaction."""
        rows = [(c.number, c.digest, c.url, c.at, c.cost, c.answered, c.relevant) for c in self._new.values()]
        db.executemany(f"INSERT OR REPLACE INTO model_calls ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?)", rows)
        self._new.clear()
