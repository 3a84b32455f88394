"""Into how many clusters do pages fall? Found from the distances between a sample of them (Jia, Fang 2016, section 4).

    d_min   the smallest distance that is not 0
    R_i     the mean distance of point i to the others; points whose R_i is more than 30 % off the mean of all are noise
    R       mean of R_i without noise + d_min     high-density radius
    Z       points nearer to the innermost point than its R_i
    r       R + d_min                             radius of a group
    m, h    2 r, 2 d_min                          centres and borders no farther apart make two groups one

The paper ends with these five numbers. What they are for is our completion: see `groups`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from spoor.context.hidden_markov import Floats

NOISE = 0.30


@dataclass(frozen=True, eq=False)
class Spread:
    """How points lie: the numbers above, by the names of the paper. `kept` are the points that are no noise."""

    d_min: float
    means: Floats
    kept: NDArray[np.int64]
    R: float
    Z: int
    r: float
    m: float
    h: float


def distances(points: Floats) -> Floats:
    """Between each two points."""
    squares = (points * points).sum(axis=1)
    between = squares[:, None] + squares - 2.0 * points @ points.T
    np.fill_diagonal(between, 0.0)
    return np.asarray(np.sqrt(np.maximum(between, 0.0)))


def spread(between: Floats) -> Spread | None:
    """None when no two points differ."""
    apart = between[between > 0.0]
    if not len(apart):
        return None
    d_min, means = float(apart.min()), _means(between)
    kept = np.flatnonzero(np.abs(means - means.mean()) / means.mean() <= NOISE)
    if len(kept) < 2:  # nothing would be left to measure
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
    """All points, parted: around the point with most neighbours within R, everything within r is a group, as long as
    there are Z neighbours; near groups become one; points left over join the nearest."""
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
    """The first two that are near enough become one, again and again."""
    for one, other in combinations(found, 2):
        apart = float(np.linalg.norm(points[one].mean(axis=0) - points[other].mean(axis=0)))
        if apart <= by.m and between[np.ix_(one, other)].min() <= by.h:
            joined = [one + other if group is one else group for group in found if group is not other]
            return _merged(joined, points, between, by)
    return found
