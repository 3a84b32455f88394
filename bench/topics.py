"""How well, and how fast, do judges tell pages of a topic that were trained from others, beside plain keywords?

Pages about Ebola among pages about other diseases, crime and much else, in the data folder (SPOOR_DATA, default: a
`shared` folder beside the checkout). Four fifths of the pages teach, the rest are judged, in turn.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import process_time

import numpy as np

from spoor.cli.terminal import print_table
from spoor.judging.classifiers import Examples, Taxonomy
from spoor.judging.held_out import FOLDS, accuracy, f1, parted
from spoor.judging.topic_judges import Keywords
from spoor.judging.train_taxonomy import train_taxonomy as trained_taxonomy
from spoor.judging.train_topic import train_topic as trained_topic
from spoor.judging.training_pages import Kept, read_examples, sides, usable
from spoor.roles import Judge

DATA = Path(os.environ.get("SPOOR_DATA") or Path(__file__).resolve().parents[2] / "shared")
ARCHIVE = DATA / "data" / "example-pages" / "ebola.tar.xz"


@dataclass(frozen=True)
class Lesson:
    """What may be learned from."""

    positive: Kept
    negative: Kept


def examples(lesson: Lesson) -> Judge:
    return Examples(trained_topic("ebola", lesson.positive, lesson.negative, "").model)


def taxonomy(lesson: Lesson) -> Judge:
    classes = {"other": lesson.negative, "ebola": lesson.positive}
    return Taxonomy(trained_taxonomy("pages", classes, ["ebola"], "").model)


MAKERS: dict[str, Callable[[Lesson], Judge]] = {
    "examples": examples,
    "taxonomy of two classes": taxonomy,
    "keywords:ebola": lambda _: Keywords(("ebola",)),
    "keywords:ebola+virus+outbreak+hemorrhagic fever": lambda _: Keywords(
        ("ebola", "virus", "outbreak", "hemorrhagic fever")
    ),
}


def main(options: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m bench topics", description=__doc__)
    parser.parse_args(options)
    if not ARCHIVE.exists():
        print(f"topics: no example pages at {ARCHIVE}; set SPOOR_DATA to the folder that has them")
        return
    whole = Lesson(*map(usable, sides(ARCHIVE, read_examples(ARCHIVE))))
    rows = [row(name, make, whole) for name, make in MAKERS.items()]
    counts = f"{len(whole.positive.examples)} relevant pages, {len(whole.negative.examples)} others"
    print_table(("judge", "F1", "precision", "recall", "ms a page"), rows, f"{counts}; {FOLDS} folds, main texts")


def row(name: str, make: Callable[[Lesson], Judge], whole: Lesson) -> tuple[str, ...]:
    taken: list[bool] = []
    relevant: list[bool] = []
    seconds = 0.0
    for fold in range(FOLDS):
        (teach, held), (others, held_others) = (parted(k.examples, fold) for k in (whole.positive, whole.negative))
        judge = make(Lesson(Kept(tuple(teach)), Kept(tuple(others))))
        pages = [example.page for example in (*held, *held_others)]
        began = process_time()
        taken += [verdict.relevant for verdict in judge.judge(pages)]
        seconds += process_time() - began
        relevant += [True] * len(held) + [False] * len(held_others)
    marks = accuracy(np.array(taken), np.array(relevant))
    figures = (f1(marks), marks.precision or 0.0, marks.recall or 0.0)
    return name, *(f"{figure:.3f}" for figure in figures), f"{1000 * seconds / len(taken):.2f}"
