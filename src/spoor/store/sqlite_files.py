"""The bytes of a SQLite file: checksums of its blocks, its write-ahead log (WAL), and its rows read without SQLite.

`crawl.db.sums` is written when a crawl ends, and removed when the next begins. Its first line has the format and the
size of the database; then follows the CRC-32 of each block of 64 KiB, one per line.

SQLite applies a WAL up to the first frame with a wrong checksum, and silently drops the rest. A frame is a page of the
database after a change; the last frame of a transaction has the number of pages. The WAL is restarted at times: frames
of an earlier round have other salts than its header.

A database file consists of pages of one size. Rows are in the leaves of tables, and for tables WITHOUT ROWID also in
interior pages, as records: a header with type and size of each value, then the values. A row that does not fit
continues in a chain of overflow pages. Only the parent pages identify the table of a page, so rows are returned without
their table, and the caller identifies it by their values.
"""

from __future__ import annotations

import os
import struct
import zlib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import chain, zip_longest
from pathlib import Path

from spoor.result_files import replacing

# Checksums of the blocks of a database, since SQLite has none: has it changed since the crawl ended?


BLOCK = 1 << 16
BLOCKS_AT_ONCE = 64
THREADS = 4
"""Threads that read and checksum in parallel: gigabytes take seconds."""
_KIND = "spoor checksums 1"


def sums_of(database: Path) -> Path:
    return database.with_name(f"{database.name}.sums")


def write_sums(database: Path) -> None:
    """Writes nothing if there is no database, or a part of it is still in its WAL."""
    log = Path(f"{database}-wal")
    if not database.exists() or (log.exists() and log.stat().st_size):
        return
    lines = [f"{_KIND} {database.stat().st_size}", *(f"{crc:08x}" for crc in _blocks(database))]
    with replacing(sums_of(database), ".partial") as partial:
        partial.write_text("\n".join(lines) + "\n", "ascii")


def changed_bytes(database: Path) -> list[tuple[int, int]] | None:
    """Byte ranges (end exclusive) that differ from the checksums; None if these are missing or unreadable."""
    try:
        first, *said = sums_of(database).read_text("ascii").splitlines()
        size = int(first.removeprefix(_KIND))
        found = [f"{crc:08x}" for crc in _blocks(database)]
    except (OSError, ValueError):
        return None
    differing = [n for n, (one, other) in enumerate(zip_longest(said, found)) if one != other]
    end = max(size, database.stat().st_size)
    runs = [(n * BLOCK, min(end, (n + 1) * BLOCK)) for n in differing]
    return runs or ([] if database.stat().st_size == size else [(size, end)])


def _blocks(file: Path) -> Iterator[int]:
    step = BLOCK * BLOCKS_AT_ONCE
    with file.open("rb") as stream, ThreadPoolExecutor(THREADS) as threads:
        starts = range(0, os.fstat(stream.fileno()).st_size, step)
        yield from chain.from_iterable(threads.map(lambda start: _sums(stream.fileno(), start, step), starts))


def _sums(file: int, start: int, length: int) -> list[int]:
    piece = memoryview(os.pread(file, length, start))
    return [zlib.crc32(piece[place : place + BLOCK]) for place in range(0, len(piece), BLOCK)]


# The write-ahead log, which a killed crawl leaves: are all committed frames readable?


_LOG_HEADER = struct.Struct(">8I")
_FRAME = struct.Struct(">6I")
_MAGIC = 0x377F0682
"""The last bit is the byte order of the checksums."""
_USUAL_PAGE = 4096
_MOST_PAGES = 1 << 28
"""A terabyte; larger numbers mean damage."""


@dataclass(frozen=True, slots=True)
class Frame:
    """A frame of the WAL. `pages` is the size of the database after a commit, 0 if the transaction continues. `taken`:
    SQLite applies it, because it and all frames before are valid. `sound`: its own checksum is right."""

    page: int
    pages: int
    content: bytes
    taken: bool
    sound: bool


def lost_frames(log: Path) -> int:
    """The number of committed frames that SQLite does not apply. A killed process does not cause any; damage does."""
    frames = [(frame.taken, frame.pages > 0) for frame in frames_in(log)]
    end = max((number for number, (_, commits) in enumerate(frames, 1) if commits), default=0)
    return sum(not taken for taken, _ in frames[:end])


