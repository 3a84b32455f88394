"""What a topic is told apart from while nobody has said what is irrelevant: texts as common as words are.

A text about anything holds a word as often as the background says. Drawn word by word from the words of the examples,
such texts hold what is common in their language, and hardly ever what is particular to them.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

import numpy as np

from spoor.judging.vectors import background, general_space, heaviest
from spoor.parse.words import IN_TITLE, Features, Words

TEXTS = 30
_UNKNOWN = 0.5
"""Of the texts that hold a word of which the background knows nothing."""


def presumed_negatives(positive: Sequence[Features]) -> list[Features]:
    """The same for the same examples."""
    words = sorted({word for text in positive for word in text.words})
    chance, known = Random(0), background()
    shares = [known.frequencies.get(word.removeprefix(IN_TITLE), _UNKNOWN) / known.texts for word in words]
    drawn = [[w for w, share in zip(words, shares, strict=True) if chance.random() < share] for _ in range(TEXTS)]
    return [Features(text, np.full(len(text), 1.0 / max(1.0, len(text)) ** 0.5)) for text in drawn]


def telling_words(texts: Sequence[str], most: int) -> list[str]:
    """The words by which texts are most unlike others."""
    words = [word for text in texts for word in Words().of(text)]
    return heaviest(general_space("lg").vector(words), most)
