"""How often a judge is right: precision and recall, over the pages that can be reached."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from spoor.judging.held_out import Accuracy, accuracy
from spoor.lab.contest import accuracy_on_unseen
from spoor.lab.generate import generate
from spoor.lab.generate.chance import Request
from spoor.lab.task import Task, read_seeds


def of(taken: str, relevant: str) -> Accuracy:
    """`of("10", "11")`: the judge takes the first of two relevant pages."""
    return accuracy(*(np.array([mark == "1" for mark in marks], np.bool_) for marks in (taken, relevant)))


def test_precision_is_told_of_what_was_taken_and_recall_of_what_is_wanted() -> None:
    assert of(taken="11110", relevant="10001") == Accuracy(precision=0.25, recall=0.5)


def test_nothing_taken_has_no_precision_and_nothing_wanted_no_recall() -> None:
    assert of(taken="00", relevant="11") == Accuracy(None, 0.0)
    assert of(taken="11", relevant="00") == Accuracy(0.0, None)


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("accuracy") / "thai"
    generate(Request("thai", 400, 5, text=True), folder, lambda pages: None)
    return folder


@pytest.mark.parametrize("judge", ["script:thai", "charset:th:sources=meta"])
def test_a_judge_is_asked_of_every_page_whether_it_reads_texts_or_attributes(web: Path, judge: str) -> None:
    task = Task(web, "relevant", read_seeds(web / "seeds.txt"), judge)
    assert accuracy_on_unseen(task) == Accuracy(1.0, 1.0)


def test_a_judge_of_another_script_takes_nothing(web: Path) -> None:
    task = Task(web, "relevant", read_seeds(web / "seeds.txt"), "script:tibetan")
    assert accuracy_on_unseen(task) == Accuracy(None, 0.0)
