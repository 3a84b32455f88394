"""A path model: the pages at each distance from a relevant one, and an estimate of the distance along a path.

The state of a path is a distribution over the layers of its last page, or of its last two pages: α, scaled to the sum
1. A step takes constant time, however long the path is. All methods take one path, or many by a first index.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from spoor.errors import BadInput, UsageError
from spoor.files import Kind, Part, read_model, unpacked, write_model
from spoor.judging.classifiers import MOST_WORDS, NaiveBayes
from spoor.judging.vectors import Collection, VectorSpace, heaviest
from spoor.ordering.hidden_markov import Floats, HiddenMarkov
from spoor.parse.words import Words

# Observations of a path model: the nearest cluster of a page, and its words with the highest weight.


LONGEST = 10_000
"""Characters of a page that are read; more hardly change its topic, and cost time."""
_WORDS = Words()


def words_in(title: str, text: str) -> list[str]:
    return _WORDS.of(f"{title}\n{text}"[:LONGEST])


@dataclass(frozen=True, eq=False)
class Observer:
    """The words of `space` are in the order of the columns of `centres`; each row of these is a cluster."""

    space: VectorSpace = field(repr=False)
    centres: Floats = field(repr=False)
    _columns: dict[str, int] = field(init=False, repr=False)
    _squares: Floats = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_columns", columns(self.space))
        object.__setattr__(self, "_squares", (self.centres * self.centres).sum(axis=1))

    def cluster(self, words: Iterable[str]) -> int:
        """The index of the nearest centre. For a page without known words it is the centre with the smallest norm."""
        vector = self.space.vector(words)
        known = [self._columns[word] for word in vector]
        near = self.centres[:, known] @ np.fromiter(vector.values(), np.float64, len(vector))
        return int((self._squares - 2.0 * near).argmin())

    def best_words(self, words: Iterable[str], most: int) -> list[str]:
        return heaviest(self.space.vector(words), most)


def columns(space: VectorSpace) -> dict[str, int]:
    return {word: column for column, word in enumerate(space.collection.frequencies)}


def matrix(space: VectorSpace, pages: Iterable[Iterable[str]]) -> Floats:
    """A row for each page, a column for each word of the space."""
    places, vectors = columns(space), [space.vector(words) for words in pages]
    rows = np.zeros((len(vectors), len(places)))
    for row, vector in zip(rows, vectors, strict=True):
        row[[places[word] for word in vector]] = list(vector.values())
    return rows


# A model trained on the neighbourhood of relevant pages: layers around them, and the pages of each layer.


TERMS = 40
"""Number of words of a page, those with the highest weight, by which its layer is predicted."""


@dataclass(frozen=True)
class InLayer:
    """`layer` is None if the page is rejected; `chance` is the probability of the most probable layer."""

    layer: int | None
    chance: float


@dataclass(frozen=True, eq=False)
class PathModel:
    """`layers` is the distance of the farthest layer from the relevant pages, which are layer 0. `path` counts farther
    pages as members of the farthest layer; `bayes` has a class for each layer with pages, named by its number. `words`
    are the most typical words of relevant pages, the strongest first."""

    target: str
    trained_on: str
    layers: int
    words: tuple[str, ...] = field(repr=False)
    observer: Observer = field(repr=False)
    path: HiddenMarkov = field(repr=False)
    bayes: NaiveBayes = field(repr=False)

    def cluster(self, title: str, text: str) -> int:
        """The observation of a page."""
        return self.observer.cluster(words_in(title, text))

    def layer(self, title: str, text: str, least: float) -> InLayer:
        """By naive Bayes; rejected if the most probable layer has a probability below `least`, or no word is known."""
        best = self.observer.best_words(words_in(title, text), TERMS)
        return _in_layer(self.bayes, best, least)


def _in_layer(bayes: NaiveBayes, words: Sequence[str], least: float) -> InLayer:
    if not bayes.knows(words):
        return InLayer(None, 0.0)
    chances = bayes.posterior(words)
    winner = int(chances.argmax())
    chance = float(chances[winner])
    return InLayer(int(bayes.classes[winner]) if chance >= least else None, chance)


# Filtering: the distance of a path from a relevant page, given its observations, and that of its links.


DECODERS = ("forward", "viterbi")
Symbols = int | NDArray[np.int64]
"""Observations: of one path, or of each of many."""


@dataclass(frozen=True, eq=False)
class PathFilter:
    """`decoder` "forward": sums over all state sequences; "viterbi": uses only the most probable one."""

    model: HiddenMarkov
    decoder: str = "forward"
    _shows: Floats = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if self.decoder not in DECODERS:
            raise UsageError(f"decoder={self.decoder!r} is neither {' nor '.join(DECODERS)}")
        object.__setattr__(self, "_shows", np.ascontiguousarray(np.moveaxis(self.model.shows, -1, 0)))

    def begin(self, seen: Symbols) -> Floats:
        """The state at the first page: by layer."""
        return _shares(self.model.start * self.model.start_shows.T[seen], 1)

    def second(self, state: Floats, seen: Symbols) -> Floats:
        """The state at the second page: by the layers of both."""
        return _shares(state[..., None] * self.model.first_step * self._shows[seen], 2)

    def go_on(self, state: Floats, seen: Symbols) -> Floats:
        """The state after a third or later page."""
        if self.decoder == "forward":
            ahead = np.einsum("...ij,ijk->...jk", state, self.model.step)
        else:
            ahead = (state[..., None] * self.model.step).max(axis=-3)
        return _shares(ahead * self._shows[seen], 2)

    def ahead_of_first(self, state: Floats) -> Floats:
        """The distribution over layers of a page to which the first page links."""
        return np.asarray(self._certain(state, 1) @ self.model.first_step)

    def ahead(self, state: Floats) -> Floats:
        """The distribution over layers of a page to which the last page links."""
        return np.asarray(np.einsum("...ij,ijk->...k", self._certain(state, 2), self.model.step))

    def _certain(self, state: Floats, indices: int) -> Floats:
        """The state as the decoder uses it: unchanged, or only its most probable element."""
        if self.decoder == "forward":
            return state
        flat = state.reshape(*state.shape[: state.ndim - indices], -1)
        first = flat.argmax(axis=-1)[..., None]
        return np.asarray(np.arange(flat.shape[-1]) == first, np.float64).reshape(state.shape)


def _shares(values: Floats, indices: int) -> Floats:
    """Divided by the sum over the last indices; uniform where the sum is 0."""
    axes: Any = tuple(range(-indices, 0))
    totals = values.sum(axis=axes, keepdims=True)
    if (totals > 0.0).all():
        return np.asarray(values / totals)
    alike = 1.0 / np.prod(values.shape[-indices:])
    return np.where(totals > 0.0, values / np.where(totals > 0.0, totals, 1.0), alike)


# The state of a path in a crawl: page by page, in a form that can be stored.


ORDERS = (1, 2)
DIGITS = 6
"""Stored digits of a probability: a state is stored with every link."""

PathState = tuple[float, ...] | None
"""None before the first page. Then the probabilities of each layer of the first page; from the second page on, of each
pair of layers of the last two pages, row by row."""


@dataclass(frozen=True)
class PathView:
    """`order` 1: the next layer depends on the last one; 2: on the last two."""

    model: PathModel
    order: int = 2
    decoder: str = "forward"
    _filter: PathFilter = field(init=False, repr=False, compare=False)
    _worth: Floats = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.order not in ORDERS:
            raise UsageError(f"order={self.order} is neither {' nor '.join(map(str, ORDERS))}")
        hidden = self.model.path
        object.__setattr__(
            self, "_filter", PathFilter(hidden.first_order() if self.order == 1 else hidden, self.decoder)
        )
        object.__setattr__(self, "_worth", 0.5 ** np.arange(hidden.states))

    def go_on(self, state: PathState, title: str, text: str) -> PathState:
        """The state after one more page."""
        seen = self.model.cluster(title, text)
        if state is None:
            after = self._filter.begin(seen)
        elif self._is_first(state):
            after = self._filter.second(np.array(state), seen)
        else:
            after = self._filter.go_on(self._pairs(state), seen)
        return tuple(after.ravel().round(DIGITS).tolist())

    def ahead(self, state: tuple[float, ...]) -> Floats:
        """The distribution over layers of a page to which the last page links."""
        if self._is_first(state):
            return self._filter.ahead_of_first(np.array(state))
        return self._filter.ahead(self._pairs(state))

    def nearness(self, state: tuple[float, ...]) -> float:
        """The expected nearness of a link to a relevant page: 1 for a relevant page itself, half with every layer
        farther."""
        return float(self.ahead(state) @ self._worth)

    def _is_first(self, state: tuple[float, ...]) -> bool:
        return len(state) == self.model.path.states

    def _pairs(self, state: tuple[float, ...]) -> Floats:
        return np.array(state).reshape(self.model.path.states, -1)


# Path models on disk: words with their counts, centres of clusters, the hidden Markov model.


PATHS = Kind("path models", 1, "spoor train context")
_MOST_LAYERS = 100
_MOST_CHARACTERS = 100 * MOST_WORDS
_PROBABILITIES = ("start", "start_shows", "first_step", "step", "shows")


def write_paths(path: Path, model: PathModel) -> None:
    known = model.observer.space.collection
    words = "\n".join(known.frequencies).encode("utf8", "surrogatepass")
    says = {
        "target": model.target,
        "trained_on": model.trained_on,
        "layers": model.layers,
        "words": list(model.words),
        "texts": known.texts,
        "classes": list(model.bayes.classes),
        "texts_of_classes": list(model.bayes.texts),
        "characters": len(words),
    }
    frequencies = np.fromiter(known.frequencies.values(), np.uint32)
    arrays = [
        _array("frequencies", frequencies, "<u4"),
        _array("times", model.bayes.times, "<u4"),
        _array("centres", model.observer.centres, "<f4"),
        *(_array(name, getattr(model.path, name), "<f8") for name in _PROBABILITIES),
    ]
    write_model(path, PATHS, [Part(says, zlib.compress(words, 9)), *arrays])


def open_paths(path: Path) -> PathModel:
    parts = read_model(path, PATHS)
    try:
        first, *rest = parts
        arrays = {str(part.says["name"]): _values(part) for part in rest}
        return _model(first.says, first.content, arrays)
    except (ValueError, KeyError, TypeError, OverflowError, zlib.error) as error:
        raise BadInput(f"{path}: the model is damaged: {error}") from None


def _array(name: str, values: NDArray[Any], dtype: DTypeLike) -> Part:
    says = {"name": name, "shape": list(values.shape), "dtype": dtype}
    return Part(says, zlib.compress(values.astype(dtype).tobytes(), 9))


def _values(part: Part) -> NDArray[Any]:
    shape, dtype = tuple(map(int, part.says["shape"])), str(part.says["dtype"])
    if dtype not in ("<u4", "<f4", "<f8") or not all(0 < size <= MOST_WORDS for size in shape):
        raise ValueError(f"{dtype} values of the shape {shape}")
    if (count := math.prod(shape)) > _MOST_LAYERS * MOST_WORDS:
        raise ValueError(f"{count} values")
    return np.frombuffer(unpacked(part.content, count * int(dtype[-1])), dtype).reshape(shape)


def _model(says: Mapping[str, Any], content: bytes, arrays: Mapping[str, NDArray[Any]]) -> PathModel:
    layers, characters = int(says["layers"]), int(says["characters"])
    if not (0 < layers < _MOST_LAYERS and 0 < characters <= _MOST_CHARACTERS):
        raise ValueError(f"{layers} layers, {characters} characters")
    words = tuple(unpacked(content, characters).decode("utf8", "surrogatepass").split("\n"))
    frequencies, centres = arrays["frequencies"], arrays["centres"].astype(np.float64)
    path = HiddenMarkov(*(arrays[name].astype(np.float64) for name in _PROBABILITIES))
    if not (len(set(words)) == len(frequencies) == centres.shape[1] and np.isfinite(centres).all()):
        raise ValueError(f"{len(set(words))} words, {len(frequencies)} counts, {centres.shape[1]} columns")
    if (path.states, path.symbols) != (layers + 1, len(centres)):
        raise ValueError(f"{path.states} states and {path.symbols} symbols")
    space = VectorSpace(Collection(int(says["texts"]), dict(zip(words, map(int, frequencies), strict=True))))
    return PathModel(
        target=str(says["target"]),
        trained_on=str(says["trained_on"]),
        layers=layers,
        words=tuple(map(str, says["words"])),
        observer=Observer(space, centres),
        path=path,
        bayes=_bayes(says, words, arrays["times"]),
    )


def _bayes(says: Mapping[str, Any], words: tuple[str, ...], times: NDArray[np.uint32]) -> NaiveBayes:
    classes, texts = tuple(map(str, says["classes"])), tuple(map(int, says["texts_of_classes"]))
    if times.shape != (len(words), len(classes)) or len(texts) != len(classes) or min(texts) < 1:
        raise ValueError(f"classes {classes} with {texts} texts")
    if not all(name.isdecimal() and int(name) <= int(says["layers"]) for name in classes):
        raise ValueError(f"classes {classes}")
    return NaiveBayes(classes, texts, words, times)
