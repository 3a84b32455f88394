"""Trains a path model from relevant pages and their neighbourhood.

    π from pages, b_i from pages, a_ij and b_ij from links u → v, a_ijk from two links in a row u → v → w

Every count starts at `smoothing`, so that unseen events have a probability above 0. Paths of two links are counted at
the page in the middle: links to it by layer, times links from it by layer.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from spoor.errors import BadInput, UsageError
from spoor.judging.classifiers import NaiveBayes
from spoor.judging.vectors import Collection, VectorSpace, collection
from spoor.ordering.clusters import clustered, evenly, nearest, tells
from spoor.ordering.hidden_markov import Floats, HiddenMarkov, refined
from spoor.ordering.path_model import TERMS, Observer, PathModel, matrix, words_in
from spoor.progress import Advance
from spoor.roles import BacklinkSource

# Distance of each page from a relevant one: layers by breadth-first search backwards along links.


Layers = NDArray[np.int64]
"""The layer of each page, in the order of `BacklinkSource.pages`."""


def layers(source: BacklinkSource, relevant: NDArray[np.int64], most: int) -> Layers:
    """Layer 0 are the relevant pages; a page of layer k links to one of layer k - 1 and to none of a nearer one. Pages
    farther than `most`, or from which no relevant page can be reached, are in layer `most` + 1."""
    pages = source.pages()
    found = np.full(len(pages), most + 1, np.int64)
    newest = np.flatnonzero(np.isin(pages, relevant))
    for layer in range(most + 1):
        found[newest] = layer
        linking, _ = source.links_to(pages[newest])
        places = np.unique(np.searchsorted(pages, linking))
        newest = places[found[places] > most]
    return found


# A hidden Markov model by counting: the layers and the clusters of the pages are known.


SMOOTHING = 0.5
Numbers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Labelled:
    """Pages with known layers, from 0 to `states` - 1, and the links between them as indices into `layer`. `cluster` is
    -1 for pages that were not read."""

    states: int
    clusters: int
    layer: Numbers
    cluster: Numbers
    sources: Numbers
    targets: Numbers


def counted(known: Labelled, smoothing: float = SMOOTHING) -> HiddenMarkov:
    n, m = known.states, known.clusters
    seen = known.cluster >= 0
    into_seen = seen[known.targets]
    before, after = known.layer[known.sources], known.layer[known.targets]
    shown = known.cluster[known.targets]
    return HiddenMarkov(
        start=_shares(_tally((n,), known.layer), smoothing),
        start_shows=_shares(_tally((n, m), known.layer[seen], known.cluster[seen]), smoothing),
        first_step=_shares(_tally((n, n), before, after), smoothing),
        step=_shares(triples(known), smoothing),
        shows=_shares(_tally((n, n, m), before[into_seen], after[into_seen], shown[into_seen]), smoothing),
    )


def triples(known: Labelled) -> Floats:
    """The number of paths of two links through layers i, j, k."""
    n, pages = known.states, len(known.layer)
    coming = _tally((pages, n), known.targets, known.layer[known.sources])
    going = _tally((pages, n), known.sources, known.layer[known.targets])
    middles = [coming[known.layer == j].T @ going[known.layer == j] for j in range(n)]
    return np.stack(middles, axis=1)


def _tally(shape: tuple[int, ...], *indices: Numbers) -> Floats:
    """The number of occurrences of each combination of indices."""
    flat = np.ravel_multi_index(indices, shape)
    return np.bincount(flat, minlength=int(np.prod(shape))).astype(np.float64).reshape(shape)


def _shares(counts: Floats, smoothing: float) -> Floats:
    smooth = counts + smoothing
    return np.asarray(smooth / smooth.sum(axis=-1, keepdims=True))


# Walks through a web, as a crawl might take them: sequences of observations for re-estimation.


WALKS, STEPS = 300, 6
"""Number of walks, and their maximum length in pages."""


def seen_on_walks(source: BacklinkSource, observer: Observer) -> list[list[int]]:
    """The clusters of the pages of each walk. Start pages are evenly spaced over the web; the link taken depends only
    on the page and the step. Walks of one page are omitted, because they have no transitions."""
    pages = source.pages()
    sources, targets = source.links_to(pages)
    order = np.argsort(sources, kind="stable")
    sources, targets = sources[order], targets[order]
    clusters: dict[int, int] = {}
    found = []
    for start in pages[evenly(len(pages), WALKS)].tolist():
        walk = _walk(start, sources, targets)
        for page in walk:
            if page not in clusters:
                clusters[page] = observer.cluster(words_in(*source.said(page)))
        if len(walk) > 1:
            found.append([clusters[page] for page in walk])
    return found


def _walk(page: int, sources: NDArray[np.int64], targets: NDArray[np.int64]) -> list[int]:
    walk = [page]
    for step in range(STEPS - 1):
        begin, end = np.searchsorted(sources, [page, page + 1])
        if begin == end:
            break
        page = int(targets[begin + crc32(f"{page} {step}".encode()) % (end - begin)])
        walk.append(page)
    return walk


# Training: layers, clusters of pages by their words, transitions counted.


MOST_PAGES = 300
"""Pages per layer whose texts are read."""
MOST_WORDS = 5_000
"""Size of the vocabulary: the words with the highest document frequency."""
LEAST_HOLDERS = 2
"""Minimum document frequency; a word of a single page says nothing about others."""
KEPT_WORDS = 30
"""Words of the relevant pages, for the comparison of link texts if the topic is not given."""


@dataclass(frozen=True)
class Lesson:
    """Parameters of training: `layers` around the relevant pages; `clusters`, None to estimate the number; `refine`
    iterations of Baum-Welch after counting."""

    target: str
    trained_on: str
    layers: int = 3
    clusters: int | None = None
    refine: int = 0

    def __post_init__(self) -> None:
        if not 1 <= self.layers <= 20:
            raise UsageError(f"--layers {self.layers}: a path model has from 1 to 20 layers around the relevant pages")
        if self.clusters is not None and not 2 <= self.clusters <= 1000:
            raise UsageError(f"--clusters {self.clusters}: give auto, or a number from 2 to 1000")
        if self.refine < 0:
            raise UsageError(f"--refine {self.refine}: the number of rounds is 0 or more")


@dataclass(frozen=True)
class TrainedPaths:
    """`sizes` are the numbers of pages in each layer, the last for farther pages; `read` the numbers of pages whose
    texts were read. `tells` is how well clusters predict layers, from 0 (not at all) to 1."""

    model: PathModel
    sizes: tuple[int, ...]
    read: tuple[int, ...]
    tells: float


def train_paths(source: BacklinkSource, relevant: NDArray[np.int64], lesson: Lesson, advance: Advance) -> TrainedPaths:
    """`relevant` are page numbers; `advance` is called for every text read."""
    distance = layers(source, relevant, lesson.layers)
    texts = _texts(source, distance, advance)
    read = np.fromiter(texts, np.int64)
    _check_relevant_pages(distance, read, lesson)
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
    return TrainedPaths(model, _counts(distance, lesson), _counts(distance[read], lesson), tells(clusters, state[read]))


def _check_relevant_pages(distance: NDArray[np.int64], read: NDArray[np.int64], lesson: Lesson) -> None:
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
    """The words of a sample of pages of each layer, by their index. Pages without words are omitted."""
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
        raise BadInput(f"no two pages of {lesson.trained_on} share a word, so nothing distinguishes them")
    kept = sorted(held, key=lambda word: (-held[word], word))[:MOST_WORDS]
    return VectorSpace(Collection(known.texts, {word: held[word] for word in kept}))


def _links(source: BacklinkSource) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """All links, by the indices of their pages."""
    pages = source.pages()
    sources, targets = source.links_to(pages)
    return np.searchsorted(pages, sources), np.searchsorted(pages, targets)


def _bayes(
    observer: Observer, texts: Sequence[Sequence[str]], distance: NDArray[np.int64], farthest: int
) -> NaiveBayes:
    """A classifier of layers, from the highest-weighted words of each page; farther pages are left out."""
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
