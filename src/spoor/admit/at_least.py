"""Only with enough of one evidence."""

from __future__ import annotations

from dataclasses import dataclass

from spoor.records import ADMIT, Evidence, Link, Ruling, TrailState, Visit


@dataclass(frozen=True)
class AtLeast:
    """Drops a link whose `evidence` is below `least` when it is offered; a later sighting may bring it in."""

    evidence: str
    least: float

    def at_offer(self, link: Link, evidence: Evidence, trail: TrailState) -> Ruling:
        if evidence[self.evidence] >= self.least:
            return ADMIT
        return Ruling("drop", f"{self.evidence} is {evidence[self.evidence]:g}, below {self.least:g}")

    def at_pop(self, visit: Visit) -> Ruling:
        return ADMIT
