"""A crawl of several shards on disk: its files, and the visits granted to each shard.

crawl.toml      the exact settings of the crawl
shards.toml     the shard of each bucket of hosts; also the planned assignment, while buckets are moved
coordinator.db  visits granted to each shard, and how long each run of the crawl took (SQLite)
lock            id of the last coordinating process; locked while it runs
shards/003/     a crawl folder for each shard, readable like any other
"""

from __future__ import annotations

import contextlib
import sqlite3
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from spoor.crawling.share import BUCKETS, even_table
from spoor.errors import BadInput, UsageError
from spoor.result_files import replacing
from spoor.storage_errors import storing
from spoor.store.run_time import RunTime
from spoor.store.transactions import transaction


@dataclass(frozen=True)
class ShardedFolder:
    """The paths of a sharded crawl. Opens nothing."""

    path: Path

    @property
    def coordinator(self) -> Path:
        return self.path / "coordinator.db"

    def shard(self, number: int) -> Path:
        return self.path / "shards" / f"{number:03}"

    def folders(self) -> list[Path]:
        """Folders of all past and present shards, including those without hosts."""
        return sorted((self.path / "shards").glob("[0-9]*"), key=lambda path: (len(path.name), path.name))

    @property
    def exists(self) -> bool:
        """Whether it is the folder of a sharded crawl."""
        return self._file.exists()

    @property
    def shards(self) -> int | None:
        """The number of shards, after an unfinished move; None if it is not a sharded crawl."""
        return max(self.moving_to() or self.buckets()) + 1 if self.exists else None

    def buckets(self) -> tuple[int, ...]:
        """The shard of each bucket."""
        return _read(self._file)

    def table(self, shards: int) -> tuple[int, ...]:
        """The shard of each bucket; written when the crawl begins, and read afterwards."""
        if not self._file.exists():
            self._write(even_table(shards))
        table = _read(self._file)
        if (there := max(table) + 1) != shards:
            raise UsageError(
                f"{self.path} is a crawl of {there} shards, not of {shards}; resume it with --shards {there}"
            )
        return table

    # While buckets are moved, the file contains the old and the new table.

    def moving_to(self) -> tuple[int, ...] | None:
        """The shard of each bucket after an unfinished move; None if there is none."""
        return _read(self._file, "moving_to") if "moving_to" in _parsed(self._file) else None

    def plan(self, table: Sequence[int]) -> None:
        self._write(self.buckets(), table)

    def moved(self) -> None:
        """Completes the move."""
        self._write(self.moving_to() or self.buckets())

    @property
    def _file(self) -> Path:
        return self.path / "shards.toml"

    def _write(self, table: Sequence[int], moving_to: Sequence[int] | None = None) -> None:
        tables = {"buckets": table} if moving_to is None else {"buckets": table, "moving_to": moving_to}
        with storing(self._file), replacing(self._file, ".partial", durable=True) as partial:
            lines = (f"{name} = [{', '.join(map(str, buckets))}]\n" for name, buckets in tables.items())
            partial.write_text("".join(lines), "utf8")


def _read(file: Path, name: str = "buckets") -> tuple[int, ...]:
    try:
        table = _parsed(file)[name]
        if len(table) != BUCKETS or not all(isinstance(shard, int) and shard >= 0 for shard in table):
            raise ValueError(f"it needs {BUCKETS} numbers of shards")
        return tuple(table)
    except (ValueError, KeyError, TypeError) as error:
        raise BadInput(f"cannot read {file}: {error}; restore it") from None


def _parsed(file: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(file.read_text("utf8"))
    except (OSError, ValueError) as error:
        raise BadInput(f"cannot read {file}: {error}; restore it") from None


class GrantedVisits:
    """The number of visits each shard may have made. It is written before the shard is informed, so it is an upper
    bound even if the shard does not respond."""

    def __init__(self, path: Path) -> None:
        self._path = path
        with storing(path), contextlib.ExitStack() as opened:
            self._db = opened.enter_context(contextlib.closing(sqlite3.connect(path, isolation_level=None)))
            self._db.execute("PRAGMA journal_mode = WAL")
            self._db.execute("CREATE TABLE IF NOT EXISTS leases (shard INTEGER PRIMARY KEY, visits INTEGER NOT NULL)")
            opened.pop_all()

    def close(self) -> None:
        self._db.close()

    def run_time(self, clock: Callable[[], float]) -> RunTime:
        """Of a run of the crawl, in the same file."""
        return RunTime.create(self._db, clock)

    def of(self, shard: int) -> int:
        found = self._db.execute("SELECT visits FROM leases WHERE shard = ?", (shard,)).fetchone()
        return 0 if found is None else int(found[0])

    def write(self, visits: Sequence[tuple[int, int]], run_time: RunTime) -> None:
        """Pairs of shard and visits."""
        with storing(self._path), transaction(self._db):
            self._db.executemany("INSERT OR REPLACE INTO leases VALUES (?, ?)", visits)
            run_time.write(self._db)
