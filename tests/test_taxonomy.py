"""Classes of pages: naive Bayes, what is relevant of a tree, the verdict and the file."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from spoor import registry
from spoor.errors import BadInput
from spoor.judging.classifiers import (
    Taxonomy,
    TaxonomyModel,
    is_at_or_below,
    learned,
    open_taxonomy,
    target_probability,
    write_taxonomy,
)
from spoor.records import Page
from spoor.strategy import prior_of

GOAL = learned({"T": [["goal", "goal", "match"]], "O": [["shop", "pay"]]})


@pytest.mark.parametrize(
    ("text", "chances"),
    [
        ("goal pay", [0.524272, 0.475728]),
        ("goal match", [0.815094, 0.184906]),
        ("zebra", [0.5, 0.5]),
    ],
)
def test_naive_bayes_gives_the_published_values(text: str, chances: list[float]) -> None:
    assert GOAL.posterior(text.split()).round(6).tolist() == chances


def test_classes_with_more_texts_are_more_probable_from_the_start() -> None:
    assert learned({"a": [["x"], ["x"], ["y"]], "b": [["z"]]}).posterior([]).round(6).tolist() == [0.75, 0.25]


def test_relevance_is_the_probability_of_all_wanted_leaves_together() -> None:
    leaves = {"sports/cycling/road": 0.4, "sports/cycling/mtb": 0.15, "sports/golf": 0.1, "arts/film": 0.35}
    assert target_probability(leaves, ["sports/cycling"]) == pytest.approx(0.55)
    assert is_at_or_below(max(leaves, key=lambda leaf: leaves[leaf]), ["sports/cycling"])


def test_a_leaf_is_not_below_a_node_whose_name_it_only_begins_with() -> None:
    assert is_at_or_below("sports/cycling", ["sports/cycling"])
    assert not is_at_or_below("sports/cycling-shops", ["sports/cycling"])


MODEL = TaxonomyModel(
    "sports",
    "three folders",
    ("sports",),
    learned(
        {
            "arts/film": [["actor", "film", "film"], ["film", "the"]],
            "sports/golf": [["ball", "green", "the"], ["ball", "hole"]],
            "sports/road": [["wheel", "road", "the"], ["wheel", "race"]],
        }
    ),
)


class TestTheVerdict:
    def test_has_the_best_class_for_a_label_and_says_why(self) -> None:
        (verdict,) = Taxonomy(MODEL).judge([Page("http://a.test/", title="The Race", text="wheel to wheel, ball")])
        assert verdict.relevant and verdict.label == "sports/road"
        assert verdict.because == "sports/road (0.82), then sports/golf (0.14); most by wheel, race"
        assert verdict.relevance == pytest.approx((36 + 6) / (36 + 6 + 2))

    def test_is_no_when_the_best_class_is_not_wanted(self) -> None:
        (verdict,) = Taxonomy(MODEL).judge([Page("http://a.test/", text="an actor in a film")])
        assert not verdict.relevant and verdict.label == "arts/film"

    def test_of_a_page_without_known_words_is_no(self) -> None:
        (verdict,) = Taxonomy(MODEL).judge([Page("http://a.test/", text="zebra")])
        assert (verdict.relevance, verdict.relevant, verdict.label) == (0.0, False, None)


def test_words_of_the_wanted_classes_are_told_beforehand() -> None:
    words = prior_of(Taxonomy(MODEL)).words
    assert set(words[:2]) == {"ball", "wheel"}
    assert "film" not in words and "actor" not in words


class TestTheFile:
    @pytest.fixture
    def file(self, tmp_path: Path) -> Path:
        write_taxonomy(tmp_path / "sports.spoor", MODEL)
        return tmp_path / "sports.spoor"

    def test_is_read_as_it_was_written(self, file: Path) -> None:
        again = open_taxonomy(file)
        assert (again.name, again.trained_on, again.relevant) == ("sports", "three folders", ("sports",))
        assert (again.bayes.classes, again.bayes.texts) == (MODEL.bayes.classes, MODEL.bayes.texts)
        assert again.bayes.words == MODEL.bayes.words
        assert again.bayes.times.tolist() == MODEL.bayes.times.tolist()

    def test_is_a_judge_by_its_name_alone(self, file: Path) -> None:
        assert registry.judge(str(file)).judge([Page("http://a.test/", text="golf ball")])[0].label == "sports/golf"

    @pytest.mark.parametrize(
        "says", [{"texts": [1, 2]}, {"texts": [0, 1, 1]}, {"words": 3}, {"words": 10**9}, {"classes": 5}, {"good": 1}]
    )
    def test_with_senseless_figures_is_refused(self, file: Path, says: dict[str, object]) -> None:
        first, listed, body = file.read_bytes().split(b"\n", 2)
        (entry,) = json.loads(listed)
        file.write_bytes(b"\n".join([first, json.dumps([entry | says]).encode(), body]))
        with pytest.raises(BadInput, match="the taxonomy is damaged"):
            open_taxonomy(file)

    def test_whatever_happened_to_its_bytes_is_read_or_refused(self, file: Path) -> None:
        whole, chance = file.read_bytes(), random.Random(5)
        for _ in range(300):
            broken = bytearray(whole)
            broken[chance.randrange(len(broken))] ^= 1 << chance.randrange(8)
            file.write_bytes(broken)
            try:
                open_taxonomy(file)
            except BadInput as error:
                assert "\n" not in str(error)
