"""Hubs and authorities among relevant pages: a good hub links to good authorities, and the other way round.

a(v) = R(v) Σ h(u) over the links u → v       where R(v) is above a threshold; together 1
h(u) = R(u) Σ a(v) over the links u → v       together 1
"""

from __future__ import annotations

import numpy as np

from spoor.score.crawled_graph import Floats, Numbers


def hubs_and_authorities(
    sources: Numbers, targets: Numbers, relevance: Floats, threshold: float, rounds: int
) -> tuple[Floats, Floats]:
    """Of pages numbered as in `relevance`, linked from `sources` to `targets`; begins with all pages as equal hubs.
    All are 0 where no link leads to a page above the threshold."""
    count = len(relevance)
    counted = np.where(relevance > threshold, relevance, 0.0)
    hubs, authorities = np.full(count, 1.0 / max(1, count)), np.zeros(count)
    for _ in range(rounds):
        authorities = _to_one(counted * np.bincount(targets, weights=hubs[sources], minlength=count))
        hubs = _to_one(relevance * np.bincount(sources, weights=authorities[targets], minlength=count))
    return hubs, authorities


def _to_one(numbers: Floats) -> Floats:
    whole = numbers.sum()
    return np.asarray(numbers / whole if whole else numbers)