def overlay(database: Path, log: Path) -> None:
    """Writes all committed frames into the database, including those that SQLite would ignore. A damaged frame replaces
    no page but is appended, where reading page by page finds it."""
    waiting: dict[int, bytes] = {}
    damaged: list[bytes] = []
    with database.open("r+b") as file:
        for frame in frames_in(log):
            if frame.sound:
                waiting[frame.page] = frame.content
            else:
                damaged.append(frame.content)
            if frame.pages:
                for page, content in waiting.items():
                    file.seek((page - 1) * len(content))
                    file.write(content)
                waiting.clear()
        file.seek(0, os.SEEK_END)
        file.writelines(damaged)


def frames_in(log: Path) -> Iterator[Frame]:
    """The frames of the current round."""
    with log.open("rb") as stream:
        head = stream.read(_LOG_HEADER.size)
        if len(head) < _LOG_HEADER.size:
            return
        magic, _, size, _, *salts, one, other = _LOG_HEADER.unpack(head)
        order = ">" if magic & 1 else "<"
        taken = magic | 1 == _MAGIC | 1 and _summed(order, head[:24], (0, 0)) == (one, other)
        size = size if size in (2**power for power in range(9, 17)) else _USUAL_PAGE
        sums = (one, other)
        while len(frame := stream.read(_FRAME.size + size)) == _FRAME.size + size:
            page, pages, *said, one, other = _FRAME.unpack_from(frame)
            # Each checksum continues from the stored one of the frame before, so damage shows in its own frame only.
            sound = _summed(order, frame[:8] + frame[_FRAME.size :], sums) == (one, other)
            sums = (one, other)
            # A single flipped bit in the salts, here or in the header, is tolerated.
            if sum((x ^ y).bit_count() for x, y in zip(said, salts, strict=True)) > 1:
                taken = False
                continue
            taken = taken and sound and said == salts
            if 1 <= page <= _MOST_PAGES:
                yield Frame(page, pages, frame[_FRAME.size :], taken, sound)


def _summed(order: str, data: bytes, sums: tuple[int, int]) -> tuple[int, int]:
    one, other = sums
    words = struct.unpack(f"{order}{len(data) // 4}I", data)
    for first, second in zip(words[::2], words[1::2], strict=True):
        one = (one + first + other) & 0xFFFFFFFF
        other = (other + second + one) & 0xFFFFFFFF
    return one, other


# The rows of a SQLite file, read page by page without SQLite, to recover damaged files.


Value = None | int | float | str | bytes

_FILE_HEADER = 100
"""Bytes of the file header, at the start of the first page."""
_TABLE_LEAF, _TABLE_ABOVE, _INDEX_LEAF, _INDEX_ABOVE = 13, 5, 10, 2
_SHORTEST = 4
"""Minimum size of a cell, in bytes."""
_WHOLE_NUMBERS = {1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8}
_UNREADABLE = (IndexError, ValueError, struct.error)
"""Errors raised by damaged bytes."""


@dataclass(frozen=True, slots=True)
class Row:
    """`number` is the rowid; None if the table or index has none."""

    number: int | None
    values: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class _Layout:
    """The layout of cells of a page type."""

    header: int
    has_child: bool
    has_number: bool


_LAYOUTS = {
    _TABLE_LEAF: _Layout(8, has_child=False, has_number=True),
    _INDEX_LEAF: _Layout(8, has_child=False, has_number=False),
    _INDEX_ABOVE: _Layout(12, has_child=True, has_number=False),
}


def rows(file: Path) -> Iterator[Row]:
    """All readable rows, in page order. A row may occur twice if a page was copied. Freelist pages are skipped."""
    content = _File(file)
    unused = content.unused_pages()
    for number in range(1, content.pages + 1):
        if number not in unused:
            yield from _rows_of(content, number)


