"""A crawl on disk: its files, locking, supported versions; and reading its HTTP messages.

version         the version of the folder: `spoor crawl 8`
crawl.toml      the exact settings of the crawl
crawl.db        links, hosts, pages, events (SQLite)
crawl.db.sums   checksums of it, written at the end of the last run
warc/           responses: *.warc.gz, each with its index *.cdxj
warc/damaged/   originals of damaged files, and truncated ends
damaged/        originals of damaged databases
inputs/         copies of the models, dictionaries and ontologies that crawl.toml names, by digest
learned/        the two newest snapshots of what was learned
trouble/        samples of internal errors on single URLs
translations.db cached translations of a server, and counts of untranslated texts (SQLite)
in-work         the URL that is being processed, to be blamed if the process dies; in-work.1 and so on: of the workers
inbox/          actions of persons that are not applied yet
dashboard.db    counts and text index of the dashboard; can be deleted (SQLite)
report.html     output of `spoor report`
lock            id of the last crawling process; locked while it runs
lock.workers    locked while worker processes write to the archive
"""

from __future__ import annotations

import contextlib
import fcntl
import logging
import os
import re
import shlex
import sqlite3
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from spoor.errors import BadInput, NotWritten, UsageError
from spoor.files import as_toml
from spoor.pools import is_other_process
from spoor.result_files import replacing
from spoor.storage_errors import is_of_surroundings, not_written
from spoor.store.duplicates import same_payload
from spoor.store.inputs import Inputs
from spoor.store.journal import PageRow
from spoor.store.renders import render_of
from spoor.store.sharded_folder import ShardedFolder
from spoor.store.snapshots import Snapshots
from spoor.store.sqlite_files import sums_of, write_sums
from spoor.store.sqlite_version import require_sqlite
from spoor.store.translations import Translations
from spoor.store.warc import mend
from spoor.store.warc_records import block_of, unpacked
from spoor.store.warc_repair import follow

# The files of a crawl, locking, and folders that are refused.


VERSION = "spoor crawl 8"
_BEFORE_A_CRAWL = frozenset({"crawl.toml", "lock", ".partial"})
"""Files allowed in a folder before its first crawl: settings put there by hand, and leftovers of a killed start."""
WORKERS = "lock.workers"
FAREWELL = 30.0
"""Seconds to wait for the worker processes of a crawl that was killed."""
_log = logging.getLogger(__name__)
_HELD: set[Path] = set()
"""Folders that this process has locked. A file lock excludes other processes, but not other threads."""


class FolderInUse(BadInput):
    """Another process is crawling into the folder."""


