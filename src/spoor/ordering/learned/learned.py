"""The strategy `learned`: learns from every visit which links lead to relevant pages."""

from __future__ import annotations

import math
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from spoor.compiled import Kernels
from spoor.errors import UsageError
from spoor.files import State, renamed_parts, state_in, texts_in
from spoor.ordering.learned import expectations, features, logistic, scores
from spoor.ordering.learned.expectations import (
    COLUMNS,
    FEATURES,
    FIRST_RELEVANT,
    TRUST,
    checked,
    first_tries,
    slots_of,
)
from spoor.ordering.learned.features import FIELDS, HEAD, packed_features
from spoor.ordering.learned.logistic import OnlineLogistic
from spoor.ordering.learned.prior import LinkPrior
from spoor.ordering.learned.scores import (
    Experience,
    keys_of,
    model_of,
    offered,
    parents_in,
    rescored,
    reviewed,
    set_model,
)
from spoor.ordering.learned.yields import MASK, TunnelCredit, Yields
from spoor.ordering.simple import clearest, latest, total
from spoor.records import (
    Evidence,
    Hints,
    Key,
    Link,
    Miss,
    Page,
    Sighting,
    TargetPrior,
    TrailState,
    Verdict,
    Visit,
    WaitingLink,
)
from spoor.roles import Merge, WaitingLinks

WEIGHTS: Mapping[str, float] = {
    "always": -2.0,
    "relevance": 1.0,
    "share": 0.5,
    "relevant_parents": 0.5,
    "parents": 0.0,
    "since": -0.3,
    "site_yield": 1.0,
    "hub_yield": 0.5,
    "list_yield": 1.0,
    "prior": 1.0,
}
"""Initial weights of the evidence, in log odds. All hand-set numbers are here and below; they are the same for every
web and every target."""

RELEVANT_AT_LEAST = 0.02
"""The initial share of relevant pages without exploration."""
FLOOR = 2.0
"""Distance of the floor from the log odds of the average link tried. A link below the floor has little positive
evidence: its words count half, and its prior and the hit rate of its folder decide, because exploration elsewhere is
better than going deeper."""
FARTHEST = 5.0
"""Upper bound for the number of irrelevant pages in a row."""
ENOUGH = 2
"""A link is saturated after this many relevant parents, and as many irrelevant ones. Further ones are usually pages of
one site with the same links."""
SIBLINGS = 32
"""Links of a page that are re-scored after one of them led to a relevant page."""
IN_TURN = 16
"""Links re-scored after every visit, in rotation over all waiting links."""

OF_THE_FIELD = ("misses", "untried", "price", "pending", "behind")
WITHOUT = (*FIELDS, "words", "parents", "hubs", "sites", "prior", "exploration", "rescoring", *OF_THE_FIELD)
"""Parts that can be left out, to measure their contribution."""
NO_PRIOR = TargetPrior()
_MOVING = {"words": ("words",), "sites": ("site_yield",), "hubs": ("hub_yield", "list_yield", "dead")}


