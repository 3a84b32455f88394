"""The language or topic that a strategy needs in advance: from its parameters, or from the judge."""

from __future__ import annotations

from spoor.errors import UsageError
from spoor.files import SUFFIX
from spoor.judging.combined import CombinedJudge
from spoor.judging.language_tags import canonical_tag
from spoor.judging.topic_judges import Keywords
from spoor.naming import joined
from spoor.roles import Comparing, Judge
from spoor.strategy import prior_of


def known_language(name: str, judge: Judge, given: str) -> str:
    """A tag in canonical spelling, or a model file."""
    relevant = language_for(name, judge, given)
    return relevant if relevant.endswith(SUFFIX) else canonical_tag(relevant)


def language_for(name: str, judge: Judge, given: str) -> str:
    """The language given to the strategy, or that of the judge."""
    relevant = given or prior_of(judge).language
    if not relevant:
        remedy = f"name it, as in {name}:language=mn-Mong, or give a judge that does, as in language:mn-Mong"
        raise UsageError(f"{name} needs to know which language is relevant; {remedy}")
    return relevant


def topic_for(name: str, judge: Judge, words: str, otherwise: tuple[str, ...] = ()) -> Comparing:
    """What compares link texts with the topic: the given `words`, or the judge itself, or its words; `otherwise` if the
    judge has none."""
    compares = judge.nearest if isinstance(judge, CombinedJudge) else judge
    if not words and isinstance(compares, Comparing):
        return compares
    relevant = joined(words) or prior_of(judge).words or otherwise
    if not relevant:
        remedy = f"name words, as in {name}:words=horse+steppe, or give a judge that does, as in keywords:horse+steppe"
        raise UsageError(f"{name} needs to know what the topic is; {remedy}")
    return Keywords(relevant)
