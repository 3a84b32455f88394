"""WARC records: serialisation, boundaries in gzip files, and decompression in little memory."""

from __future__ import annotations

import hashlib
import os
import re
import struct
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import Enum, auto
from functools import cached_property, lru_cache
from pathlib import Path
from typing import BinaryIO

from isal import igzip_lib, isal_zlib

from spoor.records import Response

# Serialisation of WARC 1.1 records.


Headers = dict[str, str]
"""Headers of a WARC record, in writing order; those with an empty value are omitted."""

SAME_PAYLOAD = "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"
FIELDS = "application/warc-fields"
BLANK = b"\r\n\r\n"
"""The end of the headers, and of a record."""
_CUT = frozenset({"length", "time", "disconnect"})
_TRANSFER_ENCODING = re.compile(rb"^transfer-encoding[ \t]*:[^\n]*\n(?:[ \t][^\n]*\n)*", re.IGNORECASE | re.MULTILINE)
_CONTENT_LENGTH = re.compile(rb"^content-length[ \t]*:[^\n]*\n(?:[ \t][^\n]*\n)*", re.IGNORECASE | re.MULTILINE)
_BASE_32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
_PLACES = range(155, -1, -5)
"""Of the digits of a SHA-1 in base 32."""


def new_id() -> str:
    """A random UUID. There are three for a page, and the class of the standard library takes three times as long."""
    number = bytearray(os.urandom(16))
    number[6] = number[6] & 0x0F | 0x40  # version 4: random
    number[8] = number[8] & 0x3F | 0x80  # the variant of RFC 9562
    digits = number.hex()
    return f"<urn:uuid:{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}>"


def digest_of(data: bytes) -> str:
    """The digest in the form of web archives: SHA-1 in base 32."""
    return digest_text(hashlib.sha1(data, usedforsecurity=False).digest())


def digest_text(sha1: bytes) -> str:
    """Not by `base64`, which looks pairs of digits up in a table that is too large for the cache of a processor."""
    number = int.from_bytes(sha1, "big")
    return "sha1:" + "".join([_BASE_32[number >> place & 31] for place in _PLACES])


def date_of(at: float) -> str:
    """The WARC-Date of `at`, in seconds since 1970."""
    return _date(int(at))


@lru_cache(16)
def _date(at: int) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def record(kind: str, at: float, headers: Headers, block: bytes) -> bytes:
    """`headers` are those besides the ones that every record has, including Content-Type."""
    return record_head(kind, at, headers, block) + block + BLANK


def record_head(kind: str, at: float, headers: Headers, block: bytes) -> bytes:
    """The part of a record before its block."""
    record_id = headers.pop("WARC-Record-ID", "") or new_id()
    lines = "".join([f"{name}: {value}\r\n" for name, value in headers.items() if value])
    return (
        f"WARC/1.1\r\nWARC-Type: {kind}\r\nWARC-Record-ID: {record_id}\r\nWARC-Date: {date_of(at)}\r\n{lines}"
        f"WARC-Block-Digest: {digest_of(block)}\r\nContent-Length: {len(block)}\r\n\r\n"
    ).encode()


def fields_block(fields: Mapping[str, str]) -> bytes:
    """One field per line; line breaks within a value become spaces."""
    lines = "".join(f"{name}: {' '.join(value.split())}\r\n" for name, value in fields.items() if value)
    return lines.encode("utf8", "replace")


def request_headers(response: Response, answer_id: str) -> Headers:
    return {
        "WARC-Target-URI": response.url,
        "WARC-IP-Address": response.address,
        "WARC-Concurrent-To": answer_id,
        "Content-Type": "application/http; msgtype=request",
    }


def answer_headers(response: Response, answer_id: str, payload_digest: str, kind: str = "") -> Headers:
    """`kind` is the type of sub-resource that a script requested, "" for a page."""
    return {
        "WARC-Record-ID": answer_id,
        "WARC-Target-URI": response.url,
        "WARC-IP-Address": response.address,
        "WARC-Payload-Digest": payload_digest,
        "WARC-Truncated": _truncated(response.cut),
        "WARC-Resource-Type": kind,
        "Content-Type": "application/http; msgtype=response",
    }


def kept_head(response: Response) -> bytes:
    """The head as received, byte for byte, except that Content-Length replaces Transfer-Encoding, which is decoded."""
    head = response.head
    if b"transfer-encoding" not in head.lower() or not _TRANSFER_ENCODING.search(head):
        return head
    lines = _CONTENT_LENGTH.sub(b"", _TRANSFER_ENCODING.sub(b"", head)).rstrip(b"\r\n")
    return lines + b"\r\nContent-Length: %d\r\n\r\n" % len(response.payload)


def _truncated(cut: str) -> str:
    """The value of WARC-Truncated in the terms of the standard."""
    return cut if cut in _CUT else "unspecified" if cut else ""


