"""Similar words stand in similar texts: the alternation, and topics rewritten by it."""

from __future__ import annotations

import math

import numpy as np
import pytest

from spoor.judging.similar_words import RewrittenTopic, learned, similar_words
from spoor.judging.vectors import Collection, Topic, VectorSpace
from spoor.parse.words import Words

pytest.importorskip("scipy", reason="scipy is not installed")

from spoor.judging.similar_words import alternate, matrix

WORDS = ("shop", "store", "pay", "goal")
TEXTS = np.array([[1, 0, 1, 0], [0, 1, 1, 0], [1, 0, 1, 0], [0, 0, 0, 1.0]])
SHOP, STORE, PAY, GOAL = range(4)


@pytest.mark.parametrize(
    ("rounds", "shop_store", "shop_pay", "texts"), [(1, 0.16, 0.426667, 0.2), (2, 0.3136, 0.523378, 0.392)]
)
def test_v3_the_first_rounds(rounds: int, shop_store: float, shop_pay: float, texts: float) -> None:
    after = alternate(TEXTS, most=rounds)
    assert after.words[SHOP, STORE] == pytest.approx(shop_store, abs=1e-6)
    assert after.words[SHOP, PAY] == pytest.approx(shop_pay, abs=1e-6)
    assert after.texts[0, 1] == pytest.approx(texts, abs=1e-6)


def test_v3_the_end() -> None:
    end = alternate(TEXTS, tolerance=1e-10, most=200)
    assert end.rounds == 23
    found = [end.words[SHOP, STORE], end.words[SHOP, PAY], end.words[STORE, PAY], end.texts[0, 1], end.texts[0, 2]]
    assert found == pytest.approx([0.400118, 0.567208, 0.533412, 0.500148, 0.626883], abs=1e-6)
    assert end.words[GOAL, :GOAL].tolist() == [0.0, 0.0, 0.0]


def test_v3_the_end_is_the_same_wherever_it_began() -> None:
    low = alternate(TEXTS, tolerance=1e-10, most=200)
    high = alternate(TEXTS, np.ones((4, 4)), tolerance=1e-10, most=200)
    assert np.abs(low.words - high.words).max() < 1e-8


def test_similarities_are_symmetric_and_between_0_and_1() -> None:
    weights = np.random.default_rng(1).random((30, 50)) * (np.random.default_rng(2).random((30, 50)) < 0.1)
    found = alternate(weights)
    for similar in (found.words, found.texts):
        assert np.allclose(similar, similar.T)
        assert similar.min() >= 0.0 and similar.max() <= 1.0
        assert (np.diag(similar) == 1.0).all()


def test_a_word_in_no_text_is_like_nothing_but_itself() -> None:
    found = alternate(np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 0.0]]))
    assert found.words.tolist() == [[1.0, 0.0], [0.0, 1.0]]


def test_a_matrix_holds_the_weights_of_words_that_are_asked_for() -> None:
    assert matrix([{"shop": 2.0, "other": 1.0}, {}], WORDS).toarray().tolist() == [[2.0, 0, 0, 0], [0, 0, 0, 0]]


def rewritten_shop(most: int = 10) -> RewrittenTopic:
    """The topic {shop}, in a space where all words weigh the same."""
    space = VectorSpace(Collection(10, dict.fromkeys([*WORDS, "unlike"], 1)))
    topic = Topic(Words(), space, {"shop": 1.0})
    return RewrittenTopic(topic, similar_words(WORDS, alternate(TEXTS, tolerance=1e-10, most=200).words, most))


def test_v4_a_store_is_a_kind_of_shop() -> None:
    assert rewritten_shop().topic.likeness("store").cosine == 0.0
    assert rewritten_shop().likeness("store").cosine == pytest.approx(0.753735, abs=1e-6)
    assert rewritten_shop().likeness("goal").cosine == 0.0


def test_rewritten_a_text_is_most_like_a_topic_of_the_same_word() -> None:
    assert rewritten_shop().likeness("shop").cosine == pytest.approx(1.0)
    assert rewritten_shop().likeness("store").words == ("store",)
    assert rewritten_shop().likeness("").cosine == 0.0


def test_words_that_are_not_rewritten_still_lengthen_a_text() -> None:
    assert rewritten_shop().likeness("shop unlike").cosine < rewritten_shop().likeness("shop").cosine


def test_only_the_nearest_words_count() -> None:
    similar = rewritten_shop(most=1).similar
    assert similar.rewritten({"store": 1.0}).tolist() == pytest.approx([0.0, 1.0, 0.533412, 0.0], abs=1e-6)


def test_a_field_finds_texts_in_other_words_of_its_own() -> None:
    texts = ["shop pay", "store pay", "shop pay", "store pay cash"]
    others = ["goal ball", "goal kick", "rain sun", "sun wind"]
    plain, alike = (learned(texts, others, Words(), semantic).topic(terms=1) for semantic in (False, True))
    assert plain.heaviest(1) == alike.heaviest(1)
    (word,) = plain.heaviest(1)
    other = "store" if word != "store" else "shop"
    assert plain.likeness(other).cosine == 0.0
    assert alike.likeness(other).cosine > 0.3
    assert math.isclose(alike.likeness("goal").cosine, 0.0)