@dataclass
class Learned:
    """Scorer and upkeep, for the trail `LastPage`. Evidence of each link:

    `words`: log odds by the words of URL, anchor, context and page title, from an online logistic regression.
    `site_yield`, `hub_yield`, `list_yield`: the hit rate of its folder, of the referring page and of the same list on
    that page, in log odds relative to the initial one. `prior`: that of the target. `relevance`, `relevant_parents`,
    `parents`: of the referring pages. `since`: irrelevant pages in a row before it. `depth`: links from a seed.

    A link is re-scored before it is fetched, when another link of its page led to a relevant page, and in rotation with
    all waiting links. A resumed crawl relearns from the journal.
    """

    target_prior: TargetPrior = NO_PRIOR
    without: tuple[str, ...] = ()
    _prior: LinkPrior = field(init=False, repr=False, compare=False)
    _logistic: OnlineLogistic = field(init=False, repr=False, compare=False)
    _yields: Yields = field(init=False, repr=False, compare=False)
    _behind: TunnelCredit = field(init=False, repr=False, compare=False)
    _experience: Experience = field(init=False, repr=False, compare=False)
    _under_way: dict[int, list[int]] = field(init=False, repr=False, compare=False, default_factory=dict)
    _gave: list[str] = field(init=False, repr=False, compare=False, default_factory=list)

    reads_content: ClassVar[bool] = True
    does_without_content: ClassVar[bool] = True
    every: ClassVar[int] = 1
    merge: ClassVar[Mapping[str, Merge]] = {
        "relevance": max,
        "relevant_parents": total,
        "parents": total,
        "since": min,
        "depth": min,
        "site_yield": latest,
        "hub_yield": max,
        "list_yield": max,
        "dead": max,
        "prior": clearest,
        "words": max,
    }

    def __post_init__(self) -> None:
        self.without = tuple("sites" if name == "places" else name for name in self.without)  # The former name.
        for name in self.without:
            if name not in WITHOUT:
                raise UsageError(f"learned has nothing called {name!r} to leave out; there are {', '.join(WITHOUT)}")
        self._prior = LinkPrior(NO_PRIOR if "prior" in self.without else self.target_prior)
        self._logistic = OnlineLogistic(np.array(list(WEIGHTS.values())))
        self._yields = Yields()
        left_out = {name for kind in self.without for name in _MOVING.get(kind, ())}
        model = model_of(
            self._logistic.weights,
            _floor(self._yields.rate),
            "exploration" not in self.without,
            RELEVANT_AT_LEAST if "exploration" in self.without else FIRST_RELEVANT,
            [name in left_out for name in COLUMNS],
        )
        self._experience = Experience(self._logistic.words, self._yields.counts, self._yields.untried, model)
        self._behind = TunnelCredit(self._yields, self._logistic)

    @property
    def kernels(self) -> Kernels:
        own = (*features.KERNELS, *scores.KERNELS, *expectations.KERNELS, *logistic.KERNELS)
        return (*own, *self._prior.kernels)

    def __reduce__(self) -> tuple[type[Learned], tuple[TargetPrior, tuple[str, ...]]]:
        """Worker processes only compute features, which does not need the learned state: saves 18 MB per transfer."""
        return Learned, (self.target_prior, self.without)

    def hints(self, page: Page, links: Sequence[Link]) -> Sequence[Hints]:
        return packed_features(page, links, self._prior.of(page, links), self.without)

    def evidence(self, sighting: Sighting, links: Sequence[Link]) -> Sequence[Evidence]:
        return [evidence for evidence, _ in self.offered(sighting, links, [None] * len(links))]

    def offered(
        self, sighting: Sighting, links: Sequence[Link], known: Sequence[Evidence | None]
    ) -> Sequence[tuple[Evidence, Key]]:
        verdict, (since, _) = sighting.verdict, sighting.trail
        inherited = (verdict.relevance, float(verdict.relevant), 1.0, min(FARTHEST, float(since)))
        if "parents" in self.without:
            inherited = (0.0, 0.0, 0.0, 0.0)
        of_page = np.array((*inherited, sighting.visit.depth + 1.0))
        packed = [link.hints for link in links if isinstance(link.hints, bytes)]
        return offered(packed, _hub(sighting.trail), known, of_page, self._experience)

    def inherit(self, evidence: Evidence, trail: TrailState, found_on: Verdict) -> tuple[Evidence, TrailState]:
        if "parents" in self.without:
            return evidence, trail
        alone, relevant = evidence["parents"] <= 1.0, found_on.relevant
        others = {**evidence, "relevance": 0.0, "relevant_parents": 0.0} if alone else evidence
        changed = {
            "relevance": max(found_on.relevance, others["relevance"]),
            "relevant_parents": max(float(relevant), others["relevant_parents"]),
            "since": 0.0 if relevant else max(float(alone), others["since"]),
        }
        # With several parents the trail may belong to another one.
        steps = (0 if relevant else max(1, trail[0])) if alone else trail[0]
        return {**evidence, **changed}, (steps, trail[1])

    def is_saturated(self, evidence: Evidence, sighting: Sighting) -> bool:
        return self.saturated([evidence], sighting)[0]

    def saturated(self, evidence: Sequence[Evidence], sighting: Sighting) -> Sequence[bool]:
        return [parents >= ENOUGH for parents in parents_in(evidence, sighting.verdict.relevant)]

    def key(self, evidence: Evidence) -> Key:
        return self.keys([evidence])[0]

    def keys(self, evidence: Sequence[Evidence]) -> Sequence[Key]:
        return keys_of(evidence, self._experience.model)

    def gain(self, key: Key) -> float:
        """The first element of a key is in log odds."""
        return 1.0 if "price" in self.without else 1.0 / (1.0 + math.exp(-min(30.0, max(-30.0, key[0]))))

    def shares(self, evidence: Evidence) -> dict[str, float]:
        """The contribution of each evidence to the log odds of a link; `always` is the bias."""
        weighed = (self._logistic.weights * facts(evidence)).tolist()
        return {"words": evidence["words"], **dict(zip(WEIGHTS, weighed, strict=True))}

    def word_shares(self, hints: bytes) -> dict[int, float]:
        """The contribution of each feature of a link to its evidence `words`."""
        features = np.frombuffer(checked(hints), np.int32)[HEAD:] & FEATURES
        shares = self._logistic.words[features] / math.sqrt(max(1, len(features)))
        return dict(zip(features.tolist(), shares.tolist(), strict=True))

    def begun(self, visit: Visit) -> None:
        if visit.hints and "pending" not in self.without:
            self._under_way[visit.number] = _slots(visit)
            self._yields.begin(self._under_way[visit.number])

    def over(self, visit: Visit) -> None:
        self._yields.take_back(self._under_way.pop(visit.number, ()))

    def learn(self, sighting: Sighting) -> None:
        visit, found = sighting.visit, sighting.is_find
        if not visit.hints:
            return
        slots = self._note(visit, answered=True, found=found)
        example = self._logistic.learn(_features(visit), facts(visit.evidence), found)
        if found:
            self._gave.append(visit.found_on)
        else:
            self._behind.passed(sighting.page.url, slots, example)
        self._credit(visit)
        self._set_model()

    def learn_miss(self, miss: Miss) -> None:
        visit = miss.visit
        if visit.hints and "misses" not in self.without:
            self._note(visit, answered=False, found=False)
            self._logistic.learn(_features(visit), facts(visit.evidence), False)
            self._credit(visit)
            self._set_model()

    def _note(self, visit: Visit, answered: bool, found: bool) -> list[int]:
        """Counts a finished visit; returns the slots."""
        slots = _slots(visit)
        if "untried" not in self.without:
            first = first_tries(_numbers(visit), _hub(visit.trail), self._yields)
            self._yields.note_first_tries(first, answered, found)
        self._yields.note(slots, answered, found)
        return slots

    def _credit(self, visit: Visit) -> None:
        if "behind" not in self.without:
            hub, _ = _hub(visit.trail)
            self._behind.tried(visit.trail[1], self._yields.share(hub & int(MASK), TRUST))

    def relearn(self, sighting: Sighting) -> None:
        self.learn(sighting)
        self._gave.clear()

    def state(self) -> State:
        return {
            "logistic": self._logistic.state(),
            "yields": self._yields.state(self._under_way.values()),
            "behind": self._behind.state(),
            "gave": list(self._gave),
        }

    def restore(self, state: State) -> None:
        state = renamed_parts(state, {"odds": "logistic"})
        self._under_way.clear()
        self._logistic.restore(state_in(state, "logistic"))
        self._yields.restore(state_in(state, "yields"))
        self._behind.restore(state_in(state, "behind"))
        self._gave = list(texts_in(state, "gave"))
        self._set_model()

    def _set_model(self) -> None:
        set_model(self._experience.model, self._logistic.weights, _floor(self._yields.rate))

    def review(self, link: WaitingLink) -> Evidence:
        return self.reviewed(link)[0]

    def reviewed(self, link: WaitingLink) -> tuple[Evidence, Key]:
        return reviewed(link.hints, _hub(link.trail), link.evidence, self._experience)

    def revise(self, waiting: WaitingLinks) -> Iterable[tuple[str, Evidence]]:
        gave = list(dict.fromkeys(self._gave))
        self._gave.clear()
        if "rescoring" in self.without:
            return []
        links = [link for hub in gave for link in waiting.links_found_on(hub, SIBLINGS)]
        links += waiting.some(IN_TURN)
        hints, known = [link.hints for link in links], [link.evidence for link in links]
        hubs = [_hub(link.trail) for link in links]
        evidence = rescored(hints, hubs, known, self._experience)
        return [(link.url, now) for link, now in zip(links, evidence, strict=True)]