@dataclass(frozen=True, slots=True)
class CrawlFolder:
    """The paths of a crawl folder. Opens nothing."""

    path: Path

    @property
    def name(self) -> str:
        """The name of the folder; for a shard, with that of the crawl: `many-thai-pages/003`."""
        path = self.path.resolve()
        is_shard = ShardedFolder(path.parent.parent).exists and path.parent.name == "shards"
        return f"{path.parent.parent.name}/{path.name}" if is_shard else path.name

    @property
    def database(self) -> Path:
        return self.path / "crawl.db"

    @property
    def warcs(self) -> Path:
        return self.path / "warc"

    @property
    def parts(self) -> tuple[CrawlFolder, ...]:
        """The folders of those shards that have started; for a crawl without shards, the folder itself."""
        sharded = ShardedFolder(self.path)
        if not sharded.exists:
            return (self,)
        folders = map(CrawlFolder, sharded.folders())
        return tuple(folder for folder in folders if folder.database.exists() and folder.database.stat().st_size)

    @property
    def is_copy(self) -> bool:
        """Whether it is the copy of a shard that runs on the disk of its machine; only that shard may change it."""
        return (self.path / "claims").exists()

    @property
    def snapshots(self) -> Snapshots:
        return Snapshots(self.path / "learned")

    @property
    def troubles(self) -> Path:
        return self.path / "trouble"

    @property
    def translations(self) -> Translations:
        return Translations(self.path / "translations.db")

    @property
    def in_work(self) -> Path:
        return self.path / "in-work"

    def in_work_of(self, worker: int) -> Path:
        return self.path / f"in-work.{worker}"

    @property
    def idle(self) -> Path:
        """File with the seconds for which the current run was idle by choice."""
        return self.path / "idle"

    @property
    def examples(self) -> Path:
        """The pages of `[target] like`, as they were at the start of the crawl."""
        return self.path / "like.json"

    @property
    def inbox(self) -> Path:
        return self.path / "inbox"

    @property
    def inputs(self) -> Inputs:
        return Inputs(self.path.resolve() / "inputs")

    @property
    def report(self) -> Path:
        return self.path / "report.html"

    def settings(self) -> str | None:
        """The text of crawl.toml; None if it does not exist yet."""
        file = self.path / "crawl.toml"
        try:
            return file.read_text("utf8") if file.exists() else None
        except (OSError, UnicodeDecodeError) as error:
            raise BadInput(f"cannot read {file}: {error}") from None

    def write_settings(self, text: str) -> None:
        """Paths of files in the folder become relative to it, so that it can be moved."""
        inside = f"{as_toml(str(self.inputs.path))[1:-1]}/"
        self._write("crawl.toml", text.replace(inside, f"{self.inputs.path.name}/"))

    def _write(self, name: str, text: str) -> None:
        """Writes a file atomically."""
        try:
            with replacing(self.path / name, ".partial") as partial:
                partial.write_text(text, "utf8")
        except OSError as error:
            raise not_written(self.path, error) from None


@contextlib.contextmanager
def open_for_crawling(path: Path) -> Iterator[CrawlFolder]:
    """Opens and locks the folder of a new crawl or of one to resume. Repairs what a killed crawl left incomplete."""
    if is_other_process():
        raise UsageError('a crawl cannot begin in a worker process; put what starts it under if __name__ == "__main__"')
    require_sqlite()
    try:
        path.mkdir(parents=True, exist_ok=True)
    except FileExistsError:
        raise BadInput(f"{path} is a file; give --out a folder") from None
    except OSError as error:
        raise not_written(path, error) from None
    folder = CrawlFolder(path)
    _refuse_strange(folder)
    with _saying_how_to_resume(folder), locked(folder):
        _begin(folder)
        try:
            yield folder
        finally:
            with contextlib.suppress(OSError):
                write_sums(folder.database)


@contextlib.contextmanager
def _saying_how_to_resume(folder: CrawlFolder) -> Iterator[None]:
    """Every failed write that ends a crawl ends it in one line, wherever it happened."""
    try:
        yield
    except (NotWritten, OSError, sqlite3.Error) as error:
        if isinstance(error, NotWritten):
            problem = error
        elif is_of_surroundings(error):
            problem = not_written(_file_of(error, folder), error)
        else:
            raise
        raise NotWritten(f"{problem}; then {_resumption(folder)}: what is stored is safe") from error


def _file_of(error: OSError | sqlite3.Error, folder: CrawlFolder) -> Path:
    if isinstance(error, sqlite3.Error):
        return folder.database
    return Path(error.filename) if isinstance(error.filename, str) else folder.path


def _resumption(folder: CrawlFolder) -> str:
    """Not the command that began the crawl: its settings file is refused beside that of the folder."""
    if not (folder.path / "crawl.toml").exists():
        return "run the same command again"
    crawl = folder.path.parent.parent
    path = crawl if folder.path.parent.name == "shards" and ShardedFolder(crawl).exists else folder.path
    return f"resume the crawl with `spoor crawl --out {shlex.quote(str(path))}`"


