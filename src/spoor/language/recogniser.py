"""How near are texts to one language? The rank model of `ngrams`, for many texts at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from spoor.language.encoding_table import shipped_for
from spoor.language.encodings import best_reading
from spoor.language.gram_index import GramIndex, gram_index, similarities
from spoor.language.known import profiles_of, tag_of
from spoor.language.profile import Profile, merged

THRESHOLD = 0.5
"""A page is in the language when its similarity is above."""


@dataclass(frozen=True, eq=False)
class Recogniser:
    """A language has one profile for each orthography and encoding; a text is as near to it as to the nearest of
    them, in whichever way its letters are read."""

    tag: str
    profiles: tuple[Profile, ...] = field(repr=False)
    ns: tuple[int, ...]
    threshold: float
    _index: GramIndex = field(repr=False)

    def similarities(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """Between 0 and 1 for each text; 0 for one that has no n-gram."""
        return best_reading(self._as_they_are, texts, shipped_for(self.tag))

    def _as_they_are(self, texts: Sequence[str]) -> NDArray[np.float64]:
        nearest: NDArray[np.float64] = similarities(self._index, texts, self.profiles[0].unit).max(axis=1)
        return nearest


def recogniser(language: str, n: int | tuple[int, ...] = 3, *, one_profile: bool = False) -> Recogniser:
    """For a tag, or a model file. `n`: the length of the n-grams; of several, the mean counts. `one_profile`: all
    orthographies together in one, as the paper has it."""
    ns = n if isinstance(n, tuple) else (n,)
    return _recogniser(tag_of(language), profiles_of(language), ns, one_profile)


def trained(tag: str, profiles: tuple[Profile, ...], ns: tuple[int, ...] = (3,)) -> Recogniser:
    """A recogniser from profiles at hand."""
    return Recogniser(tag, profiles, ns, THRESHOLD, gram_index(profiles, ns))


@lru_cache(maxsize=32)
def _recogniser(tag: str, profiles: tuple[Profile, ...], ns: tuple[int, ...], one_profile: bool) -> Recogniser:
    return trained(tag, (merged(profiles),) if one_profile else profiles, ns)
