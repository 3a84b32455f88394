"""The one place where names become objects: strategies, judges and their parameters."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from typing import Any

from spoor.admit.all_of import AllOf
from spoor.admit.at_least import AtLeast
from spoor.admit.at_most import AtMost
from spoor.admit.key_above import KeyAbove
from spoor.admit.left_servers import LeftServers
from spoor.admit.limited_distance import LimitedDistance
from spoor.admit.noise import NoNoise
from spoor.config import Target
from spoor.errors import BadInput, UsageError
from spoor.judge.agreement import Agreement
from spoor.judge.charset import CHARSETS, SOURCES, Charset
from spoor.judge.code_interval import CodeInterval
from spoor.judge.detector import Detector, known_tags
from spoor.judge.examples import Examples
from spoor.judge.gold import Gold
from spoor.judge.keywords import Keywords
from spoor.judge.language import language_judge
from spoor.judge.ngram_rank import NgramRank
from spoor.judge.pattern import PLACES, Pattern
from spoor.judge.script_share import SCRIPTS, ScriptShare
from spoor.judge.tag_weighted import TagWeighted
from spoor.judge.taxonomy import Taxonomy
from spoor.judge.vsm import VectorSpaceModel, calibrated
from spoor.language.encoding_table import shipped_for
from spoor.language.profile_file import PROFILES
from spoor.language.recogniser import recogniser
from spoor.language.tags import canonical_tag
from spoor.model_file import SUFFIX, kind_in
from spoor.parse.documents import document, documents
from spoor.records import Page
from spoor.roles import Comparing, Judge
from spoor.score.arrival import Arrival
from spoor.score.aspects import Aspects, Shares
from spoor.score.chance import Chance
from spoor.score.correlation_degree import CorrelationDegree, Weights
from spoor.score.foresight import Foresight
from spoor.score.interval_share import IntervalShare
from spoor.score.language_signs import LanguageSigns
from spoor.score.latest import Latest
from spoor.score.nearness import Nearness
from spoor.score.parent_relevance import ParentRelevance
from spoor.score.relevant_in_links import RelevantInLinks
from spoor.score.relevant_referrer import RelevantReferrer
from spoor.score.server_language import ServerLanguage
from spoor.strategy import Strategy, wish_of
from spoor.text.field import learned
from spoor.text.taxonomy_model import TAXONOMY, open_taxonomy
from spoor.text.topic_model import TOPIC, open_topic
from spoor.text.words import Words
from spoor.trail.chain_hops import ChainHops
from spoor.trail.since_relevant import SinceRelevant
from spoor.training.topic import topic_from

LSW = "Somboonviwat, Tamura, Kitsuregawa: Simulation Study of Language Specific Web Crawling (2005)"
MON = "Ma, Yan, Zhang, Yang: A Method of Collecting Mongolian Web page Based on Hyperlink Correlation Degree (2014)"
VSM = "Qin, Peng: A Focused Crawler Based on Correlation Analysis (2014)"
AHM = "Jia, Fang: Design of Web Crawler Based on Improved Hidden Markov Model (2016)"
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
    wanted = _known_language("language-focused", judge, language)
    return Strategy(judge, LanguageSigns(wanted, _joined(without)))


def server_language(judge: Judge, language: str = "", without: str = "", patience: int = 50) -> Strategy:
    wanted = _known_language("server-language", judge, language)
    return Strategy(judge, ServerLanguage(wanted, _joined(without)), admission=LeftServers(patience))


def _joined(names: str) -> tuple[str, ...]:
    """The names in `url+anchor`."""
    return tuple(filter(None, names.split("+")))


def _known_language(name: str, judge: Judge, given: str) -> str:
    """A tag in its one spelling, or a model file."""
    wanted = _language(name, judge, given)
    return wanted if wanted.endswith(SUFFIX) else canonical_tag(wanted)


def _language(name: str, judge: Judge, given: str) -> str:
    """What a strategy that needs to know the language beforehand was told, or what the judge will look for."""
    wanted = given or wish_of(judge).language
    if not wanted:
        remedy = f"name it, as in {name}:language=mn-Mong, or give a judge that does, as in language:mn-Mong"
        raise UsageError(f"{name} needs to know which language is wanted; {remedy}")
    return wanted


def by_vector_space(judge: Judge, graded: bool = False, depth: int = 3) -> Strategy:
    if depth < 0:
        raise UsageError(f"vsm:depth={depth} leaves nothing to visit; seeds have depth 0, so give 0 or more")
    return Strategy(judge, ParentRelevance(graded), admission=AllOf((NoNoise(), AtMost("depth", depth))))


def content_bf(judge: Judge) -> Strategy:
    return Strategy(judge, ParentRelevance())


def link_bf(judge: Judge, words: str = "") -> Strategy:
    return Strategy(judge, Aspects(_topic("link-bf", judge, words), Shares(0, 0.5, 0.5, 0)), admission=NoNoise())


def composite_bf(judge: Judge, words: str = "") -> Strategy:
    scorer = Aspects(_topic("composite-bf", judge, words), Shares(0.5, 0.25, 0.25, 0))
    return Strategy(judge, scorer, admission=NoNoise())


def four_aspect(
    judge: Judge,
    parent: float = 0.25,
    anchor: float = 0.25,
    url: float = 0.25,
    chain: float = 0.25,
    size: int = 50,
    words: str = "",
) -> Strategy:
    scorer = Aspects(_topic("four-aspect", judge, words), Shares(parent, anchor, url, chain))
    return Strategy(judge, scorer, ChainHops(size), NoNoise())


def _topic(name: str, judge: Judge, words: str) -> Comparing:
    """What a strategy that compares texts of links with the topic was told, or the judge itself, or its words."""
    compares = judge.nearest if isinstance(judge, Agreement) else judge
    if not words and isinstance(compares, Comparing):
        return compares
    wanted = _joined(words) or wish_of(judge).words
    if not wanted:
        remedy = f"name words, as in {name}:words=horse+steppe, or give a judge that does, as in keywords:horse+steppe"
        raise UsageError(f"{name} needs to know what the topic is; {remedy}")
    return Keywords(wanted)


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
    "vsm": Named(by_vector_space, "links of relevant pages first, down to a depth; noise links left out", VSM),
    "content-bf": Named(content_bf, "links of the most relevant pages first", AHM),
    "link-bf": Named(link_bf, "links whose anchor and URL are nearest to the topic first", AHM),
    "composite-bf": Named(composite_bf, "by page, anchor and URL together", AHM),
    "four-aspect": Named(
        four_aspect, "the same, and by how near the link is to the most relevant pages found so far", AHM
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


def keywords(words: str, least: float = 0.5) -> Judge:
    return Keywords(_joined(words), least)


def tag_weighted(words: str, least: float = 0.05, normalise: bool = True, language: str = "") -> Judge:
    return TagWeighted(_joined(words), least, normalise, language)


def gold(file: str, terms: int = 10, least: float = 0.12, language: str = "") -> Judge:
    return Gold(file, _text(document(Path(file))), terms, least, language)


def vsm(
    folder: str,
    background: str = "",
    semantic: bool = False,
    terms: int = 100,
    least: float = 0.0,
    language: str = "",
    stem: bool = False,
) -> Judge:
    texts = [_text(page) for page in documents(Path(folder))]
    others = [_text(page) for page in documents(Path(background))] if background else []
    field = learned(texts, others, Words(language, stem), semantic)
    return VectorSpaceModel(folder, field.topic(terms), least or calibrated(field, terms, texts, others))


def _text(page: Page) -> str:
    """What judges of topics read of a page."""
    return f"{page.title}\n{page.main_text or page.text}"


def pattern(pattern: str, where: str = "+".join(PLACES)) -> Judge:
    return Pattern(pattern, _joined(where))


def examples(file: str, least: float = 0.0) -> Judge:
    path = Path(file)
    return Examples(open_topic(path) if file.endswith(SUFFIX) else topic_from(path), least)


def taxonomy(file: str) -> Judge:
    return Taxonomy(open_taxonomy(Path(file)))


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
    "keywords": Named(keywords, "the topic by words and phrases that you name", subjects=("WORD+WORD", "horse+steppe")),
    "tag-weighted": Named(
        tag_weighted,
        "the same by TF-IDF, counted again in titles, headings and stressed words",
        AHM,
        ("WORD+WORD", "horse+steppe"),
    ),
    "gold": Named(gold, "the topic by one document that is just right", subjects=("FILE", "best-page.html")),
    "vsm": Named(vsm, "the topic by documents of the field: cosine of TF-IDF vectors", VSM, ("FOLDER", "my-documents")),
    "examples": Named(
        examples, "the topic by wanted pages and others, trained", subjects=("FOLDER", "FILE.spoor", "my.spoor")
    ),
    "taxonomy": Named(
        taxonomy, "the class of the page among several, some wanted: naive Bayes", subjects=("FILE.spoor", "my.spoor")
    ),
    "pattern": Named(pattern, "a regular expression, in URL, title or text", subjects=("REGEX", "/recipes?/")),
}


MODEL_JUDGES = {PROFILES.name: "language", TOPIC.name: "examples", TAXONOMY.name: "taxonomy"}
"""Which judge reads a model, by what its file says it holds."""


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
    """A judge that is no truth: `charset:th`, `charset:th:sources=meta`, `script:thai:least=0.5`. The subject may hold
    colons itself, as URLs do; what looks like a parameter ends it."""
    name, *rest = _with_judge(text).split(":")
    if name not in JUDGES or name == "truth":
        raise _unknown(name, JUDGES, "judge", "judges")
    settings = list(takewhile(_is_setting, reversed(rest)))[::-1]
    subject = ":".join(rest[: len(rest) - len(settings)])
    if not subject:
        raise UsageError(f"judge {name!r} needs a subject, as in {name}:{JUDGES[name].subjects[-1]}")
    _, given = _read(":".join([name, *settings]), JUDGES, "judge", "judges")
    made: Judge = JUDGES[name].make(subject, **given)
    return made


def _with_judge(text: str) -> str:
    """A model alone, `FILE.spoor`, is put behind the name of the judge that reads it."""
    file = text.partition(":")[0]
    if not file.endswith(SUFFIX):
        return text
    kind = kind_in(Path(file))
    if kind not in MODEL_JUDGES:
        raise BadInput(f"{file} is no model; `spoor train` makes one")
    return f"{MODEL_JUDGES[kind]}:{text}"


def _is_setting(text: str) -> bool:
    return text.partition("=")[0].isidentifier() and "=" in text


def judge_of(target: Target) -> Judge:
    """What a person asked for in crawl.toml, as a judge."""
    judges: dict[str, Judge] = {}
    if target.language:
        judges["language"] = language_judge(target.language)
    if target.charset:
        judges["charset"] = Charset(target.charset)
    if target.script:
        judges["script"] = ScriptShare(target.script, target.least)
    if target.keywords:
        judges["keywords"] = Keywords(target.keywords)
    if target.gold:
        judges["gold"] = gold(target.gold)
    if target.pattern:
        judges["pattern"] = Pattern(target.pattern)
    if target.topic:
        judges["topic"] = _topic_of(target.topic)
    if target.examples:
        judges["examples"] = examples(target.examples)
    return Agreement(target.require or " and ".join(judges), judges)


def _topic_of(model: str) -> Judge:
    return taxonomy(model) if kind_in(Path(model)) == TAXONOMY.name else examples(model)


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
