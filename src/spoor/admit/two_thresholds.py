"""Only links that one of two scores speaks for, when their turn comes."""

from __future__ import annotations

from dataclasses import dataclass

from spoor.errors import UsageError
from spoor.records import ADMIT, Evidence, Link, Ruling, TrailState, Visit


@dataclass(frozen=True)
class TwoThresholds:
    """Two kinds of evidence, each with what it must be above. A link that is above neither is parked
    when its turn comes: every page that was visited until then has had its say, and a later one may bring it back."""

    first: str
    above_first: float
    second: str
    above_second: float

    def __post_init__(self) -> None:
        for threshold in (self.above_first, self.above_second):
            if threshold != threshold:
                raise UsageError("a threshold is nan, which is not a number to be above")

    def at_offer(self, link: Link, evidence: Evidence, trail: TrailState) -> Ruling:
        return ADMIT

    def at_pop(self, visit: Visit) -> Ruling:
        first, second = visit.evidence.get(self.first, 0.0), visit.evidence.get(self.second, 0.0)
        if first > self.above_first or second > self.above_second:
            return ADMIT
        told = f"{self.first} {first:.3g} is not above {self.above_first:g}"
        return Ruling("park", f"{told}, nor {self.second} {second:.3g} above {self.above_second:g}")
