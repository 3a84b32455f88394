"""The random strategy: every waiting link has the same chance, and a seed fixes the order."""

from __future__ import annotations

from collections import Counter

from spoor import registry
from tests.tiny import events_of, graph, names, truth


def orders(text: str, seeds: int) -> list[list[str]]:
    world = graph(text)
    runs = range(seeds)
    return [
        names(events_of(world, registry.strategy(f"random:seed={seed}", truth(world)), ["S"])).split() for seed in runs
    ]


def test_the_same_seed_gives_the_same_order() -> None:
    assert orders("S: A B C D E F", 3) == orders("S: A B C D E F", 3)


def test_different_seeds_give_different_orders() -> None:
    assert len({tuple(order) for order in orders("S: A B C D E F", 20)}) > 15


def test_each_waiting_link_is_equally_likely_to_be_next() -> None:
    first = Counter(order[1] for order in orders("S: A B C D", 2000))
    assert all(430 < count < 570 for count in first.values()), first


def test_a_link_found_late_is_as_likely_as_one_that_has_waited_long() -> None:
    """After S and its first child, one old link and one new one wait."""
    world = "S: A B; A: C; B: C"
    third = Counter("old" if order[2] in "ab" else "new" for order in orders(world, 2000))
    assert 900 < third["old"] < 1100, third
