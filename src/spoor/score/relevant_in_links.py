"""The more wanted pages link to it, the sooner."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from spoor.records import Evidence, Link, Sighting
from spoor.roles import Merge
from spoor.score.merging import total


@dataclass(frozen=True)
class RelevantInLinks:
    """Counts the relevant pages, among those visited, that link to a URL."""

    reads_content: ClassVar[bool] = False
    merge: ClassVar[Mapping[str, Merge]] = {"relevant_in_links": total}

    def evidence(self, sighting: Sighting, links: Sequence[Link]) -> Sequence[Evidence]:
        return [{"relevant_in_links": float(sighting.verdict.relevant)}] * len(links)

    def key(self, evidence: Evidence) -> float:
        return evidence["relevant_in_links"]
