"""The hit rate of hosts: hosts with the highest yield first, hosts with too low a yield are abandoned.

yield = (relevant + 1) / (visited + 2) one half for a host that was not visited
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from spoor.errors import UsageError
from spoor.files import State, array_in, as_counts, counts_in, renamed_parts, slices, texts_in
from spoor.ordering.simple import check_every, latest
from spoor.records import ADMIT, Evidence, Link, Miss, Ruling, Sighting, TrailState, Visit
from spoor.roles import Merge, WaitingLinks
from spoor.urls import host_of

# Counts of visited and of relevant pages per host.


@dataclass
class HostTally:
    """Base of scorers and admissions that use these counts. Learns from every visit; starts empty."""

    _visits: Counter[str] = field(init=False, repr=False, compare=False, default_factory=Counter)
    _relevant: Counter[str] = field(init=False, repr=False, compare=False, default_factory=Counter)

    def learn(self, sighting: Sighting) -> None:
        self._count(sighting.visit.host, sighting.verdict.relevant)

    relearn = learn

    def _count(self, host: str, relevant: bool) -> None:
        self._visits[host] += 1
        self._relevant[host] += relevant

    def state(self) -> State:
        return {
            "hosts": list(self._visits),
            "visits": as_counts(self._visits.values()),
            "relevant": as_counts(self._relevant[host] for host in self._visits),
        }

    def restore(self, state: State) -> None:
        hosts = texts_in(state, "hosts")
        self._visits = Counter(dict(zip(hosts, counts_in(state, "visits", len(hosts)), strict=True)))
        self._relevant = Counter(dict(zip(hosts, counts_in(state, "relevant", len(hosts)), strict=True)))

    def tally(self, host: str) -> tuple[int, int]:
        """The number of visits, and of relevant pages among them."""
        return self._visits[host], self._relevant[host]


# Hosts with the highest yield first; within a host, links in the order they were found.


_EARLIER = {"wanted": "relevant", "visited": "visits", "told hosts": "queued hosts", "told": "queued"}
"""Names in snapshots of earlier versions."""


@dataclass
class HostYield(HostTally):
    """Scorer and upkeep. All waiting links of a host have the same yield, so the order of arrival decides among them;
    every `every` visits the links of hosts whose yield has changed are re-scored. Stores the waiting links by host.

    Learns from every visit; duplicates and failures count as irrelevant. Starts untrained.
    """

    every: int = 100
    _queued: dict[str, float] = field(init=False, repr=False, compare=False, default_factory=dict)
    _waiting: dict[str, dict[str, None]] = field(
        init=False, repr=False, compare=False, default_factory=lambda: defaultdict(dict)
    )

    reads_content: ClassVar[bool] = False
    merge: ClassVar[Mapping[str, Merge]] = {"yield": latest}

    def __post_init__(self) -> None:
        check_every(self.every)

    def learn(self, sighting: Sighting) -> None:
        self._count(sighting.visit.host, sighting.is_find)

    def learn_miss(self, miss: Miss) -> None:
        self._count(miss.visit.host, False)

    relearn = learn

    def state(self) -> State:
        return {
            **super().state(),
            "queued hosts": list(self._queued),
            "queued": np.array(list(self._queued.values()), np.float64),
            "waiting hosts": list(self._waiting),
            "waiting": as_counts(map(len, self._waiting.values())),
            "urls": [url for urls in self._waiting.values() for url in urls],
        }

    def restore(self, state: State) -> None:
        state = renamed_parts(state, _EARLIER)
        super().restore(state)
        queued, waiting = texts_in(state, "queued hosts"), texts_in(state, "waiting hosts")
        yields = array_in(state, "queued", np.float64, (len(queued),), 0.0, 1.0).tolist()
        self._queued = dict(zip(queued, yields, strict=True))
        urls = texts_in(state, "urls")
        places = slices(counts_in(state, "waiting", len(waiting)), len(urls))
        kept = {host: dict.fromkeys(urls[place]) for host, place in zip(waiting, places, strict=True)}
        self._waiting = defaultdict(dict, kept)

    def evidence(self, sighting: Sighting, links: Sequence[Link]) -> Sequence[Evidence]:
        hosts = [host_of(link.url) for link in links]
        for link, host in zip(links, hosts, strict=True):
            self._waiting[host][link.url] = None
        return [{"yield": self._queued_yield(host)} for host in hosts]

    def key(self, evidence: Evidence) -> float:
        return evidence["yield"]

    def revise(self, waiting: WaitingLinks) -> Iterable[tuple[str, Evidence]]:
        for host in self._visits:
            now = self._yield(host)
            if self._queued.get(host, now) != now:
                self._queued[host] = now
                yield from self._revised(host, now, waiting)

    def _revised(self, host: str, now: float, waiting: WaitingLinks) -> Iterable[tuple[str, Evidence]]:
        for url in list(self._waiting[host]):
            if waiting.evidence_of(url) is None:
                del self._waiting[host][url]
            else:
                yield url, {"yield": now}

    def _queued_yield(self, host: str) -> float:
        """The yield stored with its waiting links; if there are none, the current yield."""
        if host not in self._queued:
            self._queued[host] = self._yield(host)
        return self._queued[host]

    def _yield(self, host: str) -> float:
        # Rounded, so that negligible changes do not re-score a whole host.
        visits, relevant = self.tally(host)
        return round((relevant + 1) / (visits + 2), 2)


# Hosts with too low a yield are abandoned: the required yield grows with the number of visits.


@dataclass
class MinimumYield(HostTally):
    """The yield of a host is the share of relevant pages among the n visited there. If it is below `step` · lg(n /
    `patience`), links of the host are parked: the first `patience` pages need no yield, and the required yield grows by
    `step` with every factor of ten.

    Learns from every visit; starts untrained.
    """

    step: float = 0.01
    patience: int = 100

    def __post_init__(self) -> None:
        if not self.step >= 0.0:
            raise UsageError(f"step={self.step:g}: must be 0 or more")
        if self.patience < 1:
            raise UsageError(f"patience={self.patience}: at least 1 page must be visited before a host is given up")

    def at_offer(self, link: Link, evidence: Evidence, trail: TrailState) -> Ruling:
        return self._ruling(host_of(link.url))

    def at_pop(self, visit: Visit) -> Ruling:
        return self._ruling(visit.host)

    def _ruling(self, host: str) -> Ruling:
        visits, relevant = self.tally(host)
        if visits <= self.patience:
            return ADMIT
        least = self.step * math.log10(visits / self.patience)
        if relevant >= least * visits:
            return ADMIT
        return Ruling("park", f"{relevant} of {visits} pages of {host} were relevant, a share below {least:.2g}")
