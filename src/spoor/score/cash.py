"""On-line page importance: every page hands its cash to its links, in equal shares."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from spoor.records import Evidence, Link, Sighting
from spoor.roles import Merge
from spoor.score.merging import total

SEED_CASH = 1.0
"""All that there is comes from seeds."""


@dataclass(frozen=True)
class Cash:
    """A link holds what all pages visited so far handed to it; the richest goes first. Shares are those of all links on
    a page, so what goes to pages visited before is spent."""

    reads_content: ClassVar[bool] = False
    merge: ClassVar[Mapping[str, Merge]] = {"cash": total}

    def evidence(self, sighting: Sighting, links: Sequence[Link]) -> Sequence[Evidence]:
        cash = sighting.visit.evidence.get("cash", SEED_CASH)
        return [{"cash": cash / max(1, sighting.page.out_degree)}] * len(links)

    def key(self, evidence: Evidence) -> float:
        return evidence["cash"]
