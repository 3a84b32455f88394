"""Trains a taxonomy from folders of pages, one for each class."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from spoor.errors import BadInput, UsageError
from spoor.judging.classifiers import Taxonomy, TaxonomyModel, is_at_or_below, learned
from spoor.judging.held_out import FOLDS, Accuracy, accuracy, parted
from spoor.judging.training_pages import Example, Kept, usable
from spoor.parse.words import LONGEST, Words

LEAST_PAGES = FOLDS
"""Minimum number of pages of a class; a hundred are better."""
_WORDS = Words()


@dataclass(frozen=True)
class TaxonomyEvaluation:
    """5-fold cross-validation: the share of pages assigned to their own class, and precision and recall of
    relevance."""

    right: float
    accuracy: Accuracy


@dataclass(frozen=True)
class TrainedTaxonomy:
    model: TaxonomyModel
    trial: TaxonomyEvaluation


def classes_in(examples: Iterable[Example]) -> dict[str, Kept]:
    """The usable pages of each folder; the path of the folder is the name of the class."""
    by_folder: defaultdict[str, list[Example]] = defaultdict(list)
    for example in examples:
        if not example.folder:
            raise BadInput(f"{example.name} is not in the folder of a class; put it into one, or take it out")
        by_folder[example.folder].append(example)
    return {folder: usable(by_folder[folder]) for folder in sorted(by_folder)}


def train_taxonomy(name: str, classes: Mapping[str, Kept], relevant: Sequence[str], trained_on: str) -> TrainedTaxonomy:
    nodes = tuple(node.strip("/") for node in relevant)
    _check(classes, nodes)
    pages = {leaf: kept.examples for leaf, kept in classes.items()}
    return TrainedTaxonomy(modelled(name, pages, nodes, trained_on), _trial(pages, nodes))


def modelled(
    name: str, pages: Mapping[str, Sequence[Example]], relevant: tuple[str, ...], trained_on: str
) -> TaxonomyModel:
    """Trains without evaluation."""
    return TaxonomyModel(
        name, trained_on, relevant, learned({leaf: list(map(_words, each)) for leaf, each in pages.items()})
    )


def _words(example: Example) -> list[str]:
    """The same tokens that the judge uses."""
    return _WORDS.of(f"{example.page.title}\n{example.text}"[:LONGEST])


def _check(classes: Mapping[str, Kept], relevant: Sequence[str]) -> None:
    if len(classes) < 2:
        raise BadInput(f"one class only, {', '.join(classes)}; give a folder for each of several classes")
    for leaf, kept in classes.items():
        if len(kept.examples) < LEAST_PAGES:
            raise BadInput(f"too few pages of class {leaf}: {kept}; {LEAST_PAGES} are needed of each class")
    for node in relevant:
        if not any(is_at_or_below(leaf, [node]) for leaf in classes):
            raise UsageError(f"--relevant {node}: there is no such class; there are {', '.join(classes)}")
    if all(is_at_or_below(leaf, relevant) for leaf in classes):
        raise UsageError(
            f"--relevant {' '.join(relevant)} includes every class; add folders of pages that are not relevant"
        )


def _trial(pages: Mapping[str, Sequence[Example]], relevant: tuple[str, ...]) -> TaxonomyEvaluation:
    leaves, labels, taken = [], [], []
    for fold in range(FOLDS):
        parts = {leaf: parted(each, fold) for leaf, each in pages.items()}
        judge = Taxonomy(modelled("", {leaf: teaching for leaf, (teaching, _) in parts.items()}, relevant, ""))
        for leaf, (_, held_back) in parts.items():
            verdicts = judge.judge([example.page for example in held_back])
            leaves += [leaf] * len(verdicts)
            labels += [verdict.label for verdict in verdicts]
            taken += [verdict.relevant for verdict in verdicts]
    right = sum(leaf == label for leaf, label in zip(leaves, labels, strict=True))
    truth = np.array([is_at_or_below(leaf, relevant) for leaf in leaves])
    return TaxonomyEvaluation(right / len(leaves), accuracy(np.array(taken), truth))
