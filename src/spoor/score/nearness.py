"""The nearer to a wanted page on the way, the sooner: the prioritised limited-distance strategy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from spoor.records import Evidence, Link, Sighting
from spoor.roles import Merge


@dataclass(frozen=True)
class Nearness:
    """Goes with the trail `SinceRelevant`: the pages since the last relevant one on the best path."""

    reads_content: ClassVar[bool] = False
    merge: ClassVar[Mapping[str, Merge]] = {"distance": min}

    def evidence(self, sighting: Sighting, links: Sequence[Link]) -> Sequence[Evidence]:
        return [{"distance": float(sighting.trail)}] * len(links)

    def key(self, evidence: Evidence) -> float:
        return -evidence["distance"]
