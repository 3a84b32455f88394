"""The working folder of a copied shard on the disk of its machine, opened as it was left or restored from a copy.

lock        id of the process that has it; locked while it runs
generation  the number of its last start
crawl/      a crawl folder
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import socket
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from spoor.errors import BadInput
from spoor.result_files import replacing
from spoor.store.copied_mail import begin_generation
from spoor.store.copies import CopyName, CopyPlace, Origin, moment_of
from spoor.store.crawl_folder import CrawlFolder, locked, open_for_crawling


def local_path(local: str, place: Path) -> Path:
    """A path for each shard of each crawl, in the local folder of the machine; `local` may use environment
    variables."""
    disk = Path(os.path.expandvars(local)).expanduser()
    if not disk.is_absolute():
        raise BadInput(f"--local {local} is {disk} on {socket.gethostname()}; give it a path that begins with /")
    crawl = place.resolve().parent.parent
    digest = hashlib.blake2b(str(crawl).encode("utf8", "surrogateescape"), digest_size=4).hexdigest()
    return disk / f"{crawl.name}-{digest}" / place.name


@dataclass(frozen=True)
class LocalFolder:
    """An open working folder. `is_over`: the previous process of the shard has ended; otherwise it may still be running
    on another machine."""

    folder: CrawlFolder
    generation: int
    is_over: bool

    @property
    def partial(self) -> Path:
        """Where a copy of the database is built."""
        return self.folder.path.with_name("copy.partial")


@contextlib.contextmanager
def opened_locally(place: CopyPlace, path: Path, now: float) -> Iterator[LocalFolder]:
    """Starts a new generation of a shard. Uses the local state if no other process began a generation since, otherwise
    the newest copy. Raises FolderInUse if another process has the folder, or claimed the generation first."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadInput(f"cannot write to {path}: {error.strerror}; give --local another folder") from None
    with locked(CrawlFolder(path)):
        _adopt(place, path)
        last = place.generation()
        is_newest = (path / "crawl").exists() and _generation(path) == last
        origin = Origin(last) if is_newest else _restored(place, last + 1, path / "crawl")
        is_over = is_newest or last == 0 or place.has_ended(origin)
        place.claim(last + 1, origin)
        with replacing(path / "generation", ".partial", durable=True) as partial:
            partial.write_text(f"{last + 1}\n")
        with open_for_crawling(path / "crawl") as folder:
            _begin(folder, last + 1)
            if not is_over:
                _delay_hosts(folder, now)
            yield LocalFolder(folder, last + 1, is_over)


def _adopt(place: CopyPlace, path: Path) -> None:
    """Registers a crawl in the place itself, from before the first generation, as a copy."""
    folder = place.folder
    if place.generation() == 0 and folder.database.exists() and not folder.database.is_symlink():
        with locked(folder), moment_of(folder) as moment:
            place.write(CopyName(0, 0), moment, path / "copy.partial")


def _restored(place: CopyPlace, generation: int, crawl: Path) -> Origin:
    shutil.rmtree(crawl, ignore_errors=True)
    return place.restore(generation, crawl)


def _generation(path: Path) -> int:
    with contextlib.suppress(OSError, ValueError):
        return int((path / "generation").read_text())
    return -1


def _begin(folder: CrawlFolder, generation: int) -> None:
    with contextlib.closing(sqlite3.connect(folder.database, isolation_level=None)) as db:
        begin_generation(db, generation)


def _delay_hosts(folder: CrawlFolder, now: float) -> None:
    """Delays all hosts: the previous process may have sent requests until now."""
    with contextlib.closing(sqlite3.connect(folder.database, isolation_level=None)) as db:
        if db.execute("SELECT 1 FROM sqlite_master WHERE name = 'hosts'").fetchone():
            db.execute("UPDATE hosts SET free_at = max(free_at, ? + delay)", (now,))
