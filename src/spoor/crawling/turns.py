"""The link whose turn has come: is it still worth what it was, and worth its price while better ones are delayed?"""

from __future__ import annotations

from spoor.crawling.guidance import Guidance
from spoor.crawling.isolation import IsolatedParts
from spoor.crawling.scoring import Scoring
from spoor.crawling.share import Lease
from spoor.frontier.entry import Entry
from spoor.frontier.frontier import Frontier

AT_ONCE = 512
"""Links that one decision re-scores at most, some 60 ms: then it takes the best of them. As many are turned away before
others have their turn."""


class Turns:
    """A link is re-scored once until the next arrival, `_reviewed`, and so many in one decision, `_reviews`.
    `set_aside` counts those that are blocked."""

    def __init__(self, frontier: Frontier, scoring: Scoring, parts: IsolatedParts, guidance: Guidance) -> None:
        self.lease = Lease()
        self.set_aside = 0
        self._frontier = frontier
        self._scoring = scoring
        self._parts = parts
        self._guidance = guidance
        self._reviewed: set[str] = set()
        self._reviews = 0

    def begin(self) -> None:
        """A decision."""
        self._reviews = 0

    def more_is_known(self) -> None:
        """Something arrived."""
        self._reviewed.clear()

    @property
    def may_review(self) -> bool:
        return self._reviews < AT_ONCE

    def goes_back(self, entry: Entry) -> bool:
        """Whether a link is worth less by now than when it got its place. It is asked about once until the next
        arrival, unless too many were in one decision."""
        if not self._scoring.reviews_links or entry.is_seed or entry.url in self._reviewed or not self.may_review:
            return False
        self._reviewed.add(entry.url)
        self._reviews += 1
        return self._scoring.review(entry)

    def is_blocked(self, entry: Entry) -> bool:
        """By a person. Then the link does not wait any longer, until that is taken back."""
        if because := self._guidance.blocks(entry.url):
            self._frontier.park(entry, because)
            self.set_aside += 1
        return bool(because)

    def waits_for_better(self, entry: Entry, price: float, now: float) -> bool:
        """Whether a link is not worth its price: a better one waits on a host that is free soon, here or elsewhere."""
        if not price or entry.is_seed:
            return False
        best = self._foremost(now, entry)
        if best is not None and (best.is_seed or self._parts.is_outbid(entry.url, entry.key, best.key, price)):
            return True
        return self.lease.rival > 0 and self._parts.gain(entry.url, entry.key) < price * self.lease.rival

    def best_gain(self, now: float) -> float:
        """What the best link on hosts that are free soon promises, a seed 1; 0 when there is none, and where hosts have
        no delays: whoever has the best link can fetch it at once, so nobody must wait for that."""
        if not self._frontier.rules.delay:
            return 0.0
        self.begin()
        best = self._foremost(now)
        return 0.0 if best is None else 1.0 if best.is_seed else self._parts.gain(best.url, best.key)

    def _foremost(self, now: float, besides: Entry | None = None) -> Entry | None:
        """The best link on hosts that are free soon, re-scored; None: there is none but `besides`."""
        while (best := self._frontier.foremost(now)) is not None and best is not besides and self.may_review:
            if not self.is_blocked(best) and not self.goes_back(best):
                return best
        return None