def open_for_reading(path: Path) -> CrawlFolder:
    """Opens a crawl, which may be running, or consist of several shards."""
    require_sqlite()
    folder = CrawlFolder(path)
    if not path.exists():
        raise BadInput(f"there is no folder {path}")
    if not (parts := folder.parts):
        raise BadInput(f"{path} is a crawl of several shards, none of which has started yet; try again in a minute")
    for part in parts:
        if not is_ours(part) or not part.database.exists():
            raise BadInput(f"{part.path} is not a crawl folder; create one with `spoor crawl --out FOLDER`")
    return folder


def _begin(folder: CrawlFolder) -> None:
    """Prepares a locked folder. From then on it has a database, even if empty: a missing one was deleted."""
    if is_ours(folder) and (how := _lost(folder)):
        problem = (
            f"{folder.path} holds a crawl, but its crawl.db, which knows what was fetched and what waits, is {how}"
        )
        raise BadInput(f"{problem}; restore it, or move {folder.path} away to start over")
    try:
        folder.database.touch()
        folder._write("version", VERSION + "\n")
        sums_of(folder.database).unlink(missing_ok=True)
        _await_workers(folder)
        repair_unfinished_archive(folder)
    except OSError as error:
        raise not_written(folder.path, error) from None


def _lost(folder: CrawlFolder) -> str:
    """How the database was lost ("missing" or "empty"); "" if it exists, or if nothing shows that there was one."""
    has_archive = any(folder.warcs.glob("*.warc.gz"))
    if not folder.database.exists():
        return "missing" if has_archive or folder.settings() is not None else ""
    return "empty" if has_archive and not folder.database.stat().st_size else ""


def repair_unfinished_archive(folder: CrawlFolder) -> None:
    """Repairs WARC files that a killed crawl left, and records the losses in the database."""
    for repair in mend(folder.warcs):
        try:
            with contextlib.closing(sqlite3.connect(folder.database, isolation_level=None)) as db:
                follow(db, repair)
        except (sqlite3.Error, UnicodeDecodeError) as error:
            _log.warning("could not record in %s the losses of %s: %s", folder.database, repair.file.name, error)


def _refuse_strange(folder: CrawlFolder) -> None:
    try:
        begun = {"crawl.db"} if folder.database.exists() and not folder.database.stat().st_size else set[str]()
        strange = sorted({file.name for file in folder.path.iterdir()} - _BEFORE_A_CRAWL - begun)
    except OSError as error:
        raise not_written(folder.path, error) from None
    if strange and not is_ours(folder):
        raise BadInput(f"{folder.path} has other contents ({strange[0]}); give --out a new or empty folder")


def is_ours(folder: CrawlFolder) -> bool:
    """Whether it is a crawl folder. Raises BadInput if it is of another version."""
    version = _version(folder)
    if version is None:
        return False
    if version != VERSION:
        problem = (
            f"{folder.path} was written by another version of spoor ('{version[:40]}', this one writes '{VERSION}')"
        )
        raise BadInput(f"{problem}; use that one, or give --out a new folder")
    return True


def _version(folder: CrawlFolder) -> str | None:
    try:
        return (folder.path / "version").read_text("utf8", "replace").strip()
    except OSError:
        return None


@contextlib.contextmanager
def locked(folder: CrawlFolder) -> Iterator[None]:
    """Holds the lock, which is released when the process ends. Not `flock`, which forked workers would keep."""
    path = folder.path.resolve()
    if folder.is_copy:
        raise BadInput(f"{folder.path} is a copy of a shard that works elsewhere; it can be read, but not changed")
    if path in _HELD:
        raise BadInput(f"this process is crawling into {folder.path} already; stop that crawl first")
    _HELD.add(path)
    try:
        with _lock_file(folder.path) as file:
            _take(file, folder.path)
            yield
    finally:
        _HELD.discard(path)


@contextlib.contextmanager
def writing_to_archive(folder: CrawlFolder) -> Iterator[None]:
    """To be held by a worker process, which may go on for a moment after the crawl was killed."""
    with _lock_file(folder.path, WORKERS) as file:
        fcntl.lockf(file, fcntl.LOCK_SH)
        yield


