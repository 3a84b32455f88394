"""What a person asks of a generator."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Advance = Callable[[int], None]
"""Told how many pages have been written since the last call."""


@dataclass(frozen=True)
class Request:
    """`text`: write texts and link contexts too, where they are not written anyway."""

    name: str
    pages: int
    seed: int
    text: bool = False

    @property
    def made_from(self) -> dict[str, Any]:
        """What web.json remembers; the same request always makes the same web."""
        return {"generator": self.name, "pages": self.pages, "seed": self.seed} | ({"text": True} if self.text else {})


Draw = Callable[[Request, Path, Advance], None]
"""Writes the web asked for into a folder."""
