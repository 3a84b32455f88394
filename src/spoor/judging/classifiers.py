"""Trained classifiers and their judges: naive Bayes over a taxonomy, logistic regression from example pages.

    P(class | text) ∝ P(class) · Π P(word | class)
    P(word | class) = (times in class + 1) / (words in class + |V|)

Words outside the vocabulary V are ignored.
"""

from __future__ import annotations

import math
import zlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from spoor.errors import BadInput, UsageError
from spoor.files import Kind, Part, read_model, unpacked, write_model
from spoor.judging.regression import Sample, rows_of
from spoor.judging.vectors import background
from spoor.parse.words import IN_TITLE, LONGEST, PLACES, Words, features
from spoor.records import Page, TargetPrior, Verdict

# Multinomial naive Bayes: a distribution over words for each class.


MOST_WORDS = 100_000
"""Vocabulary size: the most frequent words are kept."""


@dataclass(frozen=True, eq=False)
class NaiveBayes:
    """`times` has a row for each of `words` and a column for each of `classes`: how often the texts of the class
    contain the word. `texts` is the number of texts of each class."""

    classes: tuple[str, ...]
    texts: tuple[int, ...]
    words: tuple[str, ...] = field(repr=False)
    times: NDArray[np.uint32] = field(repr=False)
    _rows: Mapping[str, int] = field(init=False, repr=False)
    _chances: NDArray[np.float64] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        smoothed = self.times.astype(np.float64) + 1.0
        object.__setattr__(self, "_chances", np.log(smoothed / smoothed.sum(axis=0)))
        object.__setattr__(self, "_rows", {word: row for row, word in enumerate(self.words)})

    def posterior(self, words: Iterable[str]) -> NDArray[np.float64]:
        """The probability of each class; the prior probabilities if no word is known."""
        rows, counts = self._known(words)
        logs = np.log(np.array(self.texts) / sum(self.texts)) + counts @ self._chances[rows]
        chances = np.exp(logs - logs.max())
        return np.asarray(chances / chances.sum())

    def knows(self, words: Iterable[str]) -> bool:
        return any(word in self._rows for word in words)

    def deciding(self, words: Iterable[str], winner: int, rival: int, most: int) -> list[str]:
        """The words of a text that contributed most to `winner` over `rival`."""
        rows, counts = self._known(words)
        leads = counts * (self._chances[rows, winner] - self._chances[rows, rival])
        return [self.words[rows[k]] for k in np.argsort(-leads, kind="stable")[:most] if leads[k] > 0.0]

    def typical(self, relevant: Sequence[int], most: int) -> list[str]:
        """The words that best separate the target classes from the rest: frequent in them, rarer elsewhere."""
        inside = self.times[:, relevant].sum(axis=1) + 1.0
        outside = np.delete(self.times, relevant, axis=1).sum(axis=1) + 1.0
        share, rest = inside / inside.sum(), outside / outside.sum()
        leads = share * np.log(share / rest)
        return [self.words[k] for k in np.argsort(-leads, kind="stable")[:most] if leads[k] > 0.0]

    def _known(self, words: Iterable[str]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        counts = Counter([row for row in map(self._rows.get, words) if row is not None])
        return np.array(list(counts), np.int64), np.array(list(counts.values()), np.float64)


def learned(texts: Mapping[str, Sequence[Sequence[str]]]) -> NaiveBayes:
    """Trains on tokenised texts by class."""
    by_class = [Counter(word for text in of_class for word in text) for of_class in texts.values()]
    together: Counter[str] = sum(by_class, Counter())
    kept = sorted(sorted(together), key=lambda word: -together[word])[:MOST_WORDS]
    times = np.array([[counts[word] for counts in by_class] for word in kept], np.uint32)
    return NaiveBayes(tuple(texts), tuple(map(len, texts.values())), tuple(kept), times.reshape(len(kept), len(texts)))


# A tree of page classes: the classifier of its leaves, and which nodes are relevant.


TAXONOMY = Kind("taxonomies", 1, "spoor train taxonomy")
DAMAGED = (ValueError, KeyError, TypeError, OverflowError, zlib.error)
"""Errors that invalid values in a model file cause."""
_MOST_CLASSES = 10_000
_MOST_CHARACTERS = 100 * MOST_WORDS


@dataclass(frozen=True, eq=False)
class TaxonomyModel:
    """A leaf is named by its path, `sports/cycling/road`; every leaf at or below one of `relevant` is relevant."""

    name: str
    trained_on: str
    relevant: tuple[str, ...]
    bayes: NaiveBayes = field(repr=False)


def is_at_or_below(leaf: str, nodes: Iterable[str]) -> bool:
    return any(leaf == node or leaf.startswith(f"{node}/") for node in nodes)


def target_probability(leaves: Mapping[str, float], relevant: Iterable[str]) -> float:
    """The probability that a page belongs to a relevant leaf, from the probability of each leaf."""
    nodes = tuple(relevant)
    return min(1.0, sum(chance for leaf, chance in leaves.items() if is_at_or_below(leaf, nodes)))


def write_taxonomy(path: Path, model: TaxonomyModel) -> None:
    write_model(path, TAXONOMY, [as_part(model)])


def as_part(model: TaxonomyModel) -> Part:
    """Serialised as a part of a model file, which may contain other parts."""
    words = "\n".join(model.bayes.words).encode("utf8", "surrogatepass")
    says = {
        "name": model.name,
        "trained_on": model.trained_on,
        "good": list(model.relevant),
        "classes": list(model.bayes.classes),
        "texts": list(model.bayes.texts),
        "words": len(model.bayes.words),
        "characters": len(words),
    }
    times = model.bayes.times.astype("<u4").tobytes()
    return Part(says, zlib.compress(words + times, 9))


def open_taxonomy(path: Path) -> TaxonomyModel:
    parts = read_model(path, TAXONOMY)
    try:
        (part,) = parts
        return from_part(part)
    except DAMAGED as error:
        raise BadInput(f"{path}: the taxonomy is damaged: {error}") from None


def from_part(part: Part) -> TaxonomyModel:
    """Raises one of `DAMAGED` if the part is incomplete or invalid."""
    return _unpacked(part.says, part.content)


def _unpacked(says: Mapping[str, Any], content: bytes) -> TaxonomyModel:
    classes, texts = tuple(map(str, says["classes"])), tuple(map(int, says["texts"]))
    count, characters = int(says["words"]), int(says["characters"])
    if not (0 < count <= MOST_WORDS and 0 < characters <= _MOST_CHARACTERS and 1 < len(classes) <= _MOST_CLASSES):
        raise ValueError(f"{count} words, {characters} characters, {len(classes)} classes")
    if len(texts) != len(classes) or min(texts) < 1:
        raise ValueError(f"texts {texts}")
    whole = unpacked(content, characters + 4 * count * len(classes))
    words = tuple(whole[:characters].decode("utf8", "surrogatepass").split("\n"))
    if len(words) != count:
        raise ValueError(f"{len(words)} words instead of {count}")
    times = np.frombuffer(whole[characters:], "<u4").astype(np.uint32).reshape(count, len(classes))
    bayes = NaiveBayes(classes, texts, words, times)
    return TaxonomyModel(str(says["name"]), str(says["trained_on"]), tuple(map(str, says["good"])), bayes)


# The topic of a page as one of the classes of a taxonomy, by naive Bayes.


PRIOR_WORDS = 20
"""Words of the target prior."""
SHOWN = 3
_WORDS = Words()


@dataclass(frozen=True)
class Taxonomy:
    """The relevance is the total probability of the target classes. A page is relevant if its most probable class is;
    that class is the label of the verdict."""

    model: TaxonomyModel
    _target_prior: TargetPrior = field(init=False, repr=False, compare=False)

    reads_content: ClassVar[bool] = True
    reads_main_text: ClassVar[bool] = True

    def __post_init__(self) -> None:
        relevant = [k for k, leaf in enumerate(self.model.bayes.classes) if is_at_or_below(leaf, self.model.relevant)]
        object.__setattr__(
            self, "_target_prior", TargetPrior(words=tuple(self.model.bayes.typical(relevant, PRIOR_WORDS)))
        )

    @property
    def target_prior(self) -> TargetPrior:
        return self._target_prior

    def judge(self, pages: Sequence[Page]) -> list[Verdict]:
        return [self._judge(page.titled_text) for page in pages]

    def similarities(self, texts: Sequence[str]) -> list[float]:
        return [self._judge(text).relevance for text in texts]

    def _judge(self, text: str) -> Verdict:
        bayes, words = self.model.bayes, _WORDS.of(text[:LONGEST])
        if not bayes.knows(words):
            return Verdict(0.0, False, f"holds no word of the training pages of {self.model.name}")
        chances = bayes.posterior(words)
        best, rival = map(int, np.argsort(-chances, kind="stable")[:2])
        leaves = dict(zip(bayes.classes, chances.tolist(), strict=True))
        ranking = ", then ".join(f"{bayes.classes[k]} ({chances[k]:.2f})" for k in (best, rival))
        deciding = bayes.deciding(words, best, rival, SHOWN)
        by = f"; most by {', '.join(deciding)}" if deciding else ""
        label = bayes.classes[best]
        return Verdict(
            target_probability(leaves, self.model.relevant),
            is_at_or_below(label, self.model.relevant),
            f"{ranking}{by}",
            label,
        )


# A logistic regression trained on relevant and irrelevant pages: a weight for each word.


TOPIC = Kind("topic models", 1, "spoor train topic")


@dataclass(frozen=True)
class Prediction:
    """`probability` that the page is relevant, with the words that decided, for and against, largest first: neither
    those of any text in the language, nor those that hardly count. Without a word of the training pages there are no
    words and the probability is 0."""

    probability: float
    speaks_for: tuple[str, ...] = ()
    against: tuple[str, ...] = ()


NOTHING = Prediction(0.0)
SLIGHT = 0.1
"""Share of the largest contribution below which a word did not decide."""
COMMON = 0.5
"""Share of background texts from which on a word that they contain is not specific to a topic."""


def _is_telling(word: str) -> bool:
    known = background()
    return known.frequencies.get(word.removeprefix(IN_TITLE), 0) < COMMON * known.texts


@dataclass(frozen=True, eq=False)
class TopicModel:
    """The probability is 1 / (1 + e^-z), where z is `bias` plus the weights of the page's features. A page is relevant
    at `threshold` or more. `weights` has an entry for each hash bucket of `features`. `words` are those with the
    largest positive weights, largest first."""

    name: str
    trained_on: str
    threshold: float
    bias: float = field(repr=False)
    words: tuple[str, ...] = field(repr=False)
    weights: NDArray[np.float32] = field(repr=False)

    def opinion(self, title: str, text: str) -> Prediction:
        found = features(title, text)
        said = self.weights[found.places()] * found.weights
        if not said.any():
            return NOTHING
        probability = 0.5 + 0.5 * math.tanh((self.bias + float(said.sum())) / 2.0)
        order, least = np.argsort(said, kind="stable"), SLIGHT * float(np.abs(said).max())
        speaks_for = (found.words[k] for k in order[::-1] if said[k] >= least)
        against = (found.words[k] for k in order if said[k] <= -least)
        deciding = (tuple(islice(filter(_is_telling, words), SHOWN)) for words in (speaks_for, against))
        return Prediction(probability, *deciding)

    def probabilities(self, samples: Sequence[Sample]) -> NDArray[np.float64]:
        """Of pages, from their stored features. Equal to the probabilities of their opinions up to float precision."""
        said = rows_of(samples).scores(self.weights, 0.0)
        return np.where(said == 0.0, NOTHING.probability, 0.5 + 0.5 * np.tanh((said + self.bias) / 2.0))

    def log_odds(self, samples: Sequence[Sample]) -> NDArray[np.float64]:
        """Of pages, from their stored features."""
        return rows_of(samples).scores(self.weights, self.bias)


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


# The topic of a page by a classifier trained on relevant and irrelevant pages.


@dataclass(frozen=True)
class Examples:
    """The relevance is the probability that the page is relevant. Relevant at `least` or more; 0 means the threshold of
    the model, chosen in training."""

    model: TopicModel
    least: float = 0.0

    reads_content: ClassVar[bool] = True
    reads_main_text: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not 0.0 <= self.least <= 1.0:
            raise UsageError(f"least={self.least:g} is not a probability between 0 and 1")

    @property
    def target_prior(self) -> TargetPrior:
        return TargetPrior(words=self.model.words[:PRIOR_WORDS])

    def judge(self, pages: Sequence[Page]) -> list[Verdict]:
        return [self._verdict(self.model.opinion(page.title, page.best_text)) for page in pages]

    def similarities(self, texts: Sequence[str]) -> list[float]:
        return [self.model.opinion("", text).probability for text in texts]

    def _verdict(self, opinion: Prediction) -> Verdict:
        relevant = opinion.probability >= (self.least or self.model.threshold)
        return Verdict(opinion.probability, relevant, self._because(opinion))

    def _because(self, opinion: Prediction) -> str:
        if opinion == NOTHING:
            return f"holds no word of the training pages of {self.model.name}"
        sides = {"for it": opinion.speaks_for, "against it": opinion.against}
        deciding = "; ".join(f"{side} {', '.join(words)}" for side, words in sides.items() if words)
        because = f"probability {opinion.probability:.2f} of {self.model.name}"
        return f"{because}: {deciding}" if deciding else because
