"""Which pages to ask about, when, and when to stop. Decides; asks nobody."""

from __future__ import annotations

import math
from bisect import bisect
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from random import Random

from spoor.judging.regression import Sample
from spoor.urls import host_of

HORIZON, OF_BUDGET = 2_000, 0.9
"""Visits after which all questions are due: so many where a crawl has no end in sight, else this share of its budget.
Pages that come later are unlike earlier ones, so the last of them are asked about too."""
BATCHES = 10
"""Lessons that the answers are spread over, about: fewer answers than that share are not worth a new version."""
SURE_SHARE = 10
"""One question in so many is about a page of which the student is sure, to notice what it has never seen."""
SURE = 0.2
"""A probability so far from the threshold is sure."""
CROWDED = 0.25
"""What each earlier question about a host takes off the uncertainty of a page there."""
ALIKE = 0.8
"""A cosine from which on two pages are of one cluster: one of them is asked about."""
THRESHOLD_AFTER = (25, 100, 400, 1_600, 6_400)
"""Pages after which the threshold is looked for among their scores, though there are no new answers."""
UNCHANGED, IN_A_ROW = 0.01, 3
"""Of the verdicts: a lesson that changes fewer has changed nothing; after so many in a row the student has settled."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A visited page about which nobody was asked. `margin` is its probability less the threshold."""

    url: str
    margin: float
    sample: Sample


def due(visits: int, questions: int, budget: int | None = None) -> int:
    """Questions that may be asked by now: with the square root of visits, early ones teach most."""
    horizon = HORIZON if budget is None else max(1.0, OF_BUDGET * budget)
    return min(questions, math.floor(questions * math.sqrt(visits / horizon)))


def is_lesson_due(answers: int, learned: int, questions: int) -> bool:
    """Whether enough answers have come since the student last learned."""
    return answers > learned and (answers - learned >= max(1, questions // BATCHES) or answers >= questions)


def is_threshold_due(pages: int, before: int) -> bool:
    """Whether so many `pages` tell more of the threshold than those `before`."""
    return bisect(THRESHOLD_AFTER, pages) > bisect(THRESHOLD_AFTER, before)


def chosen(candidates: Sequence[Candidate], most: int, asked: Iterable[str], chance: Random) -> list[str]:
    """URLs to ask about next: the most uncertain first, spread over hosts and clusters, some of the sure ones between.
    `asked` are the URLs of all earlier questions."""
    hosts = Counter(map(host_of, asked))
    before = hosts.total()
    left = sorted(candidates, key=lambda one: (abs(one.margin), one.url))
    taken: list[Candidate] = []
    while left and len(taken) < most:
        is_check = (before + len(taken)) % SURE_SHARE == SURE_SHARE - 1
        one = (_sure(left, chance) if is_check else None) or _uncertain(left, hosts)
        left.remove(one)
        if not any(_cosine(one.sample, other.sample) >= ALIKE for other in taken):
            taken.append(one)
            hosts[host_of(one.url)] += 1
    return [one.url for one in taken]


def _sure(left: Sequence[Candidate], chance: Random) -> Candidate | None:
    sure = [one for one in left if abs(one.margin) >= SURE]
    return chance.choice(sure) if sure else None


def _uncertain(left: Sequence[Candidate], hosts: Counter[str]) -> Candidate:
    return min(left, key=lambda one: abs(one.margin) * (1.0 + CROWDED * hosts[host_of(one.url)]))


def _cosine(one: Sample, other: Sample) -> float:
    weights = dict(zip(one.places.tolist(), one.weights.tolist(), strict=True))
    pairs = zip(other.places.tolist(), other.weights.tolist(), strict=True)
    return float(sum(weight * weights.get(place, 0.0) for place, weight in pairs))


def has_settled(changes: Sequence[float]) -> bool:
    """Whether more answers would change nothing much; `changes` are the shares of verdicts that each lesson turned."""
    return len(changes) >= IN_A_ROW and all(share < UNCHANGED for share in changes[-IN_A_ROW:])
