"""Only so many unwanted pages in a row: tunnelling with a limit."""

from __future__ import annotations

from dataclasses import dataclass

from spoor.errors import UsageError
from spoor.records import ADMIT, Evidence, Link, Ruling, TrailState, Visit


@dataclass(frozen=True)
class LimitedDistance:
    """Goes with the trail `SinceRelevant`. Admits links at most `n` irrelevant pages away from a relevant one."""

    n: int

    def __post_init__(self) -> None:
        if self.n < 0:
            raise UsageError(f"limited distance needs n of 0 or more, not {self.n}")

    def at_offer(self, link: Link, evidence: Evidence, trail: TrailState) -> Ruling:
        if trail <= self.n:
            return ADMIT
        return Ruling("drop", f"{trail} irrelevant pages in a row, at most {self.n} allowed")

    def at_pop(self, visit: Visit) -> Ruling:
        return ADMIT
