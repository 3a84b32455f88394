"""The rows of a SQLite file, read page by page without SQLite: what is left of one that SQLite gives up on.

A database file is made of pages of one size. Rows lie in the leaves of tables, and of tables without row numbers also
further up, as records: a header that tells the kind and size of every value, then the values. A row that does not fit
goes on in a chain of overflow pages. Which table a page belongs to is known only from above; so rows come without it,
and whoever asks tells them by their values.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

Value = None | int | float | str | bytes

_USUAL_PAGE = 4096
_HEADER = 100
"""Bytes at the start of the first page that belong to the file."""
_TABLE_LEAF, _TABLE_ABOVE, _INDEX_LEAF, _INDEX_ABOVE = 13, 5, 10, 2
_SHORTEST = 4
"""Bytes that a cell has at least."""
_WHOLE_NUMBERS = {1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8}
_UNREADABLE = (IndexError, ValueError, struct.error)
"""What damaged bytes lead to."""


@dataclass(frozen=True, slots=True)
class Row:
    """`number` is that of the row; None: its table or index has none."""

    number: int | None
    values: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class _Layout:
    """How the cells of a kind of page are written."""

    header: int
    has_child: bool
    has_number: bool


_LAYOUTS = {
    _TABLE_LEAF: _Layout(8, has_child=False, has_number=True),
    _INDEX_LEAF: _Layout(8, has_child=False, has_number=False),
    _INDEX_ABOVE: _Layout(12, has_child=True, has_number=False),
}


def rows(file: Path) -> Iterator[Row]:
    """All that can be read, in the order of the pages. A row may come twice where a page was copied; the pages that the
    database says it does not use are left out."""
    content = _File(file)
    unused = content.unused_pages()
    for number in range(1, content.pages + 1):
        if number not in unused:
            yield from _rows_of(content, number)


class _File:
    """Gives pages by their numbers, from 1."""

    def __init__(self, path: Path) -> None:
        self._path = path
        with path.open("rb") as stream:
            head = stream.read(_HEADER).ljust(_HEADER, b"\0")
        said = int.from_bytes(head[16:18])
        size = 65536 if said == 1 else said
        self.page_size = size if size in (2**power for power in range(9, 17)) else _USUAL_PAGE
        self.usable = self.page_size - (head[20] if head[20] <= 32 else 0)
        self.pages = path.stat().st_size // self.page_size
        self._first_unused = int.from_bytes(head[32:36])
        self._cached: dict[int, bytes] = {}

    def page(self, number: int) -> bytes:
        """ValueError: there is no such page."""
        if not 1 <= number <= self.pages:
            raise ValueError(f"page {number} of {self.pages}")
        if number not in self._cached:
            with self._path.open("rb") as stream:
                stream.seek((number - 1) * self.page_size)
                # Pages are asked for in order, but for those of overflowing rows.
                self._cached = {number: stream.read(self.page_size)}
        return self._cached[number]

    def unused_pages(self) -> set[int]:
        """As far as the list of them can be followed."""
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
    page, start = file.page(number), _HEADER if number == 1 else 0
    layout = _LAYOUTS.get(page[start])
    found = [] if layout is None else list(_cells(file, page, start, layout))
    if not found and page[start]:
        # The very byte that tells the kind of a page may be the damaged one. A page that begins with 0 is no tree.
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
    """With what lies in other pages."""
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
    """ValueError unless the payload is exactly one record."""
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
    """A number in one to nine bytes, seven bits in each but the ninth; and where it ends."""
    number = 0
    for _ in range(8):
        number = number << 7 | data[at] & 0x7F
        at += 1
        if data[at - 1] < 0x80:
            return number, at
    number = number << 8 | data[at]
    return number - (1 << 64) if number >= 1 << 63 else number, at + 1
