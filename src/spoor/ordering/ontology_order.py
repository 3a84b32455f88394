"""The crawlers of the paper on contexts, ontologies and rules (Kumar, Vig): scorer, and strategies by name.

    ontology = scale · OBRS(heading, left, anchor, right)        rules = LARS(class of the page)

Links are sorted by the first; an admission uses both.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from spoor.errors import UsageError
from spoor.files import kind_in
from spoor.judging.classifiers import open_taxonomy
from spoor.judging.combined import CombinedJudge
from spoor.judging.judges import COR
from spoor.judging.ontology import Ontology
from spoor.judging.ontology_files import Choice, open_ontology
from spoor.judging.ontology_judge import OntologyTerms
from spoor.judging.page_rules import RULES, LookAhead, open_rules
from spoor.judging.term_finder import DIGITS, Finder
from spoor.judging.translators import translator_named
from spoor.naming import FileName, Named
from spoor.ordering.admissions import TwoThresholds
from spoor.ordering.simple import PageClass, ParentRelevance
from spoor.records import Evidence, Hints, Link, Page, Sighting
from spoor.roles import Judge, Merge, Translator
from spoor.strategy import Strategy

# The context of a link, compared with an ontology; and the rules for the class of its page.


@dataclass(frozen=True)
class ContextOntology:
    """Without `look_ahead` the evidence `rules` is 0. With a `transcriber`, contexts and pages are transcribed before
    they are scored."""

    finder: Finder
    look_ahead: LookAhead | None = None
    transcriber: Translator | None = None
    scale: float = 10.0

    reads_content: ClassVar[bool] = True
    reads_main_text: ClassVar[bool] = True
    merge: ClassVar[Mapping[str, Merge]] = {"ontology": max, "rules": max}

    def __post_init__(self) -> None:
        if not self.scale > 0:
            raise UsageError(f"obrs_scale={self.scale:g} makes every link the same; give more than 0")

    @property
    def waits(self) -> bool:
        return self.transcriber is not None and self.transcriber.waits

    def hints(self, page: Page, links: Sequence[Link]) -> Sequence[Hints]:
        """Both scores. A heading belongs to many links; it is scored once."""
        rules = self._rules(page)
        texts = list(dict.fromkeys(text for link in links for text in _context(link)))
        obrs = dict(zip(texts, map(self.finder.score, self._read(texts)), strict=True))
        return [(round(self.scale * sum(obrs[text] for text in _context(link)), DIGITS), rules) for link in links]

    def evidence(self, sighting: Sighting, links: Sequence[Link]) -> Sequence[Evidence]:
        return [{"ontology": ontology, "rules": rules} for ontology, rules in (link.hints for link in links)]

    def key(self, evidence: Evidence) -> float:
        return evidence["ontology"]

    def _rules(self, page: Page) -> float:
        if self.look_ahead is None:
            return 0.0
        return self.look_ahead.score(*self._read([page.titled_text]))

    def _read(self, texts: Sequence[str]) -> Sequence[str]:
        return texts if self.transcriber is None else self.transcriber.translate(texts)


def _context(link: Link) -> tuple[str, str]:
    """The heading above the link; and the text around and in it, as one string."""
    return link.heading, f"{link.left} {link.anchor} {link.right}"


# The crawlers of the paper, by name.


def core_baseline(judge: Judge, model: FileName = "") -> Strategy:
    if not model:
        return Strategy(judge, ParentRelevance())
    path = Path(model)
    taxonomy = open_rules(path).taxonomy if kind_in(path) == RULES.name else open_taxonomy(path)
    return Strategy(judge, PageClass(taxonomy))


@dataclass(frozen=True)
class Known:
    """Files of the strategy: an ontology, or the part of one below `concept`, and rules between classes."""

    ontology: FileName = ""
    concept: str = ""
    model: FileName = ""


@dataclass(frozen=True)
class Scoring:
    """How scores are computed, and their thresholds; named as in the paper."""

    min_ont: float = 5.0
    min_rules: float = 3.0
    obrs_scale: float = 10.0
    combine: str = "sum"
    overlap: str = "all"
    soft: bool = False


_NOTHING, _AS_PUBLISHED = Known(), Scoring()


def core(judge: Judge, known: Known = _NOTHING, scoring: Scoring = _AS_PUBLISHED) -> Strategy:
    return _core("core", judge, known, scoring)


def ml_core(
    judge: Judge,
    known: Known = _NOTHING,
    dictionary: FileName = "",
    translator: FileName = "",
    scoring: Scoring = _AS_PUBLISHED,
) -> Strategy:
    reads_by = translator_named(dictionary, translator) or _translator_of(judge)
    return _core("ml-core", judge, known, scoring, reads_by)


def _core(name: str, judge: Judge, known: Known, scoring: Scoring, reads_by: Translator | None = None) -> Strategy:
    finder = Finder(_ontology(name, judge, known.ontology, known.concept), scoring.overlap)
    ahead = LookAhead(open_rules(Path(known.model)), scoring.combine, scoring.soft) if known.model else None
    scorer = ContextOntology(finder, ahead, reads_by, scoring.obrs_scale)
    return Strategy(judge, scorer, admission=TwoThresholds("ontology", scoring.min_ont, "rules", scoring.min_rules))


def _ontology(name: str, judge: Judge, given: str, concept: str) -> Ontology:
    """The ontology given to the strategy, or that of the judge."""
    if given:
        return open_ontology(Path(given), Choice(concept))
    asked = _ontology_judge(judge)
    if asked is None:
        remedy = f"name it, as in {name}:ontology=topic.csv, or give a judge that does, as in ontology:topic.csv"
        raise UsageError(f"{name} needs an ontology; {remedy}")
    if concept:
        raise UsageError(
            f"{name}:concept={concept} is part of an ontology; name that too, as in ontology=thesaurus.ttl"
        )
    return asked.finder.ontology


def _translator_of(judge: Judge) -> Translator:
    asked = _ontology_judge(judge)
    if asked is None or asked.transcriber is None:
        remedy = "name one, as in ml-core:dictionary=english-hindi.tsv, or leave it to core, which needs none"
        raise UsageError(f"ml-core needs a dictionary of the two languages, or a translator; {remedy}")
    return asked.transcriber


def _ontology_judge(judge: Judge) -> OntologyTerms | None:
    judges = judge.judges.values() if isinstance(judge, CombinedJudge) else (judge,)
    return next((one for one in judges if isinstance(one, OntologyTerms)), None)


CORE: dict[str, Named] = {
    "core-baseline": Named(core_baseline, "links of pages that most probably belong to a target class first", COR),
    "core": Named(core, "by terms of an ontology around links, else by rules between classes", COR),
    "ml-core": Named(ml_core, "the same, with texts of another language translated first", COR),
}
