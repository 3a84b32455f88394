"""What can be found wrong with the folder of a crawl."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

Part = Literal["database", "archive", "index", "snapshot"]


@dataclass(frozen=True, slots=True)
class Finding:
    """`file` is a name within the folder. Not `damage`: nothing is wrong, or nothing that the next start would not put
    right by itself."""

    part: Part
    file: str
    what: str
    damage: bool = True

    def __str__(self) -> str:
        return f"{self.file}: {self.what}"


Tell = Callable[[Finding], None]


def counted(number: int, what: str) -> str:
    """`1 link`, `2 links`."""
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"