# Decompression of a record in constant memory: its heads, size and digests.


LONGEST_HEADS = 4 << 20
"""Most bytes held in memory: the WARC header and, for a response, the HTTP header."""


class Unpacked:
    """A record that is fed in pieces, in order, and then finished; its properties are valid only then."""

    def __init__(self) -> None:
        self.size = 0
        self.head = b""
        self.http_head = b""
        self._beginning = bytearray()
        self._heads_are_known = False
        self._missing = 0
        self._block = hashlib.sha1(usedforsecurity=False)
        self._payload = hashlib.sha1(usedforsecurity=False)

    def feed(self, piece: bytes) -> None:
        self.size += len(piece)
        if self._heads_are_known:
            self._hash(piece)
            return
        self._beginning += piece
        if len(self._beginning) > LONGEST_HEADS or self._beginning.count(BLANK) > 1:
            self._know_heads()

    def finish(self) -> None:
        if not self._heads_are_known:
            self._know_heads()

    def begins_like(self, start: bytes) -> bool:
        """Compares only the bytes received so far."""
        known = self.head if self._heads_are_known else bytes(self._beginning[: len(start)])
        return start.startswith(known[: len(start)])

    @cached_property
    def headers(self) -> dict[str, str]:
        """The WARC headers by lower-case name; the first of each counts."""
        lines = self.head.decode("utf8", "replace").split("\r\n")[1:]
        pairs = [line.partition(":") for line in reversed(lines)]
        return {name.strip().lower(): value.strip() for name, _, value in pairs}

    @property
    def announced(self) -> int | None:
        """The size of the whole record according to its headers; None if they are invalid."""
        length = self.headers.get("content-length", "")
        if not (self.head.startswith(b"WARC/") and length.isascii() and length.isdigit() and len(length) < 19):
            return None
        return len(self.head) + len(BLANK) + int(length) + len(BLANK)

    @property
    def is_record(self) -> bool:
        """Whether it is a WARC record of the size in its headers."""
        return self.announced == self.size

    @property
    def block_digest(self) -> str:
        return digest_text(self._block.digest())

    @property
    def payload_digest(self) -> str:
        """The digest of the body of the HTTP message."""
        return digest_text(self._payload.digest())

    def _know_heads(self) -> None:
        self._heads_are_known = True
        self.head, _, block = bytes(self._beginning).partition(BLANK)
        self._beginning.clear()
        self._missing = (self.announced or 0) - len(self.head) - 2 * len(BLANK)
        block = block[: max(0, self._missing)]
        self.http_head, _, payload = block.partition(BLANK)
        self._missing -= len(block)
        self._block.update(block)
        self._payload.update(payload)

    def _hash(self, piece: bytes) -> None:
        """Bytes after the block, the line breaks at the end of a record, are not hashed."""
        if self._missing > 0:
            piece = piece[: self._missing]
            self._missing -= len(piece)
            self._block.update(piece)
            self._payload.update(piece)


# A gzip file with one member per record: boundaries of records, and reading of damaged files.


LEVEL = 2
"""Compression level of ISA-L; the size is between those of levels 1 and 3 of zlib."""
MEMORY = igzip_lib.MEM_LEVEL_MEDIUM
"""Of a compressor. The default is so large that it is allocated anew for each record, for nothing: most are small."""
HEADER = b"\x1f\x8b\x08\0\0\0\0\0\0\xff"
"""The gzip header of each member that we write."""
TRAILER = struct.Struct("<II")
"""The gzip trailer: CRC-32 and size of the uncompressed data."""
LARGEST = 1 << 28
"""Most bytes of a record that are decompressed into memory. Ours are smaller; files from other sources may be
decompression bombs."""
_RECORD = b"WARC/"
_MAGIC = b"\x1f\x8b\x08"
_GZIP_START = re.compile(re.escape(_MAGIC))
"""Finds it in half the time of `bytes.find`."""
_GZIP, _RAW = 31, -15
_LEAST_MEMORY = 1
"""The memory level of zlib; enough for headers."""
_BLOCK = struct.Struct("<?HH")
"""The header of a deflate block that is not compressed: whether it is the last, its size, and the inverted size."""
_LARGEST_BLOCK = 0xFFFF
_BEGINNING = 16
"""Bytes of a payload that are compressed with the headers before it."""
_FIRST, _CHUNK, _SEARCHED = 1 << 12, 1 << 16, 1 << 20
"""Bytes per read: the first, later ones, and in the search for the next member after damage."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A range of (compressed) bytes of a file."""

    offset: int
    length: int

    @property
    def end(self) -> int:
        return self.offset + self.length


@dataclass(frozen=True, slots=True)
class Member(Piece):
    """A readable record. If it is not `sound`, only the gzip header or trailer is damaged; the content is verified."""

    record: Unpacked
    sound: bool = True


