"""A crawl on disk: which files make one, who may write to it, and which folders are refused.

version         what wrote the folder: `spoor crawl 3`
crawl.toml      exactly what ran
crawl.db        links, hosts, pages, events (SQLite)
warc/           what came: *.warc.gz, and beside each its index *.cdxj
report.html     what `spoor report` made of it
lock            the process that crawls, or did last; locked while it does
"""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from spoor.errors import BadInput

VERSION = "spoor crawl 3"
_BEFORE_A_CRAWL = frozenset({"crawl.toml", "lock", ".partial"})
"""What may lie in a folder that no crawl has begun in: settings put there by hand, and what a killed start left."""


@dataclass(frozen=True, slots=True)
class CrawlFolder:
    """Names things; opens nothing."""

    path: Path

    @property
    def database(self) -> Path:
        return self.path / "crawl.db"

    @property
    def warcs(self) -> Path:
        return self.path / "warc"

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
        partial = self.path / ".partial"
        try:
            partial.write_text(text, "utf8")
            os.replace(partial, self.path / name)
        except OSError as error:
            raise _cannot_write(self.path, error) from None


@contextlib.contextmanager
def open_for_crawling(path: Path) -> Iterator[CrawlFolder]:
    """A new crawl, or one to go on with; nobody else can crawl into the folder meanwhile."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except FileExistsError:
        raise BadInput(f"{path} is a file; give --out a folder") from None
    except OSError as error:
        raise _cannot_write(path, error) from None
    folder = CrawlFolder(path)
    _refuse_strange(folder)
    with _locked(folder):
        folder._write("version", VERSION + "\n")
        yield folder


def open_for_reading(path: Path) -> CrawlFolder:
    """A crawl that may be running."""
    folder = CrawlFolder(path)
    if not path.exists():
        raise BadInput(f"there is no folder {path}")
    if not _is_ours(folder) or not folder.database.exists():
        raise BadInput(f"{path} is not a crawl folder; `spoor crawl --out FOLDER` makes one")
    return folder


def _refuse_strange(folder: CrawlFolder) -> None:
    try:
        strange = sorted({file.name for file in folder.path.iterdir()} - _BEFORE_A_CRAWL)
    except OSError as error:
        raise _cannot_write(folder.path, error) from None
    if strange and not _is_ours(folder):
        raise BadInput(f"{folder.path} holds something else ({strange[0]}); give --out a new or empty folder")


def _is_ours(folder: CrawlFolder) -> bool:
    """False: no crawl. A crawl of another version is refused."""
    try:
        version = (folder.path / "version").read_text("utf8", "replace").strip()
    except OSError:
        return False
    if version != VERSION:
        told = f"{folder.path} was written by another spoor ('{version[:40]}', this one writes '{VERSION}')"
        raise BadInput(f"{told}; use that one, or give --out a new folder")
    return True


@contextlib.contextmanager
def _locked(folder: CrawlFolder) -> Iterator[None]:
    """The lock goes with this process, however that ends. Not `flock`, which forked workers would keep after it."""
    try:
        file = os.open(folder.path / "lock", os.O_RDWR | os.O_CREAT, 0o644)
    except OSError as error:
        raise _cannot_write(folder.path, error) from None
    try:
        _take(file, folder.path)
        yield
    finally:
        os.close(file)


def _take(file: int, path: Path) -> None:
    try:
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        holder = os.read(file, 20).decode("ascii", "replace").strip() or "another"
        raise BadInput(f"process {holder} is crawling into {path}; stop it, or give --out another folder") from None
    except OSError as error:
        raise BadInput(f"cannot lock {path}: {error.strerror}; give --out a folder on a local disk") from None
    os.ftruncate(file, 0)
    os.write(file, f"{os.getpid()}\n".encode())


def _cannot_write(path: Path, error: OSError) -> BadInput:
    return BadInput(f"cannot write to {path}: {error.strerror}; give --out a folder that you may write to")
