"""A crawl that is resumed visits what it would have visited anyway: `learned`, which learns from every visit."""

from __future__ import annotations

import contextlib
import random
import tempfile
from itertools import islice
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spoor.crawl import Crawl
from spoor.events import Event, Failed, Redirected, Visited
from spoor.frontier.entry import HostRules
from spoor.frontier.frontier import Frontier
from spoor.frontier.memory import MemoryStore
from spoor.frontier.sqlite import SqliteStore
from spoor.judging.combined import Truth
from spoor.lab.simulated import simulate
from spoor.lab.worlds import WrittenWorld
from spoor.live.relearning import relearn_all, snapshot_of
from spoor.records import Failure, Link, Outcome, Page, Redirect, Visit
from spoor.registry import strategy
from spoor.store.journal import Journal, place_at
from spoor.store.snapshots import Snapshots
from spoor.strategy import Strategy
from tests.effort import times
from tests.random_graphs import address, random_worlds

POLITE = HostRules(delay=1.0, ask_first=True)
WORDS = ("horse", "steppe", "rider", "price", "login", "terms")


def drawn(seed: int, pages: int = 60) -> WrittenWorld:
    """A web on a few hosts, whose folders and anchors mostly tell where the horses are; some pages fail or moved."""
    rng = random.Random(seed)
    subjects = [rng.choice(WORDS) for _ in range(pages)]
    urls = [f"http://h{rng.randrange(6)}.test/{subject}/{n}" for n, subject in enumerate(subjects)]
    outcomes: dict[str, Outcome] = {}
    for n, url in enumerate(urls):
        targets = [*rng.choices(range(pages), k=5), *range(n + 1, min(n + 3, pages))]
        links = [Link(urls[target], f"{subjects[target]} {rng.choice(WORDS)}") for target in dict.fromkeys(targets)]
        page = Page(url, title=subjects[n], links=tuple(links))
        failures = (Failure("timed out", again_after=5.0), Failure("HTTP 404"), Redirect(rng.choice(urls)))
        outcomes[url] = rng.choice(failures) if n and rng.random() < 0.2 else page
    relevant = {url for url in urls if ("horse" in url) != (rng.random() < 0.1)}
    return WrittenWorld(outcomes, relevant, {f"h{n}.test": n / 4 for n in range(6)})


class Killed(Exception):
    """The process is gone."""


class Deadly:
    """Whoever looks for the last time dies of it."""

    def __init__(self, world: WrittenWorld, looks: int) -> None:
        self.world, self.left = world, looks

    def fetch(self, visit: Visit) -> tuple[Outcome, float]:
        self.left -= 1
        if not self.left:
            raise Killed
        return self.world.fetch(visit)

    def truth(self, url: str) -> bool:
        return self.world.truth(url)


def in_memory(world: WrittenWorld, seed: str, rules: HostRules) -> list[Event]:
    crawl = Crawl(strategy("learned", Truth("wanted", world.truth)), Frontier(MemoryStore(), rules))
    crawl.begin([seed])
    return list(simulate(crawl, world))


def go_on(
    file: Path,
    world: WrittenWorld | Deadly,
    seed: str,
    rules: HostRules,
    now: float = 0.0,
    most: int | None = None,
    every: int | None = None,
    name: str = "learned",
) -> list[Event]:
    """What happens from `now` on, until `most` things have happened or somebody is killed. Only what was committed by
    then is left. `every` so many events a snapshot is written."""
    events: list[Event] = []
    snapshots = Snapshots(file.with_suffix(".learned"))
    with contextlib.closing(SqliteStore(file)) as store, contextlib.suppress(Killed):
        journal = Journal.create(store.connection)
        store.write_along(journal.write)
        fresh = strategy(name, Truth("wanted", world.truth))
        relearn_all(fresh, store.connection, snapshots=snapshots)
        crawl = Crawl(fresh, Frontier(store, rules), journal=journal)
        crawl.begin([seed])
        for event in islice(simulate(crawl, world, now=now), most):
            events.append(event)
            if every is not None and len(events) % every == 0:
                write(snapshots, fresh, store, journal)
    return events


