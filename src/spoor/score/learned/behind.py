"""What lies behind a page is credited to the link that led there: irrelevant pages with good links on them are worth
their request."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from spoor.errors import BadInput
from spoor.saved_state import ANY, State, array_in, as_counts, counts_in, slices, texts_in
from spoor.score.learned.odds import Odds
from spoor.score.learned.yields import MASK, Yields

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

    def state(self) -> State:
        passed = self._pages.values()
        slots = [page.slots for page in passed]
        return {
            "urls": list(self._pages),
            "sizes": as_counts(map(len, slots)),
            "slots": as_counts(chain.from_iterable(slots)),
            "examples": as_counts(page.example for page in passed),
            "credits": np.array([page.credit for page in passed], np.float64),
        }

    def restore(self, state: State) -> None:
        """After what it credits."""
        urls = texts_in(state, "urls")
        slots = array_in(state, "slots", np.int64, (ANY,), 0, int(MASK)).tolist()
        places = slices(counts_in(state, "sizes", len(urls)), len(slots))
        examples = counts_in(state, "examples", len(urls), self._odds.seen)
        credited = array_in(state, "credits", np.float64, (len(urls),), -1.0, 1.0).tolist()
        if len(urls) > PAGES:
            raise BadInput(f"{len(urls)} pages are remembered, more than {PAGES}")
        passed = (_Passed(slots[place], *known) for place, *known in zip(places, examples, credited, strict=True))
        self._pages = dict(zip(urls, passed, strict=True))

    def tried(self, url: str, share: float) -> None:
        """A link on the page was tried; `share` of those tried were relevant."""
        page = self._pages.get(url)
        if page is None:
            return
        worth = DISCOUNT * share
        self._yields.credit(page.slots, worth - page.credit)
        self._odds.relabel(page.example, worth)
        page.credit = worth
