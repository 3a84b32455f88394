"""K-means over vectors of pages: where it begins, what moves, which cluster a page belongs to."""

from __future__ import annotations

import numpy as np
import pytest

from spoor.ordering.clusters import clustered, evenly, farthest_apart, k_means, nearest, silhouette

CROSS = np.array([[1.0, 0.0], [0.9, 0.1], [0.0, 1.0], [0.1, 0.9], [-1.0, 0.0], [-0.9, 0.1]])


def test_centres_lie_in_the_middle_of_their_clusters() -> None:
    centres = k_means(CROSS, CROSS[[0, 2, 4]])
    assert centres == pytest.approx(np.array([[0.95, 0.05], [0.05, 0.95], [-0.95, 0.05]]))
    assert nearest(CROSS, centres).tolist() == [0, 0, 1, 1, 2, 2]


def test_a_cluster_that_nobody_is_nearest_to_keeps_its_centre() -> None:
    assert k_means(CROSS, np.array([[0.0, 0.5], [50.0, 50.0]]))[1].tolist() == [50.0, 50.0]


def test_the_start_is_the_innermost_point_and_then_whatever_is_farthest() -> None:
    line = np.array([[0.0], [4.0], [5.0], [6.0], [10.0]])
    assert farthest_apart(line, 3).ravel().tolist() == [5.0, 0.0, 10.0]


def test_there_are_no_more_clusters_than_different_points() -> None:
    assert len(clustered(np.array([[0.0], [0.0], [1.0]]), 5)) == 2


def test_as_many_clusters_as_are_asked_for() -> None:
    assert len(clustered(CROSS, 4)) == 4


def test_the_number_of_clusters_is_found_when_none_is_given() -> None:
    assert len(clustered(np.concatenate([CROSS, CROSS + 0.001]))) == 3


def test_a_silhouette_falls_when_clusters_cut_through_groups() -> None:
    between = np.abs(np.subtract.outer(*[np.array([0.0, 1.0, 10.0, 11.0])] * 2))
    assert silhouette(between, np.array([0, 0, 1, 1])) > 0.85
    assert silhouette(between, np.array([0, 1, 1, 0])) < 0.0


def test_a_silhouette_is_the_mean_over_points_by_its_definition() -> None:
    points = np.random.default_rng(3).random((12, 2))
    own = np.array([0, 1, 2] * 4)
    between = np.linalg.norm(points[:, None] - points, axis=2)
    clear = []
    for point in range(12):
        mates = [other for other in range(12) if own[other] == own[point] and other != point]
        inside = between[point, mates].mean()
        outside = min(between[point, own == k].mean() for k in range(3) if k != own[point])
        clear.append((outside - inside) / max(inside, outside))
    assert silhouette(between, own) == pytest.approx(np.mean(clear))


def test_a_few_of_many_are_taken_from_everywhere() -> None:
    assert evenly(3, 5).tolist() == [0, 1, 2]
    assert evenly(101, 3).tolist() == [0, 50, 100]
