"""Links by their position in the DOM: tag paths, clustered, and a bandit over the clusters.

    arm = mean reward + exploration · √(2 ln t / n)         after n of t tries; an arm without a try comes first

Links in similar positions make an arm. An arm without waiting links sleeps.
"""

from __future__ import annotations

import math
from collections import Counter, deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import ClassVar

from spoor.errors import BadInput, UsageError
from spoor.files import State, as_counts, count_in, counts_in, slices, state_in, texts_in
from spoor.records import Evidence, Link, Miss, Sighting
from spoor.roles import Merge, WaitingLinks

# Links in similar positions: tag paths such as html/body/ul/li, clustered by the pairs of tags they share.


MOST = 500
"""Maximum number of clusters; later paths are assigned to the nearest one, however far it is."""
_END = ""


class TagPathClusters:
    """A path belongs to the cluster with the most similar tag pairs, if the cosine is at least `likeness`; otherwise it
    starts a new one. The cluster of a path never changes."""

    def __init__(self, likeness: float) -> None:
        if not 0.0 <= likeness <= 1.0:
            raise UsageError(f"likeness={likeness:g} is not a cosine; give a number from 0 to 1")
        self._likeness = likeness
        self._of_path: dict[str, int] = {}
        self._pairs: list[Counter[tuple[str, str]]] = []

    def __len__(self) -> int:
        return len(self._pairs)

    def of(self, path: str) -> int:
        """The number of its cluster; clusters are numbered in the order they are created."""
        cluster = self._of_path.get(path)
        if cluster is None:
            pairs = _pairs(path)
            cluster = self._nearest(pairs)
            self._place(path, pairs, cluster)
        return cluster

    def state(self) -> State:
        return {"paths": list(self._of_path), "clusters": as_counts(self._of_path.values())}

    def restore(self, state: State) -> None:
        """The tag pairs of the clusters are recomputed from the paths."""
        paths = texts_in(state, "paths")
        clusters = counts_in(state, "clusters", len(paths), MOST - 1)
        self._of_path, self._pairs = {}, []
        for path, cluster in zip(paths, clusters, strict=True):
            if cluster > len(self):
                raise BadInput(f"a path is in cluster {cluster} of {len(self)}")
            self._place(path, _pairs(path), cluster)

    def _nearest(self, pairs: Counter[tuple[str, str]]) -> int:
        """The number of the nearest cluster, or of a new one."""
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


# A bandit that learns which positions lead to relevant pages.


@dataclass
class _Arm:
    """`tries` counts links chosen or visited, `rewards` those that were relevant."""

    waiting: deque[str] = field(default_factory=deque)
    tries: int = 0
    rewards: int = 0

    def promise(self, tries_of_all: int, exploration: float) -> float:
        if not self.tries:
            return math.inf
        return self.rewards / self.tries + exploration * math.sqrt(2.0 * math.log(tries_of_all) / self.tries)


@dataclass
class TagPathBandit:
    """Scorer and upkeep. After every visit the oldest link of the best arm that is awake is `chosen`, so no other
    waiting link needs re-scoring. A link belongs to the arm of the position where it was first found.

    Learns from every visit; starts untrained.
    """

    exploration: float = 0.2
    likeness: float = 0.75
    _clusters: TagPathClusters = field(init=False, repr=False, compare=False)
    _arms: list[_Arm] = field(init=False, repr=False, compare=False, default_factory=list)
    _arm_of: dict[str, _Arm] = field(init=False, repr=False, compare=False, default_factory=dict)
    _chosen: set[str] = field(init=False, repr=False, compare=False, default_factory=set)
    _tries: int = field(init=False, repr=False, compare=False, default=0)
    _owed: int = field(init=False, repr=False, compare=False, default=0)

    every: ClassVar[int] = 1
    reads_content: ClassVar[bool] = True
    merge: ClassVar[Mapping[str, Merge]] = {"chosen": max}

    def __post_init__(self) -> None:
        if not self.exploration >= 0.0:
            raise UsageError(f"exploration={self.exploration:g}: give 0 or more; 0 always takes the best so far")
        self._clusters = TagPathClusters(self.likeness)

    def learn(self, sighting: Sighting) -> None:
        self._reward(sighting.visit.url, sighting.is_find)

    def learn_miss(self, miss: Miss) -> None:
        self._reward(miss.visit.url, False)

    def _reward(self, url: str, found: bool) -> None:
        self._owed += 1
        arm = self._arm_of.pop(url, None)
        if arm is None:
            return
        if url in self._chosen:
            self._chosen.remove(url)
        else:
            self._count_try(arm)
        arm.rewards += found

    def state(self) -> State:
        numbers = {id(arm): number for number, arm in enumerate(self._arms)}
        return {
            "clusters": self._clusters.state(),
            "waiting": [url for arm in self._arms for url in arm.waiting],
            "sizes": as_counts(len(arm.waiting) for arm in self._arms),
            "tries": as_counts(arm.tries for arm in self._arms),
            "rewards": as_counts(arm.rewards for arm in self._arms),
            "urls": list(self._arm_of),
            "arms": as_counts(numbers[id(arm)] for arm in self._arm_of.values()),
            "chosen": sorted(self._chosen),
            "all tries": self._tries,
            "owed": self._owed,
        }

    def restore(self, state: State) -> None:
        self._clusters.restore(state_in(state, "clusters"))
        arms = len(self._clusters)
        sizes, tries, rewards = (counts_in(state, name, arms) for name in ("sizes", "tries", "rewards"))
        waiting = texts_in(state, "waiting")
        places = slices(sizes, len(waiting))
        self._arms = [_Arm(deque(waiting[at]), *tried) for at, *tried in zip(places, tries, rewards, strict=True)]
        urls = texts_in(state, "urls")
        numbers = counts_in(state, "arms", len(urls), arms - 1)
        self._arm_of = {url: self._arms[number] for url, number in zip(urls, numbers, strict=True)}
        self._chosen = set(texts_in(state, "chosen"))
        self._tries, self._owed = count_in(state, "all tries"), count_in(state, "owed")
        if self._tries < max(tries, default=0):
            raise BadInput(f"an arm was tried more often than all {self._tries} times")

    def evidence(self, sighting: Sighting, links: Sequence[Link]) -> Sequence[Evidence]:
        for link in links:
            if link.url not in self._arm_of:
                arm = self._arm_of[link.url] = self._arm(link.path)
                arm.waiting.append(link.url)
        return [{"chosen": 0.0}] * len(links)

    def key(self, evidence: Evidence) -> float:
        return evidence["chosen"]

    def revise(self, waiting: WaitingLinks) -> Iterable[tuple[str, Evidence]]:
        """One link for every visit since the last call, at least one."""
        for _ in range(max(1, self._owed)):
            url = self._next(waiting)
            if url is not None:
                yield url, {"chosen": 1.0}
        self._owed = 0

    def _arm(self, path: str) -> _Arm:
        number = self._clusters.of(path)
        if number == len(self._arms):
            self._arms.append(_Arm())
        return self._arms[number]

    def _next(self, waiting: WaitingLinks) -> str | None:
        """The oldest link of the best arm; None if all arms sleep."""
        while awake := [arm for arm in self._arms if arm.waiting]:
            arm = max(awake, key=lambda arm: arm.promise(self._tries, self.exploration))
            url = arm.waiting.popleft()
            if waiting.evidence_of(url) is not None:
                self._chosen.add(url)
                self._count_try(arm)
                return url
            self._arm_of.pop(url, None)
        return None

    def _count_try(self, arm: _Arm) -> None:
        arm.tries += 1
        self._tries += 1
