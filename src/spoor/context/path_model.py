"""What was learned from the surroundings of wanted pages: layers around them, and how pages of each layer look."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from spoor.context.hidden_markov import HiddenMarkov
from spoor.context.observer import Observer, words_in
from spoor.text.naive_bayes import NaiveBayes

TERMS = 40
"""Weightiest words of a page that layers are told by."""


@dataclass(frozen=True)
class InLayer:
    """`layer` None: like none of them; `chance` is that of the most probable one."""

    layer: int | None
    chance: float


@dataclass(frozen=True, eq=False)
class PathModel:
    """`layers` is the distance of the farthest layer from the wanted pages, which are layer 0. `path` takes pages that
    are farther for members of it; `bayes` has a class for each layer that had pages, called by its number. `words` are
    those that tell the wanted pages from the others, the strongest first."""

    target: str
    trained_on: str
    layers: int
    words: tuple[str, ...] = field(repr=False)
    observer: Observer = field(repr=False)
    path: HiddenMarkov = field(repr=False)
    bayes: NaiveBayes = field(repr=False)

    def cluster(self, title: str, text: str) -> int:
        """What the path model sees of a page."""
        return self.observer.cluster(words_in(title, text))

    def layer(self, title: str, text: str, least: float) -> InLayer:
        """By naive Bayes; rejected when the most probable layer has a chance below `least`, or no word is known."""
        best = self.observer.best_words(words_in(title, text), TERMS)
        return _told(self.bayes, best, least)


def _told(bayes: NaiveBayes, words: Sequence[str], least: float) -> InLayer:
    if not bayes.knows(words):
        return InLayer(None, 0.0)
    chances = bayes.posterior(words)
    winner = int(chances.argmax())
    chance = float(chances[winner])
    return InLayer(int(bayes.classes[winner]) if chance >= least else None, chance)
