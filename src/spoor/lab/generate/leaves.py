"""Errors and other media in a generated web: URLs that pages link to and that have no links.

They are added to the pages. The number of leaves of a page depends only on (seed, page number). They are on the same
host, after its pages, and their links are among the other links of the page. The number is geometric, with the share as
the probability of each further leaf, so that leaves have this share among all URLs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spoor.compiled import compiled
from spoor.lab.generate.chance import Stream, begin, below, chance, new_stream, seed_of
from spoor.lab.generate.language_web import LEAVES
from spoor.lab.generate.writing import HTML_BYTES_MEDIAN, Batch

STATUSES = (404, 404, 404, 404, 404, 404, 403, 500, 503, 0)
"""Statuses of errors, with equal probabilities; 0 means no response."""
CONTENT_TYPES: tuple[str, ...] = ("text/html", "image/jpeg", "application/pdf", "text/plain")
"""Content types: that of pages, then those of other media, with equal probabilities."""
ERROR_BYTES = 500

PAGE, FIRST_ERROR, FIRST_MEDIUM = 0, 1, 1 + len(STATUSES)
"""Kinds of URLs: pages, an error for each status, a medium for each content type."""
_MEDIA = len(CONTENT_TYPES) - 1
_STATUS = np.array([200, *STATUSES, *[200] * _MEDIA], np.int16)
_CONTENT_TYPE = np.array([0, *[0] * len(STATUSES), *range(1, 1 + _MEDIA)], np.uint8)
_BYTES = np.array([0, *[ERROR_BYTES if status else 0 for status in STATUSES], *[HTML_BYTES_MEDIAN] * _MEDIA], np.int32)


@dataclass(frozen=True)
class Leaves:
    """Leaves are a `share` of all URLs, and `errors` a share of the leaves. `offsets` has the first page of each host,
    `moved` the same after the leaves are inserted."""

    seed: np.uint64
    share: float
    errors: float
    offsets: NDArray[np.int32]
    moved: NDArray[np.int32]

    def number(self, page: int) -> int:
        """The number of a page after the leaves are inserted."""
        return int(_number(self.offsets, self.moved, page))


def draw_leaves(seed: int, errors: float, non_html: float, offsets: NDArray[np.int32]) -> Leaves:
    """`errors` and `non_html` are shares of all URLs."""
    share = errors + non_html
    moved = offsets.copy()
    moved[1:] += np.cumsum(_counts(seed_of(seed), share, offsets), dtype=np.int32)
    return Leaves(seed_of(seed), share, errors / share, offsets, moved)


def with_leaves(batches: Iterator[Batch], leaves: Leaves) -> Iterator[Batch]:
    """The same pages and links, renumbered, with the leaves inserted. A batch consists of whole hosts."""
    first = 0
    for batch in batches:
        hosts = np.searchsorted(leaves.offsets, (first, first + len(batch)))
        yield _grown(batch, leaves, int(hosts[0]), int(hosts[1]))
        first += len(batch)


def _grown(batch: Batch, leaves: Leaves, first: int, last: int) -> Batch:
    """Adds the leaves of hosts first .. last-1."""
    chances = leaves.seed, leaves.share, leaves.errors
    counts, targets, kinds = _insert(
        *chances, leaves.offsets, leaves.moved, first, last, batch.link_counts, batch.targets
    )
    pages = kinds == PAGE
    sizes = _BYTES[kinds]
    sizes[pages] = batch.sizes
    declared, detected = np.zeros((2, len(kinds)), np.uint8)
    declared[pages], detected[pages] = batch.meta_charset, batch.detected_charset
    labels = {label: _spread(mask, pages) for label, mask in batch.labels.items()}
    return Batch(counts, targets, sizes, declared, detected, labels, _STATUS[kinds], _CONTENT_TYPE[kinds])


def _spread(mask: NDArray[np.bool_], pages: NDArray[np.bool_]) -> NDArray[np.bool_]:
    spread = np.zeros(len(pages), np.bool_)
    spread[pages] = mask
    return spread


@compiled
def _number(offsets: NDArray[np.int32], moved: NDArray[np.int32], page: int) -> int:
    host = np.searchsorted(offsets, page, side="right") - 1
    return int(page + moved[host] - offsets[host])


@compiled
def _count(stream: Stream, seed: np.uint64, share: float, page: int) -> int:
    """The number of leaves of a page. Their properties are drawn from the stream afterwards."""
    begin(stream, seed, LEAVES, page)
    count = 0
    while chance(stream) < share:
        count += 1
    return count


@compiled
def _counts(seed: np.uint64, share: float, offsets: NDArray[np.int32]) -> NDArray[np.int32]:
    """The number of leaves of each host."""
    counts, stream = np.zeros(len(offsets) - 1, np.int32), new_stream()
    for host in range(len(counts)):
        for page in range(offsets[host], offsets[host + 1]):
            counts[host] += _count(stream, seed, share, page)
    return counts


@compiled
def _kind(stream: Stream, errors: float) -> int:
    if chance(stream) < errors:
        return FIRST_ERROR + below(stream, FIRST_MEDIUM - FIRST_ERROR)
    return FIRST_MEDIUM + below(stream, _MEDIA)


@compiled
def _insert(
    seed: np.uint64,
    share: float,
    errors: float,
    offsets: NDArray[np.int32],
    moved: NDArray[np.int32],
    first: int,
    last: int,
    link_counts: NDArray[np.int32],
    links: NDArray[np.int32],
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.uint8]]:
    """Link counts, links and kinds of the URLs of hosts first .. last-1."""
    start, urls = moved[first], moved[last] - moved[first]
    counts, kinds = np.zeros(urls, np.int32), np.zeros(urls, np.uint8)
    targets = np.zeros(len(links) + urls - len(link_counts), np.int32)
    stream, read, written = new_stream(), 0, 0
    for host in range(first, last):
        leaf = moved[host] + offsets[host + 1] - offsets[host]
        for page in range(offsets[host], offsets[host + 1]):
            begins = written
            for _ in range(link_counts[page - offsets[first]]):
                targets[written] = _number(offsets, moved, links[read])
                read, written = read + 1, written + 1
            for _ in range(_count(stream, seed, share, page)):
                kinds[leaf - start] = _kind(stream, errors)
                place = begins + below(stream, written + 1 - begins)
                targets[written], targets[place] = targets[place], leaf
                leaf, written = leaf + 1, written + 1
            counts[page - offsets[host] + moved[host] - start] = written - begins
    return counts, targets, kinds
