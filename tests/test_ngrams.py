"""The n-gram rank model: worked numbers, the fast path against the plain one, profiles of several encodings."""

from __future__ import annotations

import random
from collections.abc import Sequence
from statistics import mean

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spoor.errors import UsageError
from spoor.judging.ngrams import BORDERS, Ranks, Unit, calibrate, plain_ranks, sentences
from spoor.judging.profile_search import gram_index, recogniser, similarities
from spoor.judging.profiles import learned, merged
from tests.shared_data import SHARED, needs_shared

MODEL = plain_ranks(["abababc"], 2)


def words_of(name: str) -> list[str]:
    """Of a real text, in random order; none where there is no such text."""
    path = SHARED / "texts" / name
    words = path.read_text("utf8").split() if path.exists() else []
    random.Random(7).shuffle(words)
    return words


def mean_distance(model: Ranks, text: Sequence[str], n: int, farthest: int | None = None) -> float | None:
    """As the model means it, in plain Python. None: there is no n-gram."""
    places = plain_ranks(text, n)
    if not places:
        return None
    far = farthest or len(model)
    apart = (min(far, abs(model[gram] - place)) if gram in model else far for gram, place in places.items())
    return sum(apart) / len(places)


def similarity(model: Ranks, text: Sequence[str], n: int, farthest: int | None = None) -> float:
    distance = mean_distance(model, text, n, farthest)
    return 0.0 if distance is None else 1.0 - distance / (farthest or len(model))


class TestTheModel:
    def test_ranks_by_count_then_by_code_point(self) -> None:
        assert MODEL == {"ab": 1, "ba": 2, "bc": 3}

    @pytest.mark.parametrize(
        ("text", "distance", "similar"),
        [("abc", 0.5, 0.833333), ("bcab", 1.333333, 0.555556), ("xyz", 3, 0), ("abababc", 0, 1)],
    )
    def test_means_the_distance_over_the_distinct_grams_of_the_text(
        self, text: str, distance: float, similar: float
    ) -> None:
        assert mean_distance(MODEL, [text], 2) == pytest.approx(distance, abs=1e-6)
        assert similarity(MODEL, [text], 2) == pytest.approx(similar, abs=1e-6)

    def test_has_no_evidence_in_a_text_without_grams(self) -> None:
        assert mean_distance(MODEL, ["a"], 2) is None
        assert similarity(MODEL, ["a"], 2) == 0.0

    def test_never_crosses_the_border_of_a_sentence(self) -> None:
        assert plain_ranks(["ab", "ba"], 2) == {"ab": 1, "ba": 2}

    def test_keeps_only_the_top_when_it_is_told(self) -> None:
        assert plain_ranks(["abababc"], 2, top=2) == {"ab": 1, "ba": 2}

    def test_costs_no_more_than_the_farthest_for_any_gram(self) -> None:
        assert mean_distance(plain_ranks(["aaaaabbbbcccdde"], 1), ["e"], 1, farthest=3) == 3


class TestText:
    def test_is_composed_folded_and_has_single_blanks(self) -> None:
        assert sentences("  Cafe\u0301 \t AU\u00a0lait ") == ["café au lait"]

    @pytest.mark.parametrize("border", BORDERS)
    def test_ends_a_sentence_at(self, border: str) -> None:
        assert sentences(f"one{border} two") == ["one", "two"]

    def test_may_be_taken_as_bytes(self) -> None:
        assert sentences("é.a", "byte") == ["Ã©", "a"]


class TestCalibration:
    def test_takes_the_middle_of_the_gap_that_parts_all(self) -> None:
        assert calibrate([0.9, 0.7], [0.1, 0.3]) == pytest.approx(0.5)

    def test_takes_the_threshold_with_the_best_f1_where_nothing_parts_all(self) -> None:
        assert 0.3 < calibrate([0.9, 0.8, 0.4], [0.6, 0.1, 0.2, 0.3]) < 0.4


texts = st.text(st.sampled_from("abcß ÉΣ\u0301.\n\t字\U0001f600\ud800\x00ᠮ᠃\ue236"), max_size=60) | st.text(max_size=40)


@given(st.lists(texts, min_size=1, max_size=3), st.lists(texts, max_size=3), st.integers(1, 4), st.booleans())
@settings(max_examples=300)
def test_the_fast_path_gives_the_numbers_of_the_plain_one(
    trained: list[str], asked: list[str], n: int, as_bytes: bool
) -> None:
    unit: Unit = "byte" if as_bytes else "letter"
    profiles = [learned("x-a", "a", text, "", unit) for text in trained]
    plain = [plain_ranks(sentences(text, unit), n) for text in trained]
    assert [profile.as_words(n) for profile in profiles] == plain
    expected = [[similarity(model, sentences(text, unit), n) if model else 0.0 for model in plain] for text in asked]
    found = similarities(gram_index(profiles, [n]), asked, unit)
    assert found == pytest.approx(np.array(expected).reshape(found.shape), abs=1e-12)


