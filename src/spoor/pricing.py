"""Whether a link is fetched now or a connection waits for a better one, and what a link score has been worth so far.

A crawl has more links than it will ever fetch. While the best ones are on delayed hosts, a free connection can be used
for a worse link, or wait. `effort` decides, from 0 (fewest requests: always wait for the best link) to 1 (fastest:
never wait). A link is fetched when its expected gain is at least `1 - effort` times that of the best link that is free
soon.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

import numpy as np

from spoor.actions import Budget, Stop, Submission
from spoor.errors import BadInput
from spoor.files import ANY, State, array_in, as_counts, count_in, counts_in
from spoor.records import Key, Miss, Sighting, Visit

# The observed hit rate by key: what a key is worth, whatever its scale.


CELLS = 4096
"""Number of distinct keys counted. A scorer that gives every link a different key gains nothing from them."""
PRIOR_TRIES = 4.0
"""The weight of the overall hit rate, in tries."""
FIRST_RATE = 0.2
"""The expected hit rate before the first try."""


@dataclass
class HitRates:
    """The forecast for scorers without one. Keys are grouped by their first part, rounded to two digits. A key with few
    tries is expected to have the overall hit rate of the crawl.

    Learns from every visit; a new instance has learned nothing.
    """

    _counts: dict[float, tuple[int, int]] = field(init=False, repr=False, compare=False, default_factory=dict)
    _tries: int = field(init=False, repr=False, compare=False, default=0)
    _finds: int = field(init=False, repr=False, compare=False, default=0)

    def learn(self, sighting: Sighting) -> None:
        self._note(sighting.visit, sighting.is_find)

    def learn_miss(self, miss: Miss) -> None:
        self._note(miss.visit, False)

    relearn = learn

    def state(self) -> State:
        return {
            "cells": np.array(list(self._counts), np.float64),
            "tries": as_counts(tries for tries, _ in self._counts.values()),
            "finds": as_counts(finds for _, finds in self._counts.values()),
            "all tries": self._tries,
            "all finds": self._finds,
        }

    def restore(self, state: State) -> None:
        # The key of a seed is infinite.
        cells = array_in(state, "cells", np.float64, (ANY,), -math.inf, math.inf).tolist()
        tries, finds = (counts_in(state, name, len(cells)) for name in ("tries", "finds"))
        if len(cells) > CELLS:
            raise BadInput(f"there are {len(cells)} cells, more than {CELLS}")
        self._counts = dict(zip(cells, zip(tries, finds, strict=True), strict=True))
        self._tries, self._finds = count_in(state, "all tries"), count_in(state, "all finds")

    def gain(self, key: Key) -> float:
        overall = (self._finds + PRIOR_TRIES * FIRST_RATE) / (self._tries + PRIOR_TRIES)
        tries, finds = self._counts.get(_cell(key), (0, 0))
        return (finds + PRIOR_TRIES * overall) / (tries + PRIOR_TRIES)

    def _note(self, visit: Visit, found: bool) -> None:
        self._tries += 1
        self._finds += found
        cell = _cell(visit.key)
        if cell in self._counts or len(self._counts) < CELLS:
            tries, finds = self._counts.get(cell, (0, 0))
            self._counts[cell] = (tries + 1, finds + found)


def _cell(key: Key) -> float:
    first = key[0]
    if not first or math.isinf(first):
        return first
    return round(first, 1 - math.floor(math.log10(abs(first))))


# The price of a request: whether a link is fetched now, or the connection waits until a better one is free.


BALANCED, PAGES_SCARCE, TIME_SCARCE = 0.5, 0.2, 1.0
"""The default effort without limits, with a limit on pages, and with a limit on time."""


@dataclass(frozen=True, slots=True)
class Limits:
    """When to stop, when to give up a URL, and how much to spend.

    `visits` is None if unlimited. A URL that fails is tried `tries` times; each wait is `growth` times the previous
    one, and at most `longest_wait` seconds, unless a server asks for more. `robots_tries` is the number of tries in a
    row for a robots.txt, about four hours in all, after which the crawl no longer waits for it. `agent` is the user
    agent name in robots.txt rules. `began` and `until` are in seconds, None if there is no end. `effort` None is
    derived from `visits` and `until`. `sitemaps`: the sitemaps of hosts with relevant pages are fetched.
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
    sitemaps: bool = False

    def wait_before(self, tries: int, again_after: float) -> float:
        """Seconds before the next try of a URL that had failed `tries` times before this failure."""
        return min(again_after * self.growth**tries, max(self.longest_wait, again_after))

    def refusal(self, submission: Submission, now: float) -> str:
        """Why an action comes too late, in one line; "" if it does not."""
        action = submission.action
        if isinstance(action, Stop) and submission.at < self.began:
            return "the crawl had already ended"
        minutes = action.max_minutes if isinstance(action, Budget) else None
        if minutes is None or self.began + 60 * minutes > now:
            return ""
        return f"max_minutes {minutes:g} is not above the {(now - self.began) / 60:.1f} that have passed; give more"

    def changed(self, budget: Budget) -> Limits:
        visits = self.visits if budget.max_pages is None else budget.max_pages
        until = self.until if budget.max_minutes is None else self.began + 60 * budget.max_minutes
        return replace(self, visits=visits, until=until)

    def effort_at(self, now: float, visits: int) -> float:
        """With a limit on requests a crawl waits; with a limit on time it does not. With both, it waits as long as the
        remaining requests can still be made in the remaining time, at the pace so far."""
        if self.effort is not None:
            return self.effort
        if self.until is None:
            return BALANCED if self.visits is None else PAGES_SCARCE
        if self.visits is None:
            return TIME_SCARCE
        behind = visits * max(0.0, self.until - now) < (self.visits - visits) * (now - self.began)
        return TIME_SCARCE if behind else PAGES_SCARCE

    def price_at(self, now: float, visits: int) -> float:
        """The minimum expected gain of a link, as a share of that of the best link, to be fetched instead of it."""
        return 1.0 - self.effort_at(now, visits)
