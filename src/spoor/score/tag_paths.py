"""Links that stand in like places: tag paths such as html/body/ul/li, put together by the pairs of tags they share."""

from __future__ import annotations

import math
from collections import Counter
from itertools import pairwise

from spoor.errors import BadInput, UsageError
from spoor.saved_state import State, as_counts, counts_in, texts_in

MOST = 500
"""Clusters; a path met after so many goes to the nearest, however far that is."""
_END = ""


class TagPathClusters:
    """A path belongs to the cluster whose pairs are most like its own, if the cosine is at least `likeness`; otherwise
    it begins a new one. Where a path belongs holds, whatever comes after it."""

    def __init__(self, likeness: float) -> None:
        if not 0.0 <= likeness <= 1.0:
            raise UsageError(f"likeness={likeness:g} is not a cosine; give a number from 0 to 1")
        self._likeness = likeness
        self._of_path: dict[str, int] = {}
        self._pairs: list[Counter[tuple[str, str]]] = []

    def __len__(self) -> int:
        return len(self._pairs)

    def of(self, path: str) -> int:
        """The number of its cluster; clusters are numbered as they begin."""
        cluster = self._of_path.get(path)
        if cluster is None:
            pairs = _pairs(path)
            cluster = self._nearest(pairs)
            self._place(path, pairs, cluster)
        return cluster

    def state(self) -> State:
        return {"paths": list(self._of_path), "clusters": as_counts(self._of_path.values())}

    def restore(self, state: State) -> None:
        """The paths say which pairs a cluster has."""
        paths = texts_in(state, "paths")
        clusters = counts_in(state, "clusters", len(paths), MOST - 1)
        self._of_path, self._pairs = {}, []
        for path, cluster in zip(paths, clusters, strict=True):
            if cluster > len(self):
                raise BadInput(f"a path is in cluster {cluster} of {len(self)}")
            self._place(path, _pairs(path), cluster)

    def _nearest(self, pairs: Counter[tuple[str, str]]) -> int:
        """The number of a cluster, or that of a new one."""
        likenesses = [_cosine(pairs, others) for others in self._pairs]
        nearest = max(range(len(likenesses)), key=likenesses.__getitem__, default=None)
        if nearest is None or (likenesses[nearest] < self._likeness and len(self._pairs) < MOST):
            return len(self._pairs)
        return nearest

    def _place(self, path: str, pairs: Counter[tuple[str, str]], cluster: int) -> None:
        self._of_path[path] = cluster
        if cluster == len(self._pairs):
            self._pairs.append(pairs)
        else:
            self._pairs[cluster].update(pairs)


def _pairs(path: str) -> Counter[tuple[str, str]]:
    return Counter(pairwise((*path.split("/"), _END)))


def _cosine(one: Counter[tuple[str, str]], other: Counter[tuple[str, str]]) -> float:
    shared = sum(count * other[pair] for pair, count in one.items() if pair in other)
    return shared / (_length(one) * _length(other)) if shared else 0.0


def _length(pairs: Counter[tuple[str, str]]) -> float:
    return math.sqrt(sum(count * count for count in pairs.values()))
