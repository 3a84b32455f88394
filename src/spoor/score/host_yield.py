"""Hosts that yield most go first; within a host, links in the order they were found.

yield = (wanted + 1) / (visited + 2)        one half for a host that was not visited
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from spoor.records import Evidence, Link, Miss, Sighting
from spoor.roles import Merge, WaitingLinks
from spoor.saved_state import State, array_in, as_counts, counts_in, slices, texts_in
from spoor.score.intervals import check_every
from spoor.score.merging import latest
from spoor.urls import host_of


@dataclass
class HostYield:
    """Scorer and upkeep. All waiting links of a host have the same yield, so the order of arrival decides among them;
    every `every` visits those of hosts whose yield has changed are told. Remembers the links that wait, by host.

    Learns from every visit; has learned nothing when it is made.
    """

    every: int = 100
    _visited: Counter[str] = field(init=False, repr=False, compare=False, default_factory=Counter)
    _wanted: Counter[str] = field(init=False, repr=False, compare=False, default_factory=Counter)
    _told: dict[str, float] = field(init=False, repr=False, compare=False, default_factory=dict)
    _waiting: dict[str, dict[str, None]] = field(
        init=False, repr=False, compare=False, default_factory=lambda: defaultdict(dict)
    )

    reads_content: ClassVar[bool] = False
    merge: ClassVar[Mapping[str, Merge]] = {"yield": latest}

    def __post_init__(self) -> None:
        check_every(self.every)

    def learn(self, sighting: Sighting) -> None:
        host = sighting.visit.host
        self._visited[host] += 1
        self._wanted[host] += sighting.is_find

    def learn_miss(self, miss: Miss) -> None:
        self._visited[miss.visit.host] += 1

    def recall(self, sighting: Sighting) -> None:
        self.learn(sighting)

    def state(self) -> State:
        return {
            "hosts": list(self._visited),
            "visited": as_counts(self._visited.values()),
            "wanted": as_counts(self._wanted[host] for host in self._visited),
            "told hosts": list(self._told),
            "told": np.array(list(self._told.values()), np.float64),
            "waiting hosts": list(self._waiting),
            "waiting": as_counts(map(len, self._waiting.values())),
            "urls": [url for urls in self._waiting.values() for url in urls],
        }

    def restore(self, state: State) -> None:
        hosts, told, waiting = (texts_in(state, name) for name in ("hosts", "told hosts", "waiting hosts"))
        self._visited = Counter(dict(zip(hosts, counts_in(state, "visited", len(hosts)), strict=True)))
        self._wanted = Counter(dict(zip(hosts, counts_in(state, "wanted", len(hosts)), strict=True)))
        yields = array_in(state, "told", np.float64, (len(told),), 0.0, 1.0).tolist()
        self._told = dict(zip(told, yields, strict=True))
        urls = texts_in(state, "urls")
        places = slices(counts_in(state, "waiting", len(waiting)), len(urls))
        kept = {host: dict.fromkeys(urls[place]) for host, place in zip(waiting, places, strict=True)}
        self._waiting = defaultdict(dict, kept)

    def evidence(self, sighting: Sighting, links: Sequence[Link]) -> Sequence[Evidence]:
        hosts = [host_of(link.url) for link in links]
        for link, host in zip(links, hosts, strict=True):
            self._waiting[host][link.url] = None
        return [{"yield": self._told_yield(host)} for host in hosts]

    def key(self, evidence: Evidence) -> float:
        return evidence["yield"]

    def revise(self, waiting: WaitingLinks) -> Iterable[tuple[str, Evidence]]:
        for host in self._visited:
            now = self._yield(host)
            if self._told.get(host, now) != now:
                self._told[host] = now
                yield from self._revised(host, now, waiting)

    def _revised(self, host: str, now: float, waiting: WaitingLinks) -> Iterable[tuple[str, Evidence]]:
        for url in list(self._waiting[host]):
            if waiting.evidence_of(url) is None:
                del self._waiting[host][url]
            else:
                yield url, {"yield": now}

    def _told_yield(self, host: str) -> float:
        """What its waiting links have; if there are none, what holds now."""
        if host not in self._told:
            self._told[host] = self._yield(host)
        return self._told[host]

    def _yield(self, host: str) -> float:
        # Rounded, so that a whole host is not moved for next to nothing.
        return round((self._wanted[host] + 1) / (self._visited[host] + 2), 2)
