"""Similarity of a text to many language profiles at once, and the n-grams that decide between two.

The similarity is defined in `ngrams`. A gram that is not in a profile costs `farthest`, so it is enough to sum the
savings of the grams that are in it; most profiles have few of the grams of a text.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spoor.compiled import FLOAT, Kernels, array, compiled, kernel, kernels_in, named_tuple
from spoor.errors import UsageError
from spoor.judging.encodings import best_reading, shipped_for
from spoor.judging.ngrams import (
    BITS,
    MOST_UNITS,
    WIDTH,
    Unit,
    codes_of_texts,
    grams,
    kinds,
    numbered,
    plain_ranks,
    ranks,
    sentences,
    sorted_windows,
    spelled,
)
from spoor.judging.profiles import Profile, merged, profiles_of, renumbered, shipped_profiles, tag_of

# An inverted index of n-grams: the profiles that have an n-gram, with its rank in each.


_SPREAD: Final = 0x9E3779B97F4A7C15
"""2^64 divided by the golden ratio (Fibonacci hashing): spreads neighbouring keys."""
_UNKNOWN: Final = MOST_UNITS + 1
_SHORT: Final = 128
"""Units of a text up to which its similarity is estimated first."""


class GramIndex(NamedTuple):
    """A hash table of grams with open addressing (0 is a free slot). The gram in slot k is in the profiles
    `profiles[starts[k]:ends[k]]`, at the ranks `places[starts[k]:ends[k]]`. `farthest[j, p]` is the cost for profile p
    of a missing gram of length `ns[j]`. Units are numbered by their position in `alphabet`, from 1."""

    ns: NDArray[np.int64]
    alphabet: NDArray[np.uint32]
    slots: NDArray[np.uint64]
    starts: NDArray[np.int32]
    ends: NDArray[np.int32]
    profiles: NDArray[np.uint16]
    places: NDArray[np.int32]
    farthest: NDArray[np.int64]


GRAM_INDEX = named_tuple(
    GramIndex,
    array(np.int64),
    array(np.uint32),
    array(np.uint64),
    array(np.int32),
    array(np.int32),
    array(np.uint16),
    array(np.int32),
    array(np.int64, 2),
)


class Posting(NamedTuple):
    """The grams of one length of one profile, up to the maximum rank."""

    grams: NDArray[np.uint64]
    profiles: NDArray[np.uint16]
    places: NDArray[np.int32]


def gram_index(
    profiles: Sequence[Profile], ns: Sequence[int], top: int | None = None, farthest: int | None = None
) -> GramIndex:
    """`top`: use only that many of the most frequent grams of each profile. `farthest`: the cost of a missing gram;
    None for the number of grams of the profile."""
    for n in ns:
        if not 1 <= n <= WIDTH:
            raise UsageError(f"n={n}: n-grams have 1 to {WIDTH} units")
    if len({profile.unit for profile in profiles}) > 1:
        raise UsageError("profiles of letters and profiles of bytes cannot be compared with each other")
    alphabet = np.unique(np.concatenate([profile.alphabet for profile in profiles]))
    postings = [posting for n in ns for posting in _postings(profiles, n, top, alphabet)]
    lengths = np.array([len(posting.grams) for posting in postings], np.int64).reshape(len(ns), len(profiles))
    together = Posting(*map(np.concatenate, zip(*postings, strict=True)))
    order = np.argsort(together.grams, kind="stable")
    distinct, starts = np.unique(together.grams[order], return_index=True)
    slots, slot_of = _hashed(distinct)
    first, last = np.zeros(len(slots), np.int32), np.zeros(len(slots), np.int32)
    first[slot_of], last[slot_of] = starts, np.append(starts[1:], len(order))
    costs = np.full_like(lengths, farthest) if farthest else lengths
    return GramIndex(
        np.array(ns, np.int64), alphabet, slots, first, last, together.profiles[order], together.places[order], costs
    )


def similarities(
    index: GramIndex, texts: Sequence[str], unit: Unit = "letter", least: float = 0.0
) -> NDArray[np.float64]:
    """One row for each text, one column for each profile; the mean over the gram lengths. A text that is clearly not
    more similar than `least` to any profile may have 0."""
    return _similarities(index, *codes_of_texts(texts, unit), kinds(unit), least)


def _postings(profiles: Sequence[Profile], n: int, top: int | None, alphabet: NDArray[np.uint32]) -> Iterator[Posting]:
    for number, profile in enumerate(profiles):
        found, places = profile.ranks(n)
        kept = places <= top if top else np.ones(len(places), np.bool_)
        owners = np.full(np.count_nonzero(kept), number, np.uint16)
        yield Posting(renumbered(found[kept], profile.alphabet, alphabet), owners, places[kept].astype(np.int32))


@kernel(GRAM_INDEX, array(np.uint32, read_only=True), array(np.int64), array(np.uint8), FLOAT)
def _similarities(
    index: GramIndex, codes: NDArray[np.uint32], ends: NDArray[np.int64], kinds: NDArray[np.uint8], least: float
) -> NDArray[np.float64]:
    out = np.zeros((len(ends) - 1, index.farthest.shape[1]))
    for text in range(len(ends) - 1):
        units = spelled(codes[ends[text] : ends[text + 1]], kinds)
        if len(units) <= _SHORT and _at_most(index, units) <= least:
            continue
        alphabet, places = numbered(units)
        order = sorted_windows(places, len(alphabet))
        numbers = _numbers(alphabet, index.alphabet)
        for j in range(len(index.ns)):
            firsts, counts = grams(places, order, index.ns[j])
            if len(firsts) > 0:
                saved = _saved(index, j, places, numbers, firsts, ranks(counts))
                for p in range(len(saved)):
                    if index.farthest[j, p] > 0:
                        out[text, p] += saved[p] / (index.farthest[j, p] * len(firsts)) / len(index.ns)
    return out


@compiled
def _at_most(index: GramIndex, units: NDArray[np.uint32]) -> float:
    """An upper bound of the similarity of a text to its nearest profile, faster to compute than the similarity: its
    grams are not ranked, and no rank is greater than their number. Repeated grams count repeatedly."""
    numbers = np.zeros(len(units), np.uint64)
    for k in range(len(units)):
        if units[k] != 0:
            numbers[k] = _number(units[k] - 1, index.alphabet)
    bounds = np.zeros(index.farthest.shape[1])
    for j in range(len(index.ns)):
        n, distinct = index.ns[j], 0
        most = len(units) - n + 1
        saved, seen = np.zeros(len(bounds), np.int64), np.zeros(4 * _SHORT, np.uint64)
        for start in range(most):
            gram, spelling, is_whole = np.uint64(0), np.uint64(0), True
            for depth in range(WIDTH):
                gram = (gram << np.uint64(BITS)) | (numbers[start + depth] if depth < n else np.uint64(0))
            for unit in units[start : start + n]:
                spelling = (spelling ^ np.uint64(unit)) * np.uint64(_SPREAD)
                is_whole &= unit != 0
            if not is_whole:
                continue
            distinct += _is_new(seen, spelling)
            slot = _slot(index.slots, gram)
            for k in range(index.starts[slot], index.ends[slot]):
                p = index.profiles[k]
                saved[p] += max(0, index.farthest[j, p] - max(0, index.places[k] - most))
        for p in range(len(bounds)):
            if distinct > 0 and index.farthest[j, p] > 0:
                bounds[p] += saved[p] / (index.farthest[j, p] * distinct) / len(index.ns)
    return float(bounds.max())


@compiled
def _is_new(seen: NDArray[np.uint64], spelling: np.uint64) -> bool:
    """Whether a hash is not in a table, to which it is added."""
    at = np.int64((spelling >> np.uint64(32)) % np.uint64(len(seen)))
    while seen[at] != 0 and seen[at] != spelling:
        at = (at + 1) % len(seen)
    is_new = seen[at] != spelling
    seen[at] = spelling
    return bool(is_new)


@compiled
def _saved(
    index: GramIndex,
    j: int,
    places: NDArray[np.uint32],
    numbers: NDArray[np.uint64],
    firsts: NDArray[np.int64],
    ranked: NDArray[np.int64],
) -> NDArray[np.int64]:
    """For each profile, the reduction of its distance compared with a profile that has none of the grams."""
    saved = np.zeros(index.farthest.shape[1], np.int64)
    for g in range(len(firsts)):
        slot = _slot(index.slots, _written(places, firsts[g], index.ns[j], numbers))
        for k in range(index.starts[slot], index.ends[slot]):
            p = index.profiles[k]
            saved[p] += max(0, index.farthest[j, p] - abs(index.places[k] - ranked[g]))
    return saved


@compiled
def _numbers(alphabet: NDArray[np.uint32], known: NDArray[np.uint32]) -> NDArray[np.uint64]:
    """For each unit of the text's own alphabet, its number in the index."""
    numbers = np.zeros(len(alphabet), np.uint64)
    for k in range(1, len(alphabet)):
        numbers[k] = _number(alphabet[k] - 1, known)
    return numbers


