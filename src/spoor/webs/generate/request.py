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
    """`text`: write texts and link contexts too, where they are not written anyway; `words`: in the words of this
    list or dictionary."""

    name: str
    pages: int
    seed: int
    text: bool = False
    words: Path | None = None

    @property
    def made_from(self) -> dict[str, Any]:
        """What web.json remembers; the same request, with the same words, always makes the same web."""
        about: dict[str, Any] = {"generator": self.name, "pages": self.pages, "seed": self.seed}
        if self.text:
            about["text"] = True
        if self.words:
            about["words"] = self.words.name
        return about


Draw = Callable[[Request, Path, Advance], None]
"""Writes the web asked for into a folder."""
