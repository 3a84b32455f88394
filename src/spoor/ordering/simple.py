"""Scorers of a few lines each: by arrival, by chance, by what is known of the page that links."""

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

# How often upkeep is due.


def check_every(every: int) -> None:
    """Upkeep comes after so many visits."""
    if every < 1:
        raise UsageError(f"every={every}: at least 1 visit must lie between two revisions of the queue")


# What becomes of one evidence when a waiting link is found again. `max` and `min` are Python's own.


def first(old: float, new: float) -> float:
    """The first sighting counts."""
    return old


def total(old: float, new: float) -> float:
    """Every sighting adds."""
    return old + new


def clearest(old: float, new: float) -> float:
    """The sighting farther from 0 counts, whether for or against."""
    return new if abs(new) > abs(old) else old


def latest(old: float, new: float) -> float:
    """The last sighting counts."""
    return new


# First come, first served: breadth-first.


@dataclass(frozen=True)
class Arrival:
    """All links have the same key, so the order of arrival decides."""

    reads_content: ClassVar[bool] = False
    merge: ClassVar[Mapping[str, Merge]] = {}

    def evidence(self, sighting: Sighting, links: Sequence[Link]) -> Sequence[Evidence]:
        return [{}] * len(links)

    def key(self, evidence: Evidence) -> float:
        return 0.0


# Last come, first served: depth-first.


@dataclass(frozen=True)
class Latest:
    """The links of the page visited last go first, in document order; a link found again counts as new."""

    reads_content: ClassVar[bool] = False
    merge: ClassVar[Mapping[str, Merge]] = {"found_by_visit": max}

    def evidence(self, sighting: Sighting, links: Sequence[Link]) -> Sequence[Evidence]:
        return [{"found_by_visit": float(sighting.visit.number)}] * len(links)

    def key(self, evidence: Evidence) -> float:
        return evidence["found_by_visit"]


# Any waiting link, each with the same chance: the yardstick below breadth-first.


@dataclass(frozen=True)
class Chance:
    """Each link sets an alarm when it is found, an exponentially distributed while after the alarm of the page that
    found it; the earliest alarm goes first. Such alarms have no memory, so at every moment each waiting link is equally
    likely to be next, and still the order is fixed by `seed` and the URLs alone."""

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


# The more relevant the page that links there, the sooner.


@dataclass(frozen=True)
class ParentRelevance:
    """`graded`: by the relevance of the best parent, 0 to 1. Otherwise two levels: some relevant page links there, or
    none. `depth` is how many links away from a seed it is, on the shortest way known; it is there for admissions."""

    graded: bool = True

    reads_content: ClassVar[bool] = True
    """Admissions that go with it look at anchors."""
    merge: ClassVar[Mapping[str, Merge]] = {"parent": max, "depth": min}

    def evidence(self, sighting: Sighting, links: Sequence[Link]) -> Sequence[Evidence]:
        verdict = sighting.verdict
        parent = verdict.relevance if self.graded else float(verdict.relevant)
        return [{"parent": parent, "depth": sighting.visit.evidence.get("depth", 0.0) + 1.0}] * len(links)

    def key(self, evidence: Evidence) -> float:
        return evidence["parent"]


# Links of relevant pages before links of others: the simple strategy of language-specific crawling.


@dataclass(frozen=True)
class RelevantReferrer:
    """Two levels: at least one relevant page links there, or none that was visited so far."""

    reads_content: ClassVar[bool] = False
    merge: ClassVar[Mapping[str, Merge]] = {"relevant_referrer": max}

    def evidence(self, sighting: Sighting, links: Sequence[Link]) -> Sequence[Evidence]:
        return [{"relevant_referrer": float(sighting.verdict.relevant)}] * len(links)

    def key(self, evidence: Evidence) -> float:
        return evidence["relevant_referrer"]


# The more relevant pages link to it, the sooner.


@dataclass(frozen=True)
class RelevantInLinks:
    """Counts the relevant pages, among those visited, that link to a URL."""

    reads_content: ClassVar[bool] = False
    merge: ClassVar[Mapping[str, Merge]] = {"relevant_in_links": total}

    def evidence(self, sighting: Sighting, links: Sequence[Link]) -> Sequence[Evidence]:
        return [{"relevant_in_links": float(sighting.verdict.relevant)}] * len(links)

    def key(self, evidence: Evidence) -> float:
        return evidence["relevant_in_links"]


