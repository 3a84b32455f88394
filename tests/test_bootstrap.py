"""Two strategies on the same rows: wins, the mean difference, and the interval around it."""

from __future__ import annotations

import random

import pytest

from spoor.measure.bootstrap import interval, paired


def test_rows_are_won_lost_or_a_tie() -> None:
    pair = paired([0.5, 0.2, 0.4, 0.3], [0.4, 0.3, 0.4004, 0.1])
    assert (pair.wins, pair.losses, pair.ties) == (2, 1, 1)
    assert pair.difference == pytest.approx((0.1 - 0.1 - 0.0004 + 0.2) / 4)


def test_an_area_a_thousandth_higher_is_a_win() -> None:
    assert paired([0.5], [0.25]).wins == paired([0.25], [0.5]).losses == 1
    assert paired([0.5004], [0.5]).ties == 1


def test_the_same_difference_everywhere_leaves_no_doubt() -> None:
    pair = paired([0.75, 0.5], [0.5, 0.25])
    assert pair.low == pair.difference == pair.high == 0.25


def test_the_interval_lies_around_the_mean_and_is_the_same_every_time() -> None:
    figures = [0.4, -0.1, 0.3, 0.0, 0.2]
    low, high = interval(figures)
    assert low < sum(figures) / 5 < high
    assert (low, high) == interval(figures)


def test_more_rows_make_the_interval_narrower() -> None:
    few, many = (interval([-1.0, 1.0] * pairs) for pairs in (5, 50))
    assert many[1] - many[0] < 0.5 * (few[1] - few[0])


def test_the_interval_of_normal_figures_is_that_of_the_textbook() -> None:
    chance = random.Random(1)
    figures = [chance.gauss(0.0, 1.0) for _ in range(400)]
    low, high = interval(figures)
    assert (high - low) / 2 == pytest.approx(1.96 / 400**0.5, rel=0.1)
