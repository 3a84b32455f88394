"""The write-ahead log of a SQLite file, which a killed crawl leaves: is all that was committed in it still there?

SQLite takes a log up to the first frame whose checksum is wrong, and silently drops the rest. A frame is a page of the
database as it was after some change; the last frame of a transaction says how many pages there were then. The log is
begun anew now and then: frames of an earlier round have other salts than its header.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_HEADER = struct.Struct(">8I")
_FRAME = struct.Struct(">6I")
_MAGIC = 0x377F0682
"""The last bit says in which order bytes are summed up."""
_USUAL_PAGE = 4096
_MOST_PAGES = 1 << 28
"""A terabyte of them: what says more is damaged."""


@dataclass(frozen=True, slots=True)
class Frame:
    """`pages` is how many the database had after it, 0 when the transaction goes on. `taken`: SQLite takes it, because
    it and all before are as they were written; `sound`: it is, as far as can be seen."""

    page: int
    pages: int
    content: bytes
    taken: bool
    sound: bool


def lost_frames(log: Path) -> int:
    """How many frames were committed, but are not taken by SQLite. No process leaves any, however it was killed."""
    frames = [(frame.taken, frame.pages > 0) for frame in frames_in(log)]
    end = max((number for number, (_, commits) in enumerate(frames, 1) if commits), default=0)
    return sum(not taken for taken, _ in frames[:end])


def overlay(database: Path, log: Path) -> None:
    """Brings all that was committed into the database, what SQLite would not take included. What is damaged itself
    replaces nothing: it is added at the end, where whoever reads page by page comes across it."""
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
    """Those of the last round."""
    with log.open("rb") as stream:
        head = stream.read(_HEADER.size)
        if len(head) < _HEADER.size:
            return
        magic, _, size, _, *salts, one, other = _HEADER.unpack(head)
        order = ">" if magic & 1 else "<"
        taken = magic | 1 == _MAGIC | 1 and _summed(order, head[:24], (0, 0)) == (one, other)
        size = size if size in (2**power for power in range(9, 17)) else _USUAL_PAGE
        sums = (one, other)
        while len(frame := stream.read(_FRAME.size + size)) == _FRAME.size + size:
            page, pages, *said, one, other = _FRAME.unpack_from(frame)
            # Each frame is summed up with what the one before says of itself: so damage is seen in its own frame.
            sound = _summed(order, frame[:8] + frame[_FRAME.size :], sums) == (one, other)
            sums = (one, other)
            # Of a pair of salts one bit may have flipped, here or in the header.
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
