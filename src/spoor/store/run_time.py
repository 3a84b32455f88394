"""How long a crawl has run: a row for each of its runs, in its database.

A run begins when its first request may be sent, and ends with its last commit. Every commit writes how many seconds it
has taken, so a run that is killed ends at its last commit. The clock of a run is monotonic: neither the time between
runs counts, nor what somebody sets the system clock to. crawl.db has the runs of a crawl, or of one shard;
coordinator.db those of a crawl of several shards as a whole, because its shards run at the same time.
"""

from __future__ import annotations

import sqlite3
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass
from itertools import accumulate
from operator import attrgetter

SCHEMA = """
CREATE TABLE IF NOT EXISTS runs (
    id INTEGER PRIMARY KEY, after INTEGER NOT NULL, began REAL NOT NULL, seconds REAL NOT NULL, set_back REAL NOT NULL
);
"""
_RUN = "after, began, seconds, set_back"


@dataclass(frozen=True, slots=True)
class Run:
    """A run, which took so many `seconds` until its last commit. `after` is the number of the last row of the journal
    before it. `began` is in seconds since 1970 by the clock of the run, which was behind the last time recorded before
    it by `set_back` seconds; 0 if it was not behind."""

    after: int
    began: float
    seconds: float
    set_back: float


class RunTime:
    """The time of one run, which has not begun, is under way, or has ended; and that of all runs before it."""

    def __init__(self, number: int, before: float, clock: Callable[[], float], set_back: float = 0.0) -> None:
        """`number` is that of the run, `before` the seconds of those before it. `clock` returns seconds since 1970, and
        is not affected by changes of the system time."""
        self._number = number
        self._before = before
        self._clock = clock
        self._set_back = set_back
        self._after = 0
        self._began: float | None = None
        self._ended: float | None = None

    @staticmethod
    def create(db: sqlite3.Connection, clock: Callable[[], float], set_back: float = 0.0) -> RunTime:
        """Creates the table, or continues it."""
        db.executescript(SCHEMA)
        last, before = db.execute("SELECT ifnull(max(id), 0), total(seconds) FROM runs").fetchone()
        return RunTime(last + 1, before, clock, set_back)

    @property
    def seconds(self) -> float:
        """Of this run; 0 before it begins."""
        if self._began is None:
            return 0.0
        return (self._clock() if self._ended is None else self._ended) - self._began

    @property
    def total(self) -> float:
        """Seconds of all runs."""
        return self._before + self.seconds

    @property
    def has_begun(self) -> bool:
        return self._began is not None

    def begin(self, after: int = 0) -> None:
        """`after` is the number of the last row of the journal."""
        self._after, self._began = after, self._clock()

    def end(self) -> None:
        """To be called before the last commit."""
        self._ended = self._clock()

    def write(self, db: sqlite3.Connection) -> None:
        """Inside a transaction of the caller."""
        if self._began is not None:
            row = (self._number, self._after, self._began, self.seconds, self._set_back)
            db.execute(f"INSERT OR REPLACE INTO runs (id, {_RUN}) VALUES (?, ?, ?, ?, ?)", row)


def seconds_of_runs(db: sqlite3.Connection) -> float:
    """Of all runs, the current one up to its last commit."""
    return float(db.execute("SELECT total(seconds) FROM runs").fetchone()[0])


def runs_of(db: sqlite3.Connection) -> list[Run]:
    return [Run(*row) for row in db.execute(f"SELECT {_RUN} FROM runs ORDER BY id")]


class Timeline:
    """The order of what happened in a crawl, by the number of its row in the journal: times alone do not have it, since
    the clock may have been set back between two runs."""

    def __init__(self, runs: list[Run]) -> None:
        self._runs = runs
        self._set_back = list(accumulate((run.set_back for run in runs), initial=0.0))
        self._seconds = list(accumulate((run.seconds for run in runs), initial=0.0))

    def shift(self, number: int) -> float:
        """By how many seconds the clock had been set back, in all, when the row of this number was written. A time by
        the clock of its run and this make a time that never goes back."""
        return self._set_back[self._count(number)]

    def ran(self, number: int, at: float) -> float:
        """How many seconds the crawl had run at this time, which is that of the row of this number."""
        if not (count := self._count(number)):
            return 0.0
        run = self._runs[count - 1]
        return self._seconds[count - 1] + min(max(0.0, at - run.began), run.seconds)

    def _count(self, number: int) -> int:
        """The number of runs that had begun."""
        return bisect_left(self._runs, number, key=attrgetter("after"))
