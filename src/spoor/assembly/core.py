"""The crawlers of the paper on contexts, ontologies and rules, by name."""

from __future__ import annotations

from pathlib import Path

from spoor.admit.two_thresholds import TwoThresholds
from spoor.assembly.naming import Named
from spoor.assembly.ontologies import transcriber_of
from spoor.assembly.papers import COR
from spoor.errors import UsageError
from spoor.judge.agreement import Agreement
from spoor.judge.ontology import OntologyTerms
from spoor.model_file import kind_in
from spoor.ontology.finder import Finder
from spoor.ontology.look_ahead import LookAhead
from spoor.ontology.opening import Choice, open_ontology
from spoor.ontology.rule_model import RULES, open_rules
from spoor.ontology.terms import Ontology
from spoor.ontology.transcriber import Transcriber
from spoor.roles import Judge
from spoor.score.context_ontology import ContextOntology
from spoor.score.page_class import PageClass
from spoor.score.parent_relevance import ParentRelevance
from spoor.strategy import Strategy
from spoor.text.taxonomy_model import open_taxonomy


def core_baseline(judge: Judge, model: str = "") -> Strategy:
    if not model:
        return Strategy(judge, ParentRelevance())
    path = Path(model)
    taxonomy = open_rules(path).taxonomy if kind_in(path) == RULES.name else open_taxonomy(path)
    return Strategy(judge, PageClass(taxonomy))


def core(
    judge: Judge,
    ontology: str = "",
    concept: str = "",
    model: str = "",
    min_ont: float = 5.0,
    min_rules: float = 3.0,
    obrs_scale: float = 10.0,
    combine: str = "sum",
    overlap: str = "all",
    soft: bool = False,
) -> Strategy:
    finder = Finder(_ontology("core", judge, ontology, concept), overlap)
    scorer = ContextOntology(finder, _look_ahead(model, combine, soft), scale=obrs_scale)
    return Strategy(judge, scorer, admission=_thresholds(min_ont, min_rules))


def ml_core(
    judge: Judge,
    ontology: str = "",
    concept: str = "",
    model: str = "",
    dictionary: str = "",
    min_ont: float = 5.0,
    min_rules: float = 3.0,
    obrs_scale: float = 10.0,
    combine: str = "sum",
    overlap: str = "all",
    soft: bool = False,
) -> Strategy:
    transcriber = _transcriber(judge, dictionary)
    finder = Finder(_ontology("ml-core", judge, ontology, concept), overlap)
    scorer = ContextOntology(finder, _look_ahead(model, combine, soft), transcriber, obrs_scale)
    return Strategy(judge, scorer, admission=_thresholds(min_ont, min_rules))


def _thresholds(min_ont: float, min_rules: float) -> TwoThresholds:
    return TwoThresholds("ontology", min_ont, "rules", min_rules)


def _look_ahead(model: str, combine: str, soft: bool) -> LookAhead | None:
    return LookAhead(open_rules(Path(model)), combine, soft) if model else None


def _ontology(name: str, judge: Judge, given: str, concept: str) -> Ontology:
    """What the strategy was told, or what the judge looks for."""
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


def _transcriber(judge: Judge, dictionary: str) -> Transcriber:
    asked = _ontology_judge(judge)
    if not dictionary and asked is not None and asked.transcriber is not None:
        return asked.transcriber
    if not dictionary:
        remedy = "name one, as in ml-core:dictionary=english-hindi.tsv, or leave it to core, which needs none"
        raise UsageError(f"ml-core needs a dictionary of the two languages; {remedy}")
    return transcriber_of(dictionary)


def _ontology_judge(judge: Judge) -> OntologyTerms | None:
    judges = judge.judges.values() if isinstance(judge, Agreement) else (judge,)
    return next((one for one in judges if isinstance(one, OntologyTerms)), None)


CORE: dict[str, Named] = {
    "core-baseline": Named(core_baseline, "links of pages that are likeliest of a wanted class first", COR),
    "core": Named(core, "by terms of an ontology around links; the rest where rules between classes give hope", COR),
    "ml-core": Named(ml_core, "the same, with words of another language transcribed by a dictionary", COR),
}
