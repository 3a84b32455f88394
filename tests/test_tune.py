"""Parameters tried on a web: which combinations there are, who wins, and how the command refuses."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from spoor.cli.main import main
from spoor.errors import UsageError
from spoor.lab.comparison import grid, simplex, value
from spoor.lab.measures import Score, Yardstick
from tests.handmade_web import write_web

CHAIN = [[1, 2], [], [3], [4], [5, 6], [], []]
"""Wanted: 0, 1, and behind three irrelevant pages 5 and 6."""


@pytest.fixture
def web(tmp_path: Path) -> Path:
    (tmp_path / "seeds.txt").write_text("http://h0.test/\n")
    return write_web(tmp_path / "web", CHAIN, {"relevant": [0, 1, 5, 6]})


def tune(web: Path, *words: object) -> int:
    options = ["--target", "relevant", "--seeds", web.parent / "seeds.txt", "--workers", "1"]
    return main([str(word) for word in ["tune", web, *options, *words]])


def score(found: int, normalised: float) -> Score:
    return Score("s", found, found, 0.0, normalised, 0.0, None, 0.0, 0, 0.0, ())


def test_a_simplex_of_three_with_a_step_of_a_tenth_has_66_points_that_add_up_to_1() -> None:
    points = simplex(["t", "s", "d"], 0.1)
    assert len(points) == len(set(points)) == 66
    assert points[0] == ("t=1", "s=0", "d=0") and ("t=0.5", "s=0.3", "d=0.2") in points
    assert all(math.isclose(sum(float(setting.split("=")[1]) for setting in point), 1) for point in points)


def test_a_grid_holds_every_combination() -> None:
    named = grid("n-crawl:n=2", {"threshold": ["0.1", "0.2"], "merge": ["max", "first"]}, [("t=1",), ("t=0",)])
    assert len(named) == 8 and named[1] == "n-crawl:n=2:t=1:threshold=0.1:merge=first"


def test_a_crawl_that_ends_early_is_charged_for_its_whole_budget() -> None:
    """Two of two are no better than two of a hundred if a hundred could be had."""
    assert value("ar", score(found=2, normalised=0.9), Yardstick(relevant=50, budget=100)) == 0.02


def test_the_area_can_be_the_objective() -> None:
    assert value("normalised", score(found=2, normalised=0.9), Yardstick(relevant=50, budget=100)) == 0.9


@pytest.mark.parametrize(
    ("names", "step"), [(["t"], 0.1), (["t", "s"], 0.3), (["t", "s"], 0.0), (["t", "s"], math.nan)]
)
def test_a_simplex_that_cannot_be_divided_is_refused(names: list[str], step: float) -> None:
    with pytest.raises(UsageError, match=r"at least two parameters|1 must be a multiple of it"):
        simplex(names, step)


def test_the_best_comes_first_with_the_command_to_run_it(web: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert tune(web, "--strategy", "limited-distance", "--vary", "n=0,1,2,3", "--budget", "7") == 0
    said = capsys.readouterr().out
    assert "the best 4 of 4 by ar" in said
    assert said.splitlines()[3].startswith("limited-distance:n=3 ")
    command = said.strip().splitlines()[-1]
    assert "--strategy limited-distance:n=3 --target relevant" in command and command.endswith("--budget 7")
    assert main(command.split()[1:]) == 0


def test_equals_stay_in_the_order_in_which_they_were_tried(web: Path, tmp_path: Path) -> None:
    assert tune(web, "--strategy", "random", "--vary", "seed=3,1,2", "--json", tmp_path / "t.json") == 0
    told = json.loads((tmp_path / "t.json").read_text())
    assert told["objective"] == "ar"
    assert [result["strategy"] for result in told["results"]] == ["random:seed=3", "random:seed=1", "random:seed=2"]


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["--strategy", "random"], "nothing to tune; name weights with --simplex"),
        (["--strategy", "random", "--vary", "luck=1,2"], "strategy 'random' has no parameter 'luck'; it has seed=0"),
        (["--strategy", "random", "--vary", "seed=a"], "'a' is not a whole number"),
        (["--strategy", "random", "--vary", "seed"], "--vary seed: give a parameter and its values"),
        (["--strategy", "random", "--vary", "seed=1", "--vary", "seed=2"], "a parameter is given twice"),
        (["--strategy", "n-crawl", "--simplex", "t,s,d", "--vary", "t=1"], "t is given twice"),
        (["--strategy", "n-crawl", "--simplex", "t,s,d", "--step", "0.3"], "--step 0.3: 1 must be a multiple"),
        (["--strategy", "n-crawl", "--simplex", "t,s,d"], "n-crawl needs to know which language is relevant"),
        (["--strategy", "random", "--vary", "seed=1,2,3", "--most", "2"], "allow them with --most 3"),
        (["--strategy", "oracle", "--vary", "n=1"], "it has no parameters"),
    ],
)
def test_what_cannot_be_tuned_is_refused_in_one_line(
    web: Path, words: list[str], reason: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert tune(web, *words) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1 and reason in said
