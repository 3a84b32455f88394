"""What was learned from pages that are wanted and pages that are not: how much each word speaks for either."""

from __future__ import annotations

import math
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from spoor.errors import BadInput
from spoor.model_file import Kind, Part, read_model, unpacked, write_model
from spoor.text.features import PLACES, features

TOPIC = Kind("topic models", 1, "spoor train topic")
SHOWN = 3


@dataclass(frozen=True)
class Opinion:
    """`probability` that the page is wanted; the words that spoke most for it and most against it, the first most. A
    page of which no word was met in training has no words here, and probability 0."""

    probability: float
    speaks_for: tuple[str, ...] = ()
    against: tuple[str, ...] = ()


NOTHING = Opinion(0.0)


@dataclass(frozen=True, eq=False)
class TopicModel:
    """The probability is 1 / (1 + e^-z), where z is `bias` and the weights of a page's features added up; a page is
    wanted from `threshold` on. `weights` has a number for each place of `features`. `words` are those that make a page
    wanted, the strongest first."""

    name: str
    trained_on: str
    threshold: float
    bias: float = field(repr=False)
    words: tuple[str, ...] = field(repr=False)
    weights: NDArray[np.float32] = field(repr=False)

    def opinion(self, title: str, text: str) -> Opinion:
        found = features(title, text)
        said = self.weights[found.places()] * found.weights
        if not said.any():
            return NOTHING
        probability = 0.5 + 0.5 * math.tanh((self.bias + float(said.sum())) / 2.0)
        order = np.argsort(said, kind="stable")
        most = [found.words[k] for k in order[::-1][:SHOWN] if said[k] > 0.0]
        least = [found.words[k] for k in order[:SHOWN] if said[k] < 0.0]
        return Opinion(probability, tuple(most), tuple(least))


def write_topic(path: Path, model: TopicModel) -> None:
    says = {
        "name": model.name,
        "trained_on": model.trained_on,
        "threshold": model.threshold,
        "bias": model.bias,
        "words": list(model.words),
    }
    write_model(path, TOPIC, [Part(says, zlib.compress(model.weights.astype("<f4").tobytes(), 9))])


def open_topic(path: Path) -> TopicModel:
    parts = read_model(path, TOPIC)
    try:
        (part,) = parts
        weights = np.frombuffer(unpacked(part.content, 4 * PLACES), "<f4").astype(np.float32)
        return _checked(part.says, weights)
    except (ValueError, KeyError, TypeError, zlib.error) as error:
        raise BadInput(f"{path}: the model is damaged: {error}") from None


def _checked(says: Mapping[str, object], weights: NDArray[np.float32]) -> TopicModel:
    threshold, bias, words = says["threshold"], says["bias"], says["words"]
    if not (
        isinstance(threshold, float) and 0.0 < threshold <= 1.0 and isinstance(bias, float) and math.isfinite(bias)
    ):
        raise ValueError(f"threshold {threshold}, bias {bias}")
    if not np.isfinite(weights).all() or not isinstance(words, Iterable):
        raise ValueError("weights or words are none")
    return TopicModel(str(says["name"]), str(says["trained_on"]), threshold, bias, tuple(map(str, words)), weights)
