"""A web of typed pages: which types a page links to follows from its own type alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from spoor.compilation import compiled
from spoor.webs.generate.content import TEXT_LIMIT, Compose, write_content
from spoor.webs.generate.randomness import begin, bell, below, new_stream, place, running_sums, seed_of
from spoor.webs.generate.request import Advance, Request
from spoor.webs.generate.seeds import draw_seeds, write_seeds
from spoor.webs.generate.writing import CHARSETS, HTML_BYTES_MEDIAN, Batch, WebWriter

TYPES, LINKS, ATTRIBUTES = range(3)
"""What a stream of chance is for; each purpose has its own."""

PAGES_AT_ONCE = 200_000
PAGES_PER_HOST = 25


@dataclass(frozen=True)
class TypedWeb:
    """`shares` of the types among pages; row i of `matrix`: the shares among the links of a page of type i; each page
    draws from `fewest` to `most` links. `first` are the types of the first pages, so that none of these is missing.
    Crawls begin at `seeds` pages of one of `seed_types`."""

    labels: tuple[str, ...]
    shares: tuple[float, ...]
    matrix: tuple[tuple[float, ...], ...]
    fewest: int
    most: int
    first: tuple[int, ...]
    seeds: int
    seed_types: tuple[int, ...]


Composer = Callable[[NDArray[np.uint8], int], Compose]
"""Given the types of all pages and the seed: who writes their content."""


def draw_typed(web: TypedWeb, composer: Composer, request: Request, folder: Path, advance: Advance) -> None:
    """Pages, links and, if the web is not too large, content."""
    types = draw_types(web, request.pages, request.seed)
    with_content = request.pages <= TEXT_LIMIT
    writer = WebWriter(folder, ["relevant", *web.labels])
    for batch in batches(web, types, request.seed):
        writer.append(batch)
        advance(0 if with_content else len(batch))
    writer.close(request.name, host_offsets(request.pages), request.made_from)
    qualified = np.isin(types, web.seed_types)
    write_seeds(folder, draw_seeds(request.seed, request.pages, lambda page: bool(qualified[page]), web.seeds))
    if with_content:
        write_content(folder, composer(types, request.seed), advance)


def draw_types(web: TypedWeb, pages: int, seed: int) -> NDArray[np.uint8]:
    types = _types(seed_of(seed), running_sums(np.array(web.shares)), pages)
    types[: len(web.first)] = web.first
    return types


def batches(web: TypedWeb, types: NDArray[np.uint8], seed: int) -> Iterator[Batch]:
    """All pages in order. `relevant` are those of type 0."""
    by_type = np.argsort(types, kind="stable").astype(np.int32)
    starts = np.searchsorted(types[by_type], np.arange(len(web.shares) + 1))
    sums = running_sums(np.array(web.matrix))
    for first in range(0, len(types), PAGES_AT_ONCE):
        here = types[first : first + PAGES_AT_ONCE]
        drawn = _links(seed_of(seed), first, here, by_type, starts, sums, web.fewest, web.most)
        charset = np.full(len(here), CHARSETS.index("utf-8"), np.uint8)
        labels = {label: here == k for k, label in enumerate(web.labels)}
        sizes = _sizes(seed_of(seed), first, len(here))
        yield Batch(*drawn, sizes, charset, np.zeros_like(charset), {"relevant": here == 0, **labels})


def host_offsets(pages: int) -> NDArray[np.int32]:
    """Hosts mean nothing here; they are there because every page is somewhere."""
    return np.append(np.arange(0, pages, PAGES_PER_HOST), pages).astype(np.int32)


@compiled
def _types(seed: np.uint64, sums: NDArray[np.float64], pages: int) -> NDArray[np.uint8]:
    types = np.zeros(pages, np.uint8)
    stream = new_stream()
    for page in range(pages):
        begin(stream, seed, TYPES, page)
        types[page] = place(stream, sums)
    return types


@compiled
def _links(
    seed: np.uint64,
    first: int,
    types: NDArray[np.uint8],
    by_type: NDArray[np.int32],
    starts: NDArray[np.int64],
    sums: NDArray[np.float64],
    fewest: int,
    most: int,
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Link counts and links of consecutive pages; `by_type` lists all pages, those of type t from starts[t] on."""
    counts, targets = np.zeros(len(types), np.int32), np.zeros(len(types) * most, np.int32)
    stream, written = new_stream(), 0
    for k in range(len(types)):
        begin(stream, seed, LINKS, first + k)
        for _ in range(fewest + below(stream, most - fewest + 1)):
            kind = place(stream, sums[types[k]])
            alike = by_type[starts[kind] : starts[kind + 1]]
            # A type that no page has: any page will do.
            target = alike[below(stream, len(alike))] if len(alike) else by_type[below(stream, len(by_type))]
            if target != first + k and target not in targets[written : written + counts[k]]:
                targets[written + counts[k]] = target
                counts[k] += 1
        written += counts[k]
    return counts, targets[:written].copy()


@compiled
def _sizes(seed: np.uint64, first: int, pages: int) -> NDArray[np.int32]:
    sizes = np.zeros(pages, np.int32)
    stream = new_stream()
    for k in range(pages):
        begin(stream, seed, ATTRIBUTES, first + k)
        sizes[k] = int(HTML_BYTES_MEDIAN * np.exp(bell(stream)))
    return sizes
