"""Focused by a taxonomy: links of the pages that most probably belong to a wanted class go first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from spoor.records import Evidence, Link, Sighting
from spoor.roles import Merge


@dataclass(frozen=True)
class TaxonomyRelevance:
    """`goodness` is the relevance of the best page that links there: with the judge `taxonomy` the probability of all
    wanted classes together. `best_is_good` is 1 where the likeliest class of some such page is a wanted one; it is
    there for an admission."""

    reads_content: ClassVar[bool] = False
    merge: ClassVar[Mapping[str, Merge]] = {"goodness": max, "best_is_good": max}

    def evidence(self, sighting: Sighting, links: Sequence[Link]) -> Sequence[Evidence]:
        verdict = sighting.verdict
        return [{"goodness": verdict.relevance, "best_is_good": float(verdict.relevant)}] * len(links)

    def key(self, evidence: Evidence) -> float:
        return evidence["goodness"]
