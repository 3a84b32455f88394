"""From wanted pages and the pages around them to a path model: layers, clusters of what pages say, steps counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from spoor.context.clusters import clustered, evenly, nearest, tells
from spoor.context.hidden_markov import HiddenMarkov
from spoor.context.layers import layers
from spoor.context.observer import Observer, matrix, words_in
from spoor.context.path_model import TERMS, PathModel
from spoor.context.reestimation import refined
from spoor.errors import BadInput, UsageError
from spoor.roles import BacklinkSource
from spoor.text.naive_bayes import NaiveBayes
from spoor.text.vector_space import Collection, VectorSpace, collection
from spoor.training.path_counts import Labelled, counted
from spoor.training.walks import seen_on_walks

MOST_PAGES = 300
"""Of a layer whose texts are read."""
MOST_WORDS = 5_000
"""That count: those which most of the pages hold."""
LEAST_HOLDERS = 2
"""Pages that hold a word that counts; one that only a single page knows tells nothing of others."""
KEPT_WORDS = 30
"""Of the wanted pages, to compare texts of links with when nobody says what the topic is."""

Advance = Callable[[int], None]


@dataclass(frozen=True)
class Lesson:
    """What is asked for: `layers` around the wanted pages; `clusters` None: as many as the pages suggest; `refine`
    rounds of Baum-Welch after counting."""

    target: str
    trained_on: str
    layers: int = 3
    clusters: int | None = None
    refine: int = 0

    def __post_init__(self) -> None:
        if not 1 <= self.layers <= 20:
            raise UsageError(f"--layers {self.layers}: a path model has from 1 to 20 layers around the wanted pages")
        if self.clusters is not None and not 2 <= self.clusters <= 1000:
            raise UsageError(f"--clusters {self.clusters}: give auto, or a number from 2 to 1000")
        if self.refine < 0:
            raise UsageError(f"--refine {self.refine}: the number of rounds is 0 or more")


@dataclass(frozen=True)
class Trained:
    """`sizes` counts the pages of each layer, the last those that are farther; `read` those whose texts were read.
    `tells` is how much clusters say of layers, from 0, nothing, to 1."""

    model: PathModel
    sizes: tuple[int, ...]
    read: tuple[int, ...]
    tells: float


def trained(source: BacklinkSource, wanted: NDArray[np.int64], lesson: Lesson, advance: Advance) -> Trained:
    """`wanted` are the numbers of pages; `advance` is told of every text that was read."""
    distance = layers(source, wanted, lesson.layers)
    texts = _texts(source, distance, advance)
    read = np.fromiter(texts, np.int64)
    _check_something_wanted(distance, read, lesson)
    space = _space(list(texts.values()), lesson)
    points = matrix(space, texts.values())
    observer = Observer(space, clustered(points, lesson.clusters))
    clusters = nearest(points, observer.centres)
    cluster = np.full(len(distance), -1, np.int64)
    cluster[read] = clusters
    state = np.minimum(distance, lesson.layers)
    path = counted(Labelled(lesson.layers + 1, len(observer.centres), state, cluster, *_links(source)))
    bayes = _bayes(observer, list(texts.values()), distance[read], lesson.layers)
    model = PathModel(
        target=lesson.target,
        trained_on=lesson.trained_on,
        layers=lesson.layers,
        words=tuple(bayes.typical([0], KEPT_WORDS)),
        observer=observer,
        path=_refined(path, source, observer, lesson.refine),
        bayes=bayes,
    )
    return Trained(model, _counts(distance, lesson), _counts(distance[read], lesson), tells(clusters, state[read]))


def _check_something_wanted(distance: NDArray[np.int64], read: NDArray[np.int64], lesson: Lesson) -> None:
    asked = f"{lesson.target!r} in {lesson.trained_on}"
    if not (distance == 0).any():
        raise BadInput(f"there is no page that is {asked}, so there is nothing to learn from")
    if not (distance[read] == 0).any():
        raise BadInput(f"no page that is {asked} has a text, so there is nothing to learn from")


def _refined(path: HiddenMarkov, source: BacklinkSource, observer: Observer, rounds: int) -> HiddenMarkov:
    if not rounds:
        return path
    *_, (last, _) = islice(refined(path, seen_on_walks(source, observer)), rounds)
    return last


def _texts(source: BacklinkSource, distance: NDArray[np.int64], advance: Advance) -> dict[int, list[str]]:
    """The words of some pages of each layer, by their place among the pages. Pages without a word say nothing."""
    pages, found = source.pages(), {}
    for layer in range(int(distance.max()) + 1):
        members = np.flatnonzero(distance == layer)
        for place in members[evenly(len(members), MOST_PAGES)].tolist():
            if words := words_in(*source.said(int(pages[place]))):
                found[place] = words
            advance(1)
    return found


def _space(texts: Sequence[Sequence[str]], lesson: Lesson) -> VectorSpace:
    known = collection(texts)
    held = Counter({word: count for word, count in known.frequencies.items() if count >= LEAST_HOLDERS})
    if not held:
        raise BadInput(f"no two pages of {lesson.trained_on} share a word, so there is nothing to tell them by")
    kept = sorted(held, key=lambda word: (-held[word], word))[:MOST_WORDS]
    return VectorSpace(Collection(known.texts, {word: held[word] for word in kept}))


def _links(source: BacklinkSource) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """All of them, by the places of pages."""
    pages = source.pages()
    sources, targets = source.links_to(pages)
    return np.searchsorted(pages, sources), np.searchsorted(pages, targets)


def _bayes(
    observer: Observer, texts: Sequence[Sequence[str]], distance: NDArray[np.int64], farthest: int
) -> NaiveBayes:
    """Over layers, from the weightiest words of each page; pages that are farther belong to none."""
    words = tuple(observer.space.collection.frequencies)
    rows = {word: row for row, word in enumerate(words)}
    present = [layer for layer in range(farthest + 1) if (distance == layer).any()]
    times = np.zeros((len(words), len(present)), np.uint32)
    for text, layer in zip(texts, distance.tolist(), strict=True):
        if layer <= farthest:
            times[[rows[word] for word in observer.best_words(text, TERMS)], present.index(layer)] += 1
    counts = tuple(int((distance == layer).sum()) for layer in present)
    return NaiveBayes(tuple(map(str, present)), counts, words, times)


def _counts(distance: NDArray[np.int64], lesson: Lesson) -> tuple[int, ...]:
    return tuple(np.bincount(distance, minlength=lesson.layers + 2).tolist())