@dataclass(frozen=True, slots=True)
class Gap(Piece):
    """Unreadable bytes. `torn`: they are the start of a last record that was not completely written."""

    torn: bool = False


class _State(Enum):
    WHOLE = auto()
    TORN = auto()
    BROKEN = auto()


@dataclass(frozen=True, slots=True)
class _Attempt:
    """An attempt to decompress a member, and how far it got. `after` are bytes that were read beyond the member."""

    state: _State
    length: int
    record: Unpacked
    after: bytes = b""


def packed(record: bytes) -> bytes:
    return HEADER + igzip_lib.compress(record, LEVEL, igzip_lib.COMP_GZIP_NO_HDR, MEMORY)


def packed_around(head: bytes, payload: bytes) -> bytes:
    """The same for a record with a payload that is compressed already, which is stored as it is: in a third of the
    time, and about the same space.

    A search for the next member of a damaged file must find none inside a payload. So the beginning of the payload, its
    own gzip header, is compressed; a payload with further gzip headers is compressed as a whole."""
    if _GZIP_START.search(payload, _BEGINNING):
        return packed(head + payload + BLANK)
    head, stored = head + payload[:_BEGINNING], payload[_BEGINNING:] + BLANK
    packer = isal_zlib.compressobj(LEVEL, isal_zlib.DEFLATED, _RAW, _LEAST_MEMORY)
    first = packer.compress(head) + packer.flush(isal_zlib.Z_SYNC_FLUSH)
    crc = isal_zlib.crc32(stored, isal_zlib.crc32(head))
    return b"".join((HEADER, first, *_stored(stored), TRAILER.pack(crc, (len(head) + len(stored)) & 0xFFFFFFFF)))


def _stored(data: bytes) -> Iterator[bytes]:
    """Deflate blocks that are not compressed."""
    for start in range(0, len(data), _LARGEST_BLOCK):
        block = data[start : start + _LARGEST_BLOCK]
        yield _BLOCK.pack(start + len(block) == len(data), len(block), len(block) ^ 0xFFFF)
        yield block


def members(file: Path) -> Iterator[Member]:
    """The readable records, before and after damage."""
    return (piece for piece in pieces(file) if isinstance(piece, Member))


def pieces(file: Path) -> Iterator[Member | Gap]:
    """The whole file in order: readable records, and the gaps between them."""
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
    """The record at `offset`; None if there is no complete one."""
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


def block_of(record: bytes) -> bytes:
    """The block of a record."""
    return record.partition(b"\r\n\r\n")[2].removesuffix(b"\r\n\r\n")


def rewrapped(member: bytes) -> bytes:
    """A member that is not sound, with a correct gzip header and trailer."""
    crc, size = 0, 0
    for piece in _inflated(member[len(HEADER) :]):
        crc, size = zlib.crc32(piece, crc), size + len(piece)
    return HEADER + member[len(HEADER) : -TRAILER.size] + TRAILER.pack(crc, size & 0xFFFFFFFF)


def _unpack(stream: BinaryIO, offset: int, window: int, must_begin: bytes = b"") -> _Attempt:
    """Decompresses in pieces, because a record may be too large for memory."""
    stream.seek(offset)
    unpacker, record = zlib.decompressobj(window), Unpacked()
    length, relevant = 0, _FIRST
    try:
        while not unpacker.eof:
            chunk = unpacker.unconsumed_tail or stream.read(relevant)
            if not chunk:
                return _attempted(_State.TORN, length, record)
            record.feed(unpacker.decompress(chunk, _CHUNK))
            length += len(chunk) - len(unpacker.unconsumed_tail or unpacker.unused_data)
            relevant = _CHUNK
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
    """A member whose compressed data are intact, although gzip rejects it."""
    attempt = _unpack(stream, offset + len(HEADER), _RAW, _RECORD)
    if attempt.state is not _State.WHOLE or not attempt.record.is_record:
        return None
    stream.seek(offset + len(HEADER))
    data = stream.read(attempt.length + TRAILER.size)
    if len(data) < attempt.length + TRAILER.size or not _is_proven(data):
        return None
    return Member(offset, len(HEADER) + len(data), attempt.record, sound=False)


def _is_proven(data: bytes) -> bool:
    """Whether the trailer confirms the content. One bit of the checksum may be wrong if the size is right: damage of
    the content would change many bits."""
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
    """The first complete record that begins at `start` or later."""
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
    """Whether the rest of a file looks like an interrupted write."""
    announced = attempt.record.announced
    if attempt.state is _State.TORN:
        return attempt.record.begins_like(_RECORD) and (announced is None or attempt.record.size <= announced)
    stream.seek(offset)
    return all(not chunk.strip(b"\0") for chunk in iter(lambda: stream.read(_CHUNK), b""))
