"""The experiments of the papers, on webs small enough for a test."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from spoor.cli.main import main
from spoor.errors import BadInput
from spoor.lab.generate import generate
from spoor.lab.generate.chance import Request
from spoor.lab.measures import Collected, Information
from spoor.lab.papers import ahmm, core, correlation, mongolian
from spoor.lab.papers.correlation import PUBLISHED
from spoor.lab.papers.experiment import (
    STARTS,
    Condition,
    OnceJudged,
    all_hold,
    condition_lines,
    draw,
    falls,
    rises,
    within,
)
from spoor.lab.papers.language_specific import SEEDS, STRATEGIES
from spoor.lab.papers.mongolian import ACCURACY, CORRECT, MEGABYTES, PUBLISHED_PAGES
from spoor.lab.web import Web
from spoor.records import Page, Verdict


def test_a_condition_holds_when_enough_seeds_agree() -> None:
    assert Condition("claim", (True, True, False), needed=2).holds
    assert not Condition("claim", (True, False, False), needed=2).holds


def test_a_failed_condition_is_printed_as_one() -> None:
    assert Condition("pigs fly", (False, False), needed=1).line() == "no    0 of 2 (needs 1)  pigs fly"


def test_what_was_tested_and_what_was_bound_to_hold_are_told_apart_and_only_the_first_counts() -> None:
    tested, bound = Condition("pigs fly", (False,), 1), Condition("pigs are pigs", (True,), 1, "by definition")
    assert condition_lines([bound, tested]) == [
        "tested:",
        "  no    0 of 1 (needs 1)  pigs fly",
        "by construction, not counted:",
        "  yes   1 of 1  pigs are pigs: by definition",
    ]
    assert not all_hold([tested, bound])
    assert all_hold([replace(tested, bound="they have no wings"), bound])


def answers_in(said: str) -> tuple[list[str], list[str]]:
    """Of the conditions that were tested, and of the others."""
    tested, _, bound = said.partition("\ntested:\n")[2].partition("by construction, not counted:\n")
    first, second = ([line.split()[0] for line in part.strip().splitlines()] for part in (tested, bound))
    return first, second


def test_rising_means_at_every_step() -> None:
    assert rises([1, 2, 3]) and not rises([1, 2, 2]) and falls([3, 2, 1]) and not falls([3, 1, 2])


def test_the_acceptance_seeds_are_those_agreed_on() -> None:
    assert tuple(range(401, 411)) == SEEDS == mongolian.SEEDS == correlation.SEEDS == ahmm.SEEDS == core.SEEDS


def test_the_whole_experiment_prints_every_strategy_and_every_condition(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["reproduce", "language-specific", "--seeds", "5-5", "--pages", "1000", "--workers", "1"]
    words += ["--keep", str(tmp_path)]
    code = main([*words, "--plot", str(tmp_path / "figures.svg")])
    said = capsys.readouterr().out
    assert all(f"Thai-like {strategy} " in said for strategy in STRATEGIES)
    answers, bound = answers_in(said)
    assert (len(answers), len(bound)) == (12, 3)
    assert code == (0 if all(answer == "yes" for answer in answers) else 1)
    assert main([*words, "--json"]) == code
    told = json.loads(capsys.readouterr().out)
    tested = [condition["holds"] for condition in told["conditions"] if not condition["bound"]]
    assert tested == [answer == "yes" for answer in answers]
    assert len(told["tables"]) == 1 and len(told["charts"]) == 10
    drawn = (tmp_path / "figures.svg").read_text()
    assert all(f"<!-- {chart['title']} -->" in drawn for chart in told["charts"])
    assert "soft-focused, published" in drawn


def test_seeds_that_are_no_numbers_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reproduce", "language-specific", "--seeds", "one"]) == 2
    assert capsys.readouterr().err == "spoor: --seeds one: give two numbers, as in 401-410\n"


def test_the_accuracy_rates_of_the_paper_follow_from_its_counts_but_for_one() -> None:
    cells = [
        (hour, correct / pages, rate)
        for hour, row in enumerate(zip(CORRECT, PUBLISHED_PAGES, ACCURACY, strict=True), 1)
        for correct, pages, rate in zip(*row, strict=True)
    ]
    wrong = [(hour, round(share, 3), rate) for hour, share, rate in cells if abs(share - rate) > 0.0051]
    assert wrong == [(3, 0.782, 0.79)]


def test_the_last_accuracy_rates_of_the_paper() -> None:
    assert [round(n / of, 4) for n, of in zip(CORRECT[-1], PUBLISHED_PAGES[-1], strict=True)] == [
        0.3171,
        0.5056,
        0.8321,
    ]


def test_the_information_sums_of_the_paper_are_ten_kilobytes_a_page() -> None:
    sizes = [mb / n * 1000 for row in zip(MEGABYTES, PUBLISHED_PAGES, strict=True) for mb, n in zip(*row, strict=True)]
    assert min(sizes) > 9.95 and max(sizes) < 10.03


SPEEDS = {"B_C": 9.0, "G_C": 31.0, "N_C": 47.0}


def experiment(
    final: dict[str, int], before: dict[str, int], speeds: dict[str, float] = SPEEDS
) -> mongolian.Experiment:
    """One seed; of a hundred pages each, so many were right at the end, and at every tick before it."""

    def collected(correct: int) -> Information:
        everything = Collected(100, correct, correct / 10, 10 - correct / 10)
        return Information(everything, everything)

    histories = {
        name: (*[collected(before[name])] * (mongolian.TICKS - 1), collected(final[name]))
        for name in mongolian.CRAWLERS
    }
    return mongolian.Experiment((1,), (mongolian.Outcome(histories, speeds),), None)


def test_the_conditions_of_the_mongolian_paper_look_at_every_tick_and_at_the_end() -> None:
    rising = {"B_C": 30, "G_C": 50, "N_C": 80}
    narrow = {"B_C": 30, "G_C": 50, "N_C": 54}
    level = {"B_C": 30, "G_C": 30, "N_C": 80}

    def held(final: dict[str, int], before: dict[str, int], speeds: dict[str, float] = SPEEDS) -> list[bool]:
        return [condition.holds for condition in mongolian.conditions(experiment(final, before, speeds))]

    assert held(rising, rising) == [True, True, True, True, True]
    assert held(narrow, rising) == [True, False, True, True, True]
    assert held(rising, level) == [False, True, True, True, True]
    assert held(level, rising) == [False, True, True, True, False]
    assert held(rising | {"N_C": 30}, rising) == [False, False, False, True, False]
    assert held(rising, rising, SPEEDS | {"G_C": 50.0}) == [True, True, True, False, True]


def test_the_mongolian_experiment_prints_every_table_and_every_condition(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["reproduce", "mongolian", "--seeds", "5-5", "--pages", "1000", "--workers", "1"]
    code = main([*words, "--keep", str(tmp_path)])
    said = capsys.readouterr().out
    assert "Mongolian pages are made of" in said
    assert said.count("table 3, ") == 3 and "table 4, accuracy rate" in said and "table 5, summary" in said
    answers, bound = answers_in(said)
    assert (len(answers), len(bound)) == (4, 1)
    assert code == (0 if all(answer == "yes" for answer in answers) else 1)


# Correlation analysis


def test_v_5_the_rates_of_the_paper_follow_from_its_counts_if_recall_counts_what_is_truly_relevant() -> None:
    assert round(PUBLISHED.recall, 6) == 0.919492 and round(PUBLISHED.accuracy, 6) == 0.756757
    assert round(PUBLISHED.f1, 3) == 0.830
    assert PUBLISHED.taken / PUBLISHED.relevant > 1.2, "as printed, formula 5 gives more than there is"


def test_a_crawler_that_takes_nothing_has_no_accuracy() -> None:
    assert correlation.Collected(0, 0, 10).accuracy == 0.0


def correlated(right: int = 90, plain: int = 90, two_levels: float = 0.8, best: int = 90) -> correlation.Experiment:
    """A hundred pages taken, a hundred relevant."""
    areas = {"two levels": two_levels, "graded": 0.8, "first in, first out": 0.7}
    before, after, best_f1 = (correlation.Collected(100, number, 100) for number in (plain, right, best))
    return correlation.Experiment((1,), (correlation.Outcome(500, before, after, best_f1, areas),))


@pytest.mark.parametrize(
    ("experiment", "held"),
    [
        (correlated(), [True, True, True, True, True, True]),
        (correlated(right=80), [False, True, True, True, False, True]),
        (correlated(right=60, plain=60), [False, False, False, True, True, True]),
        (correlated(two_levels=0.7), [True, True, True, True, True, False]),
        (correlated(best=70), [True, True, True, False, True, True]),
    ],
)
def test_the_conditions_of_the_correlation_paper(experiment: correlation.Experiment, held: list[bool]) -> None:
    assert [condition.holds for condition in correlation.conditions(experiment)] == held


@pytest.fixture(scope="module")
def topical(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("webs") / "topical"
    generate(Request("topical", 2000, 5, text=True), folder, lambda pages: None)
    return folder


def test_what_is_learned_from_is_neither_calibrated_by_nor_begun_at(topical: Path) -> None:
    web = Web.open(topical)
    relevant = web.labelled("relevant")
    drawn = draw(relevant, web.answers(), seed=3)
    assert not (drawn.to_learn & drawn.to_calibrate).any()
    assert drawn.to_learn.sum() == drawn.to_calibrate.sum() == 200
    assert len(set(drawn.seeds)) == STARTS
    assert all(relevant[seed] and not drawn.sample[seed] for seed in drawn.seeds)


def test_a_field_with_too_few_pages_is_refused(topical: Path) -> None:
    web = Web.open(topical)
    few = np.arange(web.pages) < 20
    with pytest.raises(BadInput, match="20 relevant pages are too few to train on some and start from 20"):
        draw(few, web.answers(), seed=3)


def test_the_scope_is_what_is_so_many_links_from_a_seed(topical: Path) -> None:
    web = Web.open(topical)
    (none, one) = (within(web, [7], depth) for depth in (0, 1))
    assert np.flatnonzero(none).tolist() == [7]
    assert set(np.flatnonzero(one).tolist()) == {7, *web.targets(7)}


def test_a_page_is_judged_once_however_often_it_is_met() -> None:
    class Counting:
        reads_content = False
        seen = 0

        def judge(self, pages: Sequence[Page]) -> list[Verdict]:
            self.seen += len(pages)
            return [Verdict(1.0, True, page.url) for page in pages]

    counting = Counting()
    judge, a, b = OnceJudged(counting), Page("http://a.test/"), Page("http://b.test/")
    assert [v.because for v in [*judge.judge([a]), *judge.judge([b, a])]] == [a.url, b.url, a.url]
    assert counting.seen == 2


def test_the_correlation_experiment_prints_the_paper_beside_ours_and_every_condition(
    topical: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code = main(
        ["reproduce", "correlation", "--seeds", "5-5", "--web", str(topical), "--field", "relevant", "--workers", "1"]
    )
    said = capsys.readouterr().out
    assert "the field: pages labelled relevant of the web topical" in said
    assert "paper" in said and "0.919" in said and "ours, words as they are" in said and "two levels" in said
    answers, bound = answers_in(said)
    assert (len(answers), len(bound)) == (6, 0)
    assert code == (0 if all(answer == "yes" for answer in answers) else 1)


def test_a_web_without_the_label_of_the_field_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reproduce", "correlation", "--web", "somewhere"]) == 2
    said = "spoor: --web and --field go together: a web, and the label of the relevant pages in it\n"
    assert capsys.readouterr().err == said