@given(st.lists(texts, min_size=1, max_size=3), st.lists(texts, max_size=4), st.floats(0, 1), st.booleans())
def test_only_texts_that_are_not_similar_enough_are_left_out(
    trained: list[str], asked: list[str], least: float, all_lengths: bool
) -> None:
    index = gram_index([learned("x-a", "a", text, "") for text in trained], [1, 2, 3, 4] if all_lengths else [3])
    for every, some in zip(similarities(index, asked), similarities(index, asked, least=least), strict=True):
        assert (every == some).all() or (every.max() <= least and not some.any())


def test_a_text_in_another_language_is_not_counted() -> None:
    english, german = "contributing to the project today", "Die Würde des Menschen und die Freiheit"
    everything, above = (
        recogniser("de").similarities([english, german]),
        recogniser("de").similarities([english, german], 0.42),
    )
    assert everything[0] > above[0] == 0.0 and everything[1] == above[1] > 0.42


@given(texts, texts, st.integers(1, 3), st.integers(1, 5))
def test_the_fast_path_knows_top_and_farthest(trained: str, asked: str, n: int, top: int) -> None:
    model = plain_ranks(sentences(trained), n, top)
    found = similarities(gram_index([learned("x-a", "a", trained, "")], [n], top, farthest=7), [asked])[0, 0]
    assert found == pytest.approx(similarity(model, sentences(asked), n, farthest=7), abs=1e-12)


def test_several_lengths_count_as_their_mean() -> None:
    profile = learned("x-a", "a", "the cat sat on the mat", "")
    each = [similarities(gram_index([profile], [n]), ["the mat"])[0, 0] for n in (2, 3, 4)]
    assert similarities(gram_index([profile], [2, 3, 4]), ["the mat"])[0, 0] == pytest.approx(mean(each))


def test_merged_profiles_are_those_of_the_texts_in_one() -> None:
    one, other = learned("x-a", "one", "abcab", ""), learned("x-a", "other", "zab", "")
    assert merged([one, other]).as_words(2) == plain_ranks(["abcab", "zab"], 2)


def test_lengths_beyond_four_are_refused() -> None:
    with pytest.raises(UsageError, match="n=5: n-grams have 1 to 4 units"):
        gram_index([learned("x-a", "a", "abc", "")], [5])


def test_letters_and_bytes_are_not_compared() -> None:
    with pytest.raises(UsageError, match="letters and profiles of bytes"):
        gram_index([learned("x-a", "a", "abc", ""), learned("x-b", "b", "abc", "", "byte")], [2])


class TestRecogniser:
    def test_is_as_near_as_the_nearest_orthography(self) -> None:
        cyrillic, traditional = recogniser("mn").similarities(["монгол хэл", "ᠮᠣᠩᠭᠣᠯ ᠬᠡᠯᠡ"])
        assert cyrillic > 0.5 < traditional

    def test_takes_every_spelling_of_a_tag(self) -> None:
        assert recogniser("FRA").tag == "fr"

    def test_finds_nothing_in_nothing(self) -> None:
        assert recogniser("fr").similarities(["", " . "]).tolist() == [0.0, 0.0]
        assert recogniser("fr").similarities([]).tolist() == []

    def test_refuses_a_language_without_profile_and_says_how_to_get_one(self) -> None:
        with pytest.raises(UsageError, match=r"'ff' is shipped; train one: spoor train language --name ff TEXTFILES"):
            recogniser("ff")


@needs_shared
class TestRealMongolianInTheMenksoftEncoding:
    """80 of 100 words are learned from; what is tried is made of the others."""

    words = words_of("mongolian-menksoft-words.txt")
    english = words_of("ntrex/eng.txt")
    cut = len(words) * 8 // 10

    def near(self, n: int, texts: list[str]) -> float:
        profile = learned("mn-Mong", "menksoft", "\n".join(self.words[: self.cut]), "")
        return float(similarities(gram_index([profile], [n]), texts).mean())

    def sampled(self, size: int) -> list[str]:
        chance = random.Random(11)
        return ["\n".join(chance.sample(self.words[self.cut :], size)) for _ in range(100)]

    @pytest.mark.parametrize(("n", "similar"), [(2, 0.906), (3, 0.852), (4, 0.764)])
    def test_pages_of_200_words_are_recognised(self, n: int, similar: float) -> None:
        assert self.near(n, self.sampled(200)) == pytest.approx(similar, abs=0.03)

    @pytest.mark.parametrize(("n", "similar"), [(2, 0.880), (3, 0.832), (4, 0.783)])
    def test_anchors_of_two_words_are_recognised(self, n: int, similar: float) -> None:
        assert self.near(n, self.sampled(2)) == pytest.approx(similar, abs=0.03)

    def test_pages_that_are_half_english_are_half_recognised(self) -> None:
        mixed = ["\n".join([page, *self.english[k * 40 : k * 40 + 100]]) for k, page in enumerate(self.sampled(100))]
        assert self.near(3, mixed) == pytest.approx(0.578, abs=0.03)

    @pytest.mark.parametrize(("n", "at_most"), [(2, 0.05), (3, 0.01), (4, 0.001)])
    def test_private_use_characters_at_random_are_not(self, n: int, at_most: float) -> None:
        chance = random.Random(11)
        assert self.near(n, ["".join(chr(chance.randrange(0xE264, 0xE350)) for _ in range(1000))]) < at_most

    def test_english_is_not(self) -> None:
        assert self.near(3, [" ".join(self.english[:500])]) == 0.0
