"""Judges by name, and the judge of a target."""

from __future__ import annotations

from itertools import takewhile
from pathlib import Path

from spoor.assembly.naming import Named, joined, read, unknown
from spoor.assembly.ontologies import ontology
from spoor.assembly.papers import AHM, COR, LSW, MON, VSM
from spoor.config import Target, target_in
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
from spoor.language.profile_file import PROFILES
from spoor.model_file import SUFFIX, kind_in
from spoor.ontology.rule_model import RULES, open_rules
from spoor.parse.documents import document, documents
from spoor.records import Page
from spoor.roles import Judge
from spoor.text.field import learned
from spoor.text.taxonomy_model import TAXONOMY, open_taxonomy
from spoor.text.topic_model import TOPIC, open_topic
from spoor.text.words import Words
from spoor.training.topic import topic_from


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
    return Keywords(joined(words), least)


def tag_weighted(words: str, least: float = 0.05, normalise: bool = True, language: str = "") -> Judge:
    return TagWeighted(joined(words), least, normalise, language)


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
    return Pattern(pattern, joined(where))


def examples(file: str, least: float = 0.0) -> Judge:
    path = Path(file)
    return Examples(open_topic(path) if file.endswith(SUFFIX) else topic_from(path), least)


def taxonomy(file: str) -> Judge:
    path = Path(file)
    return Taxonomy(open_rules(path).taxonomy if kind_in(path) == RULES.name else open_taxonomy(path))


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
    "ontology": Named(
        ontology,
        "the topic by the terms of an ontology: SKOS, OWL or a table",
        COR,
        ("FILE", "FOLDER", "thesaurus.ttl"),
    ),
    "pattern": Named(pattern, "a regular expression, in URL, title or text", subjects=("REGEX", "/recipes?/")),
}


TARGETS = ".toml"
"""What the name of a file ends in that holds a [target]."""
MODEL_JUDGES = {PROFILES.name: "language", TOPIC.name: "examples", TAXONOMY.name: "taxonomy", RULES.name: "taxonomy"}
"""Which judge reads a model, by what its file says it holds."""


def judge(text: str) -> Judge:
    """A judge that is no truth: `charset:th`, `charset:th:sources=meta`, `script:thai:least=0.5`. The subject may hold
    colons itself, as URLs do; what looks like a parameter ends it. Also the target of a file, `crawl.toml`."""
    if text.endswith(TARGETS):
        return judge_of(target_in(Path(text)))
    name, *rest = _with_judge(text).split(":")
    if name not in JUDGES or name == "truth":
        raise unknown(name, JUDGES, "judge", "judges")
    settings = list(takewhile(_is_setting, reversed(rest)))[::-1]
    subject = ":".join(rest[: len(rest) - len(settings)])
    if not subject:
        raise UsageError(f"judge {name!r} needs a subject, as in {name}:{JUDGES[name].subjects[-1]}")
    _, given = read(":".join([name, *settings]), JUDGES, "judge", "judges")
    made: Judge = JUDGES[name].make(subject, **given)
    return made


def _with_judge(text: str) -> str:
    """A model alone, `FILE.spoor`, is put behind the name of the judge that reads it."""
    file = text.partition(":")[0]
    if not file.endswith(SUFFIX):
        return text
    kind = kind_in(Path(file))
    if kind not in MODEL_JUDGES:
        no_judge = f"holds {kind}, which are for strategies" if kind else "is no model"
        raise BadInput(f"{file} {no_judge}; `spoor train` makes one" + (" for a judge" if kind else ""))
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
    if target.ontology:
        judges["ontology"] = ontology(target.ontology, target.concept, query=target.query)
    return Agreement(target.require or " and ".join(judges), judges)


def _topic_of(model: str) -> Judge:
    return taxonomy(model) if kind_in(Path(model)) in (TAXONOMY.name, RULES.name) else examples(model)


def _sources(text: str) -> tuple[str, ...]:
    sources = tuple(text.split("+"))
    for source in sources:
        if source not in SOURCES:
            raise UsageError(f"unknown charset source {source!r}; known are {', '.join(SOURCES)}, joined by +")
    return sources
