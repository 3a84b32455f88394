"""An ontology, as far as a crawl needs it: terms, how much each counts, and the ways in which it is written."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from itertools import islice

from spoor.errors import BadInput


@dataclass(frozen=True, slots=True)
class Term:
    """`name` is how people are told of it; `forms` are what texts may hold, abbreviations included."""

    name: str
    importance: float
    forms: tuple[str, ...]


@dataclass(frozen=True)
class Ontology:
    """`name` is what it is called, such as its file."""

    name: str
    terms: tuple[Term, ...] = field(repr=False)

    def __post_init__(self) -> None:
        if not self.terms:
            raise BadInput(f"the ontology {self.name} holds no terms; give one that names what is wanted")
        for term in self.terms:
            if not (term.importance > 0 and math.isfinite(term.importance)):
                told = f"the importance of {term.name!r} is {term.importance:g}"
                raise BadInput(f"the ontology {self.name}: {told}; give a number above 0, such as 0.5")

    def most_important(self, most: int) -> tuple[str, ...]:
        """Names of terms, each once; equally important ones as they come in the ontology."""
        names = dict.fromkeys(term.name for term in sorted(self.terms, key=lambda term: -term.importance))
        return tuple(islice(names, most))
