"""Last come, first served: depth-first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from spoor.records import Evidence, Link, Sighting
from spoor.roles import Merge


@dataclass(frozen=True)
class Latest:
    """The links of the page visited last go first, in document order; a link met again counts as new."""

    reads_content: ClassVar[bool] = False
    merge: ClassVar[Mapping[str, Merge]] = {"found_by_visit": max}

    def evidence(self, sighting: Sighting, links: Sequence[Link]) -> Sequence[Evidence]:
        return [{"found_by_visit": float(sighting.visit.number)}] * len(links)

    def key(self, evidence: Evidence) -> float:
        return evidence["found_by_visit"]
