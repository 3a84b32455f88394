"""Information sums, accuracy and speed, on figures small enough to check by hand, and on those of the paper (M-6)."""

from __future__ import annotations

import numpy as np
import pytest

from spoor.lab.measures import Run, information, speed


def run(found: str, stored: str, sizes: list[int]) -> Run:
    """`run("10", "11", [500, 0])`: two visits, the second a mistake of the judge and empty."""
    hits, kept = (np.array([mark == "1" for mark in marks], np.bool_) for marks in (found, stored))
    order = np.arange(len(hits), dtype=np.int32)
    return Run(order, hits, order + 1, kept, np.array(sizes, np.int32), 0.0)


FOUR = run("1100", "1010", [3_000_000, 1_000_000, 2_000_000, 500_000])


def test_the_information_sum_is_that_of_right_and_wrong_pages() -> None:
    told = information(FOUR).downloaded
    assert (told.total, told.accurate, told.fault) == (6.5, 4.0, 2.5)


def test_accuracy_is_told_of_all_that_was_downloaded_and_of_what_was_stored() -> None:
    told = information(FOUR)
    assert told.downloaded.accuracy == 0.5
    assert (told.stored.pages, told.stored.correct, told.stored.total) == (2, 1, 5.0)


def test_a_visit_that_brought_nothing_counts_against_the_accuracy() -> None:
    assert information(run("10", "10", [1_000_000, 0])).downloaded.accuracy == 0.5


def test_nothing_stored_has_no_accuracy() -> None:
    assert information(run("10", "00", [1, 1])).stored.accuracy is None


def test_speed_is_right_megabytes_an_hour() -> None:
    assert information(FOUR, seconds=1800).speed == 8.0
    assert information(FOUR).speed is None


@pytest.mark.parametrize(
    ("accuracy", "megabytes", "published"), [(0.31, 357, 9.2225), (0.49, 772, 31.5233), (0.83, 685, 47.3792)]
)
def test_the_speeds_of_the_paper_are_accuracy_times_information_over_twelve_hours(
    accuracy: float, megabytes: float, published: float
) -> None:
    assert round(speed(accuracy * megabytes, hours=12), 4) == published
