"""The experiment of the AHMM paper, on webs small enough for a test."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

import numpy as np
import pytest

from spoor.cli.main import main
from spoor.lab.papers import ahmm
from spoor.lab.papers.ahmm import (
    ABLATION,
    CLUSTERS,
    CRAWLERS,
    FIGURE_1,
    TABLE_2,
    WEBS,
    Experiment,
    OnWeb,
    Outcome,
    ablation_rows,
    added_rows,
    effect_rows,
    precision_rows,
)
from spoor.lab.papers.experiment import Estimate
from spoor.ordering.path_model import open_paths
from tests.test_reproduce import answers_in

AS_PUBLISHED = {"composite BF": 0.155, "content BF": 0.128, "link BF": 0.05, "AHMM": 0.152, "HMM": 0.033}
AS_QUICK = {"composite BF": 2.0, "content BF": 1.0, "AHMM": 3.0}
HELPED = {"AHMM": 0.3, "AHMM, Viterbi": 0.3, "AHMM, re-estimated": 0.3}
"""On typical paths; all others have 0.1."""
Layers = tuple[float, ...]
VARIED: Layers = (0.5, 0.2, 0.1, 0.1, 0.1)


def on_web(precision: Mapping[str, float], seconds: Mapping[str, float], likeliest: Layers) -> OnWeb:
    names = CRAWLERS | ABLATION
    outcomes = {name: Outcome(precision.get(name, 0.1), seconds.get(name, 1.0), frozenset({1})) for name in names}
    return OnWeb(outcomes, likeliest)


def experiment(seconds: dict[str, float] = AS_QUICK, **precision: float) -> Experiment:
    """Two seeds alike; as the paper says, but for the crawlers that are named, blanks as underscores. On typical paths
    the model helps."""
    changed = {name.replace("_", " "): value for name, value in precision.items()}
    published = on_web(AS_PUBLISHED | changed, seconds, (0.0, 0.0, 0.0, 1.0))
    return Experiment((1, 2), {"weak": (published,) * 2, "descriptive": (published,) * 2, "paths": on_paths()})


def on_paths(changed: Mapping[str, float] = MappingProxyType({}), likeliest: Layers = VARIED) -> tuple[OnWeb, ...]:
    return (on_web({**HELPED, **changed}, {}, likeliest),) * 2


@pytest.mark.parametrize(
    ("found", "fails"),
    [
        (experiment(), []),
        (experiment(AHMM=0.156), ["composite at least AHMM"]),
        (experiment(AHMM=0.128), ["AHMM above content", "within a tenth"]),
        (experiment(link_BF=0.13), ["content above link"]),
        (experiment(HMM=0.051), ["three times HMM"]),
        (experiment(AHMM=0.135), ["within a tenth"]),
        (experiment(AHMM=0.18), ["composite at least AHMM", "within a tenth"]),
        (experiment(AS_QUICK | {"AHMM": 1.5}), ["composite below AHMM"]),
        (experiment(AS_QUICK | {"AHMM": 2.0}), ["composite below AHMM"]),
    ],
)
def test_the_claims_on_weak_anchors(found: Experiment, fails: list[str]) -> None:
    failed = [claim.text for claim in ahmm.claims(found) if claim.answer != "yes"]
    assert len(failed) == len(fails)
    assert all(words in text for words, text in zip(fails, failed, strict=True))


def test_what_the_weights_and_the_key_bring_about_does_not_count() -> None:
    forced = [claim.text for claim in ahmm.claims(experiment()) if claim.forced]
    assert forced == ["precision: AHMM at least three times HMM", "precision: AHMM within a tenth of composite"]


@pytest.mark.parametrize(
    ("webs", "fails"),
    [
        (on_paths(), []),
        (on_paths(likeliest=(0.05, 0.0, 0.0, 0.0, 0.95)), ["no layer is the likeliest"]),
        (on_paths({"S alone": 0.3}), ["AHMM above S alone"]),
        (on_paths({"composite BF": 0.3}), ["AHMM above composite"]),
        (on_paths({"HMM": 0.3}), ["AHMM above HMM"]),
        (on_paths({"AHMM, first order": 0.3}), ["first order"]),
        (on_paths({"AHMM, Viterbi": 0.26}), ["Viterbi"]),
        (on_paths({"AHMM, re-estimated": 0.29}), ["re-estimated"]),
    ],
)
def test_the_claims_on_typical_paths(webs: tuple[OnWeb, ...], fails: list[str]) -> None:
    found = Experiment((1, 2), experiment().webs | {"paths": webs})
    failed = [claim.text for claim in ahmm.claims(found) if claim.answer != "yes"]
    assert len(failed) == len(fails)
    assert all(words in text for words, text in zip(fails, failed, strict=True))


def test_no_claim_looks_at_descriptive_anchors() -> None:
    fine, reverse = experiment(), experiment(composite_BF=0.01, link_BF=0.9)
    both = Experiment((1, 2), fine.webs | {"descriptive": reverse.webs["descriptive"]})
    assert {claim.answer for claim in ahmm.claims(both)} == {"yes"}


def test_the_paper_itself_meets_the_claims_of_precision() -> None:
    """With its link BF, which only figure 1 has, and its times."""
    precision = {name.replace(" ", "_"): value for name, (value, _) in TABLE_2.items()}
    minutes = {name: value for name, (_, value) in TABLE_2.items()}
    paper = experiment(minutes, link_BF=FIGURE_1["link BF"], **precision)
    assert {claim.answer for claim in ahmm.claims(paper)} == {"yes"}


def test_every_crawler_has_a_row_and_what_the_paper_does_not_say_is_left_empty() -> None:
    rows = {row[0]: row[1:] for row in precision_rows(experiment())}
    assert list(rows) == list(CRAWLERS)
    assert rows["HMM"][:3] == [0.031, 0.033, 1404.2]
    assert rows["AHMM"][:3] == [None, 0.152, 1387.4]
    assert rows["breadth-first"][:3] == [None, None, None]
    figures = (0.155, 0.155, 0.1, 2.0)
    assert rows["composite BF"][3:] == [Estimate((figure, figure)) for figure in figures]
    assert [row[0] for row in ablation_rows(experiment())] == list(ABLATION)


def test_it_is_counted_how_often_a_part_helped() -> None:
    weak, descriptive = experiment(second_order=0.2), experiment(first_order=0.2)
    both = Experiment((1, 2), weak.webs | {"descriptive": descriptive.webs["descriptive"]})
    rows = [row[:2] + row[3:] for row in added_rows(both)[:3]]
    assert rows == [
        ["second order above first order", "weak anchors", 2, 2],
        ["second order above first order", "descriptive anchors", 0, 2],
        ["second order above first order", "typical paths", 0, 2],
    ]
    assert added_rows(both)[0][2] == Estimate((0.1, 0.1))


def test_pages_in_common_are_a_share_of_all_that_either_crawler_visited() -> None:
    outcomes = {"AHMM": Outcome(0.1, 1.0, frozenset({1, 2, 3})), "S alone": Outcome(0.1, 1.0, frozenset({2, 3, 4, 5}))}
    assert OnWeb(outcomes, ()).in_common("AHMM", "S alone") == 2 / 5


def test_the_effect_of_the_path_model_has_a_row_for_each_kind_of_web() -> None:
    rows = {row[0]: row[1:] for row in effect_rows(experiment())}
    assert list(rows) == ["weak anchors", "descriptive anchors", "typical paths"]
    assert rows["weak anchors"] == [Estimate((1.0, 1.0))] * 3 + [0.0, 0.0, 0.0, 1.0, None]
    assert rows["typical paths"][3:] == [0.5, 0.2, 0.1, 0.1, 0.1]


def test_models_are_learned_from_a_web_that_is_not_crawled_with_clusters_found_and_given(tmp_path: Path) -> None:
    models = {name: open_paths(path) for name, path in ahmm.learned("weak", 5, 4000, tmp_path).items()}
    assert [path.name for path in tmp_path.iterdir() if path.is_dir()] == ["topical-weak-505"]
    assert models["given"].path.symbols == CLUSTERS
    assert models["found"].path.symbols == 9, "as many as the web has types of pages"
    assert models["refined"].path.symbols == 9
    assert not np.allclose(models["refined"].path.step, models["found"].path.step)


def test_the_likeliest_layer_varies_where_paths_are_typical(tmp_path: Path) -> None:
    web = ("paths", 1, 4000, tmp_path)
    strategy = CRAWLERS["AHMM"].format(**ahmm.learned(*web))
    shares = ahmm.likeliest(ahmm.task_on(*web), strategy, WEBS["paths"].layers)
    assert sum(shares) == pytest.approx(1.0)
    assert sum(share > 0.1 for share in shares) >= 2


def test_the_experiment_prints_every_crawler_every_part_and_every_claim(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["reproduce", "ahmm", "--seeds", "5-5", "--pages", "1000", "--keep", str(tmp_path), "--workers", "1"]
    code = main(words)
    said = capsys.readouterr().out
    assert all(f"\n{name} " in said for name in CRAWLERS | ABLATION)
    assert "\nsecond order and S above S alone " in said
    assert all(f"\n{web.special} " in said for web in WEBS.values())
    answers, _ = answers_in(said)
    assert len(answers) == 12
    assert set(answers) == {"undecided"} and code == 1, "of a single seed"


def test_too_few_pages_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reproduce", "ahmm", "--seeds", "1-1", "--pages", "10"]) == 2
    assert capsys.readouterr().err == "spoor: --pages 10: at least 1000 are needed for meaningful figures\n"
