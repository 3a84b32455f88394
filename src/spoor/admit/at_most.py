"""Only with little enough of one evidence."""

from __future__ import annotations

from dataclasses import dataclass

from spoor.records import ADMIT, Evidence, Link, Ruling, TrailState, Visit


@dataclass(frozen=True)
class AtMost:
    """Drops a link whose `evidence` is above `most` when it is offered; a later sighting may bring it in."""

    evidence: str
    most: float

    def at_offer(self, link: Link, evidence: Evidence, trail: TrailState) -> Ruling:
        if evidence[self.evidence] <= self.most:
            return ADMIT
        return Ruling("drop", f"{self.evidence} is {evidence[self.evidence]:g}, above {self.most:g}")

    def at_pop(self, visit: Visit) -> Ruling:
        return ADMIT
