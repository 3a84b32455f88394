"""The classics of focused crawling, by name."""

from __future__ import annotations

from spoor.admit.at_least import AtLeast
from spoor.admit.at_most import AtMost
from spoor.admit.host_yield import EnoughYield
from spoor.admit.limited_distance import LimitedDistance
from spoor.assembly.naming import Named
from spoor.assembly.papers import ACHE, FISH, FOCUSED, OPIC, ORDERING, SHARK, SLEEPING, SPIDERLING
from spoor.assembly.wishes import topic_for
from spoor.roles import Comparing, Judge
from spoor.score.cash import Cash
from spoor.score.distiller import Distiller
from spoor.score.fish import Fish
from spoor.score.host_yield import HostYield
from spoor.score.like_language import LikeLanguage
from spoor.score.link_classifier import LinkClassifier
from spoor.score.page_rank_order import PageRankOrder
from spoor.score.shark import Shark
from spoor.score.tag_path_bandit import TagPathBandit
from spoor.score.taxonomy_relevance import TaxonomyRelevance
from spoor.strategy import Strategy, wish_of
from spoor.trail.inherited import Inherited
from spoor.trail.since_relevant import SinceRelevant


def fish_search(judge: Judge, width: int = 30, depth: int = 3) -> Strategy:
    return Strategy(judge, Fish(width), SinceRelevant(), LimitedDistance(depth))


def shark_search(
    judge: Judge, depth: int = 3, decay: float = 0.5, beta: float = 0.8, gamma: float = 0.5, words: str = ""
) -> Strategy:
    scorer = Shark(_nearness_of_texts(judge, words), beta, gamma)
    return Strategy(judge, scorer, Inherited(decay), AtMost("barren", depth))


def _nearness_of_texts(judge: Judge, words: str) -> Comparing:
    """How near anchors are to the topic, or, where only a language is looked for, to that."""
    wish = wish_of(judge)
    only_language = bool(wish.language) and not wish.words and not words
    return LikeLanguage(wish.language) if only_language else topic_for("shark-search", judge, words)


def opic(judge: Judge) -> Strategy:
    return Strategy(judge, Cash())


def page_rank(judge: Judge, damping: float = 0.9, every: int = 500) -> Strategy:
    order = PageRankOrder(damping, every)
    return Strategy(judge, order, upkeep=order)


def taxonomy_soft(judge: Judge) -> Strategy:
    return Strategy(judge, TaxonomyRelevance())


def taxonomy_hard(judge: Judge) -> Strategy:
    return Strategy(judge, TaxonomyRelevance(), admission=AtLeast("best_is_good", 1.0))


def distiller(judge: Judge, threshold: float = 0.1, every: int = 500) -> Strategy:
    order = Distiller(threshold, every)
    return Strategy(judge, order, upkeep=order)


def link_classifier(judge: Judge, every: int = 500) -> Strategy:
    order = LinkClassifier(every)
    return Strategy(judge, order, upkeep=order)


def host_yield(judge: Judge, step: float = 0.01, patience: int = 100, every: int = 100) -> Strategy:
    order = HostYield(every)
    return Strategy(judge, order, admission=EnoughYield(step, patience), upkeep=order)


def tag_path_bandit(judge: Judge, exploration: float = 0.2, likeness: float = 0.75) -> Strategy:
    order = TagPathBandit(exploration, likeness)
    return Strategy(judge, order, upkeep=order)


CLASSICS: dict[str, Named] = {
    "fish-search": Named(fish_search, "the first links of relevant pages first, to a depth behind them", FISH),
    "shark-search": Named(
        shark_search, "by what a link inherits and what stands in and around its anchor, to the same depth", SHARK
    ),
    "opic": Named(opic, "links with most cash first: every page shares its own among its links", OPIC),
    "page-rank": Named(page_rank, "by PageRank of the web as far as it was crawled", ORDERING),
    "taxonomy-soft": Named(taxonomy_soft, "links of the most relevant pages first; meant for judge taxonomy", FOCUSED),
    "taxonomy-hard": Named(
        taxonomy_hard, "the same, but only links of pages whose likeliest class is a wanted one", FOCUSED
    ),
    "distiller": Named(
        distiller, "as taxonomy-soft, and what the best hubs found so far point at is brought forward", FOCUSED
    ),
    "link-classifier": Named(
        link_classifier, "by words in and around links, learned from the links followed so far", ACHE
    ),
    "host-yield": Named(host_yield, "hosts with the largest share of wanted pages first, poor ones left", SPIDERLING),
    "tag-path-bandit": Named(
        tag_path_bandit, "by where on pages links stand: a bandit tries places and keeps to good ones", SLEEPING
    ),
}
