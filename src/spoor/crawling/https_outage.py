"""Distinguishes https hosts with invalid certificates from a wrong clock or a missing CA store on our side.

A host with an invalid certificate means nothing as long as others are accepted. When none is, because of the clock or
the CA store of this machine, or when many different hosts in a row are not, whatever the reason, https links wait: what
failed is repeated without being counted, and one https host at a time is tried, at growing intervals, until one is
accepted. Links of http go on, as nothing is wrong with them; so a false alarm costs little, and ends at the next https
host that is accepted. The caller passes the time.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field

from spoor.crawling.outage import DOUBTFUL, FIRST_PROBE, LONGEST_PROBE, MANY
from spoor.events import HttpsPaused, HttpsResumed
from spoor.frontier.entry import Entry
from spoor.frontier.frontier import Frontier
from spoor.records import Failure, Outcome, Trouble, Visit
from spoor.robots import NeededFile

PROBES = 16
"""Failed probes, in about an hour, after which a crawl that has nothing else to fetch ends. Its links still wait."""


@dataclass
class HttpsOutage:
    """States: up; paused; paused and reported, after the first probe has failed. An accepted certificate leads back to
    up. While paused, every host with an https link is reserved when its turn has come, except the one to probe."""

    frontier: Frontier
    paused_since: float | None = field(default=None, init=False)
    """Time of the first of the failures that led to the pause; None if not paused."""
    reason: str = field(default="", init=False)
    """The last failure."""
    _is_reported: bool = field(default=False, init=False)
    _since: float = field(default=0.0, init=False)
    _accepted: set[str] = field(default_factory=set, init=False)
    """The first hosts whose certificates were accepted in this run."""
    _failed: dict[str, None] = field(default_factory=dict, init=False)
    """The different hosts in a row whose certificates were not."""
    _doubtful: deque[Visit] = field(default_factory=lambda: deque(maxlen=DOUBTFUL), init=False)
    _held: dict[str, None] = field(default_factory=dict, init=False)
    _to_probe: str = field(default="", init=False)
    """The host that may be tried."""
    _probe: str = field(default="", init=False)
    """The URL that is being tried."""
    _probe_at: float = field(default=-math.inf, init=False)
    _pause: float = field(default=FIRST_PROBE, init=False)
    _in_vain: int = field(default=0, init=False)

    def hear(self, visit: Visit, outcome: Outcome, now: float) -> HttpsPaused | HttpsResumed | None:
        """To be called after every visit. Returns the resulting event, if any."""
        if not _is_https(visit.url):
            return None
        is_probe, self._probe = visit.url == self._probe, "" if visit.url == self._probe else self._probe
        if isinstance(outcome, Failure) and outcome.certificate:
            return self._hear_refusal(visit, outcome, is_probe, now)
        if isinstance(outcome, Failure | Trouble):  # Perhaps before there was a certificate.
            return None
        return self._hear_answer(visit.host, now)

    def _hear_refusal(self, visit: Visit, failure: Failure, is_probe: bool, now: float) -> HttpsPaused | None:
        self._since = self._since if self._failed else now
        self._failed[visit.host] = None
        self.reason = failure.reason
        if self.paused_since is None:
            is_ours = failure.certificate == "clock or CA store" and self._accepted <= self._failed.keys()
            if is_ours or len(self._failed) >= MANY:
                self.paused_since, self._probe_at = self._since, now
            else:
                self._doubtful.append(visit)
            return None
        if not is_probe:
            return None
        self._in_vain += 1
        self._probe_at, self._pause = now + self._pause, min(2 * self._pause, LONGEST_PROBE)
        if self._is_reported:
            return None
        self._is_reported = True
        return HttpsPaused(now, self.paused_since, failure.reason)

    def _hear_answer(self, host: str, now: float) -> HttpsResumed | None:
        if len(self._accepted) < MANY:
            self._accepted.add(host)
        self._failed.clear()
        self._doubtful.clear()
        since, is_reported = self.paused_since, self._is_reported
        self.paused_since, self._is_reported, self._to_probe = None, False, ""
        self._pause, self._in_vain = FIRST_PROBE, 0
        return HttpsResumed(now, now - since) if since is not None and is_reported else None

    def excuses(self, visit: Visit, failure: Failure) -> bool:
        """Whether this failure says nothing about the URL, so that the visit must be repeated."""
        return self.paused_since is not None and bool(failure.certificate) and _is_https(visit.url)

    def doubtful(self) -> Iterator[Visit]:
        """Visits that failed since the last accepted certificate, once https links wait; each once."""
        while self.paused_since is not None and self._doubtful:
            yield self._doubtful.popleft()

    def select(self, now: float) -> None:
        """To be called before visits are selected: releases the next host to probe, or all."""
        if self.paused_since is None:
            while self._held:
                self._release()
        elif self._held and not self._probe and now >= self._probe_at:
            self._try(self._release(), now)

    def holds(self, entry: Entry, now: float) -> bool:
        """Whether the link, or the robots.txt that it needs first, is on https and has to wait: then so does its
        host."""
        if self.paused_since is None or entry.host == self._to_probe:
            return False
        needed = self.frontier.robots_for(entry.url, now)
        if not _is_https(needed.url if isinstance(needed, NeededFile) else entry.url):
            return False
        if not self._held and not self._probe and now >= self._probe_at:
            self._try(entry.host, now)
            return False
        self._held[entry.host] = None
        self.frontier.reserve(entry.host)
        return True

    def _release(self) -> str:
        host = next(iter(self._held))
        del self._held[host]
        self.frontier.unreserve(host)
        return host

    def _try(self, host: str, now: float) -> None:
        """If it makes no request, another is tried after the next interval."""
        self._to_probe, self._probe_at = host, now + self._pause

    def begun(self, visit: Visit) -> None:
        """To be called with every visit that begins."""
        if self.paused_since is not None and _is_https(visit.url):
            self._probe, self._to_probe = visit.url, ""

    @property
    def wake_at(self) -> float | None:
        """When the next host may be tried; None if that need not be waited for."""
        if not self._held or self._probe or self._in_vain >= PROBES:
            return None
        return self._probe_at if self.paused_since is not None else -math.inf


def _is_https(url: str) -> bool:
    return url.startswith("https:")
