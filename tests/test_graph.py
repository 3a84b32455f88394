"""Reach and distance over the links of a web."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from spoor.lab.link_graph import FAR, distance_to_relevant, reachable
from tests.effort import times

Links = list[list[int]]
Arrays = tuple[NDArray[np.int64], NDArray[np.int32]]

CHAIN_AND_ISLAND: Links = [[1], [2], [], [0], []]


def arrays(links: Links) -> Arrays:
    targets = np.array([target for page in links for target in page], np.int32)
    return np.cumsum([0, *map(len, links)], dtype=np.int64), targets


def found_from(links: Links, seeds: list[int]) -> list[bool]:
    return [bool(found) for found in reachable(*arrays(links), seeds, len(links))]


def distances(links: Links, relevant: set[int], within: set[int]) -> list[int]:
    masks = (np.isin(np.arange(len(links)), list(pages)) for pages in (relevant, within))
    return [int(distance) for distance in distance_to_relevant(*arrays(links), *masks)]


def test_links_are_followed_in_their_direction() -> None:
    assert found_from(CHAIN_AND_ISLAND, [1]) == [False, True, True, False, False]


def test_every_seed_is_reached_even_when_given_twice() -> None:
    assert found_from(CHAIN_AND_ISLAND, [4, 2, 4]) == [False, False, True, False, True]


def test_a_target_that_is_not_a_page_leads_nowhere() -> None:
    assert found_from([[5, 1], [9]], [0]) == [True, True]


def test_distance_counts_links_to_the_nearest_relevant_page() -> None:
    assert distances(CHAIN_AND_ISLAND, {2}, {0, 1, 2, 3, 4}) == [2, 1, 0, 3, FAR]


def test_pages_outside_do_not_count_as_steps() -> None:
    assert distances(CHAIN_AND_ISLAND, {2}, {0, 2, 3}) == [FAR, FAR, 0, FAR, FAR]


def test_a_relevant_page_outside_is_no_goal() -> None:
    assert distances([[1, 2], [], []], {1, 2}, {0, 2}) == [1, FAR, 0]


@settings(max_examples=times(50), deadline=None)
@given(st.data())
def test_a_page_is_one_link_farther_than_the_nearest_of_its_targets(data: st.DataObject) -> None:
    pages = data.draw(st.integers(1, 20))
    links = data.draw(st.lists(st.lists(st.integers(0, pages), max_size=4), min_size=pages, max_size=pages))
    relevant = data.draw(st.sets(st.integers(0, pages - 1)))
    far = distances(links, relevant, set(range(pages)))
    for page, targets in enumerate(links):
        nearest = min((far[target] for target in targets if target < pages), default=FAR)
        assert far[page] == (0 if page in relevant else FAR if nearest == FAR else nearest + 1)
