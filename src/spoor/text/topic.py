"""What a text is compared with: the weighted words of a topic, and how near a text is to them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache

from spoor.text.background import background
from spoor.text.vector_space import Vector, VectorSpace, heaviest, length
from spoor.text.words import Words

SHOWN = 3
"""Words that are told of a comparison."""


@dataclass(frozen=True)
class Likeness:
    """`cosine` is between 0 and 1; `product` is the same before it is divided by the lengths of both. `words` are those
    that counted most, the first most."""

    cosine: float
    product: float
    words: tuple[str, ...]


NOTHING = Likeness(0.0, 0.0, ())


@dataclass(frozen=True)
class Topic:
    words: Words
    space: VectorSpace = field(repr=False)
    vector: Vector = field(repr=False)

    def likeness(self, text: str) -> Likeness:
        page = self.space.raw(self.words.of(text))
        shared = {word: weight * page[word] for word, weight in self.vector.items() if page.get(word)}
        if not shared:
            return NOTHING
        product = sum(shared.values())
        cosine = min(1.0, product / (length(self.vector) * length(page)))
        return Likeness(cosine, product, tuple(heaviest(shared, SHOWN)))

    def heaviest(self, most: int) -> tuple[str, ...]:
        return tuple(heaviest(self.vector, most))


@cache
def general_space(tf: str) -> VectorSpace:
    """Of texts about anything. A word that is in none of them is a rare one."""
    return VectorSpace(background(), tf=tf, unknown=True)


def cut_to(vector: Vector, most: int) -> dict[str, float]:
    """The heaviest words only."""
    return {word: vector[word] for word in heaviest(vector, most)}


def mean(vectors: Iterable[Vector]) -> dict[str, float]:
    """Of vectors taken together; the common factor is left out, as it does not change a cosine."""
    together: dict[str, float] = {}
    for vector in vectors:
        for word, weight in vector.items():
            together[word] = together.get(word, 0.0) + weight
    return together
