"""Which pages are asked about, when, and when no more."""

from __future__ import annotations

from collections import Counter
from random import Random

import numpy as np

from spoor.judging.regression import Sample
from spoor.teaching.questions import BATCHES, IN_A_ROW, Candidate, chosen, due, has_settled, is_lesson_due
from spoor.urls import host_of


def candidate(url: str, margin: float, place: int) -> Candidate:
    """A page of one word."""
    return Candidate(url, margin, Sample(np.array([place], np.int32), np.ones(1, np.float32)))


def test_the_most_uncertain_page_comes_first() -> None:
    pages = [candidate(f"http://h{n}.test/", margin, n) for n, margin in enumerate((0.4, -0.05, 0.2))]
    assert chosen(pages, 2, [], Random(0)) == ["http://h1.test/", "http://h2.test/"]


def test_questions_are_spread_over_hosts() -> None:
    crowd = [candidate(f"http://one.test/{n}", 0.10 + n / 1000, n) for n in range(20)]
    others = [candidate(f"http://other{n}.test/", 0.15, 100 + n) for n in range(4)]
    hosts = Counter(map(host_of, chosen(crowd + others, 8, [], Random(0))))
    assert hosts["one.test"] < 8
    assert len(hosts) == 5


def test_of_pages_alike_one_is_asked_about() -> None:
    alike = [candidate(f"http://h{n}.test/", n / 100, 7) for n in range(5)]
    assert chosen(alike, 5, [], Random(0)) == ["http://h0.test/"]


def test_one_question_in_ten_is_about_a_page_that_seems_sure() -> None:
    unsure = [candidate(f"http://u{n}.test/", 0.01, n) for n in range(20)]
    sure = [candidate(f"http://s{n}.test/", 0.45, 100 + n) for n in range(20)]
    asked = chosen(unsure + sure, 10, [], Random(0))
    assert sum(url.startswith("http://s") for url in asked) == 1


def test_the_same_chance_makes_the_same_choice() -> None:
    pages = [candidate(f"http://h{n}.test/", n / 40, n) for n in range(20)]
    assert chosen(pages, 12, [], Random(3)) == chosen(pages, 12, [], Random(3))


def test_questions_are_due_with_the_square_root_of_visits_and_all_of_them_shortly_before_the_end() -> None:
    assert [due(visits, 100, 1000) for visits in (0, 100, 225, 899, 900, 1000)] == [0, 33, 50, 99, 100, 100]
    assert due(500, 100) == 50  # No end in sight.


def test_a_lesson_waits_for_some_answers_and_the_last_one_for_none() -> None:
    assert not is_lesson_due(answers=4, learned=0, questions=5 * BATCHES)
    assert is_lesson_due(answers=5, learned=0, questions=5 * BATCHES)
    assert is_lesson_due(answers=50, learned=49, questions=50)
    assert not is_lesson_due(answers=50, learned=50, questions=50)


def test_a_student_that_hardly_changes_any_more_has_settled() -> None:
    assert not has_settled([0.0] * (IN_A_ROW - 1))
    assert not has_settled([0.0, 0.2, 0.0])
    assert has_settled([0.3, *[0.001] * IN_A_ROW])