@compiled
def _number(code: np.uint32, known: NDArray[np.uint32]) -> int:
    at = int(np.searchsorted(known, code))
    return at + 1 if at < len(known) and known[at] == code else _UNKNOWN


@compiled
def _written(places: NDArray[np.uint32], start: int, n: int, numbers: NDArray[np.uint64]) -> np.uint64:
    """The gram of a text in the encoding of the index."""
    gram = np.uint64(0)
    for depth in range(WIDTH):
        gram = (gram << np.uint64(BITS)) | (numbers[places[start + depth]] if depth < n else np.uint64(0))
    return gram


@compiled
def _slot(slots: NDArray[np.uint64], gram: np.uint64) -> np.uint64:
    """The slot of the gram, or the free slot where it would be inserted."""
    mask = np.uint64(len(slots) - 1)
    slot = ((gram * np.uint64(_SPREAD)) >> np.uint64(24)) & mask
    while slots[slot] != gram and slots[slot] != 0:
        slot = (slot + np.uint64(1)) & mask
    return slot


@kernel(array(np.uint64))
def _hashed(distinct: NDArray[np.uint64]) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """A hash table with a load factor of at most 1/2, and the slot of each gram."""
    size = 16
    while size < 2 * len(distinct):
        size *= 2
    slots = np.zeros(size, np.uint64)
    slot_of = np.empty(len(distinct), np.int64)
    for g in range(len(distinct)):
        slot = _slot(slots, distinct[g])
        slots[slot] = distinct[g]
        slot_of[g] = np.int64(slot)
    return slots, slot_of


