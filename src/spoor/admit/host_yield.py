"""Hosts that yield too little are left: the more of one was seen, the more is asked of it."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from spoor.admit.host_tally import HostTally
from spoor.errors import UsageError
from spoor.records import ADMIT, Evidence, Link, Ruling, Sighting, TrailState, Visit
from spoor.saved_state import State
from spoor.urls import host_of


@dataclass
class EnoughYield:
    """The yield of a host is the share of relevant pages among the n visited there. Below `step` · lg(n / `patience`)
    its links are parked: nothing is asked of the first `patience` pages, and `step` more of every tenfold of them.

    Learns from every visit; has learned nothing when it is made.
    """

    step: float = 0.01
    patience: int = 100
    _tally: HostTally = field(init=False, repr=False, compare=False, default_factory=HostTally)

    def __post_init__(self) -> None:
        if not self.step >= 0.0:
            raise UsageError(f"step={self.step:g}: a host cannot yield less than nothing; give 0 or more")
        if self.patience < 1:
            raise UsageError(f"patience={self.patience}: at least 1 page must be visited before a host is left")

    def learn(self, sighting: Sighting) -> None:
        self._tally.count(sighting)

    def recall(self, sighting: Sighting) -> None:
        self.learn(sighting)

    def state(self) -> State:
        return self._tally.state()

    def restore(self, state: State) -> None:
        self._tally.restore(state)

    def at_offer(self, link: Link, evidence: Evidence, trail: TrailState) -> Ruling:
        return self._ruling(host_of(link.url))

    def at_pop(self, visit: Visit) -> Ruling:
        return self._ruling(visit.host)

    def _ruling(self, host: str) -> Ruling:
        visits, relevant = self._tally.of(host)
        if visits <= self.patience:
            return ADMIT
        least = self.step * math.log10(visits / self.patience)
        if relevant >= least * visits:
            return ADMIT
        return Ruling("park", f"{relevant} of {visits} pages of {host} were relevant, a share below {least:.2g}")
