"""A crawl on disk: which files make one, who may write to it, which versions can be opened; and its HTTP messages.

version         what wrote the folder: `spoor crawl 5`
crawl.toml      exactly what ran
crawl.db        links, hosts, pages, events (SQLite)
crawl.db.sums   checksums of it, from when the last crawl ended
warc/           what came: *.warc.gz, and beside each its index *.cdxj
warc/damaged/   files that were damaged, as they were, and ends that were cut off
damaged/        databases that were damaged, as they were
learned/        snapshots of what was learned: the two newest
trouble/        samples of what went wrong with single URLs by a mistake of ours
translations.db what a server has translated, and how many texts it has not (SQLite)
in-work         the URL that is worked on right now, to be blamed if the process dies of it
inbox/          actions of persons that were not done yet
dashboard.db    what the dashboard counted, and its index of texts; can be deleted (SQLite)
report.html     what `spoor report` made of it
lock            the process that crawls, or did last; locked while it does
"""

from __future__ import annotations

import contextlib
import fcntl
import logging
import os
import re
import sqlite3
from collections.abc import Container, Iterator
from dataclasses import dataclass
from pathlib import Path

from spoor.errors import BadInput
from spoor.files import replacing
from spoor.progress import Progress, silently
from spoor.store.duplicates import same_payload
from spoor.store.journal import PageRow
from spoor.store.migration import STEPS
from spoor.store.renders import render_of
from spoor.store.sharded_folder import ShardedFolder
from spoor.store.snapshots import Snapshots
from spoor.store.sqlite_files import sums_of, write_sums
from spoor.store.translations import Translations
from spoor.store.warc import mend
from spoor.store.warc_records import block_of, unpacked
from spoor.store.warc_repair import follow

# A crawl on disk: which files make one, who may write to it, and which folders are refused.


VERSION = "spoor crawl 5"
RESUMABLE = (VERSION, *STEPS)
"""What can be crawled on, once it was brought to this version."""
READABLE = (*RESUMABLE, "spoor crawl 2")
"""What can be read, but not crawled on: what `learned` kept of links in version 2 means nothing any more."""
_BEFORE_A_CRAWL = frozenset({"crawl.toml", "lock", ".partial"})
"""What may lie in a folder that no crawl has begun in: settings put there by hand, and what a killed start left."""
_log = logging.getLogger(__name__)
_HELD: set[Path] = set()
"""Folders that this process crawls into. The lock of a file keeps out other processes, but not other threads."""


class FolderInUse(BadInput):
    """Another process crawls into a folder."""


@dataclass(frozen=True, slots=True)
class CrawlFolder:
    """Names things; opens nothing."""

    path: Path

    @property
    def name(self) -> str:
        """Of a shard with that of the crawl: `many-thai-pages/003`."""
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
        """The folders of its shards, as far as these were begun; itself, where it is a crawl without shards."""
        sharded = ShardedFolder(self.path)
        if not sharded.exists:
            return (self,)
        folders = map(CrawlFolder, sharded.folders())
        return tuple(folder for folder in folders if folder.database.exists() and folder.database.stat().st_size)

    @property
    def is_copy(self) -> bool:
        """Of a shard that works on the disk of its machine: only that may change it."""
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

    @property
    def idle(self) -> Path:
        """Seconds that the run that is going on was idle by choice."""
        return self.path / "idle"

    @property
    def examples(self) -> Path:
        """The pages that `[target] like` names, as they were when the crawl began."""
        return self.path / "like.json"

    @property
    def inbox(self) -> Path:
        return self.path / "inbox"

    @property
    def report(self) -> Path:
        return self.path / "report.html"

    def settings(self) -> str | None:
        """The text of crawl.toml; None when there is none yet."""
        file = self.path / "crawl.toml"
        try:
            return file.read_text("utf8") if file.exists() else None
        except (OSError, UnicodeDecodeError) as error:
            raise BadInput(f"cannot read {file}: {error}") from None

    def write_settings(self, text: str) -> None:
        self._write("crawl.toml", text)

    def _write(self, name: str, text: str) -> None:
        """All of it or nothing, whenever the process is killed."""
        try:
            with replacing(self.path / name, ".partial") as partial:
                partial.write_text(text, "utf8")
        except OSError as error:
            raise _cannot_write(self.path, error) from None


