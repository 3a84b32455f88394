"""A judge that begins from pages and a sentence, and is taught by answers."""

from __future__ import annotations

import pickle
import random
import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from spoor import registry
from spoor import settings as config
from spoor.errors import UsageError
from spoor.judging.regression import fitted, rows_of
from spoor.lab.generate import generate
from spoor.lab.generate.chance import Request
from spoor.lab.task import Task, read_seeds
from spoor.lab.teaching import Teaching, from_start, taught
from spoor.live.from_settings import Objects
from spoor.parse.words import IN_TITLE, place
from spoor.records import Page
from spoor.server_settings import TeacherSettings
from spoor.settings import Config, Target
from spoor.store.journal import Journal
from spoor.strategy import prior_of
from spoor.teaching import fitting
from spoor.teaching.beginning import beginner
from spoor.teaching.kept_pages import KeptPages, Version
from spoor.teaching.lessons import student_of_version
from spoor.teaching.presumed import rarity
from spoor.teaching.student import Aim, Answer, Answered, Student, sample
from spoor.teaching.taught_judge import TaughtJudge

HORSES = ["horse", "mare", "foal", "saddle", "rider", "gallop", "stable", "bridle", "hoof", "stallion"]
SHIPS = ["ship", "sail", "mast", "captain", "harbour", "anchor", "deck", "wave", "rudder", "keel"]
COMMON = ["the", "of", "and", "to", "in", "a", "is", "that", "for", "it", "was", "on", "are", "as", "with"]


def page(words: list[str], number: int) -> Page:
    """Of one subject, in words as common as elsewhere."""
    chance = random.Random(f"{words[0]} {number}")
    text = [*chance.choices(words, k=12), *chance.choices(COMMON, k=60)]
    chance.shuffle(text)
    return Page(f"http://{words[0]}.test/{number}", title=chance.choice(words), text=" ".join(text))


def answered(words: list[str], relevant: bool, numbers: range) -> list[Answered]:
    pages = [page(words, number) for number in numbers]
    return [Answered(Answer(one.url, relevant, "person"), sample(one)) for one in pages]


@pytest.fixture(scope="module")
def student() -> Student:
    return beginner([page(HORSES, number) for number in range(3)])


def test_words_of_any_text_do_not_count_as_those_that_decided(student: Student) -> None:
    schooled = student.taught([*answered(HORSES, True, range(50, 55)), *answered(SHIPS, False, range(60, 65))])
    for subject in (HORSES, SHIPS):
        because = schooled.verdict(page(subject, 99)).because
        words = set(because.partition(": ")[2].replace(",", "").replace(";", "").split())
        assert words & {*HORSES, *SHIPS} and not words & set(COMMON) - {"for", "it"}  # "for it" itself.


def test_the_pages_it_has_seen_say_where_the_threshold_lies(student: Student) -> None:
    """Where all pages share what the examples are told apart by: a site about horses, of which foals are relevant."""
    seen = [page([*HORSES[:6], *words], n) for words in (HORSES[6:], SHIPS) for n in range(20, 50)]
    samples = [sample(one) for one in seen]
    before = student.shifted(-10.0)
    assert all(before.model.probabilities(samples) > 0.5)
    shifted = before.shifted(before.shift_by(samples))
    taken = shifted.model.probabilities(samples) > 0.5
    assert taken[:30].sum() > 25 and taken[30:].sum() < 5
    assert before.shift_by(samples[:19]) == 0.0  # Too few.
    assert before.shift_by([sample(page(HORSES, 0))] * 30) == 0.0  # It was fitted to them.


def test_a_student_that_is_resumed_has_the_threshold_that_it_had(student: Student) -> None:
    with closing(sqlite3.connect(":memory:")) as db:
        Journal.create(db)
        kept = KeptPages.create(db)
        kept.learned(Version(version=1, at=0.0, marks=(), changed=0.0, row=0, shift=1.5), [])
        kept.write(db)
        resumed = student_of_version(db, student)
    assert resumed.version == 1
    assert resumed.model.bias == student.model.bias - 1.5


def test_the_more_answers_of_both_kinds_the_less_the_pages_seen_say_of_the_threshold(student: Student) -> None:
    seen = [sample(page(words, n)) for words in (HORSES, SHIPS) for n in range(50, 80)]
    taught = [
        student.taught([*answered(HORSES, True, range(10, 10 + n)), *answered(SHIPS, False, range(n))])
        for n in (0, 3, 20)
    ]
    shifts = [one.shifted(-100.0).shift_by(seen) for one in taught]
    assert shifts[0] > shifts[1] > shifts[2] > 0.0


def test_a_threshold_that_was_asked_for_is_that_of_the_answers_alone() -> None:
    strict = beginner([page(HORSES, n) for n in range(3)], aim=Aim(precision=0.9))
    strict = strict.taught([*answered(HORSES, True, range(10, 30)), *answered(SHIPS, False, range(20))])
    assert strict.shifted(-10.0).shift_by([sample(page(SHIPS, n)) for n in range(50, 80)]) == 0.0