# The nearer to a relevant page on the way, the sooner: the prioritised limited-distance strategy.


@dataclass(frozen=True)
class Nearness:
    """Goes with the trail `SinceRelevant`: the pages since the last relevant one on the best path."""

    reads_content: ClassVar[bool] = False
    merge: ClassVar[Mapping[str, Merge]] = {"distance": min}

    def evidence(self, sighting: Sighting, links: Sequence[Link]) -> Sequence[Evidence]:
        return [{"distance": float(sighting.trail)}] * len(links)

    def key(self, evidence: Evidence) -> float:
        return -evidence["distance"]


# What is known only to an oracle: how far each page is from a relevant one. A ceiling for measuring, not a
# strategy.


@dataclass(frozen=True)
class Foresight:
    """`level_of` tells the level of a URL; the smaller, the sooner."""

    level_of: Callable[[str], int] = field(repr=False)

    reads_content: ClassVar[bool] = False
    merge: ClassVar[Mapping[str, Merge]] = {"level": first}

    def evidence(self, sighting: Sighting, links: Sequence[Link]) -> Sequence[Evidence]:
        return [{"level": float(self.level_of(link.url))} for link in links]

    def key(self, evidence: Evidence) -> float:
        return -evidence["level"]


# The likelier the page that links there is of a target class, the sooner.


_WORDS = Words()


@dataclass(frozen=True)
class PageClass:
    """The probability of all target classes together, as the judge `taxonomy` tells it, whoever judges."""

    model: TaxonomyModel

    reads_content: ClassVar[bool] = True
    merge: ClassVar[Mapping[str, Merge]] = {"target_class": max}

    def hints(self, page: Page, links: Sequence[Link]) -> Sequence[Hints]:
        bayes, words = self.model.bayes, _WORDS.of(page.titled_text[:LONGEST])
        leaves = dict(zip(bayes.classes, bayes.posterior(words).tolist(), strict=True)) if bayes.knows(words) else {}
        return [(target_probability(leaves, self.model.relevant),)] * len(links)

    def evidence(self, sighting: Sighting, links: Sequence[Link]) -> Sequence[Evidence]:
        return [{"target_class": relevant} for (relevant,) in (link.hints for link in links)]

    def key(self, evidence: Evidence) -> float:
        return evidence["target_class"]


# Focused by a taxonomy: links of the pages that most probably belong to a target class go first.


@dataclass(frozen=True)
class TaxonomyRelevance:
    """`relevance` is that of the best page that links there: with the judge `taxonomy` the probability of all target
    classes together. `best_is_relevant` is 1 where the likeliest class of some such page is a relevant one; it is there
    for an admission."""

    reads_content: ClassVar[bool] = False
    merge: ClassVar[Mapping[str, Merge]] = {"relevance": max, "best_is_relevant": max}

    def evidence(self, sighting: Sighting, links: Sequence[Link]) -> Sequence[Evidence]:
        verdict = sighting.verdict
        return [{"relevance": verdict.relevance, "best_is_relevant": float(verdict.relevant)}] * len(links)

    def key(self, evidence: Evidence) -> float:
        return evidence["relevance"]


# The more letters of a page lie in the code interval of a font, the sooner its links: the paper's content
# analysis.


@dataclass(frozen=True)
class IntervalShare:
    """A link is worth the share of characters inside `intervals` on the best page that links to it."""

    intervals: tuple[Interval, ...]

    reads_content: ClassVar[bool] = True
    merge: ClassVar[Mapping[str, Merge]] = {"interval_share": max}

    def hints(self, page: Page, links: Sequence[Link]) -> Sequence[Hints]:
        return [(share_inside(page.text, self.intervals),)] * len(links)

    def evidence(self, sighting: Sighting, links: Sequence[Link]) -> Sequence[Evidence]:
        return [{"interval_share": link.hints[0]} for link in links]

    def key(self, evidence: Evidence) -> float:
        return evidence["interval_share"]