def facts(evidence: Evidence) -> tuple[float, ...]:
    """The inputs of the regression, in the order of `WEIGHTS`."""
    parents, relevant = evidence["parents"], evidence["relevant_parents"]
    return (
        1.0,
        evidence["relevance"],
        relevant / max(1.0, parents),
        math.log1p(relevant),
        math.log1p(parents),
        evidence["since"],
        evidence["site_yield"],
        evidence["hub_yield"],
        evidence["list_yield"],
        evidence["prior"],
    )


def _numbers(visit: Visit) -> NDArray[np.int32]:
    return np.frombuffer(checked(visit.hints), np.int32)


def _features(visit: Visit) -> NDArray[np.int32]:
    return _numbers(visit)[HEAD:] & FEATURES


def _slots(visit: Visit) -> list[int]:
    return slots_of(_numbers(visit)[:HEAD], _hash(visit.trail[1]))


def _hub(trail: TrailState) -> tuple[int, bool]:
    """The hash of the referring page, and whether it is relevant."""
    return _hash(trail[1]), trail[0] == 0


@lru_cache(16)
def _floor(rate: float) -> int:
    """The log odds below which a link has little positive evidence, given the share of finds among all tries."""
    return math.floor(math.log(rate / (1.0 - rate)) - FLOOR)


@lru_cache(1 << 14)
def _hash(url: str) -> int:
    return zlib.crc32(url.encode())
