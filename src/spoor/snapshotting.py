"""Writes down what a running crawl has learned, now and then, without keeping it waiting."""

from __future__ import annotations

import asyncio
import logging
import sqlite3
from dataclasses import dataclass, field

from spoor.errors import BadInput
from spoor.store.journal import Journal, Place, place_at
from spoor.store.snapshot_file import Snapshot
from spoor.store.snapshots import Snapshots, named_parts
from spoor.strategy import Strategy

ROWS = 20_000
"""Of the journal, after which a snapshot is due: some seconds of learning again."""
SECONDS = 300.0
"""After which one is due if anything happened: what a trap looks like cannot be learned again from the journal."""
_log = logging.getLogger(__name__)


def snapshot_of(strategy: Strategy, place: Place, warm: str) -> Snapshot:
    """Everything that the parts of a strategy have learned when the row at `place` was the last one."""
    return Snapshot(place, warm, {name: part.state() for name, part in named_parts(strategy.learners()).items()})


@dataclass
class SnapshotWriter:
    """Told after every commit. States are copied at once; packing and writing is done in a thread, one snapshot at a
    time. `number` is the row up to which there is a snapshot, `at` the time when it was taken; `warm` as in
    `Snapshot`."""

    strategy: Strategy
    db: sqlite3.Connection
    journal: Journal
    snapshots: Snapshots
    warm: str
    number: int
    at: float
    _writing: asyncio.Future[None] | None = field(default=None, init=False)

    def committed(self, now: float) -> None:
        rows = self.journal.last - self.number
        due = rows >= ROWS or (rows > 0 and now - self.at >= SECONDS)
        if due and (self._writing is None or self._writing.done()):
            self._begin(now)

    async def finish(self, now: float) -> None:
        """The last one, if anything happened since the one before."""
        if self._writing is not None:
            await self._writing
        if self.journal.last > self.number:
            await self._begin(now)

    def _begin(self, now: float) -> asyncio.Future[None]:
        place = place_at(self.db, self.journal.last)
        assert place is not None, "the journal was committed"
        self.number, self.at = place.number, now
        taken = snapshot_of(self.strategy, place, self.warm)
        self._writing = asyncio.get_running_loop().run_in_executor(None, self._write, taken)
        return self._writing

    def _write(self, taken: Snapshot) -> None:
        """A crawl goes on without: it would learn again from its journal."""
        try:
            self.snapshots.write(taken)
        except (OSError, BadInput) as error:
            _log.warning("what was learned could not be written to %s: %s", self.snapshots.folder, error)
