"""Presumed negatives, used until there are negative answers: texts drawn from background word frequencies.

Each word of the examples is drawn with its document frequency in the background corpus. Such texts contain the common
words of the language, and hardly ever words specific to the topic.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from random import Random

import numpy as np
from numpy.typing import NDArray

from spoor.judging.classifiers import COMMON
from spoor.judging.vectors import background, general_space, heaviest
from spoor.parse.words import IN_TITLE, PLACES, Features, Words, place

TEXTS = 30
_UNKNOWN = 0.5
"""Assumed document frequency of a word that is not in the background corpus."""
_TITLE = 2.0
"""Factor of the weight of a word in a title."""


def presumed_negatives(positive: Sequence[Features]) -> list[Features]:
    """Draws `TEXTS` texts; deterministic for given examples."""
    words = sorted({word for text in positive for word in text.words})
    chance, known = Random(0), background()
    shares = [known.frequencies.get(word.removeprefix(IN_TITLE), _UNKNOWN) / known.texts for word in words]
    drawn = [[w for w, share in zip(words, shares, strict=True) if chance.random() < share] for _ in range(TEXTS)]
    return [Features(text, np.full(len(text), 1.0 / max(1.0, len(text)) ** 0.5)) for text in drawn]


@cache
def rarity() -> NDArray[np.float32]:
    """Prior weight of the feature at each index, an inverse document frequency scaled to 1 for unknown words. Words in
    titles count `_TITLE` times as much."""
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
    """The words most specific to the texts, without those that half of the background texts contain."""
    words, known = [word for text in texts for word in Words().of(text)], background()
    rare = [word for word in words if known.frequencies.get(word, 0) < COMMON * known.texts]
    return heaviest(general_space("lg").vector(rare or words), most)
