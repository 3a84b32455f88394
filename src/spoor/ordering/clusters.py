"""Clusters of pages: K-means over their vectors, with K given or estimated (Jia, Fang 2016, section 3).

    d_min   the smallest distance that is not 0
    R_i     the mean distance of point i to the others; points whose R_i is more than 30 % off the mean of all are noise
    R       mean of R_i without noise + d_min     high-density radius
    Z       points nearer to the innermost point than its R_i
    r       R + d_min                             radius of a group
    m, h    2 r, 2 d_min                          two groups merge if centres and borders are no farther apart

The paper defines these five numbers but not how to use them. That is our completion: see `groups`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from spoor.ordering.hidden_markov import Floats

# Number of clusters, estimated from the distances between a sample of pages (Jia, Fang 2016, section 4).


NOISE = 0.30


@dataclass(frozen=True, eq=False)
class Spread:
    """The distribution of the points: the numbers above, named as in the paper. `kept` are the points that are not
    noise."""

    d_min: float
    means: Floats
    kept: NDArray[np.int64]
    R: float
    Z: int
    r: float
    m: float
    h: float


def distances(points: Floats) -> Floats:
    """Pairwise Euclidean distances."""
    squares = (points * points).sum(axis=1)
    between = squares[:, None] + squares - 2.0 * points @ points.T
    np.fill_diagonal(between, 0.0)
    return np.asarray(np.sqrt(np.maximum(between, 0.0)))


def spread(between: Floats) -> Spread | None:
    """None if all points are equal."""
    apart = between[between > 0.0]
    if not len(apart):
        return None
    d_min, means = float(apart.min()), _means(between)
    kept = np.flatnonzero(np.abs(means - means.mean()) / means.mean() <= NOISE)
    if len(kept) < 2:  # Too few points remain to measure.
        kept = np.arange(len(between))
    inner = between[np.ix_(kept, kept)]
    inner_means = _means(inner)
    innermost = int(inner_means.argmin())
    dense = int((inner[innermost] < inner_means[innermost]).sum()) - 1
    radius = float(inner_means.mean()) + d_min
    return Spread(d_min, means, kept, radius, dense, radius + d_min, 2.0 * (radius + d_min), 2.0 * d_min)


def _means(between: Floats) -> Floats:
    return np.asarray(between.sum(axis=1) / (len(between) - 1))


def groups(points: Floats, between: Floats, by: Spread) -> list[list[int]]:
    """A partition of all points: everything within r of the point with most neighbours within R is a group, as long as
    it has at least Z neighbours; near groups merge; remaining points join the nearest group."""
    found = _merged(list(_dense_groups(between, by)), points, between, by)
    if not found:
        return [list(range(len(points)))]
    centres = np.array([points[group].mean(axis=0) for group in found])
    for point in sorted(set(range(len(points))) - {point for group in found for point in group}):
        found[int(np.linalg.norm(centres - points[point], axis=1).argmin())].append(point)
    return [sorted(group) for group in found]


def _dense_groups(between: Floats, by: Spread) -> Iterator[list[int]]:
    free = np.ones(len(between), np.bool_)
    while free.any():
        neighbours = np.where(free, (between[:, free] <= by.R).sum(axis=1) - 1, -1)
        densest = int(neighbours.argmax())
        if neighbours[densest] < max(1, by.Z):
            return
        group = free & (between[densest] <= by.r)
        free &= ~group
        yield np.flatnonzero(group).tolist()


def _merged(found: list[list[int]], points: Floats, between: Floats, by: Spread) -> list[list[int]]:
    """Merges the first two groups that are near enough, and repeats."""
    for one, other in combinations(found, 2):
        apart = float(np.linalg.norm(points[one].mean(axis=0) - points[other].mean(axis=0)))
        if apart <= by.m and between[np.ix_(one, other)].min() <= by.h:
            joined = [one + other if group is one else group for group in found if group is not other]
            return _merged(joined, points, between, by)
    return found


# K-means over the vectors of pages, with K given or estimated.


SAMPLE = 500
"""Number of points from which K is estimated."""
MOST_CLUSTERS = 10
"""Largest K tried when the distances do not decide."""
_ROUNDS = 100


def evenly(count: int, most: int) -> NDArray[np.int64]:
    """At most `most` evenly spaced numbers below `count`."""
    return np.arange(count) if count <= most else np.linspace(0, count - 1, most).round().astype(np.int64)


def clustered(points: Floats, clusters: int | None = None) -> Floats:
    """The centres of the clusters. `clusters=None`: the number is estimated from the points."""
    sample = points[evenly(len(points), SAMPLE)]
    return k_means(points, begun(sample) if clusters is None else farthest_apart(sample, clusters))


def begun(points: Floats) -> Floats:
    """Initial centres for K-means. The groups found by distances, unless there is only one or too many: then the number
    of clusters with the best mean silhouette."""
    between = distances(points)
    lie = spread(between)
    if lie is None:
        return points[:1]
    found = groups(points, between, lie)
    if 1 < len(found) <= len(points) / 2:
        return np.array([points[group].mean(axis=0) for group in found])
    return farthest_apart(points, clearest(points, between))


def clearest(points: Floats, between: Floats) -> int:
    """The number of clusters with the best mean silhouette; the smallest among equals."""
    most = min(MOST_CLUSTERS, math.isqrt(len(points)) + 1, len(points))
    found = {
        k: silhouette(between, nearest(points, k_means(points, farthest_apart(points, k)))) for k in range(2, most + 1)
    }
    return max(found, key=lambda k: (round(found[k], 12), -k)) if found else 1


def farthest_apart(points: Floats, clusters: int) -> Floats:
    """The innermost point, then repeatedly the point farthest from those chosen. Fewer than `clusters` if fewer points
    differ."""
    between = distances(points)
    chosen = [int(between.sum(axis=1).argmin())]
    while len(chosen) < clusters:
        apart = between[chosen].min(axis=0)
        if not apart.max() > 0.0:
            break
        chosen.append(int(apart.argmax()))
    return points[chosen]


def k_means(points: Floats, centres: Floats) -> Floats:
    """Starts from the given centres and iterates until convergence. An empty cluster keeps its centre."""
    for _ in range(_ROUNDS):
        own = nearest(points, centres)
        moved = np.array([points[own == k].mean(axis=0) if (own == k).any() else old for k, old in enumerate(centres)])
        if np.allclose(moved, centres):
            break
        centres = moved
    return centres


def nearest(points: Floats, centres: Floats) -> NDArray[np.int64]:
    """The index of the nearest centre, for each point."""
    return np.asarray(((centres * centres).sum(axis=1) - 2.0 * points @ centres.T).argmin(axis=1))


def tells(clusters: NDArray[np.int64], layers: NDArray[np.int64]) -> float:
    """How well the cluster of a page predicts its layer: the relative reduction of entropy, from 0 to 1."""
    together = np.zeros((int(clusters.max()) + 1, int(layers.max()) + 1))
    np.add.at(together, (clusters, layers), 1.0 / len(layers))
    doubt = _doubt(together.sum(axis=0))
    left = _doubt(together.ravel()) - _doubt(together.sum(axis=1))
    return max(0.0, 1.0 - left / doubt) if doubt else 0.0


def _doubt(chances: Floats) -> float:
    """Entropy."""
    some = chances[chances > 0.0]
    return float(-(some * np.log(some)).sum())


def silhouette(between: Floats, own: NDArray[np.int64]) -> float:
    """The mean silhouette, from -1 to 1: how much nearer points are to their own cluster than to the next."""
    members = np.eye(int(own.max()) + 1)[own]
    sizes = members.sum(axis=0)
    if (sizes > 0).sum() < 2:
        return 0.0
    sums, each = between @ members, np.arange(len(own))
    inside = sums[each, own] / np.maximum(sizes[own] - 1, 1)
    means = np.where(sizes > 0, sums / np.maximum(sizes, 1), np.inf)
    means[each, own] = np.inf
    outside = means.min(axis=1)
    larger = np.maximum(inside, outside)
    clear = np.where((sizes[own] > 1) & (larger > 0), (outside - inside) / np.where(larger > 0, larger, 1.0), 0.0)
    return float(clear.mean())