def test_a_sentence_says_what_pages_are_about_beside_the_examples(student: Student) -> None:
    both = beginner([page(HORSES, number) for number in range(3)], "the rudder and the keel")
    ship = page(SHIPS, 7)
    assert both.verdict(ship).relevance > student.verdict(ship).relevance


def test_a_word_that_texts_about_anything_hold_counts_twice_in_a_title() -> None:
    assert rarity()[place(f"{IN_TITLE}captain")] == 2 * rarity()[place("captain")]


@pytest.fixture(scope="module")
def schooled(student: Student) -> Student:
    return student.taught([*answered(HORSES, True, range(10, 30)), *answered(SHIPS, False, range(20))])


def test_three_pages_are_enough_to_tell_their_like_from_others(student: Student) -> None:
    verdicts = student.judge([page(HORSES, 7), page(SHIPS, 7)])
    assert [verdict.relevant for verdict in verdicts] == [True, False]


def test_a_sentence_is_enough_to_begin_with_and_says_what_links_to_look_for() -> None:
    student = beginner([], "pages about the mare and the foal")
    assert student.verdict(page(HORSES, 7)).relevance > student.verdict(page(SHIPS, 7)).relevance
    assert {"mare", "foal"} <= set(prior_of(student).words)
    assert not {"the", "and"} & set(prior_of(student).words)


def test_it_knows_the_pages_that_it_began_with(student: Student) -> None:
    assert student.is_example(sample(page(HORSES, 0)))
    assert not student.is_example(sample(page(HORSES, 9)))


def test_without_answers_the_threshold_lies_where_the_pages_divide() -> None:
    assert fitting.needed_shift(np.empty(0), np.empty(0, bool), -1.5) == -1.5


def test_the_first_answers_move_the_threshold_little_and_many_to_where_they_divide() -> None:
    def threshold(of_each: int) -> float:
        said = np.repeat([True, False], of_each)
        return fitting.needed_shift(np.where(said, 4.0, 2.0), said, split=0.0)

    shifts = [threshold(of_each) for of_each in (0, 1, 10, 100, 1000)]
    assert shifts == sorted(shifts)
    assert shifts[1] < 0.5
    assert shifts[-1] == pytest.approx(3.0, abs=0.3)


def test_answers_that_all_say_no_raise_the_threshold() -> None:
    """A rare target: nearly all pages that the student is not sure of are irrelevant."""
    shifts = [fitting.needed_shift(np.zeros(count), np.zeros(count, bool), split=0.0) for count in (0, 5, 50)]
    assert 0.0 == shifts[0] < shifts[1] < shifts[2]


def test_log_odds_rise_as_steeply_with_the_score_as_answers_say() -> None:
    said = np.repeat([True, False], 50)
    steep, _ = fitting._calibrated(np.where(said, 1.0, -1.0), said)
    flat, _ = fitting._calibrated(np.where(said, 1.0, -1.0), np.tile([True, True, False], 34)[:100])
    assert steep > 1.5 > 0.7 > flat > 0.0
    only_no, _ = fitting._calibrated(np.zeros(50), np.zeros(50, bool))
    assert only_no > 0.7  # That says nothing of it.
    assert fitting._calibrated(np.empty(0), np.empty(0, bool)) == (1.0, 0.0)


@pytest.mark.parametrize("scale", [1e-6, 1.0, 30.0, 1e4])
@pytest.mark.parametrize("yes", [0, 1, 15, 30])
def test_whatever_the_answers_are_a_higher_score_means_more(scale: float, yes: int) -> None:
    chance = np.random.default_rng(yes)
    slope, even = fitting._calibrated(scale * chance.standard_normal(30), np.arange(30) < yes)
    assert 0.3 < slope < 3.0
    assert np.isfinite(even)


def test_a_language_without_blanks_does_as_well() -> None:
    student = beginner(
        [
            Page("http://a.test/", title="馬", text="草原の馬と騎手が草原を走る"),
            Page("http://b.test/", text="馬の鞍と騎手の草原"),
        ]
    )
    assert student.verdict(Page("http://c.test/", text="騎手と馬が草原にいる")).relevant
    assert not student.verdict(Page("http://d.test/", text="船長は港で帆を上げた")).relevant


def test_what_says_nothing_is_refused() -> None:
    with pytest.raises(UsageError, match="like or about"):
        beginner([Page("http://a.test/")])


def test_an_answer_is_the_verdict_on_its_page_and_says_whose_it_is(student: Student) -> None:
    ship = page(SHIPS, 0)
    verdict = student.taught([Answered(Answer(ship.url, True, "person"), sample(ship))]).verdict(ship)
    assert (verdict.relevant, verdict.relevance, verdict.because) == (True, 1.0, "relevant, says person")


def test_answers_turn_what_was_presumed(student: Student) -> None:
    after = student.taught([*answered(SHIPS, True, range(10)), *answered(HORSES, False, range(20, 30))])
    assert after.verdict(page(SHIPS, 50)).relevance > student.verdict(page(SHIPS, 50)).relevance


