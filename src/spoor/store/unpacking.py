"""A WARC record while it is unpacked: its two heads, its size and its digests, in little memory however large it is."""

from __future__ import annotations

import hashlib
from functools import cached_property

from spoor.store.record import digest_text

BLANK = b"\r\n\r\n"
LONGEST_HEADS = 4 << 20
"""Bytes of a record that are held: its WARC head and, of a response, the head of the HTTP message after it."""


class Unpacked:
    """Fed with the pieces of one record in order, then finished; only then it may be asked about."""

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
        """As far as it has come."""
        known = self.head if self._heads_are_known else bytes(self._beginning[: len(start)])
        return start.startswith(known[: len(start)])

    @cached_property
    def headers(self) -> dict[str, str]:
        """Those of the WARC head, by name in lower case, the first of each."""
        lines = self.head.decode("utf8", "replace").split("\r\n")[1:]
        pairs = [line.partition(":") for line in reversed(lines)]
        return {name.strip().lower(): value.strip() for name, _, value in pairs}

    @property
    def announced(self) -> int | None:
        """How large the whole record is by its own account; None: it gives none."""
        length = self.headers.get("content-length", "")
        if not (self.head.startswith(b"WARC/") and length.isascii() and length.isdigit() and len(length) < 19):
            return None
        return len(self.head) + len(BLANK) + int(length) + len(BLANK)

    @property
    def is_record(self) -> bool:
        """Whether it is one WARC record, as large as it says."""
        return self.announced == self.size

    @property
    def block_digest(self) -> str:
        return digest_text(self._block.digest())

    @property
    def payload_digest(self) -> str:
        """Of what follows the head of the HTTP message."""
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
        """What comes after the block are the line ends that every record has."""
        if self._missing > 0:
            piece = piece[: self._missing]
            self._missing -= len(piece)
            self._block.update(piece)
            self._payload.update(piece)
