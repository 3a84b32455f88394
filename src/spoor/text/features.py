"""What pages are told apart by: their words, and once more those of the title, each hashed to one of many places.

No vocabulary is kept, so a model is of one size, whatever it was trained on; and as the page at hand has the words, a
verdict can still name them.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from spoor.text.words import Words, begins_unspaced

PLACES = 1 << 20
"""So many that of 40,000 different features, those of some 600 pages, one in thirty shares its place with another."""
IN_TITLE = "title: "
LONGEST, LONGEST_UNSPACED = 10_000, 2_500
"""Characters of a page that are looked at: more hardly change the answer, and cost time. In scripts without blanks
fewer of them make as many words."""
_WORDS = Words()


@dataclass(frozen=True, eq=False)
class Features:
    """Different words, with the weight of each."""

    words: list[str]
    weights: NDArray[np.float64]

    def places(self) -> NDArray[np.int64]:
        return np.fromiter(map(place, self.words), np.int64, len(self.words))


def features(title: str, text: str) -> Features:
    """Each word by 1 + ln of how often it occurs, brought to length 1, so that long pages say no more than short ones.
    Texts in scripts without blanks have pairs of letters for words."""
    counts = Counter(_WORDS.of(text[: LONGEST_UNSPACED if begins_unspaced(text) else LONGEST]))
    counts.update([IN_TITLE + word for word in _WORDS.of(title[:LONGEST])])
    weights = 1.0 + np.log(np.fromiter(counts.values(), np.float64, len(counts)))
    return Features(list(counts), weights / (np.linalg.norm(weights) or 1.0))


@lru_cache(maxsize=1 << 16)
def place(feature: str) -> int:
    return crc32(feature.encode("utf8", "surrogatepass")) % PLACES
