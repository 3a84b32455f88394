"""Records of problems: findings of a check, the URL being processed, and samples of exceptions."""

from __future__ import annotations

import contextlib
import hashlib
import mmap
import os
import struct
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from spoor.files import allocate
from spoor.storage_errors import storing
from spoor.urls import normalise

# Findings about a crawl folder.


Part = Literal["database", "archive", "index", "snapshot"]


@dataclass(frozen=True, slots=True)
class Finding:
    """A finding about `file`, a name within the folder. If `damage` is False, there is nothing to repair, or the next
    start repairs it."""

    part: Part
    file: str
    what: str
    damage: bool = True

    def __str__(self) -> str:
        return f"{self.file}: {self.what}"


Tell = Callable[[Finding], None]


def counted(number: int, what: str) -> str:
    """Number and noun: `1 link`, `2 links`."""
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"


# The URL being processed, stored where the next process can read it if this one dies.


_LENGTH = struct.Struct("!I")
_SIZE = 65_536
"""Bytes; longer than any URL."""


class CurrentUrl:
    """A memory-mapped file of fixed size: a write takes less than a microsecond and no system call, and survives a
    killed process. It contains a length and the URL; length 0 if no URL is being processed.

    `url` is the same value, for other threads of this process.
    """

    def __init__(self, path: Path) -> None:
        """Clears what an earlier process left in the file."""
        self.url = ""
        with storing(path):
            file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o644)
            try:
                # All of it is written: without room on the disk, writing to the memory would kill the process.
                allocate(file, _SIZE)
                self._memory = mmap.mmap(file, _SIZE)
            finally:
                os.close(file)

    def on(self, url: str) -> None:
        self.url = url
        data = url.encode("utf8", "replace")[: _SIZE - _LENGTH.size]
        self._memory[_LENGTH.size : _LENGTH.size + len(data)] = data
        _LENGTH.pack_into(self._memory, 0, len(data))

    def off(self) -> None:
        self.url = ""
        _LENGTH.pack_into(self._memory, 0, 0)

    def close(self) -> None:
        self._memory.close()


def died_of(path: Path) -> str:
    """The URL that a process was working on when it died; "" if there was none, or the process ended normally."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return ""
    if len(data) != _SIZE:
        return ""
    (length,) = _LENGTH.unpack_from(data)
    return normalise(data[_LENGTH.size : _LENGTH.size + length].decode("utf8", "replace")) or ""


# Samples of exceptions that cost one URL: a file for each, with traceback and response.


MOST_FILES = 200
"""Most samples that are saved; further exceptions are only reported."""
MOST_BYTES = 65_536
"""Most bytes of a response in a sample."""
_LONGEST = 200
"""Maximum length of an error line, in characters."""


@dataclass
class SavedTroubles:
    """Saves samples in a folder, which is created for the first one; None saves nothing. A sample that cannot be
    written is silently lost. Without `in_work` no URL is blamed when the process dies."""

    folder: Path | None
    in_work: CurrentUrl | None = None
    _left: int = field(default=MOST_FILES, init=False)

    def on(self, url: str) -> None:
        if self.in_work is not None:
            self.in_work.on(url)

    def off(self) -> None:
        if self.in_work is not None:
            self.in_work.off()

    def keep(self, url: str, doing: str, error: Exception, came: bytes = b"") -> str:
        line = line_of(doing, error)
        if self.folder is not None and self._left > 0:
            with contextlib.suppress(OSError):
                self._save(self.folder, url, line, error, came)
        return line

    def _save(self, folder: Path, url: str, line: str, error: Exception, came: bytes) -> None:
        folder.mkdir(exist_ok=True)
        self._left = MOST_FILES - sum(1 for _ in folder.iterdir())
        digest = hashlib.sha1(f"{url}\n{line}".encode("utf8", "replace")).hexdigest()[:16]
        file = folder / f"{digest}.txt"
        if file.exists() or self._left <= 0:
            return
        trace = "".join(traceback.format_exception(error))
        text = f"{url}\n{line}\n\n{trace}".encode("utf8", "replace")
        file.write_bytes(text + (b"\n" + came[:MOST_BYTES] if came else b""))


def line_of(doing: str, error: Exception) -> str:
    """Error type, activity and message, in one line without control characters."""
    first = next(iter(str(error).strip().splitlines()), "")
    said = f"{type(error).__name__} while it was {doing}" + (f": {first}" if first else "")
    return "".join(character if character.isprintable() else " " for character in said[:_LONGEST])
