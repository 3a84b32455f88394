"""Only links that stand high enough in the queue."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from spoor.errors import UsageError
from spoor.records import ADMIT, Evidence, Link, Ruling, TrailState, Visit

REFUSED = ("park", "drop")


class OneNumber(Protocol):
    """A scorer whose keys are numbers."""

    def key(self, evidence: Evidence) -> float: ...


@dataclass(frozen=True)
class KeyAbove:
    """Admits a link whose key is more than `threshold`. The others are remembered with their evidence, so that a later
    sighting can lift them (`refused` is "park"), or forgotten, so that the next sighting is the first ("drop")."""

    scorer: OneNumber
    threshold: float
    refused: str = "park"

    def __post_init__(self) -> None:
        if self.refused not in REFUSED:
            raise UsageError(
                f"refused={self.refused} is not known; those below the threshold are for {' or '.join(REFUSED)}"
            )
        if self.threshold != self.threshold:
            raise UsageError("threshold=nan is not a number to be above")

    def at_offer(self, link: Link, evidence: Evidence, trail: TrailState) -> Ruling:
        key = self.scorer.key(evidence)
        if key > self.threshold:
            return ADMIT
        return Ruling("park" if self.refused == "park" else "drop", f"{key:.3g} is not above {self.threshold:g}")

    def at_pop(self, visit: Visit) -> Ruling:
        return ADMIT