def _await_workers(folder: CrawlFolder) -> None:
    """Waits until the workers of a crawl that was killed have ended."""
    if not (folder.path / WORKERS).exists():
        return
    until = time.monotonic() + FAREWELL
    with _lock_file(folder.path, WORKERS) as file:
        while True:
            try:
                fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return
            except (BlockingIOError, PermissionError):
                if time.monotonic() > until:
                    problem = f"worker processes of an earlier crawl still write to {folder.path}"
                    raise FolderInUse(f"{problem}; stop them, or give --out another folder") from None
            time.sleep(0.02)


@contextlib.contextmanager
def _lock_file(path: Path, name: str = "lock") -> Iterator[int]:
    try:
        file = os.open(path / name, os.O_RDWR | os.O_CREAT, 0o644)
    except OSError as error:
        raise not_written(path, error) from None
    try:
        yield file
    finally:
        os.close(file)


def _take(file: int, path: Path) -> None:
    try:
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        holder = os.read(file, 20).decode("ascii", "replace").strip() or "another"
        raise FolderInUse(f"process {holder} is crawling into {path}; stop it, or give --out another folder") from None
    except OSError as error:
        raise BadInput(f"cannot lock {path}: {error.strerror}; give --out a folder on a local disk") from None
    with contextlib.suppress(OSError):  # A full disk: the lock holds without the number of the process.
        os.ftruncate(file, 0)
        os.write(file, f"{os.getpid()}\n".encode())


def is_crawled_into(folder: CrawlFolder) -> bool:
    """Whether another process is crawling into the folder."""
    if folder.path.resolve() in _HELD:
        return False  # Opening and closing the file would release our own lock.
    try:
        file = os.open(folder.path / "lock", os.O_RDWR)
    except OSError:
        return False
    try:
        fcntl.lockf(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return True
    except OSError:
        return False
    finally:
        os.close(file)
    return False


def is_open_for_crawling(folder: CrawlFolder) -> bool:
    """Whether any process is crawling into the folder, including this one."""
    return folder.path.resolve() in _HELD or is_crawled_into(folder)


# The HTTP message of a page, read from the archive of the crawl.


_REVISIT = b"\r\nWARC-Type: revisit\r\n"
_CONVERSION = b"\r\nWARC-Type: conversion\r\n"
_FILE = re.compile(r"[^/\0]+\.warc\.gz")


def message_of(folder: CrawlFolder, db: sqlite3.Connection, page: PageRow) -> bytes | None:
    """The HTTP message of a page; None if not stored, or lost. The payload of a revisit record is found by digest."""
    record = _record(folder, page.warc_file, page.warc_offset)
    if record is not None and _REVISIT in record.partition(b"\r\n\r\n")[0]:
        earlier = same_payload(db, page.digest)
        record = None if earlier is None else _record(folder, earlier.file, earlier.offset)
    return None if record is None else block_of(record)


def tree_of(folder: CrawlFolder, db: sqlite3.Connection, page: PageRow) -> str:
    """The rendered DOM of a page; "" if it was not rendered or not stored, or is lost."""
    render = render_of(db, page.host, page.url, page.number)
    record = None if render is None else _record(folder, render.warc_file, render.warc_offset)
    if record is None or _CONVERSION not in record.partition(b"\r\n\r\n")[0]:
        return ""
    return record.partition(b"\r\n\r\n")[2].removesuffix(b"\r\n\r\n").decode("utf8", "replace")


def _record(folder: CrawlFolder, file: object, offset: object) -> bytes | None:
    """Reads only from files of the archive: a database from another source may name any path."""
    if not isinstance(file, str) or not isinstance(offset, int) or offset < 0 or not _FILE.fullmatch(file):
        return None
    try:
        return unpacked(folder.warcs / file, offset)
    except OSError:
        return None
