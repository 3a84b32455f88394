"""Pages in whose URL, title or text a regular expression is found."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from spoor.errors import UsageError
from spoor.records import Page, Verdict

PLACES = ("url", "title", "text")
LONGEST = 60
"""Characters that are told of what was found."""


@dataclass(frozen=True)
class Pattern:
    """Wanted or not, nothing between. Small and capital letters are the same, unless the pattern says `(?-i:…)`."""

    pattern: str
    where: tuple[str, ...] = PLACES
    _compiled: re.Pattern[str] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        for place in self.where:
            if place not in PLACES:
                raise UsageError(f"where={place!r} is no place to look; known are {', '.join(PLACES)}, joined by +")
        try:
            object.__setattr__(self, "_compiled", re.compile(self.pattern, re.IGNORECASE))
        except re.error as error:
            raise UsageError(f"{self.pattern!r} is not a regular expression: {error}") from None

    @property
    def reads_content(self) -> bool:
        return self.where != ("url",)

    def judge(self, pages: Sequence[Page]) -> list[Verdict]:
        return [self._judge(page) for page in pages]

    def _judge(self, page: Page) -> Verdict:
        said = {"url": page.url, "title": page.title, "text": page.text}
        for place in self.where:
            if found := self._compiled.search(said[place]):
                return Verdict(1.0, True, f"{place} holds {found[0][:LONGEST]!r}")
        return Verdict(0.0, False, f"{self.pattern!r} is not in {', '.join(self.where)}")
