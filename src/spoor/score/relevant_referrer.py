"""Links of wanted pages before links of others: the simple strategy of language-specific crawling."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from spoor.records import Evidence, Link, Sighting
from spoor.roles import Merge


@dataclass(frozen=True)
class RelevantReferrer:
    """Two levels: at least one relevant page links there, or none that was visited so far."""

    reads_content: ClassVar[bool] = False
    merge: ClassVar[Mapping[str, Merge]] = {"relevant_referrer": max}

    def evidence(self, sighting: Sighting, links: Sequence[Link]) -> Sequence[Evidence]:
        return [{"relevant_referrer": float(sighting.verdict.relevant)}] * len(links)

    def key(self, evidence: Evidence) -> float:
        return evidence["relevant_referrer"]
