"""The bodies of pages as they were sent, each with the headers that decide how it is read."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass

BODIES = "bodies"
"""The name of the file."""

_CONTROLS = re.compile("[\x00-\x1f\x7f]")
"""A header with one of these cannot be sent again."""
CONTENT_TYPE, ROBOTS_TAG = "Content-Type", "X-Robots-Tag"


@dataclass(frozen=True, slots=True)
class Body:
    """`content` is without transfer and content encoding; `content_type` the whole header, "" if there was none;
    `robots_tags` the values of X-Robots-Tag, which may occur several times."""

    content: bytes
    content_type: str = ""
    robots_tags: tuple[str, ...] = ()

    @property
    def headers(self) -> Iterator[tuple[str, str]]:
        if self.content_type:
            yield CONTENT_TYPE, self.content_type
        for value in self.robots_tags:
            yield ROBOTS_TAG, value


def packed_body(body: Body) -> bytes:
    """The stored form: headers, an empty line and the content, as in HTTP, compressed."""
    head = "".join(f"{name}: {_CONTROLS.sub(' ', value)}\r\n" for name, value in body.headers)
    return zlib.compress(head.encode("latin-1", "replace") + b"\r\n" + body.content, 6)


def unpacked_body(stored: bytes) -> Body:
    """Raises ValueError for bytes that `packed_body` did not produce. `stored` is decompressed already."""
    start = 0
    values: dict[str, list[str]] = {CONTENT_TYPE: [], ROBOTS_TAG: []}
    while (end := stored.index(b"\r\n", start)) > start:
        name, _, value = stored[start:end].decode("latin-1").partition(": ")
        if name not in values:
            raise ValueError(f"it has a header {name[:40]!r}")
        values[name].append(value)
        start = end + 2
    return Body(stored[end + 2 :], "".join(values[CONTENT_TYPE]), tuple(values[ROBOTS_TAG]))
