"""Distinguishes hosts that do not answer from an outage on our side, by the outcomes of visits. The caller passes the
time.

On the open web many hosts are dead, so unanswered requests mean nothing as long as other hosts answer. When many
different hosts in a row do not, the crawl pauses and probes up to three that have answered before, one at a time, as
one of them may have died since. If one answers, there is no outage, and the next alarm needs twice as many hosts. If
none does, there is an outage on our side: visits that failed since the last response are repeated without being
counted. Until a host answers, only probes are sent, at growing intervals, each to another host.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field

from spoor.events import Paused, Resumed
from spoor.records import Failure, Outcome, Trouble, Visit
from spoor.urls import registrable_domain, robots_url

MANY = 8
"""Number of different hosts in a row without a response before a probe."""
MOST = 16 * MANY
"""The largest such number, after false alarms."""
ENOUGH = 3
"""Number of domains that answered before and do not answer probes, for an outage on our side."""
FIRST_PROBE, LONGEST_PROBE = 5.0, 300.0
"""Seconds between two probes during an outage: doubled each time."""
REMEMBERED = 8
"""Number of domains that answered first, and of domains that answered last. A site with many hosts is one domain, and
the first ones are never replaced: otherwise a site whose hosts answer once could stall the crawl."""
DOUBTFUL = 1000
"""Visits since the last response that are repeated after an outage."""


@dataclass
class Outage:
    """States: up; paused, because many hosts did not answer; paused and sure. Any response leads back to up."""

    many: int = MANY
    paused_since: float | None = field(default=None, init=False)
    """Time of the first of the failures that led to the pause; None if not paused."""
    is_sure: bool = field(default=False, init=False)
    probe_at: float = field(default=0.0, init=False)
    """When the next probe may be sent."""
    _heed_from: float = field(default=-math.inf, init=False)
    """Start of the outage on our side: responses to earlier requests are no evidence about the present."""
    _up_since: float = field(default=-math.inf, init=False)
    """End of the last outage: failures on our side of earlier requests are ignored."""
    _pause: float = field(default=FIRST_PROBE, init=False)
    _probe: str = field(default="", init=False)
    _in_vain: dict[str, None] = field(default_factory=dict, init=False)
    """URLs probed during this pause without a response, in order."""
    _silent: dict[str, str] = field(default_factory=dict, init=False)
    _since: float = field(default=0.0, init=False)
    _first: dict[str, str] = field(default_factory=dict, init=False)
    """A URL that was answered, by domain; the same in `_last`."""
    _last: dict[str, str] = field(default_factory=dict, init=False)
    _doubtful: deque[Visit] = field(default_factory=lambda: deque(maxlen=DOUBTFUL), init=False)

    def hear(self, visit: Visit, outcome: Outcome, now: float) -> Paused | Resumed | None:
        """To be called after every visit. Returns the resulting event, if any."""
        if isinstance(outcome, Trouble) or (isinstance(outcome, Failure) and outcome.excused):
            self._probe = "" if visit.url == self._probe else self._probe
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
        """Whether this failure says nothing about the URL, so that the visit must be repeated."""
        in_vain = self.is_sure and (failure.unanswered or failure.here)
        return failure.excused or in_vain or self._is_old_news(visit, failure)

    def _is_old_news(self, visit: Visit, failure: Failure) -> bool:
        return failure.here and visit.at < self._up_since

    def doubtful(self) -> Iterator[Visit]:
        """Visits that failed since the last response, once an outage on our side is certain; each once."""
        while self.is_sure and self._doubtful:
            yield self._doubtful.popleft()

    def candidates(self) -> list[str]:
        """URLs of robots.txt to probe, best first: hosts that answered last, then those that answered first; if there
        are none, those that did not answer. URLs already probed without a response come last, in order."""
        known = {**dict.fromkeys(reversed(self._last.values())), **dict.fromkeys(self._first.values())}
        asked = {robots_url(url): None for url in known or self._silent.values()}
        return [url for url in asked if url not in self._in_vain] + [url for url in self._in_vain if url in asked]

    @property
    def is_probing(self) -> bool:
        return bool(self._probe)

    def probe(self, url: str, now: float) -> None:
        """Records that a probe is sent now, or with "" that none can be. Sets the time of the next."""
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
        """A probe was not answered."""
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
