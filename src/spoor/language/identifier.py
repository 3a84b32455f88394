"""Which of many languages is a text in? The one whose profile it is nearest to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from spoor.language.gram_index import GramIndex, gram_index, similarities
from spoor.language.known import profiles_of, shipped_profiles
from spoor.language.profile import Profile

LENGTHS = (1, 2, 3, 4)
"""Of the n-grams that are compared. Single letters tell scripts of many letters apart, as the Chinese, and long n-grams
the languages of one script: the mean similarity of all lengths told more than that of any of them."""


@dataclass(frozen=True, eq=False)
class Identifier:
    """Profiles that compete for texts."""

    profiles: tuple[Profile, ...] = field(repr=False)
    _index: GramIndex = field(repr=False)

    def similarities(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """One row for each text, one column for each profile."""
        return similarities(self._index, texts)


def identifier(model: str = "") -> Identifier:
    """All shipped profiles, and those of a model file."""
    return competing(shipped_profiles() + (profiles_of(model) if model else ()))


@lru_cache(maxsize=2)
def competing(profiles: tuple[Profile, ...]) -> Identifier:
    return Identifier(profiles, gram_index(profiles, LENGTHS))
