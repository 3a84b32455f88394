"""Text files that others wrote, compressed or not, line by line; where one cannot be read, the line is named."""

from __future__ import annotations

import bz2
import contextlib
import gzip
import lzma
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO, cast

from backports import zstd

from spoor.errors import BadInput

_OPENERS: dict[bytes, Callable[[Path], Any]] = {
    b"\x1f\x8b": gzip.open,
    b"\xfd7zXZ\x00": lzma.open,
    b"\x28\xb5\x2f\xfd": zstd.open,
    b"BZh": bz2.open,
}
"""What undoes each compression, by the bytes that a file begins with."""

_DAMAGE = (EOFError, OSError, lzma.LZMAError, zlib.error, zstd.ZstdError)
"""What the openers raise, while reading, for a file that is cut or damaged."""

_SNIFFED, _FEW = 1 << 16, 10
"""Bytes and lines by which a file is recognised."""

LONGEST_LINE = 1 << 24
"""Bytes. What has no line ends is no text, and must not fill the memory."""


def start_of(path: Path, size: int) -> bytes:
    """The first bytes, uncompressed, as many of them as can be read."""
    start = b""
    with _opened(path) as stream, contextlib.suppress(*_DAMAGE):
        # `read1`, because `read` would lose what lies between its start and the damage.
        while len(start) < size and (piece := cast(gzip.GzipFile, stream).read1(size - len(start))):
            start += piece
    return start


def first_lines(path: Path) -> list[str]:
    """The first few, as far as they can be read, without their ends; there may be none."""
    return start_of(path, _SNIFFED).decode("utf-8-sig", "replace").splitlines()[:_FEW]


def _opened(path: Path) -> BinaryIO:
    """Compressed files are known by their bytes, not by their names."""
    try:
        with path.open("rb") as file:
            begins = file.read(max(map(len, _OPENERS)))
        opener = next((opener for magic, opener in _OPENERS.items() if begins.startswith(magic)), None)
        return path.open("rb") if opener is None else cast(BinaryIO, opener(path))
    except OSError as error:
        raise BadInput(f"cannot read {path}: {error.strerror or error}") from None


class Lines:
    """The lines of a file with their ends, decoded. `number` is that of the last one that was read, from 1."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.number = 0

    def __iter__(self) -> Iterator[str]:
        with _opened(self.path) as stream:
            while raw := self._next(stream):
                self.number += 1
                yield self._decoded(raw)

    def complaint(self, reason: object, number: int | None = None) -> BadInput:
        """About the last line, or about another."""
        return BadInput(f"{self.path}, line {number or self.number}: {reason}")

    def _next(self, stream: BinaryIO) -> bytes:
        try:
            raw = stream.readline(LONGEST_LINE + 1)
        except _DAMAGE as error:
            self.number += 1
            raise self.complaint(f"the file is cut off or damaged here ({error})") from None
        if len(raw) > LONGEST_LINE:
            self.number += 1
            raise self.complaint(f"more than {LONGEST_LINE:,} bytes without a line end, so this is no text file")
        return raw

    def _decoded(self, raw: bytes) -> str:
        try:
            return raw.decode("utf-8-sig" if self.number == 1 else "utf-8")
        except UnicodeDecodeError as error:
            byte = raw[error.start]
            raise self.complaint(f"byte {error.start + 1}, {byte:#x}, is not UTF-8; convert the file") from None
