"""Servers of other languages are left after a while."""

from __future__ import annotations

from dataclasses import dataclass, field

from spoor.admit.host_tally import HostTally
from spoor.errors import UsageError
from spoor.records import ADMIT, Evidence, Link, Ruling, Sighting, TrailState, Visit
from spoor.saved_state import State
from spoor.urls import host_of

SIGNS = ("url", "hreflang", "anchor")
"""Evidence of `LanguageSigns` that brings a link in even so."""


@dataclass
class LeftServers:
    """Parks the links to a server of which at least `patience` pages were visited and fewer than one in `patience` was
    relevant, unless a sign speaks for the link itself; found again with such a sign, it comes in. Learns from every
    visit; has learned nothing when it is made."""

    patience: int = 50
    _tally: HostTally = field(init=False, repr=False, compare=False, default_factory=HostTally)

    def __post_init__(self) -> None:
        if self.patience < 1:
            raise UsageError(f"patience={self.patience}: at least 1 page must be visited before a server is left")

    def learn(self, sighting: Sighting) -> None:
        self._tally.count(sighting)

    def recall(self, sighting: Sighting) -> None:
        self.learn(sighting)

    def state(self) -> State:
        return self._tally.state()

    def restore(self, state: State) -> None:
        self._tally.restore(state)

    def at_offer(self, link: Link, evidence: Evidence, trail: TrailState) -> Ruling:
        return self._ruling(host_of(link.url), evidence)

    def at_pop(self, visit: Visit) -> Ruling:
        return self._ruling(visit.host, visit.evidence)

    def _ruling(self, host: str, evidence: Evidence) -> Ruling:
        visits, relevant = self._tally.of(host)
        left = visits >= self.patience and relevant * self.patience < visits
        if not left or any(evidence.get(name, 0.0) > 0 for name in SIGNS):
            return ADMIT
        return Ruling("park", f"of {visits} pages of {host} {relevant} were relevant, so it was left")
