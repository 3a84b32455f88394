"""Simple scorers: by arrival, at random, by properties of the referring page."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from spoor.errors import UsageError
from spoor.judging.classifiers import TaxonomyModel, target_probability
from spoor.judging.encodings import Interval, share_inside
from spoor.parse.words import LONGEST, Words
from spoor.records import Evidence, Hints, Link, Page, Sighting
from spoor.roles import Merge

# The interval of upkeep.


def check_every(every: int) -> None:
    """Upkeep runs every `every` visits."""
    if every < 1:
        raise UsageError(f"every={every}: at least 1 visit must lie between two revisions of the queue")


# Merge functions for evidence when a waiting link is found again. `max` and `min` are the built-ins.


def first(old: float, new: float) -> float:
    """Keeps the first value."""
    return old


def total(old: float, new: float) -> float:
    """Adds up all values."""
    return old + new


def clearest(old: float, new: float) -> float:
    """Keeps the value farther from 0, positive or negative."""
    return new if abs(new) > abs(old) else old


def latest(old: float, new: float) -> float:
    """Keeps the last value."""
    return new


# First in, first out: breadth-first.


@dataclass(frozen=True)
class Arrival:
    """All links have the same key, so the order of arrival decides."""

    reads_content: ClassVar[bool] = False
    merge: ClassVar[Mapping[str, Merge]] = {}

    def evidence(self, sighting: Sighting, links: Sequence[Link]) -> Sequence[Evidence]:
        return [{}] * len(links)

    def key(self, evidence: Evidence) -> float:
        return 0.0


# Last in, first out: depth-first.


@dataclass(frozen=True)
class Latest:
    """The links of the page visited last are first, in document order; a link found again counts as new."""

    reads_content: ClassVar[bool] = False
    merge: ClassVar[Mapping[str, Merge]] = {"found_by_visit": max}

    def evidence(self, sighting: Sighting, links: Sequence[Link]) -> Sequence[Evidence]:
        return [{"found_by_visit": float(sighting.visit.number)}] * len(links)

    def key(self, evidence: Evidence) -> float:
        return evidence["found_by_visit"]


# Uniformly random: the lower baseline.


@dataclass(frozen=True)
class RandomOrder:
    """Each link gets an alarm when it is found: that of its referring page plus an exponentially distributed time. The
    earliest alarm is first. Exponential times are memoryless, so at any time each waiting link is equally likely to be
    next, and yet the order depends only on `seed` and the URLs."""

    seed: int = 0

    reads_content: ClassVar[bool] = False
    merge: ClassVar[Mapping[str, Merge]] = {"alarm": first}

    def evidence(self, sighting: Sighting, links: Sequence[Link]) -> Sequence[Evidence]:
        now = sighting.visit.evidence.get("alarm", 0.0)
        return [{"alarm": now + self._while(link.url)} for link in links]

    def key(self, evidence: Evidence) -> float:
        return -evidence["alarm"]

    def _while(self, url: str) -> float:
        digest = hashlib.blake2b(f"{self.seed} {url}".encode(), digest_size=7).digest()
        return -math.log((int.from_bytes(digest, "big") + 1) / 2**56)


# By the relevance of the referring page.


@dataclass(frozen=True)
class ParentRelevance:
    """`graded`: by the relevance of the best parent, 0 to 1. Otherwise two levels: at least one relevant parent, or
    none. `depth` is the number of links from a seed, on the shortest known path; it is for admissions."""

    graded: bool = True

    reads_content: ClassVar[bool] = True
    """The admissions used with it read anchors."""
    merge: ClassVar[Mapping[str, Merge]] = {"parent": max, "depth": min}

    def evidence(self, sighting: Sighting, links: Sequence[Link]) -> Sequence[Evidence]:
        verdict = sighting.verdict
        parent = verdict.relevance if self.graded else float(verdict.relevant)
        return [{"parent": parent, "depth": sighting.visit.evidence.get("depth", 0.0) + 1.0}] * len(links)

    def key(self, evidence: Evidence) -> float:
        return evidence["parent"]


# Links of relevant pages before other links: the simple strategy of language-specific crawling.


@dataclass(frozen=True)
class RelevantReferrer:
    """Two levels: at least one relevant page visited so far links there, or none."""

    reads_content: ClassVar[bool] = False
    merge: ClassVar[Mapping[str, Merge]] = {"relevant_referrer": max}

    def evidence(self, sighting: Sighting, links: Sequence[Link]) -> Sequence[Evidence]:
        return [{"relevant_referrer": float(sighting.verdict.relevant)}] * len(links)

    def key(self, evidence: Evidence) -> float:
        return evidence["relevant_referrer"]


# By the number of relevant pages that link to it.


@dataclass(frozen=True)
class RelevantInLinks:
    """Counts the visited relevant pages that link to a URL."""

    reads_content: ClassVar[bool] = False
    merge: ClassVar[Mapping[str, Merge]] = {"relevant_in_links": total}

    def evidence(self, sighting: Sighting, links: Sequence[Link]) -> Sequence[Evidence]:
        return [{"relevant_in_links": float(sighting.verdict.relevant)}] * len(links)

    def key(self, evidence: Evidence) -> float:
        return evidence["relevant_in_links"]


# By the distance from the last relevant page on the path: the prioritised limited-distance strategy.


@dataclass(frozen=True)
class Nearness:
    """For the trail `SinceRelevant`: the number of pages since the last relevant one, on the best path."""

    reads_content: ClassVar[bool] = False
    merge: ClassVar[Mapping[str, Merge]] = {"distance": min}

    def evidence(self, sighting: Sighting, links: Sequence[Link]) -> Sequence[Evidence]:
        return [{"distance": float(sighting.trail)}] * len(links)

    def key(self, evidence: Evidence) -> float:
        return -evidence["distance"]


# An oracle that knows the distance of each page from a relevant one: an upper bound for measurements.


@dataclass(frozen=True)
class KnownOrder:
    """`level_of` returns the level of a URL; the smallest level is first."""

    level_of: Callable[[str], int] = field(repr=False)

    reads_content: ClassVar[bool] = False
    merge: ClassVar[Mapping[str, Merge]] = {"level": first}

    def evidence(self, sighting: Sighting, links: Sequence[Link]) -> Sequence[Evidence]:
        return [{"level": float(self.level_of(link.url))} for link in links]

    def key(self, evidence: Evidence) -> float:
        return -evidence["level"]


# By the probability that the referring page belongs to a target class.


_WORDS = Words()


@dataclass(frozen=True)
class PageClass:
    """The sum of the probabilities of all target classes, as the judge `taxonomy` computes it; independent of the judge
    of the crawl."""

    model: TaxonomyModel

    reads_content: ClassVar[bool] = True
    reads_main_text: ClassVar[bool] = True
    merge: ClassVar[Mapping[str, Merge]] = {"target_class": max}

    def hints(self, page: Page, links: Sequence[Link]) -> Sequence[Hints]:
        bayes, words = self.model.bayes, _WORDS.of(page.titled_text[:LONGEST])
        leaves = dict(zip(bayes.classes, bayes.posterior(words).tolist(), strict=True)) if bayes.knows(words) else {}
        return [(target_probability(leaves, self.model.relevant),)] * len(links)

    def evidence(self, sighting: Sighting, links: Sequence[Link]) -> Sequence[Evidence]:
        return [{"target_class": relevant} for (relevant,) in (link.hints for link in links)]

    def key(self, evidence: Evidence) -> float:
        return evidence["target_class"]


# Focused by a taxonomy: links of pages that most probably belong to a target class first.


@dataclass(frozen=True)
class TaxonomyRelevance:
    """`relevance` is that of the most relevant referring page: with the judge `taxonomy` the sum of the probabilities
    of all target classes. `best_is_relevant` is 1 if the most probable class of some referring page is relevant; it is
    for an admission."""

    reads_content: ClassVar[bool] = False
    merge: ClassVar[Mapping[str, Merge]] = {"relevance": max, "best_is_relevant": max}

    def evidence(self, sighting: Sighting, links: Sequence[Link]) -> Sequence[Evidence]:
        verdict = sighting.verdict
        return [{"relevance": verdict.relevance, "best_is_relevant": float(verdict.relevant)}] * len(links)

    def key(self, evidence: Evidence) -> float:
        return evidence["relevance"]


# By the share of letters of a page in the code intervals of a font: the content analysis of the paper.


@dataclass(frozen=True)
class IntervalShare:
    """The score is the share of characters inside `intervals`, on the best referring page."""

    intervals: tuple[Interval, ...]

    reads_content: ClassVar[bool] = True
    merge: ClassVar[Mapping[str, Merge]] = {"interval_share": max}

    def hints(self, page: Page, links: Sequence[Link]) -> Sequence[Hints]:
        return [(share_inside(page.text, self.intervals),)] * len(links)

    def evidence(self, sighting: Sighting, links: Sequence[Link]) -> Sequence[Evidence]:
        return [{"interval_share": link.hints[0]} for link in links]

    def key(self, evidence: Evidence) -> float:
        return evidence["interval_share"]
