"""The experiments of the papers, on webs small enough for a test."""

from __future__ import annotations

from pathlib import Path

import pytest

from spoor.cli.main import main
from spoor.measure.information import Collected, Information
from spoor.reproduce import mongolian
from spoor.reproduce.conditions import Condition, falls, rises
from spoor.reproduce.language_specific import SEEDS, STRATEGIES
from spoor.reproduce.mongolian_tables import ACCURACY, CORRECT, MEGABYTES, PAGES


def test_a_condition_holds_when_enough_seeds_agree() -> None:
    assert Condition("claim", (True, True, False), needed=2).holds
    assert not Condition("claim", (True, False, False), needed=2).holds


def test_a_failed_condition_is_printed_as_one() -> None:
    assert Condition("pigs fly", (False, False), needed=1).line() == "no    0 of 2 (needs 1)  pigs fly"


def test_rising_means_at_every_step() -> None:
    assert rises([1, 2, 3]) and not rises([1, 2, 2]) and falls([3, 2, 1]) and not falls([3, 1, 2])


def test_the_acceptance_seeds_are_those_agreed_on() -> None:
    assert SEEDS == (301, 302, 303, 304, 305, 306, 307, 308, 309, 310)
    assert SEEDS[:5] == mongolian.SEEDS


def test_the_whole_experiment_prints_every_strategy_and_every_condition(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["reproduce", "language-specific", "--seeds", "5-5", "--pages", "4000", "--keep", str(tmp_path)]
    code = main(words)
    said = capsys.readouterr().out
    assert all(f"Thai-like {strategy} " in said for strategy in STRATEGIES)
    answers = [line.split()[0] for line in said.split("conditions:")[1].strip().splitlines()]
    assert len(answers) == 12
    assert code == (0 if all(answer == "yes" for answer in answers) else 1)


def test_seeds_that_are_no_numbers_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reproduce", "language-specific", "--seeds", "one"]) == 2
    assert capsys.readouterr().err == "spoor: --seeds one: give two numbers, as in 301-310\n"


def test_the_accuracy_rates_of_the_paper_follow_from_its_counts_but_for_one() -> None:
    cells = [
        (hour, correct / pages, rate)
        for hour, row in enumerate(zip(CORRECT, PAGES, ACCURACY, strict=True), 1)
        for correct, pages, rate in zip(*row, strict=True)
    ]
    wrong = [(hour, round(share, 3), rate) for hour, share, rate in cells if abs(share - rate) > 0.0051]
    assert wrong == [(3, 0.782, 0.79)]


def test_the_last_accuracy_rates_of_the_paper() -> None:
    assert [round(n / of, 4) for n, of in zip(CORRECT[-1], PAGES[-1], strict=True)] == [0.3171, 0.5056, 0.8321]


def test_the_information_sums_of_the_paper_are_ten_kilobytes_a_page() -> None:
    sizes = [mb / n * 1000 for row in zip(MEGABYTES, PAGES, strict=True) for mb, n in zip(*row, strict=True)]
    assert min(sizes) > 9.95 and max(sizes) < 10.03


def experiment(final: dict[str, int], before: dict[str, int]) -> mongolian.Experiment:
    """One seed; of a hundred pages each, so many were right at the end, and at every tick before it."""

    def collected(correct: int) -> Information:
        everything = Collected(100, correct, correct / 10, 10 - correct / 10)
        return Information(everything, everything)

    histories = {
        name: (*[collected(before[name])] * (mongolian.TICKS - 1), collected(final[name]))
        for name in mongolian.CRAWLERS
    }
    return mongolian.Experiment((1,), (histories,), None)


def test_the_conditions_of_the_mongolian_paper_look_at_every_tick_and_at_the_end() -> None:
    rising = {"B_C": 30, "G_C": 50, "N_C": 80}
    narrow = {"B_C": 30, "G_C": 50, "N_C": 54}
    level = {"B_C": 30, "G_C": 30, "N_C": 80}

    def held(final: dict[str, int], before: dict[str, int]) -> list[bool]:
        return [condition.holds for condition in mongolian.conditions(experiment(final, before))]

    assert held(rising, rising) == [True, True, True]
    assert held(narrow, rising) == [True, False, True]
    assert held(rising, level) == [False, True, True]
    assert held(level, rising) == [False, True, False]


def test_the_mongolian_experiment_prints_every_table_and_every_condition(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code = main(["reproduce", "mongolian", "--seeds", "5-5", "--pages", "2000", "--keep", str(tmp_path)])
    said = capsys.readouterr().out
    assert "Mongolian pages are made of" in said
    assert said.count("table 3, ") == 3 and "table 4, accuracy rate" in said and "table 5, summary" in said
    answers = [line.split()[0] for line in said.split("conditions:")[1].strip().splitlines()]
    assert len(answers) == 3
    assert code == (0 if all(answer == "yes" for answer in answers) else 1)
