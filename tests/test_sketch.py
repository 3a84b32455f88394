"""Sketches: what makes a text recognisable."""

from __future__ import annotations

import random

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from spoor.parse.simhash import KEPT, READ, SHORTEST, text_fingerprint
from spoor.store.duplicates import FARTHEST
from tests.test_duplicates import article


def distance(one: str, other: str) -> int:
    a, b = text_fingerprint(one).fingerprint, text_fingerprint(other).fingerprint
    assert a is not None and b is not None
    return ((a ^ b) & (1 << 64) - 1).bit_count()


def passages(text: str) -> list[int]:
    found: list[int] = np.frombuffer(text_fingerprint(text).passages, np.uint64).tolist()
    return found


def counting(text: str) -> int:
    """The characters that make a difference."""
    return sum(not (c.isspace() or c.isdigit() or c < "!") for c in text)


def test_small_changes_change_few_bits() -> None:
    """Mostly: another word in a short article may turn a bit too many."""
    texts = [article(seed) for seed in range(20)]
    assert sum(distance(text, text.replace("winter", "autumn", 1)) <= FARTHEST for text in texts) >= 17


def test_another_text_has_another_fingerprint() -> None:
    for seed in range(20):
        assert distance(article(seed), article(seed + 100)) > 4 * FARTHEST


def test_capitals_gaps_and_numbers_make_no_difference() -> None:
    text = article(1)
    assert text_fingerprint("  " + text.upper().replace(" ", "\n 12 ")) == text_fingerprint(text)


def test_scripts_without_blanks_work_alike() -> None:
    chance = random.Random(3)
    text = "".join(chance.choices([chr(c) for c in range(0xE01, 0xE2F)], k=3000))
    other = "".join(chance.choices([chr(c) for c in range(0xE01, 0xE2F)], k=3000))
    assert distance(text, text[:1500] + "ก" + text[1501:]) <= FARTHEST
    assert distance(text, other) > 4 * FARTHEST


def test_a_long_text_is_read_to_its_end() -> None:
    text = article(1, 6000)
    assert len(text) < READ
    assert distance(text, text[: len(text) // 2] + article(2, 3000)) > FARTHEST


def test_like_texts_keep_mostly_the_same_passages() -> None:
    text = article(4)
    kept, again = set(passages(text)), set(passages(text.replace("winter", "autumn", 1)))
    assert len(kept & again) > 0.8 * KEPT
    assert not kept & set(passages(article(5)))


@given(st.text(st.characters(), max_size=300))
def test_any_text_has_a_fingerprint_or_is_too_short(text: str) -> None:
    found = text_fingerprint(text).fingerprint
    letters = counting("".join(c if ord(c) < 0x10000 else "x" for c in text))
    assert (found is None) == (letters < SHORTEST)
    assert found is None or -(1 << 63) <= found < 1 << 63


@given(st.text(st.characters(), max_size=300))
def test_passages_are_few_distinct_and_in_order(text: str) -> None:
    found = passages(text)
    assert 1 <= len(found) <= KEPT
    assert found == sorted(set(found))