# Similarity of texts to one language: the rank model of `ngrams`, for many texts at once.


THRESHOLD = 0.5
"""A page is in the language if its similarity is above this value."""


@dataclass(frozen=True, eq=False)
class Recogniser:
    """A language has one profile for each orthography and encoding. The similarity of a text to the language is that to
    the nearest profile, over all readings of its letters."""

    tag: str
    profiles: tuple[Profile, ...] = field(repr=False)
    ns: tuple[int, ...]
    threshold: float
    _index: GramIndex = field(repr=False)

    @property
    def kernels(self) -> Kernels:
        return KERNELS

    def similarities(self, texts: Sequence[str], least: float = 0.0) -> NDArray[np.float64]:
        """Between 0 and 1 for each text; 0 if it has no n-gram. Those that are clearly not above `least` may be 0."""
        return best_reading(lambda read: self._as_they_are(read, least), texts, shipped_for(self.tag))

    @cached_property
    def farthest(self) -> int:
        """The distance in ranks of an n-gram that the first profile does not have."""
        return len(self.profiles[0].grams(self.ns[0])[0])

    def _as_they_are(self, texts: Sequence[str], least: float) -> NDArray[np.float64]:
        nearest: NDArray[np.float64] = similarities(self._index, texts, self.profiles[0].unit, least).max(axis=1)
        return nearest


def recogniser(language: str, n: int | tuple[int, ...] = 3, *, one_profile: bool = False) -> Recogniser:
    """`language` is a tag or a model file. `n`: the length of the n-grams; the mean similarity for several.
    `one_profile`: merges all orthographies into one profile, as in the paper."""
    ns = n if isinstance(n, tuple) else (n,)
    return _recogniser(tag_of(language), profiles_of(language), ns, one_profile)


def trained(tag: str, profiles: tuple[Profile, ...], ns: tuple[int, ...] = (3,)) -> Recogniser:
    """A recogniser from given profiles."""
    return Recogniser(tag, profiles, ns, THRESHOLD, gram_index(profiles, ns))


@lru_cache(maxsize=32)
def _recogniser(tag: str, profiles: tuple[Profile, ...], ns: tuple[int, ...], one_profile: bool) -> Recogniser:
    return trained(tag, (merged(profiles),) if one_profile else profiles, ns)


# Language identification: the language of the nearest profile.


LENGTHS = (1, 2, 3, 4)
"""Lengths of the n-grams. Single letters distinguish scripts with many letters, such as Chinese; long n-grams
distinguish the languages of one script. The mean over all lengths was more accurate than any single length."""


@dataclass(frozen=True, eq=False)
class Identifier:
    """Compares texts with competing profiles."""

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


# The n-grams of a text that favour one profile over another.


def deciding(text: str, winner: Profile, rival: Profile) -> list[tuple[str, float]]:
    """Every n-gram with its contribution to the lead of the winner, largest first. The contributions add up to the
    difference between the two similarities."""
    leads: list[tuple[str, float]] = []
    for n in LENGTHS:
        places, ours, theirs = plain_ranks(sentences(text), n), winner.as_words(n), rival.as_words(n)
        for gram, place in places.items():
            lead = _nearness(ours, gram, place) - _nearness(theirs, gram, place)
            leads.append((gram, lead / len(places) / len(LENGTHS)))
    return sorted(leads, key=lambda entry: (-entry[1], entry[0]))


def _nearness(model: Mapping[str, int], gram: str, place: int) -> float:
    """1 at the same rank, 0 at the maximum distance or if missing."""
    return max(0.0, 1.0 - abs(model[gram] - place) / len(model)) if gram in model else 0.0


KERNELS = kernels_in(__name__)
