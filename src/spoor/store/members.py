"""A gzip file with a member for each record: where records begin and end, and what of a damaged file can be read."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, auto
from pathlib import Path
from typing import BinaryIO

from isal import igzip

from spoor.store.unpacking import Unpacked

LEVEL = 2
"""Of ISA-L, between zlib's own 1 and 3 in size. Most payloads come packed; on those 3 would take twice the time for
nothing."""
HEADER = b"\x1f\x8b\x08\0\0\0\0\0\0\xff"
"""Before the compressed bytes of every member that we write."""
TRAILER = struct.Struct("<II")
"""After them: CRC-32 and size of what was compressed."""
LARGEST = 1 << 28
"""Bytes of a record that is unpacked into memory. Ours are smaller; in a file of somebody else's a few bytes may
stand for gigabytes."""
_RECORD = b"WARC/"
_MAGIC = b"\x1f\x8b\x08"
_GZIP, _RAW = 31, -15
_FIRST, _CHUNK, _SEARCHED = 1 << 12, 1 << 16, 1 << 20
"""Bytes that are read at a time: first, then, and while looking for the next member after damage."""


@dataclass(frozen=True, slots=True)
class Member:
    """A record that can be read. Offset and length are of the packed record. Not `sound`: only the header or the
    trailer of the member is damaged, and what it holds is proven to be as it was."""

    offset: int
    length: int
    record: Unpacked
    sound: bool = True

    @property
    def end(self) -> int:
        return self.offset + self.length


@dataclass(frozen=True, slots=True)
class Gap:
    """Bytes that cannot be read. `torn`: they are the beginning of a last record that was never written to its end."""

    offset: int
    length: int
    torn: bool = False

    @property
    def end(self) -> int:
        return self.offset + self.length


class _State(Enum):
    WHOLE = auto()
    TORN = auto()
    BROKEN = auto()


@dataclass(frozen=True, slots=True)
class _Attempt:
    """At unpacking a member: how far it got. `after` are bytes that were read beyond it."""

    state: _State
    length: int
    record: Unpacked
    after: bytes = b""


def packed(record: bytes) -> bytes:
    return igzip.compress(record, LEVEL, mtime=0)


def members(file: Path) -> Iterator[Member]:
    """What can be read, before and after damage."""
    return (piece for piece in pieces(file) if isinstance(piece, Member))


def pieces(file: Path) -> Iterator[Member | Gap]:
    """The file from its first byte to its last: what can be read, and the gaps between."""
    with file.open("rb", _SEARCHED) as stream:
        offset, size = 0, file.stat().st_size
        while offset < size:
            attempt = _unpack(stream, offset, _GZIP)
            member = _member(offset, attempt) or _with_damaged_wrapper(stream, offset)
            if member is None:
                member = _next_member(stream, offset + 1)
                end = size if member is None else member.offset
                yield Gap(offset, end - offset, member is None and _is_torn(stream, offset, attempt))
                offset = end
            if member is not None:
                yield member
                offset = member.end


def unpacked(file: Path, offset: int) -> bytes | None:
    """The record that begins at `offset`; None when no whole one does."""
    with file.open("rb") as stream:
        stream.seek(offset)
        unpacker = zlib.decompressobj(_GZIP)
        found = bytearray()
        try:
            while not unpacker.eof and len(found) <= LARGEST:
                chunk = unpacker.unconsumed_tail or stream.read(_CHUNK)
                if not chunk:
                    return None
                found += unpacker.decompress(chunk, _CHUNK)
        except zlib.error:
            return None
    return bytes(found) if unpacker.eof else None


def rewrapped(member: bytes) -> bytes:
    """The bytes of a member that is not sound, with header and trailer as they must have been."""
    crc, size = 0, 0
    for piece in _inflated(member[len(HEADER) :]):
        crc, size = zlib.crc32(piece, crc), size + len(piece)
    return HEADER + member[len(HEADER) : -TRAILER.size] + TRAILER.pack(crc, size & 0xFFFFFFFF)


def _unpack(stream: BinaryIO, offset: int, window: int, must_begin: bytes = b"") -> _Attempt:
    """Piece by piece, because a record may be larger than what one wants in memory."""
    stream.seek(offset)
    unpacker, record = zlib.decompressobj(window), Unpacked()
    length, wanted = 0, _FIRST
    try:
        while not unpacker.eof:
            chunk = unpacker.unconsumed_tail or stream.read(wanted)
            if not chunk:
                return _attempted(_State.TORN, length, record)
            record.feed(unpacker.decompress(chunk, _CHUNK))
            length += len(chunk) - len(unpacker.unconsumed_tail or unpacker.unused_data)
            wanted = _CHUNK
            if not record.begins_like(must_begin):
                return _attempted(_State.BROKEN, length, record)
    except zlib.error:
        return _attempted(_State.BROKEN, length, record)
    return _attempted(_State.WHOLE, length, record, unpacker.unused_data)


def _attempted(state: _State, length: int, record: Unpacked, after: bytes = b"") -> _Attempt:
    record.finish()
    return _Attempt(state, length, record, after)


def _member(offset: int, attempt: _Attempt) -> Member | None:
    return Member(offset, attempt.length, attempt.record) if attempt.state is _State.WHOLE else None


def _with_damaged_wrapper(stream: BinaryIO, offset: int) -> Member | None:
    """A member of which the compressed bytes are whole, though gzip does not take it for one."""
    attempt = _unpack(stream, offset + len(HEADER), _RAW, _RECORD)
    if attempt.state is not _State.WHOLE or not attempt.record.is_record:
        return None
    stream.seek(offset + len(HEADER))
    data = stream.read(attempt.length + TRAILER.size)
    if len(data) < attempt.length + TRAILER.size or not _is_proven(data):
        return None
    return Member(offset, len(HEADER) + len(data), attempt.record, sound=False)


def _is_proven(data: bytes) -> bool:
    """Whether the trailer says that what was compressed is as it was. One bit of the checksum may be wrong if the size
    is right: damage elsewhere would have changed many."""
    crc, size = 0, 0
    for piece in _inflated(data):
        crc, size = zlib.crc32(piece, crc), size + len(piece)
    said, length = map(int, TRAILER.unpack(data[-TRAILER.size :]))
    return crc == said or ((crc ^ said).bit_count() == 1 and length == size & 0xFFFFFFFF)


def _inflated(data: bytes) -> Iterator[bytes]:
    unpacker = zlib.decompressobj(_RAW)
    while not unpacker.eof:
        yield unpacker.decompress(data, _CHUNK)
        data = unpacker.unconsumed_tail


def _next_member(stream: BinaryIO, start: int) -> Member | None:
    """The first whole record that begins at `start` or later."""
    while True:
        stream.seek(start)
        searched = stream.read(_SEARCHED)
        place = searched.find(_MAGIC)
        while place >= 0:
            attempt = _unpack(stream, start + place, _GZIP, _RECORD)
            if attempt.state is _State.WHOLE and attempt.record.head:
                return Member(start + place, attempt.length, attempt.record)
            place = searched.find(_MAGIC, place + 1)
        if len(searched) < _SEARCHED:
            return None
        start += len(searched) - len(_MAGIC) + 1


def _is_torn(stream: BinaryIO, offset: int, attempt: _Attempt) -> bool:
    """Whether the rest of a file is what a process leaves that was killed while it wrote."""
    announced = attempt.record.announced
    if attempt.state is _State.TORN:
        return attempt.record.begins_like(_RECORD) and (announced is None or attempt.record.size <= announced)
    stream.seek(offset)
    return all(not chunk.strip(b"\0") for chunk in iter(lambda: stream.read(_CHUNK), b""))
