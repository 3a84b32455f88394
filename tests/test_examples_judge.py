"""The judge that was trained from examples: probability, reasons, its file, and what is no such file."""

from __future__ import annotations

import json
import pickle
import random
from pathlib import Path

import numpy as np
import pytest

from spoor import registry
from spoor.errors import BadInput, UsageError
from spoor.judging.classifiers import Examples, TopicModel, open_topic, write_topic
from spoor.judging.profiles import learned, open_profiles, write_profiles
from spoor.parse.words import IN_TITLE, PLACES, features, place
from spoor.records import Page, TargetPrior, Verdict
from spoor.strategy import prior_of


def model(bias: float = -1.0, **weights: float) -> TopicModel:
    by_place = np.zeros(PLACES, np.float32)
    for word, weight in weights.items():
        by_place[place(word)] = weight
    words = tuple(word for word in weights if weights[word] > 0)
    return TopicModel("horses", "two pages", 0.4, bias, words, by_place)


HORSES = model(horse=4.0, stable=2.0, car=-5.0)


def judged(text: str, title: str = "", least: float = 0.0) -> Verdict:
    (verdict,) = Examples(HORSES, least).judge([Page("http://a.test/", title=title, text=text)])
    return verdict


class TestTheVerdict:
    def test_is_the_logistic_function_of_the_weights_of_the_words(self) -> None:
        assert judged("horse").relevance == pytest.approx(1 / (1 + np.exp(-(4.0 - 1.0))))
        assert judged("Horse car").relevance == pytest.approx(1 / (1 + np.exp(-((4.0 - 5.0) / np.sqrt(2) - 1.0))))

    def test_is_wanted_from_the_threshold_of_the_training_on(self) -> None:
        assert judged("horse horse stable car").relevance == pytest.approx(0.67, abs=0.01)
        assert judged("horse horse stable car").relevant
        assert judged("horse stable car").relevance == pytest.approx(0.396, abs=0.001)
        assert not judged("horse stable car").relevant

    def test_is_wanted_from_another_probability_on_if_one_is_given(self) -> None:
        assert not judged("horse", least=0.99).relevant

    def test_names_the_words_that_counted_most(self) -> None:
        because = judged("the horse left its stable by car").because
        assert because == "probability 0.35 of horses: for it horse, stable; against it car"

    def test_of_a_page_without_known_words_is_no(self) -> None:
        nothing = Verdict(0.0, False, "holds no word of the training pages of horses")
        assert judged("") == judged("zebra") == nothing

    def test_is_about_the_main_text_where_it_is_known(self) -> None:
        (verdict,) = Examples(HORSES).judge([Page("http://a.test/", text="car car", main_text="horse")])
        assert verdict.relevant

    def test_is_the_same_in_another_process(self) -> None:
        page = Page("http://a.test/", text="horse and car")
        assert pickle.loads(pickle.dumps(Examples(HORSES))).judge([page]) == Examples(HORSES).judge([page])


def test_the_strongest_words_are_told_beforehand() -> None:
    assert prior_of(Examples(HORSES)) == TargetPrior(words=("horse", "stable"))


def test_short_texts_are_compared_as_pages_are() -> None:
    near = Examples(HORSES).similarities(["horse", "car", "zebra", ""])
    assert near[0] > 0.9 > 0.1 > near[1] > near[2] == near[3] == 0.0


def test_a_probability_above_1_is_refused() -> None:
    with pytest.raises(UsageError, match=r"least=1.5 is not a probability between 0 and 1"):
        Examples(HORSES, 1.5)


class TestFeatures:
    def test_are_words_and_once_more_those_of_the_title(self) -> None:
        assert features("A horse", "horse, horse!").words == ["horse", f"{IN_TITLE}a", f"{IN_TITLE}horse"]

    def test_weigh_by_the_logarithm_of_how_often_they_occur_together_1(self) -> None:
        weights = features("", "a a a b").weights
        assert weights[0] / weights[1] == pytest.approx(1 + np.log(3))
        assert np.linalg.norm(weights) == pytest.approx(1.0)

    def test_of_scripts_without_blanks_are_pairs_of_letters(self) -> None:
        assert features("", "农业生产").words == ["农业", "业生", "生产"]

    def test_of_nothing_are_none(self) -> None:
        assert features("", "").words == []
        assert features("\ud800", "…").weights.tolist() == []


class TestTheFile:
    @pytest.fixture
    def file(self, tmp_path: Path) -> Path:
        write_topic(tmp_path / "horses.spoor", HORSES)
        return tmp_path / "horses.spoor"

    def test_is_read_as_it_was_written(self, file: Path) -> None:
        again = open_topic(file)
        assert (again.name, again.trained_on, again.threshold, again.bias) == ("horses", "two pages", 0.4, -1.0)
        assert again.words == HORSES.words
        assert (again.weights == HORSES.weights).all()

    def test_is_a_judge_by_its_name_alone_or_behind_that_of_the_judge(self, file: Path) -> None:
        for name in (f"{file}", f"{file}:least=0.5", f"examples:{file}:least=0.5"):
            assert registry.judge(name).judge([Page("http://a.test/", text="horse")])[0].relevant

    def test_of_another_version_is_refused(self, file: Path) -> None:
        file.write_bytes(file.read_bytes().replace(b"models 1\n", b"models 7\n", 1))
        with pytest.raises(BadInput, match="is of version 7, this spoor reads 1; train it again"):
            open_topic(file)

    def test_of_a_language_is_no_topic_and_the_other_way_round(self, file: Path, tmp_path: Path) -> None:
        write_profiles(tmp_path / "x-a.spoor", [learned("x-a", "a", "some text", "a text")])
        with pytest.raises(
            BadInput,
            match="is not a file of topic models but of language profiles; create one with `spoor train topic`",
        ):
            registry.judge(f"examples:{tmp_path / 'x-a.spoor'}")
        with pytest.raises(BadInput, match="is not a file of language profiles but of topic models"):
            open_profiles(file)

    def test_that_is_no_model_is_refused(self, file: Path) -> None:
        file.write_text("hello")
        with pytest.raises(BadInput, match="is no model; create one with `spoor train`"):
            registry.judge(str(file))

    def test_that_is_not_there_is_refused(self, tmp_path: Path) -> None:
        with pytest.raises(BadInput, match=r"cannot read the model .*none.spoor: No such file or directory"):
            registry.judge(f"examples:{tmp_path / 'none.spoor'}")

    @pytest.mark.parametrize("says", [{"threshold": 0.0}, {"bias": "x"}, {"bias": float("nan")}, {"words": 7}])
    def test_with_senseless_figures_is_refused(self, file: Path, says: dict[str, object]) -> None:
        first, listed, body = file.read_bytes().split(b"\n", 2)
        (entry,) = json.loads(listed)
        file.write_bytes(b"\n".join([first, json.dumps([entry | says]).encode(), body]))
        with pytest.raises(BadInput, match="the model is damaged"):
            open_topic(file)

    def test_whatever_happened_to_its_bytes_is_read_or_refused(self, file: Path) -> None:
        whole, chance = file.read_bytes(), random.Random(5)
        for _ in range(100):
            broken = bytearray(whole)
            broken[chance.randrange(len(broken))] ^= 1 << chance.randrange(8)
            file.write_bytes(broken)
            try:
                open_topic(file)
            except BadInput as error:
                assert "\n" not in str(error)
