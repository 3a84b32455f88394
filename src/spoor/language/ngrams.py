"""The n-gram rank model in plain Python: what it means. The same numbers, faster, are in `gram_index`.

A text is the list of its n-grams by falling frequency. Two texts are near when their n-grams stand at near places:

    distance of an n-gram   how far its two places are apart, `farthest` when the model does not have it
    mean distance           over the distinct n-grams of the text
    similarity              1 - mean distance / farthest, between 0 and 1; 0 when the text has no n-gram
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise

Ranks = Mapping[str, int]
"""N-gram to its place by frequency, from 1; among equals the one with the lower code points goes first."""


def ranks(sentences: Sequence[str], n: int, top: int | None = None) -> dict[str, int]:
    """Sentences as `text.sentences` prepares them. `top`: only so many of the most frequent; None: all."""
    counts = Counter(sentence[k : k + n] for sentence in sentences for k in range(len(sentence) - n + 1))
    order = sorted(counts, key=lambda gram: (-counts[gram], gram))[:top]
    return {gram: place for place, gram in enumerate(order, 1)}


def mean_distance(model: Ranks, sentences: Sequence[str], n: int, farthest: int | None = None) -> float | None:
    """None: the sentences have no n-gram. `farthest` is the length of the model when it is not given."""
    places = ranks(sentences, n)
    if not places:
        return None
    far = farthest or len(model)
    apart = (min(far, abs(model[gram] - place)) if gram in model else far for gram, place in places.items())
    return sum(apart) / len(places)


def similarity(model: Ranks, sentences: Sequence[str], n: int, farthest: int | None = None) -> float:
    distance = mean_distance(model, sentences, n, farthest)
    return 0.0 if distance is None else 1.0 - distance / (farthest or len(model))


def calibrate(wanted: Sequence[float], unwanted: Sequence[float]) -> float:
    """The threshold above which similarities tell wanted texts from unwanted ones with the best F1: the middle of the
    gap between two neighbours; of equally good gaps the widest."""
    gaps = pairwise(sorted({*wanted, *unwanted, 0.0, 1.0}))
    best = max(gaps, key=lambda gap: (_f1(sum(gap) / 2, wanted, unwanted), gap[1] - gap[0]))
    return sum(best) / 2


def _f1(threshold: float, wanted: Sequence[float], unwanted: Sequence[float]) -> float:
    hits = sum(value > threshold for value in wanted)
    wrong = sum(value > threshold for value in unwanted)
    return 2 * hits / (hits + wrong + len(wanted)) if hits else 0.0
