"""What a topic is told apart from while nobody has said what is irrelevant: texts as common as words are.

A text about anything holds a word as often as the background says. Drawn word by word from the words of the examples,
such texts hold what is common in their language, and hardly ever what is particular to them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from random import Random

import numpy as np
from numpy.typing import NDArray

from spoor.judging.vectors import background, general_space, heaviest
from spoor.parse.words import IN_TITLE, PLACES, Features, Words, place

TEXTS = 30
COMMON = 0.5
"""Of the texts about anything: a word that so many hold says nothing of a topic."""
_UNKNOWN = 0.5
"""Texts that hold a word of which the background knows nothing."""
_TITLE = 2.0
"""So much more a word counts in a title."""


def presumed_negatives(positive: Sequence[Features]) -> list[Features]:
    """The same for the same examples."""
    words = sorted({word for text in positive for word in text.words})
    chance, known = Random(0), background()
    shares = [known.frequencies.get(word.removeprefix(IN_TITLE), _UNKNOWN) / known.texts for word in words]
    drawn = [[w for w, share in zip(words, shares, strict=True) if chance.random() < share] for _ in range(TEXTS)]
    return [Features(text, np.full(len(text), 1.0 / max(1.0, len(text)) ** 0.5)) for text in drawn]


@cache
def rarity() -> NDArray[np.float32]:
    """How much the feature at each place may count before anything is known of it, up to 1: the less, the more texts
    about anything hold the word."""
    known = background()
    most = _rarity(_UNKNOWN, known.texts)
    rare = np.ones(PLACES, np.float32)
    for word, count in known.frequencies.items():
        rare[place(word)] = _rarity(count, known.texts) / most
        rare[place(IN_TITLE + word)] = _TITLE * rare[place(word)]
    return rare


def _rarity(count: float, texts: int) -> float:
    return math.log((texts + 1.0) / (count + 0.5))


def telling_words(texts: Sequence[str], most: int) -> list[str]:
    """The words by which texts are most unlike others; without those that every other text holds."""
    words, known = [word for text in texts for word in Words().of(text)], background()
    rare = [word for word in words if known.frequencies.get(word, 0) < COMMON * known.texts]
    return heaviest(general_space("lg").vector(rare or words), most)
