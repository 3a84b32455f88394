"""TF-IDF: weights, variants, cosines, and the background of texts about anything."""

from __future__ import annotations

import math

import pytest

from spoor.errors import UsageError
from spoor.judging.vectors import (
    Collection,
    Topic,
    VectorSpace,
    background,
    collection,
    cosine,
    general_space,
    heaviest,
)
from spoor.parse.words import Words

DOCUMENTS = {
    "D1": ["e"] * 10 + ["c"],
    "D2": ["e", "s"],
    "D3": ["w", "w", "s"],
    "D4": ["w", "c", "s"],
}
SPACE = VectorSpace(collection(DOCUMENTS.values()))


def close(*values: float) -> object:
    return pytest.approx(list(values), abs=1e-6)


def test_v2_rare_words_weigh_more() -> None:
    raw = SPACE.raw(["e", "c", "w", "s"])
    assert [raw[word] for word in "ecws"] == close(0.30103, 0.30103, 0.30103, 0.124939)


def test_v2_weights_before_and_after_they_are_divided() -> None:
    raw, vector = SPACE.raw(DOCUMENTS["D1"]), SPACE.vector(DOCUMENTS["D1"])
    assert [raw["e"], raw["c"]] == close(0.60206, 0.30103)
    assert [vector["e"], vector["c"]] == close(0.894427, 0.447214)


def test_v2_as_the_paper_prints_it_without_the_root() -> None:
    vector = VectorSpace(SPACE.collection, sqrt=False).vector(DOCUMENTS["D1"])
    assert [vector["e"], vector["c"]] == close(1.328771, 0.664386)


@pytest.mark.parametrize("sqrt", [True, False])
def test_v2_cosines_are_the_same_either_way(sqrt: bool) -> None:
    space = VectorSpace(SPACE.collection, sqrt=sqrt)
    query = space.vector(["e", "c"])
    near = [cosine(query, space.vector(words)) for words in DOCUMENTS.values()]
    assert near == close(0.948683, 0.653091, 0.0, 0.479766)


def test_smooth_a_word_of_every_text_still_weighs_something() -> None:
    field = collection([["shop", "pay"], ["shop", "store"]])
    assert VectorSpace(field).raw(["shop"]) == {"shop": 0.0}
    assert VectorSpace(field, idf="smooth").raw(["shop"]) == {"shop": 1.0}


def test_linear_a_word_weighs_as_often_as_it_is_there() -> None:
    space = VectorSpace(SPACE.collection, tf="linear")
    assert space.raw(["e"] * 10)["e"] == pytest.approx(10 * space.raw(["e"])["e"])


def test_unknown_words_weigh_nothing_or_as_much_as_those_of_one_text() -> None:
    assert SPACE.vector(["unheard"]) == {}
    assert VectorSpace(SPACE.collection, unknown=True).raw(["unheard"])["unheard"] == pytest.approx(math.log10(4))


def test_nothing_is_like_nothing() -> None:
    assert cosine({}, {"a": 1.0}) == 0.0
    assert VectorSpace(Collection(0, {})).vector(["a"]) == {}


def test_equal_weights_are_in_the_order_of_the_alphabet() -> None:
    assert heaviest({"b": 1.0, "a": 1.0, "c": 2.0}, 2) == ["c", "a"]


@pytest.mark.parametrize(("name", "value"), [("idf", "rough"), ("tf", "cubed")])
def test_variants_that_do_not_exist_are_refused(name: str, value: str) -> None:
    with pytest.raises(UsageError, match=f"{name}='{value}' is neither"):
        VectorSpace(SPACE.collection, **{name: value})  # type: ignore[arg-type]


@pytest.mark.parametrize(("common", "rare"), [("the", "steppe"), ("und", "pferd"), ("не", "степь"), ("है", "घोड़ा")])
def test_the_background_knows_common_words_of_many_languages(common: str, rare: str) -> None:
    raw = general_space("lg").raw([common, rare])
    assert raw[common] < 0.2 * raw[rare]


def test_the_background_is_small() -> None:
    known = background()
    assert known.texts > 50
    assert max(known.frequencies.values()) <= known.texts
    assert min(known.frequencies.values()) >= 3


def test_a_comparison_tells_which_words_counted_most() -> None:
    topic = Topic(Words(), SPACE, SPACE.vector(["e", "c"]))
    likeness = topic.likeness("e e e e c s")
    assert likeness.words == ("e", "c")
    assert likeness.cosine == pytest.approx(cosine(topic.vector, SPACE.raw("eeeecs")))
    assert topic.likeness("w x").words == ()