def write(snapshots: Snapshots, strategy: Strategy, store: SqliteStore, journal: Journal) -> None:
    place = place_at(store.connection, journal.last)
    assert place is not None
    snapshots.write(snapshot_of(strategy, place, ""))


def in_pieces(
    file: Path, world: WrittenWorld, most: int, every: int, name: str = "learned", rules: HostRules = POLITE
) -> list[Event]:
    """Stopped after every `most` events."""
    events: list[Event] = []
    while more := go_on(file, world, first(world), rules, events[-1].at if events else 0.0, most, every, name):
        events += more
    return events


def visits(events: list[Event]) -> list[str]:
    looked = (event for event in events if isinstance(event, Visited | Redirected | Failed))
    return [event.visit.url for event in looked if event.visit.purpose == "page"]


def first(world: WrittenWorld) -> str:
    return next(iter(world.outcomes))


@pytest.mark.parametrize("seed", range(6))
def test_a_crawl_on_disk_visits_the_same_as_one_in_memory(seed: int, tmp_path: Path) -> None:
    world = drawn(seed)
    on_disk = go_on(tmp_path / "crawl.db", world, first(world), POLITE)
    assert visits(on_disk) == visits(in_memory(world, first(world), POLITE))
    assert len(visits(on_disk)) > 40


@pytest.mark.parametrize(("most", "seed"), [(1, 0), (2, 1), (7, 2), (7, 3), (40, 4)])
def test_a_crawl_stopped_again_and_again_visits_the_same(most: int, seed: int, tmp_path: Path) -> None:
    world = drawn(seed)
    whole = go_on(tmp_path / "whole.db", world, first(world), POLITE)
    events: list[Event] = []
    while more := go_on(tmp_path / "crawl.db", world, first(world), POLITE, events[-1].at if events else 0.0, most):
        events += more
    assert visits(events) == visits(whole)


@pytest.mark.parametrize(("looks", "seed"), [(2, 0), (3, 1), (10, 2), (30, 3), (60, 4), (61, 5)])
def test_a_crawl_killed_while_it_looks_visits_the_same(looks: int, seed: int, tmp_path: Path) -> None:
    world = drawn(seed)
    whole = go_on(tmp_path / "whole.db", world, first(world), POLITE)
    before = go_on(tmp_path / "crawl.db", Deadly(world, looks), first(world), POLITE)
    after = go_on(tmp_path / "crawl.db", world, first(world), POLITE, before[-1].at if before else 0.0)
    assert visits(before + after) == visits(whole)
    assert len(visits(before)) < len(visits(whole))


@settings(max_examples=times(15))
@given(random_worlds(), st.integers(1, 12), st.sampled_from([HostRules(), POLITE]))
def test_any_little_web_is_visited_the_same_wherever_the_crawl_is_stopped(
    world: WrittenWorld, most: int, rules: HostRules
) -> None:
    whole = in_memory(world, address(0), rules)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "crawl.db"
        before = go_on(file, world, address(0), rules, most=most)
        after = go_on(file, world, address(0), rules, before[-1].at)
    assert visits(before + after) == visits(whole)


@settings(max_examples=times(3), deadline=None)
@given(seed=st.integers(0, 99), most=st.integers(15, 50), every=st.integers(7, 25))
def test_a_crawl_that_writes_snapshots_visits_the_same_wherever_it_is_stopped(seed: int, most: int, every: int) -> None:
    world = drawn(seed)
    with tempfile.TemporaryDirectory() as folder:
        assert visits(in_pieces(Path(folder) / "crawl.db", world, most, every)) == visits(
            in_memory(world, first(world), POLITE)
        )


@settings(max_examples=times(3), deadline=None)
@given(seed=st.integers(0, 99), looks=st.lists(st.integers(2, 60), max_size=3), every=st.integers(7, 25))
def test_a_crawl_killed_between_snapshots_visits_the_same(seed: int, looks: list[int], every: int) -> None:
    world, events = drawn(seed), list[Event]()
    with tempfile.TemporaryDirectory() as folder:
        for left in (*looks, 10_000):
            at = events[-1].at if events else 0.0
            events += go_on(Path(folder) / "crawl.db", Deadly(world, left), first(world), POLITE, now=at, every=every)
    assert visits(events) == visits(in_memory(world, first(world), POLITE))
