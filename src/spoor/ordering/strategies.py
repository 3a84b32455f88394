"""Strategies by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from spoor.errors import BrokenContract, UsageError
from spoor.judging.encodings import shipped_for
from spoor.judging.judges import AHM, LSW, MON, ORDERING, SERVERS, VSM
from spoor.judging.language_judges import PROFILES
from spoor.judging.profile_search import recogniser
from spoor.naming import Named, Names, joined
from spoor.ordering.admissions import AllOf, AtLeast, AtMost, KeyAbove, LimitedDistance, NoNoise
from spoor.ordering.classics import CLASSICS
from spoor.ordering.correlation_degree import ALIKE, Aspects, CorrelationDegree, Shares, Weights
from spoor.ordering.language_order import AbandonedServers, LanguageSigns, ServerLanguage
from spoor.ordering.learned.learned import WITHOUT, Learned
from spoor.ordering.ontology_order import CORE
from spoor.ordering.paths import PATHS
from spoor.ordering.simple import (
    Arrival,
    IntervalShare,
    KnownOrder,
    Latest,
    Nearness,
    ParentRelevance,
    RandomOrder,
    RelevantInLinks,
    RelevantReferrer,
)
from spoor.ordering.targets import known_language, language_for, topic_for
from spoor.ordering.trails import ChainHops, LastPage, SinceRelevant
from spoor.roles import Judge
from spoor.strategy import Strategy, prior_of

Level = Callable[[str], int]


def breadth_first(judge: Judge) -> Strategy:
    return Strategy(judge, Arrival())


def depth_first(judge: Judge) -> Strategy:
    return Strategy(judge, Latest())


def random(judge: Judge, seed: int = 0) -> Strategy:
    return Strategy(judge, RandomOrder(seed))


def hard_focused(judge: Judge) -> Strategy:
    return Strategy(judge, RelevantReferrer(), admission=AtLeast("relevant_referrer", 1.0))


def soft_focused(judge: Judge) -> Strategy:
    return Strategy(judge, RelevantReferrer())


def limited_distance(judge: Judge, n: int = 2) -> Strategy:
    return Strategy(judge, Arrival(), SinceRelevant(), LimitedDistance(n))


def prioritised_limited_distance(judge: Judge, n: int = 2) -> Strategy:
    return Strategy(judge, Nearness(), SinceRelevant(), LimitedDistance(n))


def in_links(judge: Judge) -> Strategy:
    return Strategy(judge, RelevantInLinks())


def g_crawl(judge: Judge, language: str = "") -> Strategy:
    relevant = language_for("g-crawl", judge, language)
    fonts = shipped_for(relevant)
    if not fonts:
        raise UsageError(f"g-crawl looks for the code intervals of fonts, and none is known for {relevant!r}")
    return Strategy(judge, IntervalShare(tuple(interval for font in fonts for interval in font.letters)))


def n_crawl(
    judge: Judge,
    t: float = 0.5,
    s: float = 0.3,
    d: float = 0.2,
    threshold: float = 0.1,
    merge: str = "max",
    parent: str = "text",
    cap: float = 1.0,
    refused: str = "park",
    n: int = 3,
    language: str = "",
    profiles: str = "each",
) -> Strategy:
    if profiles not in PROFILES:
        raise UsageError(f"profiles={profiles}: must be {' or '.join(PROFILES)}")
    likeness = recogniser(language_for("n-crawl", judge, language), n, one_profile=profiles == "merged")
    degree = CorrelationDegree(likeness, Weights(t, s, d), merge, parent, cap)
    return Strategy(judge, degree, admission=KeyAbove(degree, threshold, refused))


def language_focused(judge: Judge, language: str = "", without: str = "") -> Strategy:
    relevant = known_language("language-focused", judge, language)
    return Strategy(judge, LanguageSigns(relevant, joined(without)))


def server_language(judge: Judge, language: str = "", without: str = "", patience: int = 50) -> Strategy:
    relevant = known_language("server-language", judge, language)
    return Strategy(judge, ServerLanguage(relevant, joined(without)), admission=AbandonedServers(patience))


def by_vector_space(judge: Judge, graded: bool = False, depth: int = 3) -> Strategy:
    if depth < 0:
        raise UsageError(f"vsm:depth={depth} leaves nothing to visit; seeds have depth 0, so give 0 or more")
    return Strategy(judge, ParentRelevance(graded), admission=AllOf((NoNoise(), AtMost("depth", depth))))


def content_bf(judge: Judge) -> Strategy:
    return Strategy(judge, ParentRelevance())


def link_bf(judge: Judge, words: str = "") -> Strategy:
    return Strategy(judge, Aspects(topic_for("link-bf", judge, words), Shares(0, 0.5, 0.5, 0)), admission=NoNoise())


def composite_bf(judge: Judge, words: str = "") -> Strategy:
    scorer = Aspects(topic_for("composite-bf", judge, words), Shares(0.5, 0.25, 0.25, 0))
    return Strategy(judge, scorer, admission=NoNoise())


def four_aspect(judge: Judge, shares: Shares = ALIKE, size: int = 50, words: str = "") -> Strategy:
    scorer = Aspects(topic_for("four-aspect", judge, words), shares)
    return Strategy(judge, scorer, ChainHops(size), NoNoise())


def foreseeing(judge: Judge, level_of: Level) -> Strategy:
    return Strategy(judge, KnownOrder(level_of))


def learned(judge: Judge, without: str = "") -> Strategy:
    scorer = Learned(prior_of(judge), joined(without))
    return Strategy(judge, scorer, LastPage(), upkeep=scorer)


_BUILT_IN: dict[str, Named] = {
    "learned": Named(learned, "learns during the crawl which links lead to relevant pages", kinds=WITHOUT),
    "breadth-first": Named(breadth_first, "links in the order they were found"),
    "depth-first": Named(depth_first, "links of the page visited last first"),
    "random": Named(random, "any waiting link, each with the same probability"),
    "hard-focused": Named(hard_focused, "only links of relevant pages, in the order they were found", LSW),
    "soft-focused": Named(soft_focused, "links of relevant pages first, then the others", LSW),
    "limited-distance": Named(limited_distance, "through at most n irrelevant pages in a row", LSW),
    "prioritised-limited-distance": Named(
        prioritised_limited_distance, "the same, links nearer to a relevant page first", LSW
    ),
    "in-links": Named(in_links, "links with most relevant pages pointing at them first", ORDERING),
    "b-crawl": Named(breadth_first, "the paper's baseline: breadth-first, meant for judge code-interval", MON),
    "g-crawl": Named(g_crawl, "links of pages with most letters in the code intervals of fonts first", MON),
    "n-crawl": Named(n_crawl, "by hyperlink correlation degree: anchor text, parents, depth of the URL", MON),
    "language-focused": Named(
        language_focused,
        "by evidence of the language in URL, anchor and attributes, before the visit",
        kinds=tuple(LanguageSigns.merge),
    ),
    "server-language": Named(
        server_language,
        "the same, with the language of servers and folders learned during the crawl",
        SERVERS,
        kinds=tuple(ServerLanguage.merge),
    ),
    "vsm": Named(by_vector_space, "links of relevant pages first, down to a depth; noise links left out", VSM),
    "content-bf": Named(content_bf, "links of the most relevant pages first", AHM),
    "link-bf": Named(link_bf, "links whose anchor and URL are nearest to the topic first", AHM),
    "composite-bf": Named(composite_bf, "by page, anchor and URL together", AHM),
    "four-aspect": Named(
        four_aspect, "the same, and by how near the link is to the most relevant pages found so far", AHM
    ),
    **CLASSICS,
    **PATHS,
    **CORE,
    "greedy-oracle": Named(foreseeing, "knows the truth of every waiting link: relevant ones first"),
    "oracle": Named(foreseeing, "knows how far every link is from a relevant page: the upper bound"),
}
STRATEGIES = Names("strategy", "strategies", _BUILT_IN)
ORACLES = ("greedy-oracle", "oracle")


def strategy_named(text: str) -> tuple[str, dict[str, Any]]:
    """The name and the parameters in `limited-distance:n=3`."""
    return STRATEGIES.read(text)


def strategy(text: str, judge: Judge, level_of: Level | None = None) -> Strategy:
    """`soft-focused`, or with parameters `limited-distance:n=3`. Oracles need `level_of`."""
    name, given = strategy_named(text)
    if name in ORACLES:
        return foreseeing(judge, _given_levels(name, level_of))
    made = STRATEGIES[name].made(judge, **given)
    if not isinstance(made, Strategy):
        raise BrokenContract(f"strategy {name!r}: its function returned {made!r} instead of a Strategy")
    return made


def _given_levels(name: str, level_of: Level | None) -> Level:
    if level_of is None:
        raise UsageError(f"{name} knows the truth, so it runs only in a simulation")
    return level_of
