"""How many clusters there are: the paper's numbers, the completion, the fallback (checks A-1 to A-4)."""

from __future__ import annotations

import numpy as np
import pytest

from spoor.ordering.clusters import (
    Spread,
    begun,
    clearest,
    distances,
    farthest_apart,
    groups,
    k_means,
    nearest,
    silhouette,
    spread,
)
from spoor.ordering.hidden_markov import Floats

LINE = np.array([[0.0], [1.0], [2.0], [10.0], [11.0], [12.0]])
OUTLIER = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [9.0, 9.0]])


def three_directions(off: float) -> Floats:
    """Nine unit vectors, three near each axis."""
    long = (1.0 - off * off) ** 0.5
    return np.array(
        [
            *[(1, 0, 0), (long, off, 0), (long, 0, off)],
            *[(0, 1, 0), (off, long, 0), (0, long, off)],
            *[(0, 0, 1), (off, 0, long), (0, off, long)],
        ]
    )


def spread_of(points: Floats) -> Spread:
    found = spread(distances(points))
    assert found is not None
    return found


def groups_of(points: Floats) -> list[list[int]]:
    return groups(points, distances(points), spread_of(points))


def test_a_1_two_groups_on_a_line() -> None:
    found = spread_of(LINE)
    assert found.means == pytest.approx([7.2, 6.4, 6.0, 6.0, 6.4, 7.2])
    assert (found.d_min, found.Z, found.h) == (1.0, 2, 2.0) and len(found.kept) == 6
    assert (found.R, found.r, found.m) == pytest.approx((7.533333, 8.533333, 17.066667))
    assert groups_of(LINE) == [[0, 1, 2], [3, 4, 5]]


def test_a_2_an_outlier_and_an_inner_point_are_noise_yet_belong_somewhere_in_the_end() -> None:
    found = spread_of(OUTLIER)
    assert found.means == pytest.approx([4.035534, 3.863952, 3.863952, 3.681981, 12.031205])
    assert found.kept.tolist() == [0, 1, 2]
    assert (found.R, found.r, found.m, found.h) == pytest.approx((2.138071, 3.138071, 6.276142, 2.0))
    assert found.Z == 0
    assert groups_of(OUTLIER) == [[0, 1, 2, 3, 4]]


def test_a_3_where_the_printed_radii_take_in_everything_the_silhouette_decides() -> None:
    points = three_directions(0.14106736)
    found = spread_of(points)
    assert (found.d_min, found.R, found.r) == pytest.approx((0.141421, 1.188961, 1.330382), abs=1e-6)
    assert len(groups_of(points)) == 1
    between = distances(points)
    clear = [silhouette(between, nearest(points, k_means(points, farthest_apart(points, k)))) for k in (2, 3, 4)]
    assert clear == pytest.approx([0.5272, 0.8767, 0.6149], abs=5e-5)
    assert clearest(points, between) == 3 and len(begun(points)) == 3


def test_a_4_with_near_copies_among_them_three_directions_are_three_groups() -> None:
    points = three_directions(0.02)
    found = spread_of(points)
    assert (found.d_min, found.R, found.r) == pytest.approx((0.020001, 1.07921, 1.099211), abs=1e-6)
    assert (found.m, found.h) == pytest.approx((2.198422, 0.040002), abs=1e-6)
    assert groups_of(points) == [[0, 1, 2], [3, 4, 5], [6, 7, 8]]
    assert len(begun(points)) == 3


@pytest.mark.parametrize(("border", "expected"), [(0.11, [[0, 1, 2, 3, 4, 5, 6]]), (0.09, [[0, 1, 2], [3, 4, 5, 6]])])
def test_groups_whose_borders_are_near_become_one(border: float, expected: list[list[int]]) -> None:
    points = np.arange(7)[:, None] / 10
    by = Spread(0.1, np.zeros(7), np.arange(7), R=0.15, Z=1, r=0.15, m=1.0, h=border)
    assert groups(points, distances(points), by) == expected


def test_points_that_do_not_differ_are_one_cluster() -> None:
    assert spread(distances(np.ones((4, 2)))) is None
    assert len(begun(np.ones((4, 2)))) == 1
