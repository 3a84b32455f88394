"""The experiment of the language-specific paper, on webs small enough for a test."""

from __future__ import annotations

from pathlib import Path

import pytest

from spoor.cli.main import main
from spoor.reproduce.conditions import Condition, falls, rises
from spoor.reproduce.language_specific import SEEDS, STRATEGIES


def test_a_condition_holds_when_enough_seeds_agree() -> None:
    assert Condition("claim", (True, True, False), needed=2).holds
    assert not Condition("claim", (True, False, False), needed=2).holds


def test_a_failed_condition_is_printed_as_one() -> None:
    assert Condition("pigs fly", (False, False), needed=1).line() == "no    0 of 2 (needs 1)  pigs fly"


def test_rising_means_at_every_step() -> None:
    assert rises([1, 2, 3]) and not rises([1, 2, 2]) and falls([3, 2, 1]) and not falls([3, 1, 2])


def test_the_acceptance_seeds_are_those_agreed_on() -> None:
    assert SEEDS == (301, 302, 303, 304, 305, 306, 307, 308, 309, 310)


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
