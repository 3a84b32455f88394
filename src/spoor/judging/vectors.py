"""Texts as TF-IDF vectors, background frequencies of words, and the similarity of a text to a topic.

    w = (lg tf + 1) · idf / sqrt(Σ [(lg tf + 1) · idf]²)      0 where tf = 0
    idf = lg(d / df), or smooth: lg((1 + d) / (1 + df)) + 1

of d texts, df of which contain the word.

One table serves all languages, because few words of one are frequent words of another (`scripts/build_background.py`).
"""

from __future__ import annotations

import lzma
import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files

from spoor.errors import UsageError
from spoor.parse.words import Words

# Texts as TF-IDF vectors.


Vector = Mapping[str, float]
"""The words of a text with their weights; other words have weight 0."""

IDFS = ("plain", "smooth")
TFS: dict[str, Callable[[int], float]] = {"lg": lambda times: math.log10(times) + 1.0, "linear": float}


@dataclass(frozen=True)
class Collection:
    """Document frequencies: the number of texts, and how many of them contain each word."""

    texts: int
    frequencies: Mapping[str, int] = field(repr=False)


def collection(texts: Iterable[Iterable[str]]) -> Collection:
    """From tokenised texts."""
    held = [set(words) for words in texts]
    return Collection(len(held), Counter(word for words in held for word in words))


@dataclass(frozen=True)
class VectorSpace:
    """`idf` is "plain" or "smooth". With plain, a word in every text has weight 0, so the collection must contain more
    than the texts of one field. `tf` is "lg" or "linear". `unknown`: words outside the collection have the weight of
    words in one text, otherwise 0. `sqrt` False divides by the sum of squares itself, as printed in the paper."""

    collection: Collection
    idf: str = "plain"
    tf: str = "lg"
    unknown: bool = False
    sqrt: bool = True
    _idfs: dict[str, float] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.idf not in IDFS:
            raise UsageError(f"idf={self.idf!r} is neither {' nor '.join(IDFS)}")
        if self.tf not in TFS:
            raise UsageError(f"tf={self.tf!r} is neither {' nor '.join(TFS)}")
        frequencies = self.collection.frequencies.items()
        object.__setattr__(self, "_idfs", {word: self._idf(df) for word, df in frequencies})

    def raw(self, words: Iterable[str]) -> dict[str, float]:
        """The weights before normalisation."""
        weigh, idf, otherwise = TFS[self.tf], self._idfs.get, self._idf(1) if self.unknown else 0.0
        return {word: weigh(times) * idf(word, otherwise) for word, times in Counter(words).items()}

    def vector(self, words: Iterable[str]) -> dict[str, float]:
        raw = self.raw(words)
        squares = sum(weight * weight for weight in raw.values())
        by = math.sqrt(squares) if self.sqrt else squares
        return {word: weight / by for word, weight in raw.items() if weight}

    def _idf(self, df: int) -> float:
        d = max(1, self.collection.texts)
        return math.log10((1 + d) / (1 + df)) + 1.0 if self.idf == "smooth" else math.log10(d / df)


def product(one: Vector, other: Vector) -> float:
    """The dot product."""
    short, long = (one, other) if len(one) < len(other) else (other, one)
    return sum(weight * long[word] for word, weight in short.items() if word in long)


def length(vector: Vector) -> float:
    return math.sqrt(sum(weight * weight for weight in vector.values()))


def cosine(one: Vector, other: Vector) -> float:
    """Between 0 and 1; 0 if one of them is empty."""
    lengths = length(one) * length(other)
    return min(1.0, product(one, other) / lengths) if lengths else 0.0


def heaviest(vector: Vector, most: int) -> list[str]:
    """The words with the largest weights, largest first; ties in order of code points."""
    return sorted(vector, key=lambda word: (-vector[word], word))[:most]


# Background: document frequencies of words in general texts of 35 languages, to separate a topic from the rest.


FILE = "background.tsv.xz"


@cache
def background() -> Collection:
    """Words in fewer than three texts are left out."""
    packed = files("spoor.judging").joinpath(FILE).read_bytes()
    texts, *lines = lzma.decompress(packed).decode("utf8").splitlines()
    return Collection(int(texts), {word: int(count) for word, _, count in (line.partition("\t") for line in lines)})


# A topic as a weighted vector, and the similarity of a text to it.


SHOWN = 3
"""Words shown for a comparison."""


@dataclass(frozen=True)
class Likeness:
    """`cosine` is between 0 and 1; `product` is the dot product, before division by the lengths. `words` are those that
    contributed most, largest first."""

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
    """The space of general texts. A word that is in none of them counts as rare."""
    return VectorSpace(background(), tf=tf, unknown=True)


def cut_to(vector: Vector, most: int) -> dict[str, float]:
    """Only the words with the largest weights."""
    return {word: vector[word] for word in heaviest(vector, most)}


def mean(vectors: Iterable[Vector]) -> dict[str, float]:
    """Of vectors, up to a constant factor, which does not change a cosine."""
    together: dict[str, float] = {}
    for vector in vectors:
        for word, weight in vector.items():
            together[word] = together.get(word, 0.0) + weight
    return together
