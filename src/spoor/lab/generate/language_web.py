"""A web of site trees on a sparse graph of hosts (generator W2), and the trace of a crawl of it.

Each host is a tree of pages with four children per node. Hosts link to few other hosts, mostly of their own kind, and
most hosts in other languages never link to one in the target language, so there are long irrelevant stretches.
Everything about a page depends only on (seed, page number), so the web can be generated or traversed without keeping it
in memory.

The crawl is limited-distance with N = 1, not prioritised: it follows links of relevant pages and of the first
irrelevant page after one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spoor.compiled import compiled
from spoor.lab.generate.chance import Stream, begin, bell, below, chance, new_stream, seed_of
from spoor.lab.generate.writing import CHARSETS, HTML_BYTES_MEDIAN, Batch

# A web of site trees on a sparse graph of hosts, some of them in the target language (generator W2).


SIZES, NEIGHBOURS, RELEVANCE, LINKS, ATTRIBUTES, LABELLING, LEAVES = range(7)
"""Purposes of random streams."""

SMALLEST_HOST = 11
LARGEST_HOST = 400
CHILDREN = 4
NEIGHBOURS_EACH = 4
MOST_LINKS = CHILDREN + 6
PAGES_AT_ONCE = 500_000


WESTERN = ("iso-8859-1", "windows-1252")


@dataclass(frozen=True)
class Language:
    """The target language: the share of its hosts, and the charsets of pages in it and in other languages."""

    share: float
    own_charsets: tuple[str, ...]
    other_charsets: tuple[str, ...]
    declared: bool = True
    """True: pages declare their charset (META). False: it is only detected."""


class Hosts(NamedTuple):
    """Everything that the pages of the web depend on."""

    seed: np.uint64
    offsets: NDArray[np.int32]
    relevant: NDArray[np.bool_]
    mixed: NDArray[np.bool_]
    neighbours: NDArray[np.int32]


def draw_hosts(share: float, pages: int, seed: int) -> Hosts:
    """As many hosts as are needed for exactly `pages` pages; the last host is cut to fit."""
    offsets, relevant, mixed = _sizes_and_languages(seed_of(seed), share, pages)
    own, other = np.flatnonzero(relevant), np.flatnonzero(~relevant)
    everyone = np.arange(len(relevant))
    # In a web with few hosts one kind may be missing; then all hosts are used instead.
    sides = [(side if len(side) else everyone).astype(np.int32) for side in (own, other)]
    return Hosts(seed_of(seed), offsets, relevant, mixed, _neighbours(seed_of(seed), relevant, *sides))


def batches(hosts: Hosts, language: Language, mislabelled: float = 0.0) -> Iterator[Batch]:
    """All pages in order, some hundred thousand at a time. `mislabelled`: the share of the relevant pages that declare
    no charset or a wrong one."""
    own, other = (_places(charsets) for charsets in (language.own_charsets, language.other_charsets))
    wrong = _places(("", *WESTERN))
    for first, last in _groups(hosts.offsets):
        counts, targets, relevant = _structure(hosts, first, last)
        sizes, charsets = _attributes(hosts.seed, int(hosts.offsets[first]), relevant, own, other)
        silent = np.zeros_like(charsets)
        declared, detected = (charsets, silent) if language.declared else (silent, charsets)
        if mislabelled:
            declared = _mislabelled(hosts.seed, int(hosts.offsets[first]), relevant, charsets, mislabelled, wrong)
            detected = charsets
        yield Batch(counts, targets, sizes, declared, detected, {"relevant": relevant})


def _places(charsets: tuple[str, ...]) -> NDArray[np.uint8]:
    return np.array([CHARSETS.index(charset) for charset in charsets], np.uint8)


def _groups(offsets: NDArray[np.int32]) -> Iterator[tuple[int, int]]:
    """Ranges of hosts with about PAGES_AT_ONCE pages each."""
    first = 0
    while first < len(offsets) - 1:
        last = int(np.searchsorted(offsets, offsets[first] + PAGES_AT_ONCE))
        last = min(last, len(offsets) - 1)
        yield first, last
        first = last


@compiled
def _sizes_and_languages(
    seed: np.uint64, share: float, pages: int
) -> tuple[NDArray[np.int32], NDArray[np.bool_], NDArray[np.bool_]]:
    """The first host is always in the target language, so that there are relevant pages."""
    most = pages // SMALLEST_HOST + 1
    offsets, relevant, mixed = np.zeros(most + 1, np.int32), np.zeros(most, np.bool_), np.zeros(most, np.bool_)
    stream, host = new_stream(), 0
    while offsets[host] < pages:
        begin(stream, seed, SIZES, host)
        size = min(3 + int(8 * (1.0 - chance(stream)) ** (-1 / 1.2)), LARGEST_HOST)
        relevant[host] = chance(stream) < share or host == 0
        mixed[host] = chance(stream) < 0.15
        offsets[host + 1] = min(offsets[host] + size, pages)
        host += 1
    return offsets[: host + 1].copy(), relevant[:host].copy(), mixed[:host].copy()


@compiled
def _neighbours(
    seed: np.uint64, relevant: NDArray[np.bool_], own: NDArray[np.int32], other: NDArray[np.int32]
) -> NDArray[np.int32]:
    """The hosts that each host links to, three quarters of them of its own kind. 60 % of the hosts in other languages
    link only to such hosts."""
    found = np.zeros((len(relevant), NEIGHBOURS_EACH), np.int32)
    stream = new_stream()
    for host in range(len(relevant)):
        begin(stream, seed, NEIGHBOURS, host)
        shut = not relevant[host] and chance(stream) < 0.6
        for k in range(NEIGHBOURS_EACH):
            alike = shut or chance(stream) < 0.75
            side = own if relevant[host] == alike else other
            found[host, k] = side[below(stream, len(side))]
    return found


@compiled
def is_relevant(hosts: Hosts, host: int, page: int, stream: Stream) -> bool:
    begin(stream, hosts.seed, RELEVANCE, page)
    if page == 0 or chance(stream) < (0.6 if hosts.mixed[host] else 0.95):
        return bool(hosts.relevant[host])
    return not hosts.relevant[host] and chance(stream) < 0.25


@compiled
def links_of(hosts: Hosts, host: int, page: int, stream: Stream, links: NDArray[np.int32]) -> int:
    """Writes the links of a page in document order, distinct and without itself. Returns their number."""
    begin(stream, hosts.seed, LINKS, page)
    root, end = hosts.offsets[host], hosts.offsets[host + 1]
    index, count = page - root, 0
    for child in range(root + CHILDREN * index + 1, min(root + CHILDREN * index + 1 + CHILDREN, end)):
        count = _with(links, count, child, page)
    if index > 0:
        count = _with(links, count, root + (index - 1) // CHILDREN, page)
        if chance(stream) < 0.5:
            count = _with(links, count, root, page)
    if chance(stream) < 0.5 and end - root > 2:
        count = _with(links, count, root + below(stream, end - root), page)
    if chance(stream) < (0.9 if index == 0 else 0.22):
        count = _with_other_hosts(hosts, host, page, stream, links, count)
    return count


@compiled
def _with_other_hosts(hosts: Hosts, host: int, page: int, stream: Stream, links: NDArray[np.int32], count: int) -> int:
    """One link (half the time), two or three to neighbours, mostly to their roots."""
    for _ in range(max(1, below(stream, 4))):
        neighbour = hosts.neighbours[host, below(stream, NEIGHBOURS_EACH)]
        root, end = hosts.offsets[neighbour], hosts.offsets[neighbour + 1]
        target = root if chance(stream) < 0.7 else root + below(stream, end - root)
        count = _with(links, count, target, page)
    return count


@compiled
def _with(links: NDArray[np.int32], count: int, target: int, page: int) -> int:
    """Appends a target unless it is the page itself or already present. Returns the new count."""
    if target == page:
        return count
    for k in range(count):
        if links[k] == target:
            return count
    links[count] = target
    return count + 1


@compiled
def _structure(hosts: Hosts, first: int, last: int) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.bool_]]:
    """Link counts, links and relevance of the pages of hosts first .. last-1."""
    start, pages = hosts.offsets[first], hosts.offsets[last] - hosts.offsets[first]
    counts, relevant = np.zeros(pages, np.int32), np.zeros(pages, np.bool_)
    targets = np.zeros(pages * MOST_LINKS, np.int32)
    stream, written = new_stream(), 0
    for host in range(first, last):
        for page in range(hosts.offsets[host], hosts.offsets[host + 1]):
            relevant[page - start] = is_relevant(hosts, host, page, stream)
            counts[page - start] = links_of(hosts, host, page, stream, targets[written:])
            written += counts[page - start]
    return counts, targets[:written].copy(), relevant


@compiled
def _attributes(
    seed: np.uint64,
    first: int,
    relevant: NDArray[np.bool_],
    own: NDArray[np.uint8],
    other: NDArray[np.uint8],
) -> tuple[NDArray[np.int32], NDArray[np.uint8]]:
    """Bytes (log-normal) and charset of each page."""
    sizes, charsets = np.zeros(len(relevant), np.int32), np.zeros(len(relevant), np.uint8)
    stream = new_stream()
    for k in range(len(relevant)):
        begin(stream, seed, ATTRIBUTES, first + k)
        sizes[k] = int(HTML_BYTES_MEDIAN * np.exp(bell(stream)))
        choices = own if relevant[k] else other
        charsets[k] = choices[below(stream, len(choices))]
    return sizes, charsets


@compiled
def _mislabelled(
    seed: np.uint64,
    first: int,
    relevant: NDArray[np.bool_],
    charsets: NDArray[np.uint8],
    share: float,
    wrong: NDArray[np.uint8],
) -> NDArray[np.uint8]:
    """The charset that each page declares."""
    declared, stream = charsets.copy(), new_stream()
    for k in range(len(declared)):
        begin(stream, seed, LABELLING, first + k)
        if relevant[k] and chance(stream) < share:
            declared[k] = wrong[below(stream, len(wrong))]
    return declared


# The pages visited by a crawl for one language: the Japanese web is the trace of such a crawl, as in the paper.


UNKNOWN, VISITED, AFTER_IRRELEVANT, AFTER_RELEVANT = range(4)
"""States of a page. A waiting page has the state for the best page that links to it so far."""


def trace(hosts: Hosts, seeds: list[int], limit: int) -> NDArray[np.bool_]:
    """Mask of the visited pages, at most `limit`."""
    return _trace(hosts, np.array(seeds, np.int32), limit)


@compiled
def _trace(hosts: Hosts, seeds: NDArray[np.int32], limit: int) -> NDArray[np.bool_]:
    state = np.zeros(hosts.offsets[-1], np.uint8)
    queue = np.empty(hosts.offsets[-1], np.int32)
    for place in range(len(seeds)):
        queue[place] = seeds[place]
    state[seeds] = AFTER_RELEVANT
    stream, links = new_stream(), np.zeros(MOST_LINKS, np.int32)
    visited, waiting = 0, len(seeds)
    while visited < min(waiting, limit):
        page = queue[visited]
        visited += 1
        came, state[page] = state[page], VISITED
        host = np.searchsorted(hosts.offsets, page, side="right") - 1
        relevant = is_relevant(hosts, host, page, stream)
        if not relevant and came == AFTER_IRRELEVANT:
            continue
        known = AFTER_RELEVANT if relevant else AFTER_IRRELEVANT
        for k in range(links_of(hosts, host, page, stream, links)):
            if state[links[k]] == UNKNOWN:
                queue[waiting] = links[k]
                waiting += 1
            if state[links[k]] != VISITED:
                state[links[k]] = max(state[links[k]], known)
    kept: NDArray[np.bool_] = state == VISITED
    return kept


def restricted(batches: Iterator[Batch], kept: NDArray[np.bool_]) -> Iterator[Batch]:
    """The same pages and links without those that were not kept; the others are renumbered from 0."""
    numbers = np.cumsum(kept, dtype=np.int32) - 1
    first = 0
    for batch in batches:
        yield _restrict(batch, kept, numbers, kept[first : first + len(batch)])
        first += len(batch)


def _restrict(batch: Batch, kept: NDArray[np.bool_], numbers: NDArray[np.int32], here: NDArray[np.bool_]) -> Batch:
    source = np.repeat(np.arange(len(batch)), batch.link_counts)
    inside = here[source] & kept[batch.targets]
    return Batch(
        np.bincount(source[inside], minlength=len(batch))[here].astype(np.int32),
        numbers[batch.targets[inside]],
        batch.sizes[here],
        batch.meta_charset[here],
        batch.detected_charset[here],
        {label: mask[here] for label, mask in batch.labels.items()},
    )


def kept_host_offsets(offsets: NDArray[np.int32], kept: NDArray[np.bool_]) -> NDArray[np.int32]:
    """The first page of each host in the new numbering; hosts without kept pages are removed."""
    pages_before = np.concatenate([np.zeros(1, np.int32), np.cumsum(kept, dtype=np.int32)])
    return np.unique(pages_before[offsets])
