"""Fish-search: the first links of a page are swum to first, and more of them where there was food."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from spoor.errors import UsageError
from spoor.records import Evidence, Link, Sighting
from spoor.roles import Merge

SPREAD = 1.5
"""A relevant page has so many times as many favoured links as another."""


@dataclass(frozen=True)
class Fish:
    """`width` is how many links of an irrelevant page are favoured, in document order. Their potential is 0.5, that of
    the favoured links of a relevant page 1, that of all others 0."""

    width: int = 30

    reads_content: ClassVar[bool] = False
    merge: ClassVar[Mapping[str, Merge]] = {"potential": max}

    def __post_init__(self) -> None:
        if self.width < 1:
            raise UsageError(f"width={self.width}: at least 1 link of a page must be favoured")

    def evidence(self, sighting: Sighting, links: Sequence[Link]) -> Sequence[Evidence]:
        relevant = sighting.verdict.relevant
        favoured = round(SPREAD * self.width) if relevant else self.width
        first = {link.url for link in sighting.page.links[:favoured]}
        potential = 1.0 if relevant else 0.5
        return [{"potential": potential if link.url in first else 0.0} for link in links]

    def key(self, evidence: Evidence) -> float:
        return evidence["potential"]
