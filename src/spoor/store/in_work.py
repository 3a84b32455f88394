"""Which URL is worked on right now, where the next process can read it if this one dies of it."""

from __future__ import annotations

import mmap
import os
import struct
from pathlib import Path

from spoor.urls import normalise

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
