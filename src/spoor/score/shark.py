"""Shark-search: what a link inherits from the pages before it, and what stands in and around its anchor.

neighbourhood = β anchor + (1 - β) context        context = 1 where the anchor says anything of the topic
potential = γ inherited + (1 - γ) neighbourhood
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from spoor.errors import UsageError
from spoor.records import Evidence, Hints, Link, Page, Sighting
from spoor.roles import Comparing, Merge


@dataclass(frozen=True)
class Shark:
    """`topic` knows what is wanted; `beta` is what the anchor counts for beside its surroundings, `gamma` what is
    inherited beside both. Goes with the trail `Inherited`.

    `barren` counts the irrelevant pages since the last relevant one on the shortest such way; it is there for an
    admission.
    """

    topic: Comparing
    beta: float = 0.8
    gamma: float = 0.5

    reads_content: ClassVar[bool] = True
    merge: ClassVar[Mapping[str, Merge]] = {"potential": max, "barren": min}

    def __post_init__(self) -> None:
        for name, share in (("beta", self.beta), ("gamma", self.gamma)):
            if not 0.0 <= share <= 1.0:
                raise UsageError(f"{name}={share:g} is not a share; give a number from 0 to 1")

    def hints(self, page: Page, links: Sequence[Link]) -> Sequence[Hints]:
        """Anchor and surroundings, in one batch for a page; what menus repeat is read once."""
        said = [(link.anchor, f"{link.left} {link.right}") for link in links]
        texts = list(dict.fromkeys(text for pair in said for text in pair))
        near = dict(zip(texts, map(float, self.topic.similarities(texts)), strict=True))
        return [(near[anchor], 1.0 if near[anchor] > 0.0 else near[around]) for anchor, around in said]

    def evidence(self, sighting: Sighting, links: Sequence[Link]) -> Sequence[Evidence]:
        inherited = self.gamma * sighting.trail
        barren = 0.0 if sighting.verdict.relevant else sighting.visit.evidence.get("barren", 0.0) + 1.0
        return [
            {"potential": inherited + (1.0 - self.gamma) * self._neighbourhood(link.hints), "barren": barren}
            for link in links
        ]

    def key(self, evidence: Evidence) -> float:
        return evidence["potential"]

    def _neighbourhood(self, hints: Hints) -> float:
        anchor, context = hints
        return self.beta * anchor + (1.0 - self.beta) * context
