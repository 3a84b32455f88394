"""What a key is worth, where the scorer does not say: how often links with that key were relevant in this crawl."""

from __future__ import annotations

import pytest

from spoor.pricing import CELLS, HitRates
from spoor.records import Key, Miss, Page, Sighting, Verdict, Visit

URL = "http://a.test/"


def sighting(key: Key, relevant: bool, duplicate_of: str = "") -> Sighting:
    verdict = Verdict(float(relevant), relevant, "")
    return Sighting(Visit(URL, "a.test", 0, 0.0, key=key), Page(URL, duplicate_of=duplicate_of), verdict, None)


def test_every_key_is_worth_the_same_before_anything_was_tried() -> None:
    assert HitRates().gain((1.0,)) == HitRates().gain((0.0, 5.0)) == pytest.approx(0.2)


def test_keys_that_led_to_relevant_pages_are_worth_more() -> None:
    rates = HitRates()
    for relevant in (True, True, False, True):
        rates.learn(sighting((1.0,), relevant))
    for _ in range(4):
        rates.learn(sighting((0.5,), False))
    assert rates.gain((1.0,)) > rates.gain((0.7,)) > rates.gain((0.5,))


def test_a_miss_and_a_copy_count_as_tries_in_vain() -> None:
    rates, spoiled = HitRates(), HitRates()
    for each in (rates, spoiled):
        each.learn(sighting((1.0,), True))
    spoiled.learn_miss(Miss(Visit(URL, "a.test", 1, 0.0, key=(1.0,)), "HTTP 404"))
    spoiled.learn(sighting((1.0,), True, duplicate_of="http://a.test/before"))
    assert spoiled.gain((1.0,)) < rates.gain((1.0,))


def test_keys_are_told_apart_by_two_digits_of_their_first_part() -> None:
    rates = HitRates()
    rates.learn(sighting((0.123, 7.0), True))
    assert rates.gain((0.1234, 0.0)) == rates.gain((0.12, 0.0)) > rates.gain((0.13, 0.0))


def test_a_scorer_with_a_key_for_every_link_fills_no_memory() -> None:
    rates = HitRates()
    for number in range(2 * CELLS):
        rates.learn(sighting((float(number % 100) * 10.0 ** (number // 100),), False))
    assert len(rates._counts) <= CELLS
