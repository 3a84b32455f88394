"""Is it the web that does not answer, or is our own side out of order? Told how visits turned out; has no clock.

On the open web many hosts are dead, so hosts that do not answer mean nothing as long as others do. When many
different ones in a row do not, the crawl pauses and asks up to three that have answered before, one after the other:
one of them may have gone since. If one answers, all is well, and the next alarm needs twice as many. If none does,
our own side is out of order: what failed since the last answer is tried again as if nothing had been, and until a
host answers nothing but that is tried, more and more seldom, each time with another host."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field

from spoor.events import Paused, Resumed
from spoor.records import Failure, Outcome, Trouble, Visit
from spoor.urls import registrable_domain, robots_url

MANY = 8
"""Different hosts in a row that do not answer, before one is asked that has answered before."""
MOST = 16 * MANY
"""The same after false alarms."""
ENOUGH = 3
"""Domains that answered before and are silent now, before our own side is to blame."""
FIRST_PROBE, LONGEST_PROBE = 5.0, 300.0
"""Seconds between two requests while nothing answers: twice as many each time."""
REMEMBERED = 8
"""Domains that answered first, and as many that answered last. A site with many hosts is one domain, and nobody can
push out those that came first: else a site with hosts that answer once could hold the crawl."""
DOUBTFUL = 1000
"""Visits since the last answer that are tried again after an outage."""


@dataclass
class Outage:
    """Up; or paused, because many hosts did not answer; or paused and sure. Any answer makes it up."""

    many: int = MANY
    paused_since: float | None = field(default=None, init=False)
    """When the first visit failed of those for which the crawl pauses; None: it does not."""
    is_sure: bool = field(default=False, init=False)
    probe_at: float = field(default=0.0, init=False)
    """When the next request may be made during a pause."""
    _heed_from: float = field(default=-math.inf, init=False)
    """Our own side is to blame since then: answers to requests that were made before say nothing about now."""
    _up_since: float = field(default=-math.inf, init=False)
    """When that was last over: failures of our own side, of requests that were made before, are old news."""
    _pause: float = field(default=FIRST_PROBE, init=False)
    _probe: str = field(default="", init=False)
    _in_vain: dict[str, None] = field(default_factory=dict, init=False)
    """URLs asked for during this pause that were not answered, the last one asked last."""
    _silent: dict[str, str] = field(default_factory=dict, init=False)
    _since: float = field(default=0.0, init=False)
    _first: dict[str, str] = field(default_factory=dict, init=False)
    """By domain a URL that was answered; so is `_last`."""
    _last: dict[str, str] = field(default_factory=dict, init=False)
    _doubtful: deque[Visit] = field(default_factory=lambda: deque(maxlen=DOUBTFUL), init=False)

    def hear(self, visit: Visit, outcome: Outcome, now: float) -> Paused | Resumed | None:
        """Of every visit when it is over. Says what changes by that."""
        if isinstance(outcome, Trouble):
            return None
        if isinstance(outcome, Failure) and (outcome.unanswered or outcome.here):
            return None if self._is_old_news(visit, outcome) else self._hear_silence(visit, outcome, now)
        self._remember(visit)
        return None if visit.at < self._heed_from else self._hear_answer(now)

    def _remember(self, visit: Visit) -> None:
        domain = registrable_domain(visit.host)
        if len(self._first) < REMEMBERED:
            self._first[domain] = visit.url
        self._last.pop(domain, None)
        self._last[domain] = visit.url
        if len(self._last) > REMEMBERED:
            del self._last[next(iter(self._last))]

    def excuses(self, visit: Visit, failure: Failure) -> bool:
        """Whether a visit that turned out so says nothing of its URL, and is to be made again."""
        in_vain = self.is_sure and (failure.unanswered or failure.here)
        return in_vain or self._is_old_news(visit, failure)

    def _is_old_news(self, visit: Visit, failure: Failure) -> bool:
        return failure.here and visit.at < self._up_since

    def doubtful(self) -> Iterator[Visit]:
        """Visits that failed since the last answer, once our own side is known to be out of order; each once."""
        while self.is_sure and self._doubtful:
            yield self._doubtful.popleft()

    def candidates(self) -> list[str]:
        """Where to ask during a pause, each a robots.txt, the best first: hosts that answered last, then those that
        answered first; or else those that did not. Those asked in vain come after all others, the last one last."""
        known = {**dict.fromkeys(reversed(self._last.values())), **dict.fromkeys(self._first.values())}
        asked = {robots_url(url): None for url in known or self._silent.values()}
        return [url for url in asked if url not in self._in_vain] + [url for url in self._in_vain if url in asked]

    @property
    def is_probing(self) -> bool:
        return bool(self._probe)

    def probe(self, url: str, now: float) -> None:
        """A request is made now, "": nobody can be asked. The next comes later."""
        self._probe, self.probe_at = url, now + self._pause

    def _hear_silence(self, visit: Visit, failure: Failure, now: float) -> Paused | None:
        if not self._silent:
            self._since = now
        self._silent[visit.host] = visit.url
        if not self.excuses(visit, failure) and not failure.here:
            self._doubtful.append(visit)
        if visit.url == self._probe:
            self._hear_no_reply(visit.url, now)
        if self.paused_since is not None or not (failure.here or len(self._silent) >= self.many):
            return None
        self.paused_since, self.is_sure = self._since, failure.here
        self._heed_from = now if failure.here else -math.inf
        self.probe_at = now + (FIRST_PROBE if failure.here else 0.0)
        return Paused(now, self._since, failure.reason)

    def _hear_no_reply(self, url: str, now: float) -> None:
        """To what was asked during a pause."""
        self._in_vain.pop(url, None)
        self._in_vain[url] = None
        self._probe = ""
        self.is_sure = self.is_sure or len(self._in_vain) >= min(ENOUGH, len(self.candidates()))
        if self.is_sure:
            self._pause = min(2 * self._pause, LONGEST_PROBE)
        self.probe_at = now + (self._pause if self.is_sure else 0.0)

    def _hear_answer(self, now: float) -> Resumed | None:
        self._silent.clear()
        self._doubtful.clear()
        if self.paused_since is None:
            return None
        if not self.is_sure:
            self.many = min(2 * self.many, max(MOST, self.many))
        event = Resumed(now, now - self.paused_since)
        if self._heed_from > -math.inf:
            self._heed_from, self._up_since = -math.inf, now
        self.paused_since, self.is_sure, self._pause = None, False, FIRST_PROBE
        self._probe, self._in_vain = "", {}
        return event
