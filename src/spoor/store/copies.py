"""Copies of a shard that runs on the disk of its machine, in a folder that survives the machine.

claims/0003.json         the third start of the shard: from which state it began
copies/0003-000017.db    the database at one moment: the seventeenth copy of the third start
copies/0003-000017.json  its size and digest, and the WARC files that were complete then; written last
crawl.db                 the newest copy, for readers: a symbolic link
warc/, learned/ …        as in any crawl folder

Each start is a generation. Its number is claimed by creating a file that must not exist, so no two processes have the
same one; a process that finds a larger number than its own has been replaced. Copies are named by generation, so a
process that was presumed dead and still writes does not touch the copies of its successor.

A generation begins with the state that the previous one left on this disk; or with the newest complete copy of the
previous one; or, if that made none, with the copy that the previous one began with, or an earlier one. So diverged
histories stay separate, on which the numbers of messages rely (`copied_mail`).
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
import os
import socket
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from spoor.errors import BadInput
from spoor.files import complete_or_absent
from spoor.result_files import replacing
from spoor.store.cdxj import index_of
from spoor.store.copied_mail import heard_in
from spoor.store.crawl_folder import CrawlFolder, FolderInUse
from spoor.store.mail import Heard

KEPT = 2
"""Number of copies: the newest, and one to fall back to if that is damaged."""
PAGES_AT_ONCE = 1000
"""Database pages per step of a backup; other processes may use the disk between steps."""
SMALL_FILES = ("version", "crawl.toml", "like.json", "translations.db")
_CHUNK = 1 << 20


class CopyName(NamedTuple):
    """Copies of a generation are counted from 1. Generation 0 is the state before the first generation."""

    generation: int
    number: int

    def __str__(self) -> str:
        return f"{self.generation:04}-{self.number:06}"


class Origin(NamedTuple):
    """The state with which a generation began: a copy of `generation`, or, if `copy` is None, what that left on
    disk."""

    generation: int
    copy: int | None = None


class Replaced(FolderInUse):
    """A later generation has replaced this one."""


# A consistent state of a shard that may be running.


@dataclass(frozen=True)
class Moment:
    """A read snapshot of the database at a commit, unaffected by later ones; files that no longer change; and the
    numbers of the last messages received from each sender. The connection reads this version until it is closed."""

    folder: CrawlFolder
    db: sqlite3.Connection
    warcs: Sequence[Path]
    snapshots: Sequence[Path]
    heard: Mapping[int, Heard]


@contextlib.contextmanager
def moment_of(folder: CrawlFolder) -> Iterator[Moment]:
    """Includes only closed WARC files. Valid within the context; may be used by another thread meanwhile."""
    with contextlib.closing(sqlite3.connect(folder.database, isolation_level=None, check_same_thread=False)) as db:
        db.execute("BEGIN")
        db.execute("SELECT count(*) FROM sqlite_master").fetchone()  # From here on, later commits are invisible.
        closed = [file for file in sorted(folder.warcs.glob("*.warc.gz")) if index_of(file).exists()]
        known = db.execute("SELECT 1 FROM sqlite_master WHERE name = 'inbox_generations'").fetchone()
        yield Moment(folder, db, closed, folder.snapshots.files(), heard_in(db) if known else {})


# The folder of the copies.


@dataclass(frozen=True)
class CopyPlace:
    """A crawl folder that can be read like any other. Only names paths; opens nothing."""

    path: Path

    @property
    def folder(self) -> CrawlFolder:
        return CrawlFolder(self.path)

    @property
    def _claims(self) -> Path:
        return self.path / "claims"

    @property
    def _databases(self) -> Path:
        return self.path / "copies"

    # Generations.

    def generation(self) -> int:
        """The last generation that began; 0 if none has."""
        return max((int(file.stem) for file in self._claims.glob("[0-9]*.json")), default=0)

    def claim(self, generation: int, origin: Origin) -> None:
        """Raises Replaced if another process has already claimed it."""
        self._claims.mkdir(parents=True, exist_ok=True)
        said = {"generation": origin.generation, "copy": origin.copy, "host": socket.gethostname()}
        try:
            with self._claim(generation).open("x", encoding="utf8") as file:
                file.write(json.dumps(said))
                file.flush()
                os.fsync(file.fileno())
        except FileExistsError:
            raise Replaced(f"another process has taken over {self.path}") from None
        for unfinished in self.path.glob("*/.*.partial"):
            unfinished.unlink(missing_ok=True)

    def check(self, generation: int) -> None:
        if (last := self.generation()) != generation:
            raise Replaced(f"{self.path} was taken over by start {last} of its shard, this is start {generation}")

    def host(self) -> str:
        """The machine on which the last generation began; "" if none has, or it is unknown."""
        with contextlib.suppress(OSError, ValueError, KeyError):
            return str(json.loads(self._claim(self.generation()).read_bytes())["host"])
        return ""

    def _claim(self, generation: int) -> Path:
        return self._claims / f"{generation:04}.json"

    def origin(self, generation: int) -> Origin:
        """The state with which a generation began. One whose claim is unreadable was killed before it did anything."""
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
            said = json.loads(self._claim(generation).read_bytes())
            return Origin(int(said["generation"]), None if said["copy"] is None else int(said["copy"]))
        return Origin(generation - 1)

    # Copies.

    def candidates(self, generation: int) -> Iterator[CopyName]:
        """Copies from which a generation may begin, newest first."""
        before, last = generation - 1, math.inf
        while before >= 0:
            numbers = {int(file.stem.rpartition("-")[2]) for file in self._databases.glob(f"{before:04}-*.json")}
            yield from (CopyName(before, number) for number in sorted(numbers, reverse=True) if number <= last)
            origin = self.origin(before) if before else Origin(-1)
            before, last = origin.generation, math.inf if origin.copy is None else origin.copy

    def write(self, name: CopyName, moment: Moment, partial: Path, ended: bool = False) -> None:
        """Writes a copy atomically. The database is first built at `partial`, since SQLite is used only on that disk.
        `ended`: the generation does nothing more."""
        self._databases.mkdir(parents=True, exist_ok=True)
        with _backed_up(moment.db, partial):
            archive = self._ship_archive(moment)
            learned = self._ship_small_files(moment)
            size, digest = _ship(partial, self._databases / f"{name}.db")
        said = {"bytes": size, "blake2b": digest, "warc": archive, "learned": learned, "ended": ended}
        with _replacing(self._databases / f"{name}.json") as part:
            part.write_text(json.dumps(said), "utf8")
        self.check(name.generation)
        self._show(name)
        self._remove_old(name)

    def _ship_archive(self, moment: Moment) -> dict[str, int]:
        """Copies each closed WARC file once, since it no longer changes, and its index last. Returns the sizes."""
        self.folder.warcs.mkdir(exist_ok=True)
        for warc in moment.warcs:
            there = self.folder.warcs / warc.name
            if not index_of(there).exists():
                _ship(warc, there)
                _ship(index_of(warc), index_of(there))
        return {warc.name: warc.stat().st_size for warc in moment.warcs}

    def _ship_small_files(self, moment: Moment) -> list[str]:
        """Returns the names of the snapshots. One that was removed meanwhile has a successor, or is relearned."""
        (self.path / "learned").mkdir(exist_ok=True)
        for name in SMALL_FILES:
            with contextlib.suppress(FileNotFoundError):
                _ship(moment.folder.path / name, self.path / name)
        for file in moment.snapshots:
            with contextlib.suppress(FileNotFoundError):
                _ship(file, self.path / "learned" / file.name)
        return [file.name for file in moment.snapshots]

    def _show(self, name: CopyName) -> None:
        with replacing(self.folder.database, f".crawl.db.{name}.partial") as link:
            link.unlink(missing_ok=True)
            link.symlink_to(Path("copies") / f"{name}.db")

    def _remove_old(self, name: CopyName) -> None:
        kept = {str(copy) for copy in list(self.candidates(name.generation + 1))[:KEPT]}
        learned = {file for copy in kept for file in self._said(copy)["learned"]}
        for file in [*self._databases.glob("[0-9]*.json"), *self._databases.glob("[0-9]*.db")]:
            if file.stem not in kept:
                file.unlink(missing_ok=True)
        for snapshot in self.folder.snapshots.files():
            if snapshot.name not in learned:
                snapshot.unlink(missing_ok=True)

    def has_ended(self, origin: Origin) -> bool:
        """Whether this state is final: no later generation began, and its own has ended."""
        is_last = origin.generation == self.generation() and origin.copy is not None
        return is_last and bool(self._said(CopyName(origin.generation, origin.copy or 0))["ended"])

    def _said(self, name: object) -> dict[str, Any]:
        try:
            said: dict[str, Any] = json.loads((self._databases / f"{name}.json").read_bytes())
            return {part: said[part] for part in ("bytes", "blake2b", "warc", "learned", "ended")}
        except (ValueError, KeyError, TypeError) as error:
            raise BadInput(f"what is said of copy {name} is damaged: {error}") from None

    # Restoring.

    def restore(self, generation: int, out: Path) -> Origin:
        """Creates a crawl folder from the newest complete copy, skipping damaged ones; none if there is no copy."""
        damaged = list[str]()
        for name in self.candidates(generation):
            try:
                with complete_or_absent(out) as partial:
                    self._fetch(name, partial)
            except (OSError, BadInput) as error:
                damaged.append(f"{name}: {error}")
                continue
            return Origin(*name)
        if damaged:
            raise BadInput(f"no copy in {self.path} is whole ({'; '.join(damaged)}); put back what is missing there")
        return Origin(0)

    def _fetch(self, name: CopyName, out: Path) -> None:
        """WARC files are not copied back but linked, since they no longer change."""
        said = self._said(name)
        if _ship(self._databases / f"{name}.db", out / "crawl.db") != (said["bytes"], said["blake2b"]):
            raise BadInput("its database is damaged")
        for warc, size in said["warc"].items():
            if (self.folder.warcs / warc).stat().st_size != size:
                raise BadInput(f"{warc} is of another size than it was")
        (out / "warc").mkdir()
        for index in self.folder.warcs.glob("*.cdxj"):
            for file in (index, index.with_suffix(".warc.gz")):
                (out / "warc" / file.name).symlink_to(file.resolve())
        (out / "learned").mkdir()
        for small in (*SMALL_FILES, *(f"learned/{snapshot}" for snapshot in said["learned"])):
            with contextlib.suppress(FileNotFoundError):
                _ship(self.path / small, out / small)


@contextlib.contextmanager
def _backed_up(db: sqlite3.Connection, partial: Path) -> Iterator[None]:
    """Backs up the database to `partial` without a WAL file, so that the copy can be read from read-only folders and
    from file systems where SQLite cannot lock."""
    partial.unlink(missing_ok=True)
    try:
        with contextlib.closing(sqlite3.connect(partial, isolation_level=None)) as target:
            db.backup(target, pages=PAGES_AT_ONCE)
            target.execute("PRAGMA journal_mode = DELETE")
        yield
    finally:
        partial.unlink(missing_ok=True)


def _ship(file: Path, there: Path) -> tuple[int, str]:
    """Copies a file atomically. Returns its size and digest."""
    digest, size = hashlib.blake2b(digest_size=16), 0
    with file.open("rb") as source, _replacing(there) as partial, partial.open("wb") as target:
        while chunk := source.read(_CHUNK):
            digest.update(chunk)
            size += len(chunk)
            target.write(chunk)
    return size, digest.hexdigest()


def _replacing(path: Path) -> contextlib.AbstractContextManager[Path]:
    """Atomic and durable. The temporary name contains the host: on other machines, process ids may be the same."""
    return replacing(path, f".{path.name}.{socket.gethostname()}-{os.getpid()}.partial", durable=True)
