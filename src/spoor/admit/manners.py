"""Links that their author asked not to follow."""

from __future__ import annotations

from dataclasses import dataclass

from spoor.records import ADMIT, Evidence, Link, Ruling, TrailState, Visit

NOFOLLOW = Ruling("drop", "nofollow: the page asks not to follow this link")


@dataclass(frozen=True)
class Manners:
    """Drops a link marked nofollow; another page may still recommend the same URL."""

    def at_offer(self, link: Link, evidence: Evidence, trail: TrailState) -> Ruling:
        return NOFOLLOW if link.nofollow else ADMIT

    def at_pop(self, visit: Visit) -> Ruling:
        return ADMIT