def test_the_order_of_answers_makes_no_difference(student: Student, schooled: Student) -> None:
    backwards = student.taught(list(reversed(list(schooled.answers.values()))))
    assert np.array_equal(backwards.model.weights, schooled.model.weights)
    assert (backwards.model.bias, backwards.model.threshold) == (schooled.model.bias, schooled.model.threshold)


def test_each_lesson_is_a_version_which_its_verdicts_name(student: Student, schooled: Student) -> None:
    assert (student.version, schooled.version) == (0, 1)
    assert "version 1" in schooled.verdict(page(HORSES, 99)).because


def test_a_page_is_judged_again_by_its_sample_as_by_its_text(schooled: Student) -> None:
    pages = [page(HORSES, 40), page(SHIPS, 40), Page("http://empty.test/")]
    again = schooled.revised([one.url for one in pages], [sample(one) for one in pages])
    assert [one.relevance for one in again] == pytest.approx([one.relevance for one in schooled.judge(pages)], abs=1e-5)


def test_a_higher_precision_asks_for_a_higher_threshold(student: Student) -> None:
    mixed = [
        *answered(HORSES, True, range(10, 30)),
        *answered(SHIPS, False, range(20)),
        *answered(HORSES + SHIPS, False, range(60, 75)),
        *answered(HORSES + SHIPS, True, range(75, 80)),
    ]
    strict = beginner([page(HORSES, n) for n in range(3)], aim=Aim(precision=0.99)).taught(mixed)
    lenient = beginner([page(HORSES, n) for n in range(3)], aim=Aim(recall=1.0)).taught(mixed)
    assert strict.model.threshold > lenient.model.threshold


def test_an_aim_is_one_share() -> None:
    for wrong in ({"precision": 1.5}, {"recall": 0.0}, {"precision": 0.9, "recall": 0.9}):
        with pytest.raises(UsageError):
            Aim(**wrong)


def test_a_student_goes_to_other_processes(schooled: Student) -> None:
    sent: Student = pickle.loads(pickle.dumps(schooled))
    assert sent.verdict(page(HORSES, 50)) == schooled.verdict(page(HORSES, 50))


def test_the_regression_ends_where_nothing_is_steeper(student: Student) -> None:
    """Every weight is what the examples pull it to: the condition of the minimum."""
    samples = [one.sample for one in student.begun]
    relevant = np.array([one.relevant for one in student.begun])
    rows = rows_of(samples)
    weights, bias = fitted(rows, relevant, freedom=1.0)
    errors = relevant - 1.0 / (1.0 + np.exp(-rows.scores(weights, bias)))
    pulled = np.zeros_like(weights)
    for one, error in zip(samples, errors, strict=True):
        np.add.at(pulled, one.places, one.weights * error)
    assert np.allclose(weights, pulled, atol=1e-2)
    assert bias == pytest.approx(float(errors.sum()), abs=1e-2)


def test_a_target_names_files_and_a_sentence_and_may_ask_for_more(tmp_path: Path) -> None:
    (tmp_path / "one.txt").write_text(page(HORSES, 1).text)
    settings = config.checked(
        {
            "target": {"like": "one.txt", "about": "horses", "pattern": "rider", "require": "like and pattern"},
            "crawl": {"seeds": ["http://a.test/"]},
        },
        tmp_path,
    )
    judge = registry.judge_of(settings.target)
    horse = page(HORSES, 2)
    assert Path(settings.target.like[0]) == tmp_path / "one.txt"
    assert judge.judge([horse])[0].relevant == ("rider" in f"{horse.title} {horse.text}")


def test_an_example_on_the_web_is_taken_from_what_was_fetched() -> None:
    target = config.Target(like=("http://horse.test/1",))
    with pytest.raises(UsageError, match="must be fetched first"):
        registry.judge_of(target)
    judge = registry.judge_of(target, fetched={"http://horse.test/1": page(HORSES, 1)})
    assert judge.judge([page(HORSES, 5)])[0].relevant


def test_a_simulated_crawl_is_taught_by_the_truth_and_is_the_same_twice(tmp_path: Path) -> None:
    web = tmp_path / "web"
    generate(Request("topical", 300, 5, text=True), web, lambda _: None)
    task = from_start(Task(web, "relevant", read_seeds(web / "seeds.txt")), 1)
    once, again = (taught(task, Teaching(20, wrong=0.1)) for _ in range(2))
    assert once == again
    assert once.answers == 20
    assert once.area > 0.0
    assert taught(task, Teaching(perfect=True)).f1 == 1.0


def test_a_crawl_asks_for_precision_or_recall_but_not_for_both() -> None:
    target = Target(about="horses")
    asked = TeacherSettings(precision=0.9)
    strategy = Objects().unbound(Config(target, teacher=asked))
    taught = TaughtJudge.of(strategy.judge)
    assert taught is not None and taught.student.aim == Aim(precision=0.9)
    with pytest.raises(UsageError, match="precision and recall are both set"):
        Objects().unbound(Config(target, teacher=TeacherSettings(precision=0.9, recall=0.9)))
