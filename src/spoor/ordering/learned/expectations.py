"""Expected hit rates of links given everything learned so far: in one pass over many links.

A link is a hit if it brings a page and the page is relevant. Both rates are estimated hierarchically, from registrable
domain to host to folders: each level has the rate of its parent as prior, which loses weight with the number of tries.
The prior of an untried level is multiplied by the ratio observed at first tries in this crawl (empirical Bayes).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from spoor.compiled import BOOL, INT, array, compiled, kernel, kernels_in
from spoor.errors import BadInput
from spoor.ordering.learned.features import BITS, HEAD, MOST, PLACES
from spoor.ordering.learned.yields import LEVELS, MASK, FirstTries, Yields

COLUMNS = ("words", "site_yield", "hub_yield", "list_yield", "dead")
"""In log odds: the contribution of the words; and the hit rates of the folder, of the referring page and of the list on
that page, relative to the initial one. `dead` is below 0 if links of that list mostly brought no page."""

FIRST_ANSWERS, FIRST_RELEVANT = 0.5, 0.4
"""Initial expectations: the share of links that bring a page, and of relevant ones among the pages. An optimistic
prior, for exploration; statistics of first tries replace it."""
TRUST = 2.0
"""Weight of the prior, in tries."""
SURE = 0.0001
"""Rates are clipped to this distance from 0 and 1."""

FEATURES = (1 << BITS) - 1
"""Mask for feature numbers: those in a folder from another source may have any value."""

Floats = NDArray[np.float64]
Counts = NDArray[np.float32]
Numbers = NDArray[np.int32]


def checked(packed: bytes) -> bytes:
    """Compiled code does not check these lengths, and a folder may come from an untrusted source."""
    if len(packed) % 4 or not 4 * HEAD <= len(packed) <= 4 * (HEAD + MOST):
        raise BadInput(
            f"the hints of a link have {len(packed)} bytes, which is not a valid length: crawl.db is damaged"
        )
    return packed


def slots_of(head: Numbers, hub: int) -> list[int]:
    """The counters of a visit: its domain, host and folders, the referring page, and the list on that page. Without
    duplicates."""
    return list(dict.fromkeys(_slots(head, hub).tolist()))


def first_tries(link: Numbers, hub: tuple[int, bool], yields: Yields) -> FirstTries:
    """For a link that was just tried and is not counted yet."""
    page, relevant = hub
    answers, hub_answers, finds, hub_finds, place = _first_tries(link, page, relevant, yields.counts, yields.untried)
    to_answer = (answers, (hub_answers, FIRST_ANSWERS))
    to_be_relevant = (finds, (hub_finds, FIRST_RELEVANT))
    return FirstTries(to_answer, to_be_relevant, (place, page & int(MASK)))


@compiled
def _more_than(first: float, share: float) -> float:
    share = min(1.0 - SURE, max(SURE, share))
    return math.log(share / (1.0 - share)) - math.log(first / (1.0 - first))


@compiled
def list_of(hub: int, where: int) -> np.uint32:
    """The counter of a list on a page."""
    return (np.uint32(hub) ^ (np.uint32(where) * np.uint32(0x85EBCA6B))) | np.uint32(1)


@compiled
def place_of(place: int, kind: int) -> np.uint32:
    """The counter of a domain, host or folder, separate for URLs whose prior of the target is positive, negative or
    zero."""
    return np.uint32(place) ^ (np.uint32(kind + 1) * np.uint32(0x9E3779B1))


@kernel(array(np.int32, read_only=True), INT)
def _slots(head: Numbers, hub: int) -> NDArray[np.uint32]:
    slots = np.empty(PLACES + 2, np.uint32)
    for level in range(PLACES):
        slots[level] = place_of(head[4 + level], head[1]) & MASK
    slots[PLACES] = np.uint32(hub) & MASK
    slots[PLACES + 1] = list_of(hub, head[2]) & MASK
    return slots


@compiled
def _untried_share(around: float, cell: int, untried: Floats) -> float:
    """The expected rate of a first try, given the rate of its parent."""
    level = 4 * LEVELS + cell // 4
    usual = (untried[level, 0] + 1.0) / (untried[level, 1] + 1.0)
    ratio = (untried[cell, 0] + usual) / (untried[cell, 1] + 1.0)
    return float(min(0.95, around * ratio))


@compiled
def _site_share(
    link: Numbers, relevant: bool, tries: Counts, hits: Counts, untried: Floats, first: float
) -> tuple[float, int, float]:
    """The hit rate of the domain, host and folders of a link; the cell of its first try (-1 if it is not one) and the
    rate expected."""
    share, last, cell, expected = first, np.int32(0), -1, 0.0
    for level in range(PLACES):
        place = link[4 + level]
        if level > 0 and place == last:
            break
        last = place
        slot = place_of(place, link[1]) & MASK
        if cell < 0 and tries[slot] == 0.0:
            cell, expected = 4 * level + 2 * int(relevant) + int(link[3] != 0), share
            share = _untried_share(share, cell, untried)
        share = (hits[slot] + TRUST * share) / (tries[slot] + TRUST)
    return share, cell, expected


@compiled
def _hub_share(
    hub: int, relevant: bool, tries: Counts, hits: Counts, untried: Floats, first: float
) -> tuple[float, int]:
    """The hit rate of links on a page; the cell of its first try (-1 if it is not one)."""
    slot, cell = np.uint32(hub) & MASK, 4 * (LEVELS - 1) + 2 * int(relevant)
    share = _untried_share(first, cell, untried)
    share = (hits[slot] + TRUST * share) / (tries[slot] + TRUST)
    return share, cell if tries[slot] == 0.0 else -1


@kernel(array(np.int32, read_only=True), INT, BOOL, array(np.float32, 2), array(np.float64, 3))
def _first_tries(
    link: Numbers, hub: int, relevant: bool, counts: Counts, untried: Floats
) -> tuple[tuple[int, float], int, tuple[int, float], int, int]:
    """For answers and for finds: the cell and the expected rate of the link, and the cell of the referring page. Then
    the slot of the link."""
    tries, answers, finds = counts[:, 0], counts[:, 1], counts[:, 2]
    _, cell, expected = _site_share(link, relevant, tries, answers, untried[0], FIRST_ANSWERS)
    _, hub_cell = _hub_share(hub, relevant, tries, answers, untried[0], FIRST_ANSWERS)
    _, find_cell, expected_finds = _site_share(link, relevant, answers, finds, untried[1], FIRST_RELEVANT)
    _, hub_find_cell = _hub_share(hub, relevant, answers, finds, untried[1], FIRST_RELEVANT)
    slot = int(place_of(link[4 + max(0, find_cell) // 4], link[1]) & MASK)
    return (cell, expected), hub_cell, (find_cell, expected_finds), hub_find_cell, slot


@compiled
def expectation_of(
    link: Numbers, hub: int, relevant: bool, words: Floats, counts: Counts, untried: Floats, first_relevant: float
) -> tuple[float, float, float, float, float]:
    """`COLUMNS` of a link, rounded, so that negligible changes do not move links. `link` as packed by `features`; `hub`
    is the hash of the referring page, `relevant` whether that is relevant; `first_relevant` the initial share of
    relevant pages."""
    tries, answers, finds = counts[:, 0], counts[:, 1], counts[:, 2]
    first, said = FIRST_ANSWERS * first_relevant, 0.0
    for k in range(HEAD, len(link)):
        said += words[link[k] & FEATURES]
    # Normalised, so that links with many words are not more certain than links with few.
    said /= math.sqrt(max(1, len(link) - HEAD))
    answered, _, _ = _site_share(link, relevant, tries, answers, untried[0], FIRST_ANSWERS)
    share, _, _ = _site_share(link, relevant, answers, finds, untried[1], first_relevant)
    of_site = _more_than(first, answered * share)
    answered, _ = _hub_share(hub, relevant, tries, answers, untried[0], FIRST_ANSWERS)
    share, _ = _hub_share(hub, relevant, answers, finds, untried[1], first_relevant)
    of_hub = _more_than(first, answered * share)
    slot = list_of(hub, link[2]) & MASK
    answered = (answers[slot] + TRUST * answered) / (tries[slot] + TRUST)
    share = (finds[slot] + TRUST * share) / (answers[slot] + TRUST)
    of_list = _more_than(first, answered * share)
    dead = min(0.0, math.log(answered / FIRST_ANSWERS))
    return _rounded(said), _rounded(of_site), _rounded(of_hub), _rounded(of_list), _rounded(dead)


@compiled
def _rounded(odds: float) -> float:
    return float(np.rint(odds * 1000.0) / 1000.0)


KERNELS = kernels_in(__name__)
