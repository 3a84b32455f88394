"""Which n-grams of a text speak for one profile rather than for another?"""

from __future__ import annotations

from collections.abc import Mapping

from spoor.language.identifier import LENGTHS
from spoor.language.ngrams import ranks
from spoor.language.profile import Profile
from spoor.language.text import sentences


def deciding(text: str, winner: Profile, rival: Profile) -> list[tuple[str, float]]:
    """Every n-gram with what it adds to the lead of the winner, the largest first; together they are the difference
    between the two similarities."""
    leads: list[tuple[str, float]] = []
    for n in LENGTHS:
        places, ours, theirs = ranks(sentences(text), n), winner.as_words(n), rival.as_words(n)
        for gram, place in places.items():
            lead = _nearness(ours, gram, place) - _nearness(theirs, gram, place)
            leads.append((gram, lead / len(places) / len(LENGTHS)))
    return sorted(leads, key=lambda entry: (-entry[1], entry[0]))


def _nearness(model: Mapping[str, int], gram: str, place: int) -> float:
    """1 at the same place, 0 as far off as can be or missing."""
    return max(0.0, 1.0 - abs(model[gram] - place) / len(model)) if gram in model else 0.0
