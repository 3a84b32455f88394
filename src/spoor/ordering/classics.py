"""Classic strategies of focused crawling: fish-search, shark-search and their successors, by name.

neighbourhood = β anchor + (1 - β) context        context = 1 if the anchor has any similarity to the topic
potential = γ inherited + (1 - γ) neighbourhood
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from spoor.compiled import Kernels
from spoor.errors import UsageError
from spoor.judging.judges import ACHE, FISH, FOCUSED, OPIC, ORDERING, SHARK, SLEEPING, SPIDERLING
from spoor.naming import Named
from spoor.ordering.admissions import AtLeast, AtMost, LimitedDistance
from spoor.ordering.correlation_degree import LikeLanguage
from spoor.ordering.host_yield import HostYield, MinimumYield
from spoor.ordering.link_analysis import Cash, Distiller, PageRankOrder
from spoor.ordering.link_classifier import LinkClassifier
from spoor.ordering.simple import TaxonomyRelevance
from spoor.ordering.tag_paths import TagPathBandit
from spoor.ordering.targets import topic_for
from spoor.ordering.trails import Inherited, SinceRelevant
from spoor.records import Evidence, Hints, Link, Page, Sighting
from spoor.roles import Comparing, Judge, Merge
from spoor.strategy import Strategy, kernels_of, prior_of

# Fish-search: the first links of each page come first, and more of them on relevant pages.


SPREAD = 1.5
"""A relevant page has this many times as many favoured links as an irrelevant one."""


@dataclass(frozen=True)
class Fish:
    """`width` is the number of favoured links of an irrelevant page, in document order. Their potential is 0.5, that of
    the favoured links of a relevant page 1, that of all other links 0."""

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


# Shark-search: a score inherited along the path, and the similarity of the anchor and its context.


@dataclass(frozen=True)
class Shark:
    """`topic` defines relevance; `beta` weights the anchor against its context, `gamma` the inherited score against
    both. For the trail `Inherited`.

    `barren` counts the irrelevant pages since the last relevant one, on the path where they are fewest; it is for an
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

    @property
    def kernels(self) -> Kernels:
        return kernels_of(self.topic)

    def hints(self, page: Page, links: Sequence[Link]) -> Sequence[Hints]:
        """Similarities of anchor and context, in one batch per page; repeated texts, as in menus, are compared once."""
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


# The classics of focused crawling, by name.


def fish_search(judge: Judge, width: int = 30, depth: int = 3) -> Strategy:
    return Strategy(judge, Fish(width), SinceRelevant(), LimitedDistance(depth))


def shark_search(
    judge: Judge, depth: int = 3, decay: float = 0.5, beta: float = 0.8, gamma: float = 0.5, words: str = ""
) -> Strategy:
    scorer = Shark(_nearness_of_texts(judge, words), beta, gamma)
    return Strategy(judge, scorer, Inherited(decay), AtMost("barren", depth))


def _nearness_of_texts(judge: Judge, words: str) -> Comparing:
    """Compares anchors with the topic, or with the language if that is the whole target."""
    target_prior = prior_of(judge)
    only_language = bool(target_prior.language) and not target_prior.words and not words
    return LikeLanguage(target_prior.language) if only_language else topic_for("shark-search", judge, words)


def opic(judge: Judge) -> Strategy:
    return Strategy(judge, Cash())


def page_rank(judge: Judge, damping: float = 0.9, every: int = 500) -> Strategy:
    order = PageRankOrder(damping, every)
    return Strategy(judge, order, upkeep=order)


def taxonomy_soft(judge: Judge) -> Strategy:
    return Strategy(judge, TaxonomyRelevance())


def taxonomy_hard(judge: Judge) -> Strategy:
    return Strategy(judge, TaxonomyRelevance(), admission=AtLeast("best_is_relevant", 1.0))


def distiller(judge: Judge, threshold: float = 0.1, every: int = 500) -> Strategy:
    order = Distiller(threshold, every)
    return Strategy(judge, order, upkeep=order)


def link_classifier(judge: Judge, every: int = 500) -> Strategy:
    order = LinkClassifier(every)
    return Strategy(judge, order, upkeep=order)


def host_yield(judge: Judge, step: float = 0.01, patience: int = 100, every: int = 100) -> Strategy:
    order = HostYield(every)
    return Strategy(judge, order, admission=MinimumYield(step, patience), upkeep=order)


def tag_path_bandit(judge: Judge, exploration: float = 0.2, likeness: float = 0.75) -> Strategy:
    order = TagPathBandit(exploration, likeness)
    return Strategy(judge, order, upkeep=order)


CLASSICS: dict[str, Named] = {
    "fish-search": Named(fish_search, "the first links of relevant pages first, down to a depth", FISH),
    "shark-search": Named(
        shark_search, "by what a link inherits and by its anchor and context, to the same depth", SHARK
    ),
    "opic": Named(opic, "links with most cash first: every page distributes its cash among its links", OPIC),
    "page-rank": Named(page_rank, "by PageRank on the crawled part of the web", ORDERING),
    "taxonomy-soft": Named(taxonomy_soft, "links of the most relevant pages first; meant for judge taxonomy", FOCUSED),
    "taxonomy-hard": Named(
        taxonomy_hard, "the same, but only links of pages whose most probable class is relevant", FOCUSED
    ),
    "distiller": Named(distiller, "as taxonomy-soft, and links of the best hubs found so far are promoted", FOCUSED),
    "link-classifier": Named(
        link_classifier, "by words in and around links, learned from the links followed so far", ACHE
    ),
    "host-yield": Named(host_yield, "hosts with the highest hit rate first; poor ones are abandoned", SPIDERLING),
    "tag-path-bandit": Named(
        tag_path_bandit,
        "by the position of links on pages: a bandit explores positions and exploits good ones",
        SLEEPING,
    ),
}
