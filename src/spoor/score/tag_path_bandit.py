"""Which place on pages do wanted pages hang from? A bandit that learns by trying.

    arm = mean reward + exploration · √(2 ln t / n)         after n of t tries; an arm without a try comes first

Links in like places make an arm. An arm without waiting links sleeps.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from spoor.errors import BadInput, UsageError
from spoor.records import Evidence, Link, Miss, Sighting
from spoor.roles import Merge, WaitingLinks
from spoor.saved_state import State, as_counts, count_in, counts_in, slices, state_in, texts_in
from spoor.score.tag_paths import TagPathClusters


@dataclass
class _Arm:
    """`tries` counts links chosen or visited, `rewards` those that turned out relevant."""

    waiting: deque[str] = field(default_factory=deque)
    tries: int = 0
    rewards: int = 0

    def promise(self, tries_of_all: int, exploration: float) -> float:
        if not self.tries:
            return math.inf
        return self.rewards / self.tries + exploration * math.sqrt(2.0 * math.log(tries_of_all) / self.tries)


@dataclass
class TagPathBandit:
    """Scorer and upkeep. After every visit the most promising arm that is awake is found, and its oldest link `chosen`;
    so nothing that waits needs to be scored again. A link belongs to the arm of the place where it was first met.

    Learns from every visit; has learned nothing when it is made.
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
            raise UsageError(f"exploration={self.exploration:g}: give 0 or more; 0 always takes what was best so far")
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
        """One link for every page that arrived."""
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
        """The oldest link of the best arm; None when all sleep."""
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
