"""The time a web takes: latency, bandwidth, rests and failures, host by host, drawn once from a seed."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from dataclasses import dataclass
from statistics import NormalDist

from spoor.records import Failure, Outcome, Page, RobotsRules, Visit
from spoor.roles import World

SPREAD = 0.6
"""Hosts differ: latency and bandwidth are log-normal around the median with this sigma."""

SLOW_SHARE, SLOW_FACTOR = 0.1, 5.0
"""One host in ten asks, in its robots rules, for a rest five times as long."""

HEADERS = 500
"""Bytes of an answer besides the page."""


@dataclass(frozen=True)
class Conditions:
    """What a crawl meets. Medians over hosts: `latency` in seconds, `bandwidth` in bytes a second. `rest` is the crawl
    delay of a host in seconds, `failures` the share of requests that time out and may be tried again `retry_after`
    seconds later. `connections` are requests under way at once, at most one to a host. `open_web`: links to pages that
    were not recorded are offered, and each costs a request that fails; otherwise they are left out."""

    latency: float = 0.2
    bandwidth: float = 500_000.0
    rest: float = 1.0
    failures: float = 0.0
    seed: int = 0
    connections: int = 16
    open_web: bool = False
    retry_after: float = 60.0


FIELD = Conditions(failures=0.02, connections=64, open_web=True)
"""Field conditions: what a live crawl meets. The robots rules of a host are asked for first, under any conditions. The
lab is the absence of conditions: one visit at a time in a closed web, where nothing takes time and nothing fails."""

NAMED: Mapping[str, Conditions | None] = {"field": FIELD, "lab": None}
"""The conditions that have a name, as `--conditions` takes it."""


@dataclass(frozen=True)
class Network:
    """A world seen through a network; visits whose time was recorded take that time. A failed visit takes ten
    latencies."""

    world: World
    conditions: Conditions = Conditions()

    def look(self, visit: Visit) -> tuple[Outcome, float]:
        latency = self.conditions.latency * self._factor("latency", visit.host)
        if visit.purpose == "robots":
            rules = f"User-agent: *\nCrawl-delay: {self._rest(visit.host)}"
            return RobotsRules(rules, whole_host=True), latency
        if self._chance(f"failure {visit.tries}", visit.url) < self.conditions.failures:
            return Failure("timed out", again_after=self.conditions.retry_after), 10 * latency
        outcome, recorded = self.world.look(visit)
        return outcome, recorded or latency + self._transfer(outcome, visit.host)

    def truth(self, url: str) -> bool:
        return self.world.truth(url)

    def _transfer(self, outcome: Outcome, host: str) -> float:
        size = HEADERS + (outcome.size if isinstance(outcome, Page) else 0)
        return size / (self.conditions.bandwidth * self._factor("bandwidth", host))

    def _rest(self, host: str) -> float:
        slow = self._chance("rest", host) < SLOW_SHARE
        return self.conditions.rest * (SLOW_FACTOR if slow else 1.0)

    def _factor(self, what: str, host: str) -> float:
        return math.exp(SPREAD * NormalDist().inv_cdf(self._chance(what, host)))

    def _chance(self, what: str, whose: str) -> float:
        """A number strictly between 0 and 1, the same for the same question."""
        digest = hashlib.blake2b(f"{self.conditions.seed} {what} {whose}".encode(), digest_size=6).digest()
        return (int.from_bytes(digest, "big") + 0.5) / 2**48
