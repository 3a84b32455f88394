"""The price of a request: whether a link is fetched now, or left until a better one is free.

A crawl has more links than it will ever fetch. While the best ones are on hosts that may not be asked yet, a free
connection can be used for a worse link, or wait. `effort` says which, from 0 (fewest requests: always wait for the best
link) to 1 (fastest: never wait). A link is fetched when its expected gain is at least `1 - effort` times that of the
best link that is free soon.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

BALANCED, PAGES_SCARCE, TIME_SCARCE = 0.5, 0.2, 1.0
"""The effort where neither a number of pages nor a time is given, where the first is, and where the second is."""


@dataclass(frozen=True, slots=True)
class Limits:
    """When to stop, when to give a URL up, and how much to spend on the way.

    `visits` None: as many as there are. A URL that failed is tried `tries` times; each wait is `growth` times the one
    before, and none is longer than `longest_wait` seconds, unless a server asks for more. `robots_tries` are those in a
    row for a robots.txt, some four hours in all, after which the crawl does not wait for it any longer. `agent` is the
    name by which robots rules call us. `began` and `until` are in seconds, None: no end is set. `effort` None: it
    follows from `visits` and `until`.
    """

    visits: int | None = None
    tries: int = 3
    growth: float = 2.0
    longest_wait: float = math.inf
    robots_tries: int = 10
    redirects: int = 5
    agent: str = "spoor"
    began: float = 0.0
    until: float | None = None
    effort: float | None = None

    def wait_before(self, tries: int, again_after: float) -> float:
        """Seconds before the next try of a URL that failed so often before this time."""
        return min(again_after * self.growth**tries, max(self.longest_wait, again_after))

    def effort_at(self, now: float, visits: int) -> float:
        """With requests scarce a crawl waits, with time scarce it does not. With both, it waits as long as the requests
        it has left can still be made in the time it has left, at the pace so far."""
        if self.effort is not None:
            return self.effort
        if self.until is None:
            return BALANCED if self.visits is None else PAGES_SCARCE
        if self.visits is None:
            return TIME_SCARCE
        behind = visits * max(0.0, self.until - now) < (self.visits - visits) * (now - self.began)
        return TIME_SCARCE if behind else PAGES_SCARCE

    def price_at(self, now: float, visits: int) -> float:
        """The least share of the gain of the best link that another must promise to be fetched in its stead."""
        return 1.0 - self.effort_at(now, visits)
