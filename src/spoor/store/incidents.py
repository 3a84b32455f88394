"""What can go wrong with a crawl: findings of a check, the URL being worked on, and samples of exceptions."""

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

from spoor.urls import normalise

# What can be found wrong with the folder of a crawl.


Part = Literal["database", "archive", "index", "snapshot"]


@dataclass(frozen=True, slots=True)
class Finding:
    """`file` is a name within the folder. Not `damage`: nothing is wrong, or nothing that the next start would not put
    right by itself."""

    part: Part
    file: str
    what: str
    damage: bool = True

    def __str__(self) -> str:
        return f"{self.file}: {self.what}"


Tell = Callable[[Finding], None]


def counted(number: int, what: str) -> str:
    """`1 link`, `2 links`."""
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"


# Which URL is worked on right now, where the next process can read it if this one dies of it.


_LENGTH = struct.Struct("!I")
_SIZE = 65_536
"""More than any URL is long."""


class InWork:
    """A file of a fixed size, mapped into memory: writing to it costs less than a microsecond and asks the system for
    nothing. What a killed process wrote is there all the same. A length, then the URL; 0: nothing is worked on.

    `url` is the same for whoever looks from another thread of this process.
    """

    def __init__(self, path: Path) -> None:
        """Whatever an earlier process left there is gone."""
        self.url = ""
        file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o644)
        try:
            os.ftruncate(file, _SIZE)
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
    """The URL that a process worked on when it died; "" when it worked on none, or ended by itself."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return ""
    if len(data) != _SIZE:
        return ""
    (length,) = _LENGTH.unpack_from(data)
    return normalise(data[_LENGTH.size : _LENGTH.size + length].decode("utf8", "replace")) or ""


# Samples of what went wrong: for each exception that cost one URL a file that says where it happened and with
# what.


MOST_FILES = 200
"""Samples that are saved; what goes wrong more often is only reported."""
MOST_BYTES = 65_536
"""Of a response that a sample holds."""
_LONGEST = 200
"""Characters of the line that tells of an error."""


@dataclass
class SavedTroubles:
    """Saves samples in a folder, made when there is one; None: nothing is saved. A sample that cannot be written is
    lost: there is nothing to be gained by failing over it. Without `in_work` nobody is blamed for a death."""

    folder: Path | None
    in_work: InWork | None = None
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
    """The kind of error, what was done, and what the error says, in one line without what a terminal would obey."""
    first = next(iter(str(error).strip().splitlines()), "")
    said = f"{type(error).__name__} while it was {doing}" + (f": {first}" if first else "")
    return "".join(character if character.isprintable() else " " for character in said[:_LONGEST])
