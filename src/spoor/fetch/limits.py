"""How much time and room may one answer take?"""

from __future__ import annotations

from dataclasses import dataclass

READABLE = frozenset({"text/", "application/xhtml+xml", "application/xml", "application/vnd.wap.xhtml+xml"})
"""Content types of which something can be read."""


@dataclass(frozen=True, slots=True)
class FetchLimits:
    """Times in seconds, sizes in bytes.

    Of `types`, one that ends in a slash stands for all that begin so; None accepts every type.
    """

    connect: float = 15.0  # until a connection stands, DNS included
    idle: float = 30.0  # without a byte from the server
    whole: float = 90.0  # from the request to the last byte
    body: int = 10_000_000  # as transferred
    decoded: int = 20_000_000  # after decompression
    head: int = 65_536  # status line and headers
    types: frozenset[str] | None = READABLE  # of a body that is read; one without a type is always read

    def accept(self, content_type: str) -> bool:
        """Of the whole header; "" when there is none."""
        mime = content_type.partition(";")[0].strip().lower()
        return not mime or self.types is None or mime in self.types or mime.partition("/")[0] + "/" in self.types
