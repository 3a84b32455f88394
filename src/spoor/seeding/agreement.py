"""How sure is it that a result is worth starting from? By how many engines name it.

High: two engines or more. Medium: one engine, more than once. Low: one engine, once.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from spoor.seeding.source import Listing

Confidence = Literal["high", "medium", "low"]
CONFIDENCES: tuple[Confidence, ...] = ("high", "medium", "low")


@dataclass(frozen=True, slots=True)
class Seed:
    """`engines` are those that name it, `rank` is its best place with any of them, from 1 on."""

    url: str
    confidence: Confidence
    engines: tuple[str, ...]
    rank: int


def agreed(listings: Iterable[Listing]) -> list[Seed]:
    """The best first. Listings of one engine count as one, wherever they came from."""
    ranks: defaultdict[str, defaultdict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    for listing in listings:
        for rank, url in enumerate(listing.urls, 1):
            ranks[url][listing.engine].append(rank)
    seeds = [
        Seed(url, _confidence(list(by_engine.values())), tuple(by_engine), min(map(min, by_engine.values())))
        for url, by_engine in ranks.items()
    ]
    return sorted(seeds, key=lambda seed: (CONFIDENCES.index(seed.confidence), seed.rank, seed.url))


def _confidence(ranks_by_engine: list[list[int]]) -> Confidence:
    if len(ranks_by_engine) > 1:
        return "high"
    return "medium" if len(ranks_by_engine[0]) > 1 else "low"
