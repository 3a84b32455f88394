"""Checks the next link: is its key up to date, and is it worth a fetch while better links are delayed?"""

from __future__ import annotations

from spoor.crawling.guidance import Guidance
from spoor.crawling.isolation import IsolatedParts
from spoor.crawling.scoring import Scoring
from spoor.crawling.share import Lease
from spoor.frontier.entry import Entry
from spoor.frontier.frontier import Frontier

AT_ONCE = 512
"""Maximum links re-scored in one decision, about 60 ms; then the best of them is taken. Also the maximum refused in a
row before other work may run."""


class Turns:
    """Re-scores links when they are next. `_reviewed` are those re-scored since the last arrival: each is re-scored
    only once until the next. `_reviews` counts them in one decision. `set_aside` counts blocked links."""

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
        """Starts a decision."""
        self._reviews = 0

    def more_is_known(self) -> None:
        """An outcome arrived: links may be re-scored again."""
        self._reviewed.clear()

    @property
    def may_review(self) -> bool:
        return self._reviews < AT_ONCE

    def goes_back(self, entry: Entry) -> bool:
        """Re-scores a link. Returns whether its key is lower now, so that it loses its position. False without
        re-scoring if this was done since the last arrival, or too often in this decision."""
        if not self._scoring.reviews_links or entry.is_seed or entry.url in self._reviewed or not self.may_review:
            return False
        self._reviewed.add(entry.url)
        self._reviews += 1
        return self._scoring.review(entry)

    def is_blocked(self, entry: Entry) -> bool:
        """Whether a person blocked the link. If so, parks it until the block is removed."""
        if because := self._guidance.blocks(entry.url):
            self._frontier.park(entry, because)
            self.set_aside += 1
        return bool(because)

    def waits_for_better(self, entry: Entry, price: float, now: float) -> bool:
        """Whether a link is not worth its price: a better one waits on a host that is free soon, on any shard."""
        if not price or entry.is_seed:
            return False
        best = self._foremost(now, entry)
        if best is not None and (best.is_seed or self._parts.is_outbid(entry.url, entry.key, best.key, price)):
            return True
        return self.lease.rival > 0 and self._parts.gain(entry.url, entry.key) < price * self.lease.rival

    def best_gain(self, now: float) -> float:
        """The expected gain of the best link on hosts that are free soon; 1 for a seed, 0 if there is none. Also 0
        where hosts have no delays: the shard with the best link can fetch it at once, so no other shard needs to
        wait."""
        if not self._frontier.rules.delay:
            return 0.0
        self.begin()
        best = self._foremost(now)
        return 0.0 if best is None else 1.0 if best.is_seed else self._parts.gain(best.url, best.key)

    def _foremost(self, now: float, besides: Entry | None = None) -> Entry | None:
        """The best link on hosts that are free soon, re-scored. None if there is none other than `besides`."""
        while (best := self._frontier.foremost(now)) is not None and best is not besides and self.may_review:
            if not self.is_blocked(best) and not self.goes_back(best):
                return best
        return None
