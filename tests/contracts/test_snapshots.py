"""What every strategy that learns promises of its snapshots: restored into a fresh copy, nothing is different."""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import islice
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spoor import registry
from spoor.crawl import Crawl
from spoor.events import Event
from spoor.files import State as Saved
from spoor.frontier.entry import HostRules, State
from spoor.frontier.frontier import Frontier
from spoor.frontier.memory import MemoryStore
from spoor.judging.topic_judges import Keywords
from spoor.lab.simulated import simulate
from spoor.lab.worlds import WrittenWorld
from spoor.ordering.admissions import AllOf, RespectNofollow
from spoor.ordering.host_yield import MinimumYield
from spoor.ordering.scope import Scope
from spoor.ordering.traps import Traps
from spoor.records import Failure, Link, Outcome, Page, Redirect, Visit
from spoor.roles import PendingCounter, Snapshotted
from spoor.strategy import Strategy
from tests.effort import times

WORDS = ("horse", "steppe", "rider", "price", "login", "terms")
PATHS = ("html/body/ul/li", "html/body/p", "html/body/nav/ul/li/b", "html/body/div/div/span")
NEED_A_MODEL = ("context-graph", "hmm", "ahmm", "core", "ml-core", "g-crawl", "n-crawl")
"""Their scorers learn nothing on the way; `ahmm` is here as `four-aspect`, whose trail it shares."""
NAMES = [name for name in registry.STRATEGIES if name not in (*NEED_A_MODEL, *registry.ORACLES)]
OFTEN = {"page-rank": "every=7", "distiller": "every=7", "link-classifier": "every=7", "host-yield": "every=3"}
POLITE = HostRules(delay=1.0, ask_first=True)


def drawn(seed: int, pages: int = 60) -> WrittenWorld:
    """A web on a few hosts with texts of its own, many of which say the same; some pages fail or moved."""
    rng = random.Random(seed)
    subjects = [rng.choice(WORDS) for _ in range(pages)]
    urls = [f"http://h{rng.randrange(6)}.test/{subject}/{n}" for n, subject in enumerate(subjects)]
    outcomes: dict[str, Outcome] = {}
    for n, url in enumerate(urls):
        targets = dict.fromkeys([*rng.choices(range(pages), k=5), *range(n + 1, min(n + 3, pages))])
        links = [
            Link(
                urls[to], f"{subjects[to]} {rng.choice(WORDS)}", path=rng.choice(PATHS), hreflang=rng.choice(("", "de"))
            )
            for to in targets
        ]
        text = " ".join(rng.choices(WORDS, k=60)) if rng.random() < 0.5 else "terms and prices " * 30
        failures = (Failure("timed out", again_after=5.0), Failure("HTTP 404"), Redirect(rng.choice(urls)))
        page = Page(url, title=subjects[n], text=f"{text} {subjects[n]}", links=tuple(links))
        outcomes[url] = rng.choice(failures) if n and rng.random() < 0.2 else page
    return WrittenWorld(outcomes, set(), {f"h{n}.test": n / 4 for n in range(6)})


def named(name: str) -> Strategy:
    """As a live crawl has it: bound by scope, and with a sense for traps."""
    asked = ":".join(filter(None, (name, OFTEN.get(name, ""), "language=de" if "language" in name else "")))
    made = registry.strategy(asked, Keywords(("horse", "steppe")))
    bounds = (RespectNofollow(), Scope(pages_per_host=9), Traps(patience=2), MinimumYield(0.3, 4), made.admission)
    return replace(made, admission=AllOf(bounds))


def states(strategy: Strategy) -> list[Saved]:
    return [part.state() for part in strategy.learners() if isinstance(part, Snapshotted)]


class Running:
    """A crawl in memory that can be stopped between two events."""

    def __init__(self, strategy: Strategy, world: WrittenWorld, connections: int) -> None:
        self.world, self.looks = world, dict[str, Visit]()
        self.crawl = Crawl(strategy, Frontier(MemoryStore(), POLITE))
        self.crawl.begin([next(iter(world.outcomes))])
        self.events = simulate(self.crawl, self, connections)

    def fetch(self, visit: Visit) -> tuple[Outcome, float]:
        self.looks[visit.url] = visit
        return self.world.fetch(visit)

    def truth(self, url: str) -> bool:
        return self.world.truth(url)

    def under_way(self) -> list[Visit]:
        known = zip(self.looks.values(), self.crawl.frontier.find(list(self.looks)), strict=True)
        return [visit for visit, entry in known if entry is not None and entry.state is State.IN_TRANSIT]

    def exchange(self, fresh: Strategy) -> None:
        """From now on every part that learns is a copy that was told what the old one handed over, and what is under
        way; nothing else."""
        for old, new in zip(self.crawl.strategy.learners(), fresh.learners(), strict=True):
            assert isinstance(old, Snapshotted) and isinstance(new, Snapshotted)
            new.restore(old.state())
            if isinstance(new, PendingCounter):
                for visit in self.under_way():
                    new.begun(visit)
            vars(old).update(vars(new))


@pytest.mark.parametrize("name", NAMES)
def test_everything_that_learns_can_hand_over_what_it_learned(name: str) -> None:
    assert named(name).learners()
    for part in named(name).learners():
        assert isinstance(part, Snapshotted), part


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=times(3), deadline=None)
@given(
    seed=st.integers(0, 999), places=st.lists(st.integers(1, 80), min_size=1, max_size=4), connections=st.integers(1, 4)
)
def test_whoever_takes_over_in_the_middle_does_the_same_to_the_last_bit(
    name: str, seed: int, places: list[int], connections: int
) -> None:
    world = drawn(seed)
    whole, handed = (Running(named(name), world, connections) for _ in range(2))
    events: list[Event] = []
    for place in sorted(places):
        events += islice(handed.events, place - len(events))
        handed.exchange(named(name))
    assert events + list(handed.events) == list(whole.events)
    assert same(states(handed.crawl.strategy), states(whole.crawl.strategy))


def same(one: Any, other: Any) -> bool:
    if isinstance(one, np.ndarray):
        return bool(one.dtype == other.dtype and one.tobytes() == other.tobytes())
    if isinstance(one, list) and all(isinstance(item, dict) for item in one):
        return all(map(same, one, other))
    if isinstance(one, dict):
        return list(one) == list(other) and all(same(one[name], other[name]) for name in one)
    return bool(one == other)
