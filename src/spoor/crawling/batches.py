"""Evidence and keys of many links together, by a scorer that computes them one by one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from spoor.records import Evidence, Key, Link, Sighting, WaitingLink
from spoor.roles import LinkScorer, Reviewer, Saturating

Scored = tuple[Evidence, Key]


@dataclass(frozen=True, slots=True)
class OneByOne:
    """Makes a `BatchScorer` of any scorer."""

    scorer: LinkScorer

    def offered(self, sighting: Sighting, links: Sequence[Link], known: Sequence[Evidence | None]) -> Sequence[Scored]:
        scorer = self.scorer
        found = scorer.evidence(sighting, links)
        merged = [
            new if old is None else merged_evidence(scorer, old, new) for old, new in zip(known, found, strict=False)
        ]
        return list(zip(merged, self.keys(merged), strict=True))

    def saturated(self, evidence: Sequence[Evidence], sighting: Sighting) -> Sequence[bool]:
        if not isinstance(self.scorer, Saturating):
            return [False] * len(evidence)
        return [self.scorer.is_saturated(one, sighting) for one in evidence]

    def keys(self, evidence: Sequence[Evidence]) -> Sequence[Key]:
        return [key_of(self.scorer, one) for one in evidence]

    def reviewed(self, link: WaitingLink) -> Scored:
        assert isinstance(self.scorer, Reviewer)
        evidence = self.scorer.review(link)
        return evidence, key_of(self.scorer, evidence)


def merged_evidence(scorer: LinkScorer, known: Evidence, found: Evidence) -> Evidence:
    """The known evidence itself if it stays the same."""
    merge = scorer.merge
    merged = {name: merge[name](old, found[name]) for name, old in known.items()}
    return known if merged == known else merged


def key_of(scorer: LinkScorer, evidence: Evidence) -> Key:
    key = scorer.key(evidence)
    return key if isinstance(key, tuple) else (key,)
