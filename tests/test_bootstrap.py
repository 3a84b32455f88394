"""Two strategies on the same rows: wins, the mean difference, and the interval around it."""

from __future__ import annotations

import random

import pytest

from spoor.lab.leaderboard import interval, paired


def rows(*figures: float) -> list[list[float]]:
    """Rows with one order each."""
    return [[figure] for figure in figures]


def test_rows_are_won_lost_or_a_tie() -> None:
    pair = paired(rows(0.5, 0.2, 0.4, 0.3), rows(0.4, 0.3, 0.4004, 0.1))
    assert (pair.wins, pair.losses, pair.ties) == (2, 1, 1)
    assert pair.difference == pytest.approx((0.1 - 0.1 - 0.0004 + 0.2) / 4)


def test_a_row_is_won_by_the_mean_over_its_orders() -> None:
    pair = paired([[0.9, 0.1], [0.2, 0.2]], [[0.4, 0.5], [0.1, 0.5]])
    assert (pair.wins, pair.losses) == (1, 1)
    assert pair.difference == pytest.approx((0.05 - 0.1) / 2)


def test_an_area_a_thousandth_higher_is_a_win() -> None:
    assert paired(rows(0.5), rows(0.25)).wins == paired(rows(0.25), rows(0.5)).losses == 1
    assert paired(rows(0.5004), rows(0.5)).ties == 1


def test_the_same_difference_everywhere_leaves_no_doubt() -> None:
    pair = paired([[0.75, 0.5], [0.5, 1.0]], [[0.5, 0.25], [0.25, 0.75]])
    assert pair.low == pair.difference == pair.high == 0.25


def test_the_interval_lies_around_the_mean_and_is_the_same_every_time() -> None:
    figures = rows(0.4, -0.1, 0.3, 0.0, 0.2)
    low, high = interval(figures)
    assert low < 0.8 / 5 < high
    assert (low, high) == interval(figures)


def test_more_rows_make_the_interval_narrower() -> None:
    few, many = (interval(rows(*[-1.0, 1.0] * pairs)) for pairs in (5, 50))
    assert many[1] - many[0] < 0.5 * (few[1] - few[0])


def test_the_interval_of_normal_figures_is_that_of_the_textbook() -> None:
    chance = random.Random(1)
    low, high = interval(rows(*(chance.gauss(0.0, 1.0) for _ in range(400))))
    assert (high - low) / 2 == pytest.approx(1.96 / 400**0.5, rel=0.1)


def test_orders_that_differ_make_the_interval_wider_though_rows_are_alike() -> None:
    low, high = interval([[0.0, 1.0]] * 20)
    assert interval([[0.5, 0.5]] * 20) == (0.5, 0.5)
    assert low < 0.5 < high


def test_the_interval_of_normal_rows_and_orders_adds_both_variances() -> None:
    """Drawn again, the mean over rows varies by that of the rows' own means, and by that of the orders within them."""
    chance = random.Random(2)
    centres = [chance.gauss(0.0, 1.0) for _ in range(200)]
    figures = [[centre + chance.gauss(0.0, 2.0) for _ in range(20)] for centre in centres]
    low, high = interval(figures)
    of_means = 1.0 + 2.0**2 / 20
    of_orders = 2.0**2 / 20
    assert (high - low) / 2 == pytest.approx(1.96 * ((of_means + of_orders) / 200) ** 0.5, rel=0.1)


def test_rows_may_have_different_numbers_of_orders_and_count_the_same() -> None:
    low, high = interval([[1.0], [0.0, 0.0, 0.0, 0.0]])
    assert (low, high) == (0.0, 1.0)
    assert paired([[1.0], [0.0, 0.0, 0.0]], [[0.0], [0.0, 0.0, 0.0]]).difference == 0.5
