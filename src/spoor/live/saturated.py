"""Links for which further referring pages add nothing, in memory that worker processes share with the process that has
the frontier: they need not be read again, nor sent.

A table of slots, by a part of the hash of a URL. Another link in the same slot replaces the one before, which costs
some time but is not wrong: that link is read again.
"""

from __future__ import annotations

import contextlib
import logging
import mmap
import os
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b

from spoor.files import allocate
from spoor.records import Link

SLOTS = 1 << 20
"""8 bytes each."""
_SIZE = 8 * SLOTS
_FOR_OTHERS, _FOR_RELEVANT = 1, 2
"""The lowest bits of a slot: for which referring pages. The others are those of the hash."""
_TAG = ~(_FOR_OTHERS | _FOR_RELEVANT)
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class SaturatedLinks:
    """`slots` is written by one process. What another one reads may be half written: then the hash differs. `file` is
    the file descriptor of the memory, to be passed to other processes."""

    file: int
    slots: memoryview

    def add(self, url: str, relevant: bool) -> None:
        """`relevant`: for relevant referring pages; otherwise for others."""
        tag, place = _hashed(url)
        known = self.slots[place]
        bits = known & ~_TAG if known & _TAG == tag else 0
        self.slots[place] = tag | bits | (_FOR_RELEVANT if relevant else _FOR_OTHERS)

    def without(self, links: Sequence[Link], relevant: bool) -> list[Link]:
        """The links of a page to which this page may add something."""
        return [link for link in links if not self._has(link.url, relevant)]

    def _has(self, url: str, relevant: bool) -> bool:
        tag, place = _hashed(url)
        known = self.slots[place]
        return known & _TAG == tag and bool(known & (_FOR_RELEVANT if relevant else _FOR_OTHERS))


def _hashed(url: str) -> tuple[int, int]:
    number = int.from_bytes(blake2b(url.encode("utf8", "replace"), digest_size=8).digest(), "little")
    return number & _TAG, number >> 44


@contextlib.contextmanager
def saturated_links() -> Iterator[SaturatedLinks | None]:
    """In memory of its own, of which nothing is left when all its processes have ended, however they do. None if there
    is no room for it: then some links are read again."""
    try:
        file = _unnamed_file()
    except OSError as error:
        _log.warning("workers read some links again: there is no memory that they could share: %s", error)
        yield None
        return
    try:
        with saturated_links_in(file) as links:
            yield links
    finally:
        os.close(file)


def _unnamed_file() -> int:
    """On Linux not in a folder: /dev/shm of a container may be smaller. Raises OSError."""
    if hasattr(os, "memfd_create"):
        file = os.memfd_create("spoor-saturated-links")
    else:
        with tempfile.TemporaryFile() as temporary:
            file = os.dup(temporary.fileno())
    try:
        # All of it is written, because if there were no room later, writing a slot would end the process.
        allocate(file, _SIZE)
    except OSError:
        os.close(file)
        raise
    return file


@contextlib.contextmanager
def saturated_links_in(file: int) -> Iterator[SaturatedLinks]:
    """Those of another process."""
    with mmap.mmap(file, _SIZE) as memory, memoryview(memory) as whole, whole.cast("Q") as slots:
        yield SaturatedLinks(file, slots)
