"""How a link looks, and where the path to it leads: the four aspects beside what a path model expects.

argmax      by the likeliest layer, then by S
expected    ½ E + ½ S        E = Σ_k P(layer k) · 0.5^k
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from spoor.context.path_view import PathView
from spoor.errors import UsageError
from spoor.records import Evidence, Hints, Key, Link, Page, Sighting
from spoor.roles import Merge
from spoor.score.aspects import Aspects

KEYS = ("argmax", "expected")


@dataclass(frozen=True)
class PathAspects:
    """Goes with the trail `Both` of `HiddenState`, of the same path, and `ChainHops`. A link that several pages hold is
    looked at from its best side: the nearest layer, and each aspect as the largest that was seen."""

    path: PathView
    aspects: Aspects
    by: str = "expected"

    reads_content: ClassVar[bool] = True
    merge: ClassVar[Mapping[str, Merge]] = {"layer": min, "nearness": max, **Aspects.merge}

    def __post_init__(self) -> None:
        check_key(self.by)

    def hints(self, page: Page, links: Sequence[Link]) -> Sequence[Hints]:
        return self.aspects.hints(page, links)

    def evidence(self, sighting: Sighting, links: Sequence[Link]) -> Sequence[Evidence]:
        hidden, hops = sighting.trail
        seen = self.aspects.evidence(replace(sighting, trail=hops), links)
        ahead = {"layer": float(self.path.ahead(hidden).argmax()), "nearness": self.path.nearness(hidden)}
        return [{**ahead, **aspects} for aspects in seen]

    def key(self, evidence: Evidence) -> float | Key:
        looks = self.aspects.key(evidence)
        if self.by == "argmax":
            return -evidence["layer"], looks
        return 0.5 * evidence["nearness"] + 0.5 * looks


def check_key(key: str) -> None:
    if key not in KEYS:
        raise UsageError(f"key={key!r} is neither {' nor '.join(KEYS)}")
