"""Rules between classes of pages: counted, followed for several steps, and kept in a file."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from spoor import registry
from spoor.errors import BadInput, UsageError
from spoor.judging.classifiers import TaxonomyModel, learned
from spoor.judging.page_rules import LookAhead, RuleModel, Rules, open_rules, rules_from, write_rules
from spoor.records import Page

TABLE_2 = {
    "CSE": {"IT": 8, "ENGG": 1, "COMP": 1},
    "IT": {"CSE": 2, "IT": 4, "ENGG": 4},
    "ENGG": {"CSE": 3, "IT": 4, "ENGG": 3},
    "COMP": {"COMP": 10},
}
BRANCHES = rules_from(TABLE_2)


def ahead(target: str, combine: str, steps: int) -> list[float]:
    """From CSE, IT, ENGG, COMP, as a probability."""
    return [round(float(score) / 10, 6) for score in BRANCHES.look_ahead([target], combine, steps)]


def test_chances_are_the_published_ones() -> None:
    assert BRANCHES.chances.tolist() == [[0, 0.8, 0.1, 0.1], [0.2, 0.4, 0.4, 0], [0.3, 0.4, 0.3, 0], [0, 0, 0, 1]]


@pytest.mark.parametrize(
    ("steps", "best", "together"),
    [
        (1, [0, 0.2, 0.3, 0], [0, 0.2, 0.3, 0]),
        (2, [0.16, 0.2, 0.3, 0], [0.19, 0.32, 0.38, 0]),
        (3, [0.16, 0.2, 0.3, 0], [0.294, 0.32, 0.38, 0]),
    ],
)
def test_ways_to_the_target_are_taken_together_or_the_best_alone(
    steps: int, best: list[float], together: list[float]
) -> None:
    assert ahead("CSE", "max", steps) == best
    assert ahead("CSE", "sum", steps) == together


def test_another_target_has_other_ways() -> None:
    assert ahead("IT", "sum", 3)[0] == 0.84
    assert ahead("IT", "sum", 3)[2] == 0.64


def test_no_way_passes_a_class_twice_or_the_target_before_its_end() -> None:
    rules = rules_from({"a": {"a": 1, "b": 1}, "b": {"b": 1, "a": 1, "t": 2}, "t": {"t": 1}})
    assert (rules.look_ahead(["t"]) / 10).tolist() == [0.25, 0.5, 1.0]


def test_several_targets_count_together() -> None:
    both = rules_from({"a": {"s": 1, "t": 1, "b": 2}, "b": {"t": 1, "a": 1}, "s": {}, "t": {}})
    assert (both.look_ahead(["s", "t"]) / 10).tolist() == [0.75, 0.75, 0.0, 0.0]
    assert (both.look_ahead(["s", "t"], "max") / 10).tolist() == [0.25, 0.5, 0.0, 0.0]


def test_a_class_that_links_to_nothing_leads_nowhere() -> None:
    assert rules_from({"a": {"b": 1}, "b": {}}).look_ahead(["b"]).tolist() == [10.0, 0.0]


def test_what_cannot_be_combined_is_refused() -> None:
    with pytest.raises(UsageError, match="combine=mean is not known; give sum or max"):
        BRANCHES.look_ahead(["IT"], "mean")
    with pytest.raises(UsageError, match="steps=4: a path to look ahead has 1 to 3 steps"):
        BRANCHES.look_ahead(["IT"], steps=4)


BAYES = learned({"goal": [["ball", "net"], ["ball"]], "shop": [["price", "cart"], ["price"]]})
MODEL = RuleModel(
    TaxonomyModel("goals", "four texts", ("goal",), BAYES), Rules(("goal", "shop"), np.array([[3, 1], [1, 9]]))
)


class TestTheLookAheadOfAPage:
    def test_is_that_of_its_likeliest_class(self) -> None:
        assert LookAhead(MODEL).score("Ball and net") == pytest.approx(7.75)
        assert LookAhead(MODEL).score("price of the cart") == pytest.approx(1.0)

    def test_is_soft_a_mixture_by_how_likely_each_class_is(self) -> None:
        goal, shop = BAYES.posterior(["ball", "price", "price"]).tolist()
        score = LookAhead(MODEL, soft=True).score("ball price price")
        assert score == pytest.approx(goal * 7.75 + shop * 1.0)
        assert 1.0 < score < 7.75

    def test_is_0_where_no_word_is_known(self) -> None:
        assert LookAhead(MODEL).score("zebra") == LookAhead(MODEL, soft=True).score("zebra") == 0.0


class TestTheFile:
    @pytest.fixture
    def file(self, tmp_path: Path) -> Path:
        write_rules(tmp_path / "goals.spoor", MODEL)
        return tmp_path / "goals.spoor"

    def test_is_read_as_it_was_written(self, file: Path) -> None:
        again = open_rules(file)
        assert again.rules.classes == ("goal", "shop") and again.rules.times.tolist() == [[3, 1], [1, 9]]
        assert (again.taxonomy.name, again.relevant) == ("goals", ("goal",))

    def test_is_a_judge_by_its_name_alone(self, file: Path) -> None:
        for name in (str(file), f"taxonomy:{file}"):
            assert registry.judge(name).judge([Page("http://a.test/", text="ball")])[0].label == "goal"

    @pytest.mark.parametrize("times", [[[1, 2]], [[1, -2], [3, 4]], "many", [["a", 2], [3, 4]], [[1, 2], [3]]])
    def test_with_senseless_figures_is_refused(self, file: Path, times: object) -> None:
        first, listed, body = file.read_bytes().split(b"\n", 2)
        taxonomy, rules = json.loads(listed)
        file.write_bytes(b"\n".join([first, json.dumps([taxonomy, rules | {"times": times}]).encode(), body]))
        with pytest.raises(BadInput, match="the rules are damaged"):
            open_rules(file)

    def test_of_another_kind_is_refused(self, tmp_path: Path) -> None:
        (tmp_path / "a.spoor").write_text("spoor taxonomies 1\n[]\n")
        with pytest.raises(
            BadInput, match="is not a file of rules but of taxonomies; create one with `spoor train rules`"
        ):
            open_rules(tmp_path / "a.spoor")
