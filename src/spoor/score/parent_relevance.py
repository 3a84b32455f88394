"""The more relevant the page that links there, the sooner."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from spoor.records import Evidence, Link, Sighting
from spoor.roles import Merge


@dataclass(frozen=True)
class ParentRelevance:
    """`graded`: by the relevance of the best parent, 0 to 1. Otherwise two levels: some relevant page links there, or
    none. `depth` is how many links away from a seed it is, on the shortest way known; it is there for admissions."""

    graded: bool = True

    reads_content: ClassVar[bool] = True
    """Admissions that go with it look at anchors."""
    merge: ClassVar[Mapping[str, Merge]] = {"parent": max, "depth": min}

    def evidence(self, sighting: Sighting, links: Sequence[Link]) -> Sequence[Evidence]:
        verdict = sighting.verdict
        parent = verdict.relevance if self.graded else float(verdict.relevant)
        return [{"parent": parent, "depth": sighting.visit.evidence.get("depth", 0.0) + 1.0}] * len(links)

    def key(self, evidence: Evidence) -> float:
        return evidence["parent"]
