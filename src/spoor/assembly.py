"""The one place where names become objects: strategies, judges and their parameters."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from spoor.admit.at_least import AtLeast
from spoor.admit.key_above import KeyAbove
from spoor.admit.left_servers import LeftServers
from spoor.admit.limited_distance import LimitedDistance
from spoor.config import Target
from spoor.errors import UsageError
from spoor.judge.agreement import Agreement
from spoor.judge.charset import CHARSETS, SOURCES, Charset
from spoor.judge.code_interval import CodeInterval
from spoor.judge.detector import Detector, known_tags
from spoor.judge.language import language_judge
from spoor.judge.ngram_rank import NgramRank
from spoor.judge.script_share import SCRIPTS, ScriptShare
from spoor.language.encoding_table import shipped_for
from spoor.language.recogniser import recogniser
from spoor.language.tags import canonical_tag
from spoor.roles import Judge
from spoor.score.arrival import Arrival
from spoor.score.chance import Chance
from spoor.score.correlation_degree import CorrelationDegree, Weights
from spoor.score.foresight import Foresight
from spoor.score.interval_share import IntervalShare
from spoor.score.language_signs import LanguageSigns
from spoor.score.latest import Latest
from spoor.score.nearness import Nearness
from spoor.score.relevant_in_links import RelevantInLinks
from spoor.score.relevant_referrer import RelevantReferrer
from spoor.score.server_language import ServerLanguage
from spoor.strategy import Strategy, wish_of
from spoor.trail.since_relevant import SinceRelevant

LSW = "Somboonviwat, Tamura, Kitsuregawa: Simulation Study of Language Specific Web Crawling (2005)"
MON = "Ma, Yan, Zhang, Yang: A Method of Collecting Mongolian Web page Based on Hyperlink Correlation Degree (2014)"
SERVERS = "Tamura, Somboonviwat, Kitsuregawa: A Method for Language-Specific Web Crawling and Its Evaluation (2007)"
Level = Callable[[str], int]


@dataclass(frozen=True)
class Named:
    """A strategy or judge that can be asked for by name. Its parameters are those of `make` that have defaults; a judge
    may also need a subject, one of `subjects`."""

    make: Callable[..., Any]
    says: str
    source: str = ""
    subjects: tuple[str, ...] = ()

    def parameters(self) -> dict[str, Any]:
        """Name to default value."""
        signature = inspect.signature(self.make).parameters.values()
        return {p.name: p.default for p in signature if p.default is not p.empty}


def breadth_first(judge: Judge) -> Strategy:
    return Strategy(judge, Arrival())


def depth_first(judge: Judge) -> Strategy:
    return Strategy(judge, Latest())


def random(judge: Judge, seed: int = 0) -> Strategy:
    return Strategy(judge, Chance(seed))


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
    wanted = _language("g-crawl", judge, language)
    fonts = shipped_for(wanted)
    if not fonts:
        raise UsageError(f"g-crawl looks for the code intervals of fonts, and none is known for {wanted!r}")
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
) -> Strategy:
    likeness = recogniser(_language("n-crawl", judge, language), n)
    degree = CorrelationDegree(likeness, Weights(t, s, d), merge, parent, cap)
    return Strategy(judge, degree, admission=KeyAbove(degree, threshold, refused))


def language_focused(judge: Judge, language: str = "", without: str = "") -> Strategy:
    wanted = canonical_tag(_language("language-focused", judge, language))
    return Strategy(judge, LanguageSigns(wanted, _joined(without)))


def server_language(judge: Judge, language: str = "", without: str = "", patience: int = 50) -> Strategy:
    wanted = canonical_tag(_language("server-language", judge, language))
    return Strategy(judge, ServerLanguage(wanted, _joined(without)), admission=LeftServers(patience))


def _joined(names: str) -> tuple[str, ...]:
    """The names in `url+anchor`."""
    return tuple(filter(None, names.split("+")))


def _language(name: str, judge: Judge, given: str) -> str:
    """What a strategy that needs to know the language beforehand was told, or what the judge will look for."""
    wanted = given or wish_of(judge).language
    if not wanted:
        remedy = f"name it, as in {name}:language=mn-Mong, or give a judge that does, as in language:mn-Mong"
        raise UsageError(f"{name} needs to know which language is wanted; {remedy}")
    return wanted


def foreseeing(judge: Judge, level_of: Level) -> Strategy:
    return Strategy(judge, Foresight(level_of))


STRATEGIES: dict[str, Named] = {
    "breadth-first": Named(breadth_first, "links in the order they were found"),
    "depth-first": Named(depth_first, "links of the page visited last first"),
    "random": Named(random, "any waiting link, each with the same chance"),
    "hard-focused": Named(hard_focused, "only links of relevant pages, in the order they were found", LSW),
    "soft-focused": Named(soft_focused, "links of relevant pages first, then the others", LSW),
    "limited-distance": Named(limited_distance, "through at most n irrelevant pages in a row", LSW),
    "prioritised-limited-distance": Named(
        prioritised_limited_distance, "the same, links nearer to a relevant page first", LSW
    ),
    "in-links": Named(
        in_links, "links with most relevant pages pointing at them first", "Cho, Garcia-Molina, Page (1998)"
    ),
    "b-crawl": Named(breadth_first, "the paper's yardstick: breadth-first, meant for judge code-interval", MON),
    "g-crawl": Named(g_crawl, "links of pages with most letters in the code intervals of fonts first", MON),
    "n-crawl": Named(n_crawl, "by hyperlink correlation degree: anchor text, parents, depth of the URL", MON),
    "language-focused": Named(language_focused, "by signs of the language in URL, anchor and claims, before the visit"),
    "server-language": Named(
        server_language, "the same, with the language of servers and folders learned on the way", SERVERS
    ),
    "greedy-oracle": Named(foreseeing, "knows the truth of every waiting link: relevant ones first"),
    "oracle": Named(foreseeing, "knows how far every link is from a relevant page: the ceiling"),
}
ORACLES = ("greedy-oracle", "oracle")


def charset(language: str, sources: str = "+".join(SOURCES)) -> Judge:
    return Charset(language, _sources(sources))


def script(script: str, least: float = 0.3) -> Judge:
    return ScriptShare(script, least)


def language(language: str) -> Judge:
    return language_judge(language)


def ngram(
    language: str, n: int = 3, least: float = 0.5, profiles: str = "each", orientation: str = "similarity"
) -> Judge:
    return NgramRank(language, n, least, profiles, orientation)


def detector(language: str, library: str = "cld2", least: float = 0.5) -> Judge:
    return Detector(language, library, least)


def code_interval(language: str, preset: str = "paper", include_unicode: bool = False) -> Judge:
    return CodeInterval(language, preset, include_unicode)


JUDGES: dict[str, Named] = {
    "truth": Named(lambda: None, "the label of --target itself: a perfect judge"),
    "charset": Named(
        charset, "the language by the character encoding: META, header or detected", LSW, tuple(sorted(CHARSETS))
    ),
    "script": Named(script, "the share of letters in a script", subjects=tuple(SCRIPTS)),
    "language": Named(
        language, "the language by what suits it: CLD2, or the nearest profile", subjects=("TAG", "FILE.spoor", "mn")
    ),
    "ngram": Named(
        ngram, "the language by the ranks of its n-grams, without rivals", MON, ("TAG", "FILE.spoor", "mn-Mong")
    ),
    "detector": Named(
        detector, "the language as a library tells it: CLD2 or py3langid", subjects=tuple(sorted(known_tags("cld2")))
    ),
    "code-interval": Named(
        code_interval, "the share of characters where a legacy font has its letters", MON, ("FILE.toml", "mn-Mong")
    ),
}


def strategy_named(text: str) -> tuple[str, dict[str, Any]]:
    """The name and the parameters in `limited-distance:n=3`."""
    return _read(text, STRATEGIES, "strategy", "strategies")


def strategy(text: str, judge: Judge, level_of: Level | None = None) -> Strategy:
    """`soft-focused`, or with parameters `limited-distance:n=3`. Oracles need `level_of`."""
    name, given = strategy_named(text)
    if name in ORACLES:
        return foreseeing(judge, _given_levels(name, level_of))
    made: Strategy = STRATEGIES[name].make(judge, **given)
    return made


def judge(text: str) -> Judge:
    """A judge that is no truth: `charset:th`, `charset:th:sources=meta`, `script:thai:least=0.5`."""
    name, *rest = text.split(":")
    if name not in JUDGES or name == "truth":
        raise _unknown(name, JUDGES, "judge", "judges")
    if not rest or "=" in rest[0]:
        raise UsageError(f"judge {name!r} needs a subject, as in {name}:{JUDGES[name].subjects[-1]}")
    _, given = _read(":".join([name, *rest[1:]]), JUDGES, "judge", "judges")
    made: Judge = JUDGES[name].make(rest[0], **given)
    return made


def judge_of(target: Target) -> Judge:
    """What a person asked for in crawl.toml, as a judge."""
    judges: dict[str, Judge] = {}
    if target.language:
        judges["language"] = language_judge(target.language)
    if target.charset:
        judges["charset"] = Charset(target.charset)
    if target.script:
        judges["script"] = ScriptShare(target.script, target.least)
    return Agreement(target.require or " and ".join(judges), judges)


def _given_levels(name: str, level_of: Level | None) -> Level:
    if level_of is None:
        raise UsageError(f"{name} knows the truth, so it runs only in a simulation")
    return level_of


def _read(text: str, known: dict[str, Named], kind: str, command: str) -> tuple[str, dict[str, Any]]:
    name, *settings = text.split(":")
    if name not in known:
        raise _unknown(name, known, kind, command)
    defaults = known[name].parameters()
    given: dict[str, Any] = {}
    for setting in settings:
        parameter, _, value = setting.partition("=")
        if parameter not in defaults:
            takes = ", ".join(f"{p}={v}" for p, v in defaults.items()) or "no parameters"
            raise UsageError(f"{kind} {name!r} has no parameter {parameter!r}; it takes {takes}")
        given[parameter] = _converted(f"{name}:{setting}", value, defaults[parameter])
    return name, given


def _converted(setting: str, value: str, default: Any) -> Any:
    try:
        return _true_or_false(value) if isinstance(default, bool) else type(default)(value)
    except ValueError:
        kind = {bool: "True or False", int: "a whole number", float: "a number"}[type(default)]
        raise UsageError(f"{setting}: {value!r} is not {kind}") from None


def _true_or_false(value: str) -> bool:
    if value not in ("True", "False"):
        raise ValueError
    return value == "True"


def _unknown(name: str, known: dict[str, Named], kind: str, command: str) -> UsageError:
    near = difflib.get_close_matches(name, known, 1, 0.0)[0]
    return UsageError(f"unknown {kind} {name!r}; did you mean {near!r}? `spoor {command}` lists them")


def _sources(text: str) -> tuple[str, ...]:
    sources = tuple(text.split("+"))
    for source in sources:
        if source not in SOURCES:
            raise UsageError(f"unknown charset source {source!r}; known are {', '.join(SOURCES)}, joined by +")
    return sources
