"""What was learned of one language in one orthography and encoding: how often each n-gram occurs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from spoor.errors import BadInput
from spoor.language.text import Unit, codes, kinds
from spoor.language.windows import BITS, MOST_UNITS, WIDTH, numbered, packed, sorted_windows, spelled


@dataclass(frozen=True, eq=False)
class Profile:
    """`name` tells profiles of one language apart. `alphabet` holds the different units as code points in order; in
    `windows`, sorted, a unit is written as its place there, from 1 on (see `windows`). `counts` says how often each
    window occurs, so the n-grams of every length up to four can be had from them, exactly."""

    tag: str
    name: str
    trained_on: str
    alphabet: NDArray[np.uint32] = field(repr=False)
    windows: NDArray[np.uint64] = field(repr=False)
    counts: NDArray[np.uint32] = field(repr=False)
    unit: Unit = "letter"

    @property
    def size(self) -> int:
        """How many units it was trained on."""
        return int(self.counts.sum())

    def grams(self, n: int) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
        """The n-grams as windows that end after n units, in order, and how often each occurs."""
        whole = (self.windows >> np.uint64(BITS * (WIDTH - n))) & np.uint64((1 << BITS) - 1) != 0
        prefixes = self.windows[whole] & np.uint64((1 << 64) - (1 << BITS * (WIDTH - n)))
        first = np.flatnonzero(np.concatenate([[True], prefixes[1:] != prefixes[:-1]])[: len(prefixes)])
        if not len(first):
            return prefixes, np.zeros(0, np.int64)
        return prefixes[first], np.add.reduceat(self.counts[whole].astype(np.int64), first)

    def ranks(self, n: int) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
        """The n-grams in order, and the place of each by falling frequency, from 1; see `ngrams.ranks`."""
        grams, counts = self.grams(n)
        places = np.empty(len(grams), np.int64)
        places[np.argsort(-counts, kind="stable")] = np.arange(1, len(grams) + 1)
        return grams, places

    def as_words(self, n: int) -> dict[str, int]:
        """The same as `ngrams.ranks` has them, for people and for comparison."""
        grams, places = self.ranks(n)
        return {self._spelled(gram): place for gram, place in zip(grams.tolist(), places.tolist(), strict=True)}

    def _spelled(self, gram: int) -> str:
        units = (gram >> BITS * (WIDTH - 1 - depth) & (1 << BITS) - 1 for depth in range(WIDTH))
        return "".join(chr(self.alphabet[unit - 1]) for unit in units if unit)


def learned(tag: str, name: str, text: str, trained_on: str, unit: Unit = "letter") -> Profile:
    """The profile of a text."""
    alphabet, places = numbered(spelled(codes(text, unit), kinds(unit)))
    if len(alphabet) - 1 > MOST_UNITS:
        raise BadInput(f"{name}: {len(alphabet) - 1} different characters, more than the {MOST_UNITS} of a profile")
    windows, counts = np.unique(packed(places, sorted_windows(places, len(alphabet))), return_counts=True)
    return Profile(tag, name, trained_on, alphabet[1:] - np.uint32(1), windows, counts.astype(np.uint32), unit)


def merged(profiles: Sequence[Profile]) -> Profile:
    """One profile of all, as if their texts had been one: the single model of the paper."""
    first = profiles[0]
    alphabet = np.unique(np.concatenate([profile.alphabet for profile in profiles]))
    windows = np.concatenate([renumbered(profile.windows, profile.alphabet, alphabet) for profile in profiles])
    distinct, which = np.unique(windows, return_inverse=True)
    counts = np.bincount(which, np.concatenate([profile.counts for profile in profiles])).astype(np.uint32)
    names = ", ".join(profile.name for profile in profiles)
    texts = "; ".join(profile.trained_on for profile in profiles)
    return Profile(first.tag, names, texts, alphabet, distinct, counts, first.unit)


def renumbered(
    windows: NDArray[np.uint64], alphabet: NDArray[np.uint32], larger: NDArray[np.uint32]
) -> NDArray[np.uint64]:
    """Windows written in one alphabet, rewritten in another that holds it."""
    numbers = np.concatenate([[0], np.searchsorted(larger, alphabet) + 1]).astype(np.uint64)
    out = np.zeros_like(windows)
    for depth in range(WIDTH):
        shift = np.uint64(BITS * depth)
        out |= numbers[(windows >> shift) & np.uint64((1 << BITS) - 1)] << shift
    return out
