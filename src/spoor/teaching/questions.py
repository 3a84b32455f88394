"""Selects the pages to ask about, and when to ask, retrain and stop. Pure decisions, no I/O."""

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
"""Visits after which all questions are due: `HORIZON` without a budget, else this share of the budget. Later pages
differ from earlier ones, so questions are spread until near the end."""
BATCHES = 10
"""Approximate number of lessons: a smaller batch of answers is not worth a new version."""
SURE_SHARE = 10
"""One question in so many is about a page on which the student is certain, to detect errors on unfamiliar pages."""
SURE = 0.2
"""Distance of a probability from the threshold from which on it is certain."""
CROWDED = 0.25
"""Relative increase of the margin of a page for each earlier question about its host."""
ALIKE = 0.8
"""Cosine similarity from which on two pages are in one cluster; a batch has one question per cluster."""
THRESHOLD_AFTER = (25, 100, 400, 1_600, 6_400)
"""Numbers of pages at which the threshold is estimated from their scores, even without new answers."""
UNCHANGED, IN_A_ROW = 0.01, 3
"""A lesson that changes a smaller share of the verdicts is without effect; after so many in a row questions end."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A visited page without a question so far. `margin` is its probability minus the threshold."""

    url: str
    margin: float
    sample: Sample


def due(visits: int, questions: int, budget: int | None = None) -> int:
    """Number of questions due by now. Grows with the square root of visits, because early answers help most."""
    horizon = HORIZON if budget is None else max(1.0, OF_BUDGET * budget)
    return min(questions, math.floor(questions * math.sqrt(visits / horizon)))


def is_lesson_due(answers: int, learned: int, questions: int) -> bool:
    """Whether there are enough answers since the last lesson; `learned` is their number then."""
    return answers > learned and (answers - learned >= max(1, questions // BATCHES) or answers >= questions)


def is_threshold_due(pages: int, before: int) -> bool:
    """Whether enough pages were added since `before` to estimate the threshold again."""
    return bisect(THRESHOLD_AFTER, pages) > bisect(THRESHOLD_AFTER, before)


def chosen(candidates: Sequence[Candidate], most: int, asked: Iterable[str], chance: Random) -> list[str]:
    """URLs to ask about next: the most uncertain first, spread over hosts and clusters, with some certain ones among
    them. `asked` are the URLs of all earlier questions."""
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
    """Whether more answers would change little; `changes` are the shares of verdicts that each lesson changed."""
    return len(changes) >= IN_A_ROW and all(share < UNCHANGED for share in changes[-IN_A_ROW:])
