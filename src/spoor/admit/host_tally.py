"""How many pages of each host were visited, and how many of them were relevant."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from spoor.records import Sighting
from spoor.saved_state import State, as_counts, counts_in, texts_in


@dataclass
class HostTally:
    """Has counted nothing when it is made."""

    visits: Counter[str] = field(init=False, default_factory=Counter)
    relevant: Counter[str] = field(init=False, default_factory=Counter)

    def count(self, sighting: Sighting) -> None:
        host = sighting.visit.host
        self.visits[host] += 1
        self.relevant[host] += sighting.verdict.relevant

    def state(self) -> State:
        return {
            "hosts": list(self.visits),
            "visits": as_counts(self.visits.values()),
            "relevant": as_counts(self.relevant[host] for host in self.visits),
        }

    def restore(self, state: State) -> None:
        hosts = texts_in(state, "hosts")
        self.visits = Counter(dict(zip(hosts, counts_in(state, "visits", len(hosts)), strict=True)))
        self.relevant = Counter(dict(zip(hosts, counts_in(state, "relevant", len(hosts)), strict=True)))

    def of(self, host: str) -> tuple[int, int]:
        """Visits, and the relevant pages among them."""
        return self.visits[host], self.relevant[host]
