"""The experiment of the AHMM paper, on webs small enough for a test."""

from __future__ import annotations

from pathlib import Path

import pytest

from spoor.cli.main import main
from spoor.lab.papers import ahmm
from spoor.lab.papers.ahmm import (
    ABLATION,
    CLUSTERS,
    CRAWLERS,
    FIGURE_1,
    TABLE_2,
    Experiment,
    Outcome,
    ablation_rows,
    findings,
    precision_rows,
)
from spoor.ordering.path_model import open_paths
from tests.test_reproduce import answers_in

AS_PUBLISHED = {"composite BF": 0.155, "content BF": 0.128, "link BF": 0.05, "AHMM": 0.152, "HMM": 0.033}
AS_QUICK = {"composite BF": 2.0, "content BF": 1.0, "AHMM": 3.0}


def experiment(seconds: dict[str, float] = AS_QUICK, **precision: float) -> Experiment:
    """One seed; as the paper says, but for the crawlers that are named, blanks as underscores."""
    changed = {name.replace("_", " "): value for name, value in precision.items()}
    outcomes = {
        name: Outcome((AS_PUBLISHED | changed).get(name, 0.1), seconds.get(name, 1.0)) for name in CRAWLERS | ABLATION
    }
    return Experiment((1,), {"weak": (outcomes,), "descriptive": (outcomes,)})


@pytest.mark.parametrize(
    ("found", "held"),
    [
        (experiment(), [True, True, True, True, True]),
        (experiment(AHMM=0.156), [False, True, True, True, True]),
        (experiment(AHMM=0.128), [True, False, True, False, True]),
        (experiment(link_BF=0.13), [True, False, True, True, True]),
        (experiment(HMM=0.051), [True, True, False, True, True]),
        (experiment(AHMM=0.135), [True, True, True, False, True]),
        (experiment(AHMM=0.18), [False, True, True, False, True]),
        (experiment(AS_QUICK | {"AHMM": 1.5}), [True, True, True, True, False]),
        (experiment(AS_QUICK | {"AHMM": 2.0}), [True, True, True, True, False]),
    ],
)
def test_the_conditions(found: Experiment, held: list[bool]) -> None:
    assert [condition.holds for condition in ahmm.conditions(found)] == held


def test_the_conditions_look_at_weak_anchors_alone() -> None:
    fine, reverse = experiment(), experiment(composite_BF=0.01, link_BF=0.9)
    both = Experiment((1,), {"weak": fine.outcomes["weak"], "descriptive": reverse.outcomes["descriptive"]})
    assert all(condition.holds for condition in ahmm.conditions(both))


def test_the_paper_itself_meets_the_conditions_of_precision() -> None:
    """With its link BF, which only figure 1 has, and its times."""
    precision = {name.replace(" ", "_"): value for name, (value, _) in TABLE_2.items()}
    minutes = {name: value for name, (_, value) in TABLE_2.items()}
    paper = experiment(minutes, link_BF=FIGURE_1["link BF"], **precision)
    assert all(condition.holds for condition in ahmm.conditions(paper))


def test_every_crawler_has_a_row_and_what_the_paper_does_not_say_is_left_empty() -> None:
    rows = {row[0]: row[1:] for row in precision_rows(experiment())}
    assert list(rows) == list(CRAWLERS)
    assert rows["HMM"][:3] == ["0.031", "0.033", "1404.2"]
    assert rows["AHMM"][:3] == ["", "0.152", "1387.4"]
    assert rows["breadth-first"][:3] == ["", "", ""]
    assert rows["composite BF"][3:] == ["0.155 (0.155–0.155)", "0.155 (0.155–0.155)", "2.00 (2.00–2.00)"]
    assert [row[0] for row in ablation_rows(experiment())] == list(ABLATION)


def test_it_is_counted_how_often_a_part_helped() -> None:
    weak, descriptive = experiment(second_order=0.2), experiment(first_order=0.2)
    both = Experiment((1,), {"weak": weak.outcomes["weak"], "descriptive": descriptive.outcomes["descriptive"]})
    assert findings(both)[:2] == [
        "second order above first order in 1 of 1 webs with weak anchors",
        "second order above first order in 0 of 1 webs with descriptive anchors",
    ]


def test_models_are_learned_from_a_web_that_is_not_crawled_with_clusters_found_and_given(tmp_path: Path) -> None:
    models = {name: open_paths(path) for name, path in ahmm.learned("weak", 5, 4000, tmp_path).items()}
    assert [path.name for path in tmp_path.iterdir() if path.is_dir()] == ["topical-weak-505"]
    assert models["given"].path.symbols == CLUSTERS
    assert models["found"].path.symbols == 9, "as many as the web has types of pages"


def test_the_experiment_prints_every_crawler_every_part_and_every_condition(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["reproduce", "ahmm", "--seeds", "5-5", "--pages", "1000", "--keep", str(tmp_path), "--workers", "1"]
    code = main(words)
    said = capsys.readouterr().out
    assert all(f"\n{name} " in said for name in CRAWLERS | ABLATION)
    assert "second order and S above S alone in" in said
    answers, _ = answers_in(said)
    assert len(answers) == 5
    assert code == (0 if all(answer == "yes" for answer in answers) else 1)


def test_too_few_pages_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reproduce", "ahmm", "--seeds", "1-1", "--pages", "10"]) == 2
    assert capsys.readouterr().err == "spoor: --pages 10: at least 1000 are needed to see anything\n"
