"""An ontology as the judge needs it: terms and their weights, from concepts and the relations between them.

    importance = nearness · distinctness²

The nearness is 1 for the target concept (or for the top concepts, if the whole thesaurus is the target) and 2 / (2 + n)
for concepts n steps below; a concept that is only related to one of these has half of its nearness. The distinctness
depends on the words: two uncommon ones give 1, a single one at most 1/2. So terms used in many fields, such as `trees`
or `system`, count little, wherever they are in the hierarchy. Each form of a concept has its own weight.
"""

from __future__ import annotations

import difflib
import math
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice

from spoor.errors import BadInput, UsageError
from spoor.judging.vectors import background
from spoor.parse.words import Words

# Terms, their importance, and their forms.


@dataclass(frozen=True, slots=True)
class Term:
    """`name` is shown in messages; `forms` are the spellings found in texts, including abbreviations."""

    name: str
    importance: float
    forms: tuple[str, ...]


@dataclass(frozen=True)
class Ontology:
    """`name` is shown in messages, for example the file name."""

    name: str
    terms: tuple[Term, ...] = field(repr=False)

    def __post_init__(self) -> None:
        if not self.terms:
            raise BadInput(f"the ontology {self.name} holds no terms; give one that names what is relevant")
        for term in self.terms:
            if not (term.importance > 0 and math.isfinite(term.importance)):
                found = f"the importance of {term.name!r} is {term.importance:g}"
                raise BadInput(f"the ontology {self.name}: {found}; give a number above 0, such as 0.5")

    def most_important(self, most: int) -> tuple[str, ...]:
        """Names of terms, each once; equally important ones in the order of the ontology."""
        names = dict.fromkeys(term.name for term in sorted(self.terms, key=lambda term: -term.importance))
        return tuple(islice(names, most))


# Concepts with broader and related concepts, as in thesauri and class hierarchies.


SUGGESTED = 3


@dataclass(frozen=True, slots=True)
class Label:
    """`language` is a BCP-47 tag, "" if not given; `preferred` is False for alternative labels."""

    text: str
    language: str = ""
    preferred: bool = True


@dataclass(frozen=True, slots=True)
class Concept:
    """`broader` and `related` are URIs of concepts of the same file."""

    uri: str
    labels: tuple[Label, ...]
    broader: tuple[str, ...] = ()
    related: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """The last part of the URI."""
        return self.uri.rstrip("/#").replace("#", "/").rpartition("/")[2]

    def name(self, languages: Sequence[str] = ()) -> str:
        """The name in messages: the preferred label, in one of the languages if there is one, else in English."""
        asked = [*languages, "en", ""]

        def place(label: Label) -> tuple[bool, int]:
            found = [k for k, language in enumerate(asked) if is_in(label.language, language)]
            return not label.preferred, min(found, default=len(asked))

        return min(self.labels, key=place).text


def is_in(tag: str, language: str) -> bool:
    """Whether a tag such as `en-GB` is of a language such as `en`; case is ignored."""
    return tag.lower() == language.lower() or tag.lower().startswith(f"{language.lower()}-")


@dataclass(frozen=True)
class Concepts:
    """The concepts of one file by URI, in the order of the file. Broader concepts that are not in the file are left
    out."""

    name: str
    by_uri: Mapping[str, Concept] = field(repr=False)

    @cached_property
    def narrower(self) -> Mapping[str, list[str]]:
        below: dict[str, list[str]] = {uri: [] for uri in self.by_uri}
        for concept in self.by_uri.values():
            for broader in concept.broader:
                below[broader].append(concept.uri)
        return below

    @cached_property
    def top(self) -> list[str]:
        """The concepts without a broader one; all concepts, if every one is in a cycle."""
        return [uri for uri, concept in self.by_uri.items() if not concept.broader] or list(self.by_uri)

    def depths(self, starts: Iterable[str]) -> dict[str, int]:
        """The number of steps from the nearest start down to each reachable concept."""
        return _steps(starts, self.narrower.__getitem__)

    def find(self, asked: str) -> str:
        """The URI of the concept with this label, URI, or last part of a URI."""
        if asked in self.by_uri:
            return asked
        for named in (self._by_preferred, self._by_label, self._by_key):
            if (uri := named.get(asked.strip().casefold())) is not None:
                return uri
        near = difflib.get_close_matches(asked.casefold(), self._by_label, SUGGESTED, 0.0)
        names = ", ".join(repr(self.by_uri[self._by_label[label]].name()) for label in near)
        raise UsageError(f"the ontology {self.name} has no concept {asked!r}; the nearest are {names}")

    @cached_property
    def _by_preferred(self) -> dict[str, str]:
        return self._named(lambda concept: [label.text for label in concept.labels if label.preferred])

    @cached_property
    def _by_label(self) -> dict[str, str]:
        return self._named(lambda concept: [label.text for label in concept.labels])

    @cached_property
    def _by_key(self) -> dict[str, str]:
        return self._named(lambda concept: [concept.key])

    def _named(self, names: Callable[[Concept], list[str]]) -> dict[str, str]:
        """Maps each name to the first concept that has it."""
        found: dict[str, str] = {}
        for concept in self.by_uri.values():
            for name in names(concept):
                found.setdefault(name.casefold(), concept.uri)
        return found


def _steps(starts: Iterable[str], following: Callable[[str], Iterable[str]]) -> dict[str, int]:
    found = dict.fromkeys(starts, 0)
    waiting = deque(found)
    while waiting:
        here = waiting.popleft()
        for there in following(here):
            if there not in found:
                found[there] = found[here] + 1
                waiting.append(there)
    return found


# Computes the importance of concepts from their position in the thesaurus and from their words.


OF_RELATED = 0.5
RARE_WORDS = 2.0
"""Number of words that occur in no other text at which a form has the distinctness 1."""
_WORDS = Words("en")


def weighted(concepts: Concepts, concept: str = "", languages: Sequence[str] = ()) -> Ontology:
    """The concept, those below it, and those related to any of these; "" for all concepts. Uses labels in the given
    languages and those without a language; labels in all languages if none is given."""
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
    """From 0 to 1, by the number of general texts that contain its words."""
    world = background()
    rarities = (math.log(world.texts / world.frequencies.get(word, 1)) for word in _WORDS.of(form))
    return min(1.0, sum(rarities) / (RARE_WORDS * math.log(world.texts)))
