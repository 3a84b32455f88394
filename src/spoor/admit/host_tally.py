"""How many pages of each host were visited, and how many of them were relevant."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from spoor.records import Sighting


@dataclass
class HostTally:
    """Has counted nothing when it is made."""

    visits: Counter[str] = field(init=False, default_factory=Counter)
    relevant: Counter[str] = field(init=False, default_factory=Counter)

    def count(self, sighting: Sighting) -> None:
        host = sighting.visit.host
        self.visits[host] += 1
        self.relevant[host] += sighting.verdict.relevant

    def of(self, host: str) -> tuple[int, int]:
        """Visits, and the relevant pages among them."""
        return self.visits[host], self.relevant[host]
