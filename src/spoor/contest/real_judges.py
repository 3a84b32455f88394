"""Judges that read pages, for the rows of a contest: of languages as they are shipped, of other labels trained."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from spoor.contest.folder import ContestFolder, write_whole
from spoor.contest.rows import Row
from spoor.contest.runs import course
from spoor.course import Course, Task
from spoor.errors import BadInput
from spoor.measure.accuracy import Accuracy, accuracy
from spoor.model_file import SUFFIX
from spoor.text.topic_model import TopicModel, write_topic
from spoor.training.pages import Example, Kept, usable
from spoor.training.topic import trained
from spoor.webs.web import Web

TRAINED = "examples"
"""The judge of rows that are not about a language."""


def with_real_judge(row: Row, task: Task, folder: ContestFolder) -> Task:
    """The same task under the judge of the row. The files that it names are there after `make_ready`."""
    model = folder.file(f"models/{row.target}{SUFFIX}", task.web)
    judge = f"language:{row.language}" if row.language else f"{TRAINED}:{model}"
    verdicts = folder.file(f"verdicts/{row.target}.npz", task.web)
    return replace(task, judge=judge, verdicts=verdicts)


def make_ready(task: Task) -> None:
    """Trains the judge where it is to be trained, and has it judge every page of the web; each once, in the lab: what
    a page says does not depend on conditions."""
    task = replace(task, conditions=None)
    kind, _, subject = task.judge.partition(":")
    if kind == TRAINED and not (file := Path(subject)).exists():
        model = trained_on_half(course(task))
        write_whole(file, lambda part: write_topic(part, model))
    assert task.verdicts is not None
    if not task.verdicts.exists():
        verdicts = course(task).verdicts()
        write_whole(task.verdicts, verdicts.write)


def trained_on_half(prepared: Course) -> TopicModel:
    """From pages with the label and pages without. Empty pages and copies teach nothing, nor does a page that is there
    both with the label and without."""
    target, half = prepared.task.target, _taught(prepared.web) & prepared.web.answers()
    positive = _examples(prepared, half & prepared.wanted)
    known = {(example.page.title, example.text) for example in positive.examples}
    others = _examples(prepared, half & ~prepared.wanted)
    negative = tuple(each for each in others.examples if (each.page.title, each.text) not in known)
    try:
        return trained(target, positive, replace(others, examples=negative), f"half of {prepared.web.name}").model
    except BadInput as error:
        remedy = "use --judge truth, or choose other rows with --rows"
        raise BadInput(f"no judge of {target} in {prepared.web.name} can be trained: {error}; {remedy}") from None


def _examples(prepared: Course, these: NDArray[np.bool_]) -> Kept:
    pages = prepared.pages(np.flatnonzero(these))
    return usable(Example(page.url, page) for page in pages)


def accuracy_on_unseen(task: Task) -> Accuracy:
    """Against the label, over the pages that can be reached and were not used in training."""
    prepared = course(task)
    there = prepared.reachable & prepared.web.answers()
    if task.judge.startswith(f"{TRAINED}:"):
        there &= ~_taught(prepared.web)
    return accuracy(prepared.judged()[there], prepared.wanted[there])


def _taught(web: Web) -> NDArray[np.bool_]:
    """The half of the pages that teaches: by their URLs, so that it is always the same."""
    return np.array([_is_taught(web.urls[number]) for number in range(web.pages)], np.bool_)


def _is_taught(url: str) -> bool:
    return hashlib.blake2b(url.encode(), digest_size=1).digest()[0] % 2 == 0