@contextlib.contextmanager
def open_for_crawling(path: Path, progress: Progress = silently) -> Iterator[CrawlFolder]:
    """A new crawl, or one to be resumed; nobody else can crawl into the folder meanwhile. What a killed crawl left
    half written is repaired, and a folder of an earlier version brought to this one, with `progress`."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except FileExistsError:
        raise BadInput(f"{path} is a file; give --out a folder") from None
    except OSError as error:
        raise _cannot_write(path, error) from None
    folder = CrawlFolder(path)
    _refuse_strange(folder)
    with locked(folder):
        _begin(folder, progress)
        try:
            yield folder
        finally:
            with contextlib.suppress(OSError):
                write_sums(folder.database)


def open_for_reading(path: Path) -> CrawlFolder:
    """A crawl that may be running, or one of several shards."""
    folder = CrawlFolder(path)
    if not path.exists():
        raise BadInput(f"there is no folder {path}")
    if not (parts := folder.parts):
        raise BadInput(f"{path} is a crawl of several shards, none of which has started yet; try again in a minute")
    for part in parts:
        if not is_ours(part, READABLE) or not part.database.exists():
            raise BadInput(f"{part.path} is not a crawl folder; create one with `spoor crawl --out FOLDER`")
    return folder


def _begin(folder: CrawlFolder, progress: Progress) -> None:
    """From here on a folder that is ours has a database, if an empty one: where it is missing, somebody removed it."""
    if is_ours(folder, RESUMABLE) and (how := _lost(folder)):
        problem = (
            f"{folder.path} holds a crawl, but its crawl.db, which knows what was fetched and what waits, is {how}"
        )
        raise BadInput(f"{problem}; restore it, or move {folder.path} away to start over")
    try:
        folder.database.touch()
        _migrate(folder, progress)
        folder._write("version", VERSION + "\n")
        sums_of(folder.database).unlink(missing_ok=True)
        mend_archive(folder)
    except OSError as error:
        raise _cannot_write(folder.path, error) from None


def _migrate(folder: CrawlFolder, progress: Progress) -> None:
    versions = list(STEPS)
    if (version := _version(folder)) in versions:
        for step in versions[versions.index(version) :]:
            try:
                STEPS[step](folder.database, progress)
            except (sqlite3.Error, UnicodeDecodeError) as error:
                problem = f"cannot migrate {folder.database} from '{version}' to '{VERSION}': {error}"
                raise BadInput(f"{problem}; `spoor check` of the spoor that wrote it says what is wrong") from None


def _lost(folder: CrawlFolder) -> str:
    """What became of the database of a crawl; "" while nothing shows that there was one, and when it is there."""
    has_archive = any(folder.warcs.glob("*.warc.gz"))
    if not folder.database.exists():
        return "missing" if has_archive or folder.settings() is not None else ""
    return "empty" if has_archive and not folder.database.stat().st_size else ""


def mend_archive(folder: CrawlFolder) -> None:
    """What WARC files lost that a killed crawl left, the database hears of."""
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
        raise _cannot_write(folder.path, error) from None
    if strange and not is_ours(folder, RESUMABLE):
        raise BadInput(f"{folder.path} has other contents ({strange[0]}); give --out a new or empty folder")


def is_current(folder: CrawlFolder) -> bool:
    return _version(folder) == VERSION


def is_ours(folder: CrawlFolder, versions: Container[str] = (VERSION,)) -> bool:
    """False: no crawl. A crawl of another version is refused."""
    version = _version(folder)
    if version is None:
        return False
    if version not in versions:
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
    """The lock goes with this process, however that ends. Not `flock`, which forked workers would keep after it."""
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
def _lock_file(path: Path) -> Iterator[int]:
    try:
        file = os.open(path / "lock", os.O_RDWR | os.O_CREAT, 0o644)
    except OSError as error:
        raise _cannot_write(path, error) from None
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
    os.ftruncate(file, 0)
    os.write(file, f"{os.getpid()}\n".encode())


def is_crawled_into(folder: CrawlFolder) -> bool:
    """Whether a process other than this one crawls into it right now."""
    if folder.path.resolve() in _HELD:
        return False  # To open and close the file would let go of our own lock.
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
    """Whether any process crawls into it right now, this one included."""
    return folder.path.resolve() in _HELD or is_crawled_into(folder)


def _cannot_write(path: Path, error: OSError) -> BadInput:
    return BadInput(f"cannot write to {path}: {error.strerror}; give --out a folder that you may write to")


# The HTTP message that brought a page, read back from the archive of a crawl.


_REVISIT = b"\r\nWARC-Type: revisit\r\n"
_CONVERSION = b"\r\nWARC-Type: conversion\r\n"
_FILE = re.compile(r"[^/\0]+\.warc\.gz")


def message_of(folder: CrawlFolder, db: sqlite3.Connection, page: PageRow) -> bytes | None:
    """None: not kept, or lost. A payload that was kept only once is found through its digest."""
    record = _record(folder, page.warc_file, page.warc_offset)
    if record is not None and _REVISIT in record.partition(b"\r\n\r\n")[0]:
        earlier = same_payload(db, page.digest)
        record = None if earlier is None else _record(folder, earlier.file, earlier.offset)
    return None if record is None else block_of(record)


def tree_of(folder: CrawlFolder, db: sqlite3.Connection, page: PageRow) -> str:
    """What scripts made of a page; "" where none were run, or it is not kept, or lost."""
    render = render_of(db, page.host, page.url, page.number)
    record = None if render is None else _record(folder, render.warc_file, render.warc_offset)
    if record is None or _CONVERSION not in record.partition(b"\r\n\r\n")[0]:
        return ""
    return record.partition(b"\r\n\r\n")[2].removesuffix(b"\r\n\r\n").decode("utf8", "replace")


def _record(folder: CrawlFolder, file: object, offset: object) -> bytes | None:
    """Only from files of the archive: a database that somebody else made may name any."""
    if not isinstance(file, str) or not isinstance(offset, int) or offset < 0 or not _FILE.fullmatch(file):
        return None
    try:
        return unpacked(folder.warcs / file, offset)
    except OSError:
        return None