class _File:
    """Reads pages by number, from 1."""

    def __init__(self, path: Path) -> None:
        self._path = path
        with path.open("rb") as stream:
            head = stream.read(_FILE_HEADER).ljust(_FILE_HEADER, b"\0")
        said = int.from_bytes(head[16:18])
        size = 65536 if said == 1 else said
        self.page_size = size if size in (2**power for power in range(9, 17)) else _USUAL_PAGE
        self.usable = self.page_size - (head[20] if head[20] <= 32 else 0)
        self.pages = path.stat().st_size // self.page_size
        self._first_unused = int.from_bytes(head[32:36])
        self._cached: dict[int, bytes] = {}

    def page(self, number: int) -> bytes:
        """Raises ValueError if there is no such page."""
        if not 1 <= number <= self.pages:
            raise ValueError(f"page {number} of {self.pages}")
        if number not in self._cached:
            with self._path.open("rb") as stream:
                stream.seek((number - 1) * self.page_size)
                # Pages are read in order, except for overflow pages.
                self._cached = {number: stream.read(self.page_size)}
        return self._cached[number]

    def unused_pages(self) -> set[int]:
        """The pages of the freelist, as far as it can be followed."""
        unused, trunk = set[int](), self._first_unused
        while 1 <= trunk <= self.pages and trunk not in unused:
            unused.add(trunk)
            page = self.page(trunk)
            following, count = struct.unpack_from(">II", page)
            listed = page[8 : 8 + 4 * min(count, self.usable // 4 - 2)]
            unused.update(int.from_bytes(listed[at : at + 4]) for at in range(0, len(listed), 4))
            trunk = following
        return unused


def _rows_of(file: _File, number: int) -> Iterator[Row]:
    page, start = file.page(number), _FILE_HEADER if number == 1 else 0
    layout = _LAYOUTS.get(page[start])
    found = [] if layout is None else list(_cells(file, page, start, layout))
    if not found and page[start]:
        # The page type itself may be damaged, so the other types are tried. A page that begins with 0 is no b-tree
        # page.
        others = [other for other in _LAYOUTS.values() if other is not layout]
        found = max((list(_cells(file, page, start, other)) for other in others), key=len)
    yield from found


def _cells(file: _File, page: bytes, start: int, layout: _Layout) -> Iterator[Row]:
    first = start + layout.header
    most = (len(page) - first) // (2 + _SHORTEST)
    for slot in range(min(int.from_bytes(page[start + 3 : start + 5]), most)):
        at = int.from_bytes(page[first + 2 * slot : first + 2 * slot + 2])
        try:
            yield _cell(file, page, at, layout)
        except _UNREADABLE:
            continue


def _cell(file: _File, page: bytes, at: int, layout: _Layout) -> Row:
    at += 4 * layout.has_child
    size, at = _varint(page, at)
    number = None
    if layout.has_number:
        number, at = _varint(page, at)
    return Row(number, _values(_payload(file, page, at, size, layout.has_number)))


def _payload(file: _File, page: bytes, at: int, size: int, in_table: bool) -> bytes:
    """The payload of a cell, including overflow pages."""
    usable = file.usable
    most = usable - 35 if in_table else (usable - 12) * 64 // 255 - 23
    if size <= most:
        return _exactly(page[at : at + size], size)
    if size > file.pages * usable:
        raise ValueError(f"a row of {size} bytes")
    least = (usable - 12) * 32 // 255 - 23
    here = least + (size - least) % (usable - 4)
    here = here if here <= most else least
    parts, left = [_exactly(page[at : at + here], here)], size - here
    following = int.from_bytes(page[at + here : at + here + 4])
    while left > 0:
        overflow = file.page(following)
        parts.append(overflow[4 : 4 + min(left, usable - 4)])
        left -= len(parts[-1])
        following = int.from_bytes(overflow[:4])
    return b"".join(parts)


def _values(payload: bytes) -> tuple[Value, ...]:
    """Raises ValueError unless the payload is exactly one record."""
    end, at = _varint(payload, 0)
    kinds = []
    while at < end:
        kind, at = _varint(payload, at)
        kinds.append(kind)
    if at != end:
        raise ValueError("the header of a record is of another size than it says")
    values = []
    for kind in kinds:
        value, at = _value(payload, at, kind)
        values.append(value)
    if at != len(payload) or not values:
        raise ValueError("a record is of another size than it says")
    return tuple(values)


def _value(payload: bytes, at: int, kind: int) -> tuple[Value, int]:
    if kind in _WHOLE_NUMBERS:
        end = at + _WHOLE_NUMBERS[kind]
        return int.from_bytes(_exactly(payload[at:end], end - at), signed=True), end
    if kind >= 12:
        end = at + (kind - 12) // 2
        data = _exactly(payload[at:end], end - at)
        return data.decode() if kind % 2 else data, end
    if kind == 7:
        (number,) = struct.unpack_from(">d", payload, at)
        return float(number), at + 8
    if kind == 0:
        return None, at
    if kind in (8, 9):
        return kind - 8, at
    raise ValueError(f"no value is of the kind {kind}")


def _exactly(data: bytes, size: int) -> bytes:
    if len(data) != size:
        raise ValueError("the page ends sooner")
    return data


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """Decodes a varint: one to nine bytes, seven bits in each but the ninth. Returns the number and its end."""
    number = 0
    for _ in range(8):
        number = number << 7 | data[at] & 0x7F
        at += 1
        if data[at - 1] < 0x80:
            return number, at
    number = number << 8 | data[at]
    return number - (1 << 64) if number >= 1 << 63 else number, at + 1
