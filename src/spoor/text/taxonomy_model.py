"""Classes of pages in a tree, with what was learned of the leaves, and which of its nodes are wanted."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from spoor.errors import BadInput
from spoor.model_file import Kind, Part, read_model, unpacked, write_model
from spoor.text.naive_bayes import MOST_WORDS, NaiveBayes

TAXONOMY = Kind("taxonomies", 1, "spoor train taxonomy")
DAMAGED = (ValueError, KeyError, TypeError, OverflowError, zlib.error)
"""What senseless figures in a model file lead to."""
_MOST_CLASSES = 10_000
_MOST_CHARACTERS = 100 * MOST_WORDS


@dataclass(frozen=True, eq=False)
class TaxonomyModel:
    """A leaf is called by its path, `sports/cycling/road`; every leaf at or below one of `good` is wanted."""

    name: str
    trained_on: str
    good: tuple[str, ...]
    bayes: NaiveBayes = field(repr=False)


def is_good(leaf: str, good: Iterable[str]) -> bool:
    return any(leaf == node or leaf.startswith(f"{node}/") for node in good)


def goodness(leaves: Mapping[str, float], good: Iterable[str]) -> float:
    """How probable it is that a page belongs to a wanted leaf, from how probable each leaf is."""
    nodes = tuple(good)
    return min(1.0, sum(chance for leaf, chance in leaves.items() if is_good(leaf, nodes)))


def write_taxonomy(path: Path, model: TaxonomyModel) -> None:
    write_model(path, TAXONOMY, [as_part(model)])


def as_part(model: TaxonomyModel) -> Part:
    """As it stands in a model file, which may hold more beside it."""
    words = "\n".join(model.bayes.words).encode("utf8", "surrogatepass")
    says = {
        "name": model.name,
        "trained_on": model.trained_on,
        "good": list(model.good),
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
    """One of `DAMAGED` when it is not whole."""
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
