"""A crawl of several shards on disk: which files make one, and how many visits each shard was granted.

crawl.toml      exactly what ran
shards.toml     how many shards there are, and which bucket of hosts is whose
coordinator.db  visits granted to each shard (SQLite)
lock            the process that coordinates, or did last; locked while it does
shards/003/     a crawl folder for each shard, readable as any other
"""

from __future__ import annotations

import sqlite3
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from spoor.errors import BadInput, BrokenStorage, UsageError
from spoor.files import replacing
from spoor.share import BUCKETS, even_table


@dataclass(frozen=True)
class ShardedFolder:
    """Names things; opens nothing."""

    path: Path

    @property
    def coordinator(self) -> Path:
        return self.path / "coordinator.db"

    def shard(self, number: int) -> Path:
        return self.path / "shards" / f"{number:03}"

    def folders(self) -> list[Path]:
        """Of all shards that ever were, those that have no hosts any more included."""
        return sorted((self.path / "shards").glob("[0-9]*"), key=lambda path: (len(path.name), path.name))

    @property
    def exists(self) -> bool:
        """False: it is no folder of shards."""
        return self._file.exists()

    @property
    def shards(self) -> int | None:
        """How many there are; None: it is no folder of shards."""
        return max(self.buckets()) + 1 if self.exists else None

    def buckets(self) -> tuple[int, ...]:
        """The shard of each."""
        return _read(self._file)

    def table(self, shards: int) -> tuple[int, ...]:
        """The shard of each bucket, as it was written down when the crawl began; written down if it begins now."""
        if not self._file.exists():
            self._write(even_table(shards))
        table = _read(self._file)
        if (there := max(table) + 1) != shards:
            raise UsageError(
                f"{self.path} is a crawl of {there} shards, not of {shards}; resume it with --shards {there}"
            )
        return table

    @property
    def _file(self) -> Path:
        return self.path / "shards.toml"

    def _write(self, table: Sequence[int]) -> None:
        with replacing(self._file, ".partial") as partial:
            partial.write_text(f"buckets = [{', '.join(map(str, table))}]\n", "utf8")


def _read(file: Path) -> tuple[int, ...]:
    try:
        table = tomllib.loads(file.read_text("utf8"))["buckets"]
        if len(table) != BUCKETS or not all(isinstance(shard, int) and shard >= 0 for shard in table):
            raise ValueError(f"it needs {BUCKETS} numbers of shards")
        return tuple(table)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise BadInput(f"cannot read {file}: {error}; put it back as it was") from None


class GrantedVisits:
    """How many visits each shard may have made. It is written down before a shard hears of it, so that a shard that
    cannot be asked has made no more than this."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._db = sqlite3.connect(path, isolation_level=None)
        self._db.execute("PRAGMA journal_mode = WAL")
        self._db.execute("CREATE TABLE IF NOT EXISTS leases (shard INTEGER PRIMARY KEY, visits INTEGER NOT NULL)")

    def close(self) -> None:
        self._db.close()

    def of(self, shard: int) -> int:
        found = self._db.execute("SELECT visits FROM leases WHERE shard = ?", (shard,)).fetchone()
        return 0 if found is None else int(found[0])

    def write(self, visits: Sequence[tuple[int, int]]) -> None:
        """Each a shard and its visits."""
        try:
            self._db.execute("BEGIN IMMEDIATE")
            self._db.executemany("INSERT OR REPLACE INTO leases VALUES (?, ?)", visits)
            self._db.execute("COMMIT")
        except sqlite3.Error as error:
            raise BrokenStorage(
                f"cannot write {self._path}: {error}; make room and run the same command again"
            ) from None
