"""What lies behind a page is credited to the link that led there: irrelevant pages with good links on them are worth
their request."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from spoor.score.learned.odds import Odds
from spoor.score.learned.yields import Yields

DISCOUNT = 0.8
"""What a relevant page one link further on is worth, a relevant page being 1."""
PAGES = 1 << 14
"""Pages that are remembered; older ones make room."""


@dataclass(slots=True)
class _Passed:
    """An irrelevant page: where the link to it is counted, its number among the examples, and what it was credited."""

    slots: Sequence[int]
    example: int
    credit: float = 0.0


class Behind:
    """Irrelevant pages fetched last, by URL."""

    def __init__(self, yields: Yields, odds: Odds) -> None:
        self._yields, self._odds = yields, odds
        self._pages: dict[str, _Passed] = {}

    def passed(self, url: str, slots: Sequence[int], example: int) -> None:
        self._pages[url] = _Passed(slots, example)
        if len(self._pages) > PAGES:
            del self._pages[next(iter(self._pages))]

    def tried(self, url: str, share: float) -> None:
        """A link on the page was tried; `share` of those tried were relevant."""
        page = self._pages.get(url)
        if page is None:
            return
        worth = DISCOUNT * share
        self._yields.credit(page.slots, worth - page.credit)
        self._odds.relabel(page.example, worth)
        page.credit = worth
