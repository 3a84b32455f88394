"""Strategies that follow links through irrelevant pages: context graph, path models, and their names.

The evidence has a probability for each queue, 0 if no page assigned the link to it. If other pages assign it to other
queues, all values are kept, and the nearest queue counts.

E = Σ_k P(layer k) · 0.5^k

argmax      by the most probable layer, then by S
expected    ½ E + ½ S        E = Σ_k P(layer k) · 0.5^k
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import ClassVar

from spoor.errors import UsageError
from spoor.judging.judges import AHM, CONTEXT_GRAPHS, HMM, TUNNELLING
from spoor.naming import FileName, Named
from spoor.ordering.admissions import AtMost, NoNoise
from spoor.ordering.correlation_degree import ALIKE, Aspects, Shares
from spoor.ordering.path_model import PathModel, PathView, open_paths
from spoor.ordering.simple import Nearness
from spoor.ordering.targets import topic_for
from spoor.ordering.trails import Both, ChainHops, Tunnel
from spoor.records import Evidence, Hints, Key, Link, Page, Sighting, TrailState, Verdict
from spoor.roles import Judge, Merge
from spoor.strategy import Strategy

# The trail of a path model: the estimated distance from a relevant page.


@dataclass(frozen=True)
class HiddenState:
    """States are those of `PathView`. They depend on the text of the pages, not on the verdicts."""

    path: PathView

    reads_content: ClassVar[bool] = True

    def root(self) -> TrailState:
        return None

    def advance(self, state: TrailState, page: Page, verdict: Verdict) -> TrailState:
        return self.path.go_on(state, page.title, page.text)

    def rank(self, state: TrailState) -> float:
        """How near to a relevant page the links lead."""
        return 0.0 if state is None else self.path.nearness(state)


# A queue for each layer, the nearest first; within a queue, links with the highest probability first.


@cache
def merge_of(queues: int) -> Mapping[str, Merge]:
    """Each queue keeps the highest probability."""
    return dict.fromkeys(map(_name, range(queues)), max)


def queued(queue: int, chance: float, queues: int) -> Evidence:
    return {_name(number): chance if number == queue else 0.0 for number in range(queues)}


def queue_key(evidence: Evidence) -> Key:
    """Links without a probability in any queue are in the last one."""
    chances = list(evidence.values())
    queue = next((number for number, chance in enumerate(chances) if chance > 0.0), len(chances) - 1)
    return -float(queue), chances[queue]


def _name(queue: int) -> str:
    return f"layer {queue}"


# Context graph: a link waits in the queue of the layer predicted for its referring page.


@dataclass(frozen=True)
class Layer:
    """A page whose most probable layer has a probability below `least` is rejected; its links wait in a last queue."""

    model: PathModel
    least: float = 0.5

    reads_content: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not 0.0 <= self.least <= 1.0:
            raise UsageError(f"least={self.least:g} is not a probability; give a number from 0 to 1")

    @property
    def merge(self) -> Mapping[str, Merge]:
        return merge_of(self._queues)

    def hints(self, page: Page, links: Sequence[Link]) -> Sequence[Hints]:
        """The queue and the probability, the same for all links of the page."""
        found = self.model.layer(page.title, page.text, self.least)
        queue = self._queues - 1 if found.layer is None else found.layer
        return [(float(queue), found.chance)] * len(links)

    def evidence(self, sighting: Sighting, links: Sequence[Link]) -> Sequence[Evidence]:
        return [queued(int(queue), chance, self._queues) for queue, chance in (link.hints for link in links)]

    def key(self, evidence: Evidence) -> Key:
        return queue_key(evidence)

    @property
    def _queues(self) -> int:
        """One for each layer, relevant pages included, and one for rejected pages."""
        return self.model.layers + 2


# By the expected distance to a relevant page, over the distribution of a path model.


@dataclass(frozen=True)
class ExpectedDistance:
    """For the trail `HiddenState` of the same path."""

    path: PathView

    reads_content: ClassVar[bool] = False
    merge: ClassVar[Mapping[str, Merge]] = {"nearness": max}

    def evidence(self, sighting: Sighting, links: Sequence[Link]) -> Sequence[Evidence]:
        return [{"nearness": self.path.nearness(sighting.trail)}] * len(links)

    def key(self, evidence: Evidence) -> float:
        return evidence["nearness"]


# By the most probable layer, then by its probability.


@dataclass(frozen=True)
class LikeliestLayer:
    """For the trail `HiddenState` of the same path."""

    path: PathView

    reads_content: ClassVar[bool] = False

    @property
    def merge(self) -> Mapping[str, Merge]:
        return merge_of(self.path.model.path.states)

    def evidence(self, sighting: Sighting, links: Sequence[Link]) -> Sequence[Evidence]:
        chances = self.path.ahead(sighting.trail)
        layer = int(chances.argmax())
        return [queued(layer, float(chances[layer]), len(chances))] * len(links)

    def key(self, evidence: Evidence) -> Key:
        return queue_key(evidence)


# Combines the four aspects of a link with the prediction of a path model.


KEYS = ("argmax", "expected")


@dataclass(frozen=True)
class PathAspects:
    """For the trail `Both` of `HiddenState`, of the same path, and `ChainHops`. If several pages contain a link, the
    nearest layer counts, and the largest value of each aspect."""

    path: PathView
    aspects: Aspects
    by: str = "expected"

    reads_content: ClassVar[bool] = True
    merge: ClassVar[Mapping[str, Merge]] = {"layer": min, "nearness": max, **Aspects.merge}

    def __post_init__(self) -> None:
        check_key(self.by)

    def hints(self, page: Page, links: Sequence[Link]) -> Sequence[Hints]:
        return self.aspects.hints(page, links)

    def evidence(self, sighting: Sighting, links: Sequence[Link]) -> Sequence[Evidence]:
        hidden, hops = sighting.trail
        seen = self.aspects.evidence(replace(sighting, trail=hops), links)
        ahead = {"layer": float(self.path.ahead(hidden).argmax()), "nearness": self.path.nearness(hidden)}
        return [{**ahead, **aspects} for aspects in seen]

    def key(self, evidence: Evidence) -> float | Key:
        by_aspects = self.aspects.key(evidence)
        if self.by == "argmax":
            return -evidence["layer"], by_aspects
        return 0.5 * evidence["nearness"] + 0.5 * by_aspects


def check_key(key: str) -> None:
    if key not in KEYS:
        raise UsageError(f"key={key!r} is neither {' nor '.join(KEYS)}")


# Strategies that tunnel through irrelevant pages, by name: path models, and a limit along the path.


def hmm(
    judge: Judge, model: FileName = "", key: str = "expected", order: int = 1, decoder: str = "forward"
) -> Strategy:
    check_key(key)
    path = PathView(_model("hmm", model), order, decoder)
    return Strategy(judge, LikeliestLayer(path) if key == "argmax" else ExpectedDistance(path), HiddenState(path))


def ahmm(
    judge: Judge,
    model: FileName = "",
    key: str = "expected",
    order: int = 2,
    decoder: str = "forward",
    shares: Shares = ALIKE,
    size: int = 50,
    words: str = "",
) -> Strategy:
    path = PathView(_model("ahmm", model), order, decoder)
    topic = topic_for("ahmm", judge, words, otherwise=path.model.words)
    scorer = PathAspects(path, Aspects(topic, shares), key)
    return Strategy(judge, scorer, Both(HiddenState(path), ChainHops(size)), NoNoise())


def context_graph(judge: Judge, model: FileName = "", least: float = 0.5) -> Strategy:
    return Strategy(judge, Layer(_model("context-graph", model), least))


def tunnelling(judge: Judge, cutoff: float = 10.0) -> Strategy:
    if not cutoff >= 0.0:
        raise UsageError(f"tunnelling:cutoff={cutoff:g} leaves nothing to visit; give 0 or more")
    return Strategy(judge, Nearness(), Tunnel(), AtMost("distance", cutoff))


def _model(name: str, file: str) -> PathModel:
    if not file:
        remedy = f"train one with `spoor train context`, and name it, as in {name}:model=FILE.spoor"
        raise UsageError(f"{name} needs a model of paths; {remedy}")
    return open_paths(Path(file))


PATHS: dict[str, Named] = {
    "tunnelling": Named(tunnelling, "through irrelevant pages until the patience of the path is spent", TUNNELLING),
    "context-graph": Named(context_graph, "by the predicted layer of the page around relevant pages", CONTEXT_GRAPHS),
    "hmm": Named(hmm, "by the distance to a relevant page that a hidden Markov model of the path expects", HMM),
    "ahmm": Named(ahmm, "the same of second order, and by four aspects of the link", AHM),
}
