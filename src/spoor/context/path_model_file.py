"""Path models on disk: words with their counts, centres of clusters, the hidden Markov model."""

from __future__ import annotations

import math
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from spoor.context.hidden_markov import HiddenMarkov
from spoor.context.observer import Observer
from spoor.context.path_model import PathModel
from spoor.errors import BadInput
from spoor.model_file import Kind, Part, read_model, unpacked, write_model
from spoor.text.naive_bayes import MOST_WORDS, NaiveBayes
from spoor.text.vector_space import Collection, VectorSpace

PATHS = Kind("path models", 1, "spoor train context")
_MOST_LAYERS = 100
_MOST_CHARACTERS = 100 * MOST_WORDS
_PROBABILITIES = ("start", "start_shows", "first_step", "step", "shows")


def write_paths(path: Path, model: PathModel) -> None:
    known = model.observer.space.collection
    words = "\n".join(known.frequencies).encode("utf8", "surrogatepass")
    says = {
        "target": model.target,
        "trained_on": model.trained_on,
        "layers": model.layers,
        "words": list(model.words),
        "texts": known.texts,
        "classes": list(model.bayes.classes),
        "texts_of_classes": list(model.bayes.texts),
        "characters": len(words),
    }
    frequencies = np.fromiter(known.frequencies.values(), np.uint32)
    arrays = [
        _array("frequencies", frequencies, "<u4"),
        _array("times", model.bayes.times, "<u4"),
        _array("centres", model.observer.centres, "<f4"),
        *(_array(name, getattr(model.path, name), "<f8") for name in _PROBABILITIES),
    ]
    write_model(path, PATHS, [Part(says, zlib.compress(words, 9)), *arrays])


def open_paths(path: Path) -> PathModel:
    parts = read_model(path, PATHS)
    try:
        first, *rest = parts
        arrays = {str(part.says["name"]): _values(part) for part in rest}
        return _model(first.says, first.content, arrays)
    except (ValueError, KeyError, TypeError, OverflowError, zlib.error) as error:
        raise BadInput(f"{path}: the model is damaged: {error}") from None


def _array(name: str, values: NDArray[Any], dtype: DTypeLike) -> Part:
    says = {"name": name, "shape": list(values.shape), "dtype": dtype}
    return Part(says, zlib.compress(values.astype(dtype).tobytes(), 9))


def _values(part: Part) -> NDArray[Any]:
    shape, dtype = tuple(map(int, part.says["shape"])), str(part.says["dtype"])
    if dtype not in ("<u4", "<f4", "<f8") or not all(0 < size <= MOST_WORDS for size in shape):
        raise ValueError(f"{dtype} values of the shape {shape}")
    if (count := math.prod(shape)) > _MOST_LAYERS * MOST_WORDS:
        raise ValueError(f"{count} values")
    return np.frombuffer(unpacked(part.content, count * int(dtype[-1])), dtype).reshape(shape)


def _model(says: Mapping[str, Any], content: bytes, arrays: Mapping[str, NDArray[Any]]) -> PathModel:
    layers, characters = int(says["layers"]), int(says["characters"])
    if not (0 < layers < _MOST_LAYERS and 0 < characters <= _MOST_CHARACTERS):
        raise ValueError(f"{layers} layers, {characters} characters")
    words = tuple(unpacked(content, characters).decode("utf8", "surrogatepass").split("\n"))
    frequencies, centres = arrays["frequencies"], arrays["centres"].astype(np.float64)
    path = HiddenMarkov(*(arrays[name].astype(np.float64) for name in _PROBABILITIES))
    if not (len(set(words)) == len(frequencies) == centres.shape[1] and np.isfinite(centres).all()):
        raise ValueError(f"{len(set(words))} words, {len(frequencies)} counts, {centres.shape[1]} columns")
    if (path.states, path.symbols) != (layers + 1, len(centres)):
        raise ValueError(f"{path.states} states and {path.symbols} symbols")
    space = VectorSpace(Collection(int(says["texts"]), dict(zip(words, map(int, frequencies), strict=True))))
    return PathModel(
        target=str(says["target"]),
        trained_on=str(says["trained_on"]),
        layers=layers,
        words=tuple(map(str, says["words"])),
        observer=Observer(space, centres),
        path=path,
        bayes=_bayes(says, words, arrays["times"]),
    )


def _bayes(says: Mapping[str, Any], words: tuple[str, ...], times: NDArray[np.uint32]) -> NaiveBayes:
    classes, texts = tuple(map(str, says["classes"])), tuple(map(int, says["texts_of_classes"]))
    if times.shape != (len(words), len(classes)) or len(texts) != len(classes) or min(texts) < 1:
        raise ValueError(f"classes {classes} with {texts} texts")
    if not all(name.isdecimal() and int(name) <= int(says["layers"]) for name in classes):
        raise ValueError(f"classes {classes}")
    return NaiveBayes(classes, texts, words, times)
