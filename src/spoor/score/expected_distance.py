"""Links first that lead nearest to a wanted page, on average over all that a path model holds possible.

E = Σ_k P(layer k) · 0.5^k
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from spoor.context.path_view import PathView
from spoor.records import Evidence, Link, Sighting
from spoor.roles import Merge


@dataclass(frozen=True)
class ExpectedDistance:
    """Goes with the trail `HiddenState` of the same path."""

    path: PathView

    reads_content: ClassVar[bool] = False
    merge: ClassVar[Mapping[str, Merge]] = {"nearness": max}

    def evidence(self, sighting: Sighting, links: Sequence[Link]) -> Sequence[Evidence]:
        return [{"nearness": self.path.nearness(sighting.trail)}] * len(links)

    def key(self, evidence: Evidence) -> float:
        return evidence["nearness"]
