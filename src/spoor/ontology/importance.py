"""How important are the concepts of a thesaurus, when nobody says so?

    importance = nearness · distinctness²

The nearness is 1 for the target (or, where the whole thesaurus is one, for the concepts at its top) and 2 / (2 + n) for
what is n steps below; what is only related to one of these has half of its nearness. The distinctness is that of the
words: two uncommon ones are enough for 1, and a single one has 1/2 at most. So what many fields have a use for, such as
`trees` or `system`, counts little, wherever it stands. Each form of a concept counts by itself.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from spoor.errors import UsageError
from spoor.ontology.concepts import Concept, Concepts, is_in
from spoor.ontology.terms import Ontology, Term
from spoor.text.background import background
from spoor.text.words import Words

OF_RELATED = 0.5
RARE_WORDS = 2.0
"""How many words that are in no other text make a form as distinct as can be."""
_WORDS = Words("en")


def weighted(concepts: Concepts, concept: str = "", languages: Sequence[str] = ()) -> Ontology:
    """What is at and below a concept, and related to that; "": everything. Labels count in the given languages, and
    those that say no language; without any, in all."""
    near = _nearness(concepts, concept)
    name = f"{concepts.name}, {concepts.by_uri[concepts.find(concept)].name(languages)}" if concept else concepts.name
    terms = [term for uri, nearness in near.items() for term in _terms(concepts.by_uri[uri], nearness, languages)]
    if not terms:
        spoken = sorted({label.language for one in concepts.by_uri.values() for label in one.labels if label.language})
        raise UsageError(f"the ontology {name} has no labels in {', '.join(languages)}; it has {', '.join(spoken)}")
    return Ontology(name, tuple(terms))


def _nearness(concepts: Concepts, concept: str) -> dict[str, float]:
    starts = [concepts.find(concept)] if concept else concepts.top
    near = {uri: 2.0 / (2.0 + steps) for uri, steps in concepts.depths(starts).items()}
    related: dict[str, float] = {}
    for uri, nearness in near.items():
        for other in concepts.by_uri[uri].related:
            related[other] = max(related.get(other, 0.0), OF_RELATED * nearness)
    return related | near


def _terms(concept: Concept, nearness: float, languages: Sequence[str]) -> list[Term]:
    spoken = [label.text for label in concept.labels if _counts(label.language, languages)]
    weights = {form: nearness * distinctness(form) ** 2 for form in dict.fromkeys(spoken)}
    return [Term(concept.name(languages), weight, (form,)) for form, weight in weights.items() if weight]


def _counts(tag: str, languages: Sequence[str]) -> bool:
    return not languages or not tag or any(is_in(tag, language) for language in languages)


def distinctness(form: str) -> float:
    """From 0 to 1, by how many texts about anything hold its words."""
    world = background()
    rarities = (math.log(world.texts / world.frequencies.get(word, 1)) for word in _WORDS.of(form))
    return min(1.0, sum(rarities) / (RARE_WORDS * math.log(world.texts)))
