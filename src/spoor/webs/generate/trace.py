"""Which pages a crawl for one language brings home: the Japanese web is the trace of such a crawl, as in the paper.

The crawl is limited-distance with N = 1, not prioritised: links are followed from relevant pages and from the first
irrelevant page after one.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from spoor.compilation import compiled
from spoor.webs.generate.language_web import MOST_LINKS, Hosts, is_relevant, links_of
from spoor.webs.generate.randomness import new_stream
from spoor.webs.generate.writing import Batch

UNKNOWN, VISITED, AFTER_IRRELEVANT, AFTER_RELEVANT = range(4)
"""What the crawl knows of a page: a waiting one remembers the better of the pages that link to it."""


def trace(hosts: Hosts, seeds: list[int], limit: int) -> NDArray[np.bool_]:
    """The pages visited, at most `limit`."""
    return _trace(hosts, np.array(seeds, np.int32), limit)


@compiled
def _trace(hosts: Hosts, seeds: NDArray[np.int32], limit: int) -> NDArray[np.bool_]:
    state = np.zeros(hosts.offsets[-1], np.uint8)
    queue = np.empty(hosts.offsets[-1], np.int32)
    queue[: len(seeds)] = seeds
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
    """The same pages and links without those that were not kept; the rest are numbered anew from 0."""
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
    """Where the hosts begin in the new numbering; hosts of which nothing was kept are gone."""
    pages_before = np.concatenate([np.zeros(1, np.int32), np.cumsum(kept, dtype=np.int32)])
    return np.unique(pages_before[offsets])
