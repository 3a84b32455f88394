"""A classifier of links, trained online on the outcomes of the links fetched.

    odds(word) = (relevant with it + m p) / (irrelevant with it + m (1 - p)) : p / (1 - p)      p = relevant / all

So an unseen word has no effect, however rare relevant pages are.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from spoor.files import (
    ANY,
    State,
    array_in,
    as_counts,
    count_in,
    counts_in,
    number_in,
    renamed_parts,
    slices,
    state_in,
    texts_in,
)
from spoor.ordering.correlation_degree import said_by, said_by_url
from spoor.ordering.simple import check_every
from spoor.parse.words import PLACES
from spoor.records import Evidence, Hints, Link, Miss, Page, Sighting
from spoor.roles import Merge, WaitingLinks

# Naive Bayes on binary word features.


Said = NDArray[np.int32]
"""Words as hashes."""

DOUBT = 2.0
"""m: the smoothing constant; a word seen less often than this has little weight."""


class NaiveBayesWords:
    """Counts examples as they arrive; `weigh` computes the weights from the counts so far. `ready` after the first
    `weigh` with examples of both classes."""

    def __init__(self) -> None:
        self._examples = [0, 0]
        self._with_word = np.zeros((2, PLACES), np.int32)
        self._prior = 0.0
        self._weights: NDArray[np.float32] | None = None

    @property
    def ready(self) -> bool:
        return self._weights is not None

    def count(self, said: Said, relevant: bool) -> None:
        self._examples[relevant] += 1
        self._with_word[int(relevant), said] += 1

    def weigh(self) -> None:
        irrelevant, relevant = self._examples
        if not irrelevant or not relevant:
            return
        share = relevant / (relevant + irrelevant)
        against, speaking_for = self._with_word
        self._prior = float(np.log(relevant / irrelevant))
        odds = (speaking_for + DOUBT * share) / (against + DOUBT * (1.0 - share))
        self._weights = (np.log(odds) - self._prior).astype(np.float32)

    def state(self) -> State:
        return {
            "examples": as_counts(self._examples),
            "with word": self._with_word.copy(),
            "prior": self._prior,
            "weights": np.zeros(0, np.float32) if self._weights is None else self._weights,
        }

    def restore(self, state: State) -> None:
        weights = array_in(state, "weights", np.float32, (ANY,), -100.0, 100.0)
        if len(weights):
            weights = array_in(state, "weights", np.float32, (PLACES,))
        self._weights = weights.astype(np.float32) if len(weights) else None
        self._with_word[:] = array_in(state, "with word", np.int32, self._with_word.shape, 0)
        self._examples, self._prior = counts_in(state, "examples", 2), number_in(state, "prior")

    def chance(self, said: Said) -> float:
        """The probability that the page is relevant, given its words. Requires `ready`."""
        assert self._weights is not None
        return float(1.0 / (1.0 + np.exp(-self._prior - float(self._weights[said].sum()))))


# A classifier of links that is trained online on the outcomes of links.


_NOTHING: Said = np.zeros(0, np.int32)


@dataclass
class LinkClassifier:
    """Scorer and upkeep. `promise` is the probability that the page is relevant, given the words of the URL, of the
    anchor and around it; before the first training, the relevance of the referring page. Retrained every `every`
    visits; then all waiting links are re-scored.

    Stores for every waiting link the words of its first occurrence, until the link is visited. Learns from every visit;
    starts untrained.
    """

    every: int = 500
    _logistic: NaiveBayesWords = field(init=False, repr=False, compare=False, default_factory=NaiveBayesWords)
    _said: dict[str, Said] = field(init=False, repr=False, compare=False, default_factory=dict)
    _relearned: int = field(init=False, repr=False, compare=False, default=0)

    reads_content: ClassVar[bool] = True
    merge: ClassVar[Mapping[str, Merge]] = {"promise": max}

    def __post_init__(self) -> None:
        check_every(self.every)

    def hints(self, page: Page, links: Sequence[Link]) -> Sequence[Hints]:
        return [said_by(link) for link in links]

    def learn(self, sighting: Sighting) -> None:
        self._count(sighting.visit.url, sighting.is_find)

    def learn_miss(self, miss: Miss) -> None:
        self._count(miss.visit.url, False)

    def _count(self, url: str, found: bool) -> None:
        said = self._said.pop(url, None)
        self._logistic.count(_numbers(said_by_url(url)) if said is None else said, found)

    def relearn(self, sighting: Sighting) -> None:
        """By the words of the URL: the other words of a visited link are not in the journal."""
        self.learn(sighting)
        self._relearned += 1
        if self._relearned % self.every == 0:
            self._logistic.weigh()

    def state(self) -> State:
        said = self._said.values()
        return {
            "classifier": self._logistic.state(),
            "urls": list(self._said),
            "sizes": as_counts(map(len, said)),
            "said": np.concatenate([_NOTHING, *said]),
            "relearned": self._relearned,
        }

    def restore(self, state: State) -> None:
        state = renamed_parts(state, {"odds": "classifier", "recalled": "relearned"})
        urls = texts_in(state, "urls")
        words = array_in(state, "said", np.int32, (ANY,), 0, PLACES - 1).astype(np.int32)
        places = slices(counts_in(state, "sizes", len(urls)), len(words))
        self._logistic.restore(state_in(state, "classifier"))
        self._said = {url: words[place] for url, place in zip(urls, places, strict=True)}
        self._relearned = count_in(state, "relearned")

    def evidence(self, sighting: Sighting, links: Sequence[Link]) -> Sequence[Evidence]:
        said = [_numbers(link.hints) for link in links]
        for link, words in zip(links, said, strict=True):
            self._said.setdefault(link.url, words)
        if not self._logistic.ready:
            return [{"promise": sighting.verdict.relevance}] * len(links)
        return [{"promise": self._logistic.chance(words)} for words in said]

    def key(self, evidence: Evidence) -> float:
        return evidence["promise"]

    def revise(self, waiting: WaitingLinks) -> Iterable[tuple[str, Evidence]]:
        self._logistic.weigh()
        for url, said in list(self._said.items()):
            if waiting.evidence_of(url) is None:
                del self._said[url]
            elif self._logistic.ready:
                yield url, {"promise": self._logistic.chance(said)}


def _numbers(hints: Hints) -> Said:
    return np.array(hints, np.int32)
