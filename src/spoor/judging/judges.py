"""Judges by name, and the judge of a target."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import takewhile
from pathlib import Path

from spoor.errors import BadInput, UsageError
from spoor.files import SUFFIX, kind_in
from spoor.judging.classifiers import TAXONOMY, TOPIC, Examples, Taxonomy, open_taxonomy, open_topic
from spoor.judging.combined import CombinedJudge
from spoor.judging.detector import Detector, known_tags, language_judge
from spoor.judging.language_judges import CHARSETS, SCRIPTS, SOURCES, Charset, CodeInterval, NgramRank, ScriptShare
from spoor.judging.ontology_files import Choice, open_ontology
from spoor.judging.ontology_judge import OntologyTerms
from spoor.judging.page_rules import RULES, open_rules
from spoor.judging.profiles import PROFILES
from spoor.judging.similar_words import learned
from spoor.judging.term_finder import Finder
from spoor.judging.topic_judges import PLACES, Gold, Keywords, Pattern, TagWeighted, VectorSpaceModel, calibrated
from spoor.judging.train_topic import topic_from
from spoor.judging.training_pages import document, documents
from spoor.judging.translators import translator_named, translator_of
from spoor.naming import FileName, Named, Names, joined, path_in
from spoor.parse.words import Words
from spoor.roles import Judge, Translator
from spoor.settings import GIVEN_IN_PYTHON, Target, settings_in

# The papers in which the strategies and judges were published.


LSW = "Somboonviwat, Tamura, Kitsuregawa: Simulation Study of Language Specific Web Crawling (2005)"
MON = "Ma, Yan, Zhang, Yang: A Method of Collecting Mongolian Web page Based on Hyperlink Correlation Degree (2014)"
VSM = "Qin, Peng: A Focused Crawler Based on Correlation Analysis (2014)"
COR = "Kumar, Vig: Multilingual Context Ontology Rule Enhanced Focused Web Crawler"
AHM = "Jia, Fang: Design of Web Crawler Based on Improved Hidden Markov Model (2016)"
SERVERS = "Tamura, Somboonviwat, Kitsuregawa: A Method for Language-Specific Web Crawling and Its Evaluation (2007)"
FISH = "De Bra, Houben, Kornatzky, Post: Information Retrieval in Distributed Hypertexts (1994)"
SHARK = "Hersovici, Jacovi, Maarek, Pelleg, Shtalhaim, Ur: The Shark-Search Algorithm (1998)"
ORDERING = "Cho, Garcia-Molina, Page: Efficient Crawling Through URL Ordering (1998)"
FOCUSED = "Chakrabarti, van den Berg, Dom: Focused Crawling (1999)"
OPIC = "Abiteboul, Preda, Cobena: Adaptive On-Line Page Importance Computation (2003)"
ACHE = "Barbosa, Freire: An Adaptive Crawler for Locating Hidden-Web Entry Points (2007)"
SPIDERLING = "Suchomel, Pomikálek: Efficient Web Crawling for Large Text Corpora (2012)"
SLEEPING = "Kleinberg, Niculescu-Mizil, Sharma: Regret Bounds for Sleeping Experts and Bandits (2010)"
HMM = "Liu, Janssen, Milios: Using HMM to Learn User Browsing Patterns for Focused Web Crawling (2006)"
CONTEXT_GRAPHS = "Diligenti, Coetzee, Lawrence, Giles, Gori: Focused Crawling Using Context Graphs (2000)"
TUNNELLING = "Bergmark, Lagoze, Sbityakov: Focused Crawls, Tunneling, and Digital Libraries (2002)"


# The ontology judge, built from file names.


def ontology(
    file: FileName,
    concept: str = "",
    least: float = 0.5,
    overlap: str = "all",
    languages: str = "",
    query: str = "",
    dictionary: FileName = "",
    translator: FileName = "",
) -> Judge:
    chosen = open_ontology(Path(file), Choice(concept, joined(languages), query))
    return OntologyTerms(Finder(chosen, overlap), least, translator_named(dictionary, translator))


# The other judges by name, and the judge of a target.


def charset(language: str, sources: str = "+".join(SOURCES)) -> Judge:
    return Charset(language, _sources(sources))


def script(script: str, least: float = 0.3) -> Judge:
    return ScriptShare(script, least)


def language(language: str) -> Judge:
    return language_judge(language)


def ngram(
    language: str,
    n: int = 3,
    least: float = 0.5,
    profiles: str = "each",
    orientation: str = "similarity",
    distance: float = 0.0,
) -> Judge:
    return NgramRank(language, n, least, profiles, orientation, distance)


def detector(language: str, library: str = "cld2", least: float = 0.5) -> Judge:
    return Detector(language, library, least)


def code_interval(language: str, preset: str = "paper", include_unicode: bool = False) -> Judge:
    return CodeInterval(language, preset, include_unicode)


def keywords(words: str, least: float = 0.5) -> Judge:
    return Keywords(joined(words), least)


def tag_weighted(words: str, least: float = 0.05, normalise: bool = True, language: str = "") -> Judge:
    return TagWeighted(joined(words), least, normalise, language)


def gold(file: FileName, terms: int = 10, least: float = 0.12, language: str = "") -> Judge:
    return Gold(file, document(Path(file)).titled_text, terms, least, language)


def vsm(
    folder: FileName,
    background: FileName = "",
    semantic: bool = False,
    terms: int = 100,
    least: float = 0.0,
    language: str = "",
    stem: bool = False,
) -> Judge:
    texts = [page.titled_text for page in documents(Path(folder))]
    others = [page.titled_text for page in documents(Path(background))] if background else []
    field = learned(texts, others, Words(language, stem), semantic)
    return VectorSpaceModel(folder, field.topic(terms), least or calibrated(field, terms, texts, others))


def pattern(pattern: str, where: str = "+".join(PLACES)) -> Judge:
    return Pattern(pattern, joined(where))


def examples(file: FileName, least: float = 0.0) -> Judge:
    path = Path(file)
    return Examples(open_topic(path) if file.endswith(SUFFIX) else topic_from(path), least)


def taxonomy(file: FileName) -> Judge:
    path = Path(file)
    return Taxonomy(open_rules(path).taxonomy if kind_in(path) == RULES.name else open_taxonomy(path))


_BUILT_IN: dict[str, Named] = {
    "truth": Named(lambda: None, "the label of --target itself: a perfect judge"),
    "charset": Named(
        charset, "the language by the character encoding: META, header or detected", LSW, tuple(sorted(CHARSETS))
    ),
    "script": Named(script, "the share of letters in a script", subjects=tuple(SCRIPTS)),
    "language": Named(
        language,
        "the language by CLD2 or the nearest profile, whichever suits it",
        subjects=("TAG", "FILE.spoor", "mn"),
    ),
    "ngram": Named(ngram, "the language by the ranks of its n-grams alone", MON, ("TAG", "FILE.spoor", "mn-Mong")),
    "detector": Named(
        detector, "the language as a library detects it: CLD2 or py3langid", subjects=tuple(sorted(known_tags("cld2")))
    ),
    "code-interval": Named(
        code_interval, "the share of characters where a legacy font has its letters", MON, ("FILE.toml", "mn-Mong")
    ),
    "keywords": Named(keywords, "the topic by words and phrases that you name", subjects=("WORD+WORD", "horse+steppe")),
    "tag-weighted": Named(
        tag_weighted,
        "the same by TF-IDF, counted again in titles, headings and emphasised words",
        AHM,
        ("WORD+WORD", "horse+steppe"),
    ),
    "gold": Named(gold, "the topic by its similarity to one ideal document", subjects=("FILE", "best-page.html")),
    "vsm": Named(vsm, "the topic by documents of the field: cosine of TF-IDF vectors", VSM, ("FOLDER", "my-documents")),
    "examples": Named(
        examples,
        "the topic by a classifier trained on relevant and other pages",
        subjects=("FOLDER", "FILE.spoor", "my.spoor"),
    ),
    "taxonomy": Named(
        taxonomy,
        "the class of the page among several, some of them relevant: naive Bayes",
        subjects=("FILE.spoor", "my.spoor"),
    ),
    "ontology": Named(
        ontology,
        "the topic by the terms of an ontology: SKOS, OWL or a table",
        COR,
        ("FILE", "FOLDER", "thesaurus.ttl"),
    ),
    "pattern": Named(pattern, "a regular expression, in URL, title or text", subjects=("REGEX", "/recipes?/")),
}
JUDGES = Names("judge", "judges", _BUILT_IN)


TARGETS = ".toml"
"""Suffix of files that contain a [target]."""
MODEL_JUDGES = {PROFILES.name: "language", TOPIC.name: "examples", TAXONOMY.name: "taxonomy", RULES.name: "taxonomy"}
"""The judge for each kind of model file."""


def judge(text: str, student: Callable[[Target], Judge] | None = None) -> Judge:
    """Builds a judge (not `truth`) from its name: `charset:th`, `charset:th:sources=meta`, `script:thai:least=0.5`. The
    subject may contain colons, as URLs do; it ends where the parameters (`name=value`) begin. `text` may also be a file
    with a target, `crawl.toml`."""
    if text.endswith(TARGETS) and not (":" in text and _is_setting(text.rpartition(":")[2])):
        settings = settings_in(Path(text))
        target = with_files(settings.target, Path(text).parent)
        return judge_of(target, translator=translator_of(settings.translate), student=student)
    return _named(text)


def with_files(target: Target, folder: Path) -> Target:
    """Resolves the file names in judge names relative to `folder`."""
    return replace(target, judge=tuple(with_its_files(text, folder) for text in target.judge))


def with_its_files(text: str, folder: Path) -> str:
    """The name of a judge, with its file names resolved relative to `folder`."""
    return with_its_paths(text, partial(path_in, folder))


def with_its_paths(text: str, place: Callable[[str], str]) -> str:
    """The name of a judge, with another path for each of its files."""
    name, subject, settings = _taken_apart(text)
    if name.endswith(SUFFIX):
        return ":".join([place(name), *settings])
    if name not in JUDGES:
        return text
    is_file = subject.endswith((SUFFIX, TARGETS)) or set(JUDGES[name].needed()) & set(JUDGES[name].files())
    _, *placed = JUDGES.with_paths(":".join([name, *settings]), place).split(":")
    return ":".join(filter(None, [name, place(subject) if is_file and subject else subject, *placed]))


def _named(text: str) -> Judge:
    name, subject, settings = _taken_apart(_with_judge(text))
    if name == "truth":
        raise JUDGES.unknown(name)
    checked = _checked_subject(name, subject)
    _, given = JUDGES.read(":".join([name, *settings]))
    made: Judge = JUDGES[name].made(*checked, **given)
    return made


def _taken_apart(text: str) -> tuple[str, str, list[str]]:
    """Splits the name of a judge into name, subject and parameters."""
    name, *rest = text.split(":")
    settings = list(takewhile(_is_setting, reversed(rest)))[::-1]
    return name, ":".join(rest[: len(rest) - len(settings)]), settings


def _checked_subject(name: str, subject: str) -> list[str]:
    """As a list of zero or one argument. Built-in judges need a subject; a plug-in may have none."""
    named = JUDGES.named(name)
    if named.needed() and not subject:
        raise UsageError(f"judge {name!r} needs a subject, as in {name}:{named.subjects[-1]}")
    if subject and not named.needed():
        raise UsageError(f"judge {name!r} has no subject, so {subject!r} has no place in its name")
    return [subject] if subject else []


def _with_judge(text: str) -> str:
    """Prefixes a bare model file, `FILE.spoor`, with the name of the judge that reads it."""
    file = text.partition(":")[0]
    if not file.endswith(SUFFIX):
        return text
    kind = kind_in(Path(file))
    if kind not in MODEL_JUDGES:
        no_judge = f"holds {kind}, which are for strategies" if kind else "is no model"
        raise BadInput(f"{file} {no_judge}; create one with `spoor train`" + (" for a judge" if kind else ""))
    return f"{MODEL_JUDGES[kind]}:{text}"


def _is_setting(text: str) -> bool:
    return text.partition("=")[0].isidentifier() and "=" in text


def judge_of(
    target: Target,
    given: Judge | None = None,
    translator: Translator | None = None,
    student: Callable[[Target], Judge] | None = None,
) -> Judge:
    """The judge of the [target] in crawl.toml. `given` is a judge passed as an object from Python. Ontology judges
    without a translator of their own use `translator`. `student` builds the judge of `like` and `about`."""
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
    if target.like or target.about:
        assert student is not None, "the registry gives one"
        judges["like" if target.like else "about"] = student(target)
    if target.ontology:
        judges["ontology"] = ontology(target.ontology, target.concept, query=target.query)
    for name, asked in target.judges().items():
        judges[name] = given if given is not None and asked == GIVEN_IN_PYTHON else _named(asked)
    if translator is not None:
        judges = {name: _translating(one, translator) for name, one in judges.items()}
        if not any(isinstance(one, OntologyTerms) and one.transcriber is translator for one in judges.values()):
            raise UsageError("[translate] needs a target with an ontology; name one, or leave [translate] out")
    return CombinedJudge(target.require or " and ".join(judges), judges)


def _translating(judge: Judge, translator: Translator) -> Judge:
    if not isinstance(judge, OntologyTerms) or judge.transcriber is not None:
        return judge
    return replace(judge, transcriber=translator)


def _topic_of(model: str) -> Judge:
    return taxonomy(model) if kind_in(Path(model)) in (TAXONOMY.name, RULES.name) else examples(model)


def _sources(text: str) -> tuple[str, ...]:
    sources = tuple(text.split("+"))
    for source in sources:
        if source not in SOURCES:
            raise UsageError(f"unknown charset source {source!r}; known are {', '.join(SOURCES)}, joined by +")
    return sources
