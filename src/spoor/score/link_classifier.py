"""A classifier of links that is trained on the way, by what became of the links that were followed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from spoor.records import Evidence, Hints, Link, Miss, Page, Sighting
from spoor.roles import Merge, WaitingLinks
from spoor.saved_state import ANY, State, array_in, as_counts, count_in, counts_in, slices, state_in, texts_in
from spoor.score.intervals import check_every
from spoor.score.link_words import said_by, said_by_url
from spoor.score.word_odds import Said, WordOdds
from spoor.text.features import PLACES

_NOTHING: Said = np.zeros(0, np.int32)


@dataclass
class LinkClassifier:
    """Scorer and upkeep. `promise` is how probable it is that the page is wanted, by the words of URL and anchor and
    those around it; before the first training, how relevant the page is that links there. Trained anew every `every`
    visits, when all that waits is scored again.

    Of every link that waits it remembers what was said where the link was first met, until the link is visited. Learns
    from every visit; has learned nothing when it is made.
    """

    every: int = 500
    _odds: WordOdds = field(init=False, repr=False, compare=False, default_factory=WordOdds)
    _said: dict[str, Said] = field(init=False, repr=False, compare=False, default_factory=dict)
    _recalled: int = field(init=False, repr=False, compare=False, default=0)

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
        self._odds.count(_numbers(said_by_url(url)) if said is None else said, found)

    def recall(self, sighting: Sighting) -> None:
        """By the words of its URL: what else was said of a link that was followed is not kept."""
        self.learn(sighting)
        self._recalled += 1
        if self._recalled % self.every == 0:
            self._odds.weigh()

    def state(self) -> State:
        said = self._said.values()
        return {
            "odds": self._odds.state(),
            "urls": list(self._said),
            "sizes": as_counts(map(len, said)),
            "said": np.concatenate([_NOTHING, *said]),
            "recalled": self._recalled,
        }

    def restore(self, state: State) -> None:
        urls = texts_in(state, "urls")
        words = array_in(state, "said", np.int32, (ANY,), 0, PLACES - 1).astype(np.int32)
        places = slices(counts_in(state, "sizes", len(urls)), len(words))
        self._odds.restore(state_in(state, "odds"))
        self._said = {url: words[place] for url, place in zip(urls, places, strict=True)}
        self._recalled = count_in(state, "recalled")

    def evidence(self, sighting: Sighting, links: Sequence[Link]) -> Sequence[Evidence]:
        said = [_numbers(link.hints) for link in links]
        for link, words in zip(links, said, strict=True):
            self._said.setdefault(link.url, words)
        if not self._odds.ready:
            return [{"promise": sighting.verdict.relevance}] * len(links)
        return [{"promise": self._odds.chance(words)} for words in said]

    def key(self, evidence: Evidence) -> float:
        return evidence["promise"]

    def revise(self, waiting: WaitingLinks) -> Iterable[tuple[str, Evidence]]:
        self._odds.weigh()
        for url, said in list(self._said.items()):
            if waiting.evidence_of(url) is None:
                del self._said[url]
            elif self._odds.ready:
                yield url, {"promise": self._odds.chance(said)}


def _numbers(hints: Hints) -> Said:
    return np.array(hints, np.int32)
