"""A file of gzip members, one record in each: where they begin and end, and what to do about a torn last one."""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from isal import igzip

LEVEL = 2
"""Of ISA-L, between zlib's own 1 and 3 in size. Most payloads come packed; on those 3 would take twice the time for
nothing."""
_GZIP = 31
_CHUNK = 1 << 16


@dataclass(frozen=True, slots=True)
class Member:
    """Offset and length are of the packed record; `beginning` is the first of it unpacked, at most 64 KiB."""

    offset: int
    length: int
    beginning: bytes


def packed(record: bytes) -> bytes:
    return igzip.compress(record, LEVEL, mtime=0)


def members(file: Path) -> Iterator[Member]:
    """The whole members from the start of a file; ends without complaint before one that is torn or damaged."""
    offset, ahead = 0, b""
    with file.open("rb") as stream:
        while (found := _member(stream, offset, ahead)) is not None:
            member, ahead = found
            yield member
            offset += member.length


def unpacked(file: Path, offset: int) -> bytes | None:
    """The record that begins at `offset`; None when no whole one does."""
    with file.open("rb") as stream:
        stream.seek(offset)
        unpacker = zlib.decompressobj(_GZIP)
        pieces = []
        try:
            while not unpacker.eof and (chunk := stream.read(_CHUNK)):
                pieces.append(unpacker.decompress(chunk))
        except zlib.error:
            return None
    return b"".join(pieces) if unpacker.eof else None


def cut_torn_end(file: Path) -> None:
    """Leaves whole members only; a file without any is removed."""
    end = max((member.offset + member.length for member in members(file)), default=0)
    if end == 0:
        file.unlink()
    elif end < file.stat().st_size:
        os.truncate(file, end)


def _member(stream: BinaryIO, offset: int, ahead: bytes) -> tuple[Member, bytes] | None:
    """The next member, and what was read beyond it; `ahead` is what was read before. Unpacked piece by piece, because
    a record may be larger than what one wants in memory."""
    unpacker = zlib.decompressobj(_GZIP)
    length, beginning = 0, b""
    try:
        while not unpacker.eof:
            chunk = ahead or stream.read(_CHUNK)
            if not chunk:
                return None
            piece = unpacker.decompress(chunk, _CHUNK)
            beginning = beginning or piece
            ahead = unpacker.unconsumed_tail or unpacker.unused_data
            length += len(chunk) - len(ahead)
    except zlib.error:
        return None
    return Member(offset, length, beginning), ahead
