"""Webs of typed pages, and the web for topical crawling (generator W3)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from spoor.compiled import compiled
from spoor.lab.generate.chance import (
    Request,
    begin,
    bell,
    below,
    draw_seeds,
    new_stream,
    place,
    running_sums,
    seed_of,
    write_seeds,
)
from spoor.lab.generate.pages import TEXT_LIMIT, Compose, Content, LinkWords, parted, write_pages
from spoor.lab.generate.prose import LANGUAGES, TEXT_WORDS, TOPICS, Author, Vocabulary, vocabulary
from spoor.lab.generate.writing import CHARSETS, HTML_BYTES_MEDIAN, Batch, WebWriter
from spoor.progress import Advance

# A web of typed pages: the types that a page links to depend only on its own type.


TYPES, LINKS, ATTRIBUTES = range(3)
"""Purposes of random streams."""

PAGES_AT_ONCE = 200_000
PAGES_PER_HOST = 25


@dataclass(frozen=True)
class TypedWeb:
    """`shares`: the types among pages. Row i of `matrix`: the shares of types among the links of a page of type i. Each
    page draws from `fewest` to `most` links. `first`: the types of the first pages, so that none of these is missing.
    Crawls start at `seeds` pages of one of `seed_types`."""

    labels: tuple[str, ...]
    shares: tuple[float, ...]
    matrix: tuple[tuple[float, ...], ...]
    fewest: int
    most: int
    first: tuple[int, ...]
    seeds: int
    seed_types: tuple[int, ...]


Composer = Callable[[NDArray[np.uint8], int], Compose]
"""Makes the function that writes contents, from the types of all pages and the seed."""


def draw_typed(web: TypedWeb, composer: Composer, request: Request, folder: Path, advance: Advance) -> None:
    """Writes pages, links and, if the web is not too large, contents."""
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
        write_pages(folder, composer(types, request.seed), request.parsing, advance)


def draw_types(web: TypedWeb, pages: int, seed: int) -> NDArray[np.uint8]:
    types = _types(seed_of(seed), running_sums(np.array(web.shares)), pages)
    types[: len(web.first)] = web.first
    return types


def batches(web: TypedWeb, types: NDArray[np.uint8], seed: int) -> Iterator[Batch]:
    """All pages in order. Pages of type 0 are relevant."""
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
    """Hosts have no meaning in this web; they exist only because every page needs one."""
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
    """Link counts and links of consecutive pages. `by_type` lists all pages, those of type t from starts[t] on."""
    counts, targets = np.zeros(len(types), np.int32), np.zeros(len(types) * most, np.int32)
    stream, written = new_stream(), 0
    for k in range(len(types)):
        begin(stream, seed, LINKS, first + k)
        for _ in range(fewest + below(stream, most - fewest + 1)):
            kind = place(stream, sums[types[k]])
            alike = by_type[starts[kind] : starts[kind + 1]]
            # If no page has this type, any page is taken.
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


# The web for topical crawling (generator W3): nine types of pages, from the target topic to unrelated ones.


TARGET, NEAR, MIDDLE = range(3)
BACKGROUND = len(TOPICS) - 3


def _row(target: float, near: float, middle: float) -> tuple[float, ...]:
    """A row over all types; the remainder is split equally among the background types."""
    return target, near, middle, *[(1 - target - near - middle) / BACKGROUND] * BACKGROUND


TYPED = TypedWeb(
    labels=tuple(f"type={number}" for number in range(len(TOPICS))),
    shares=_row(0.06, 0.08, 0.10),
    matrix=(
        _row(0.25, 0.22, 0.03),
        _row(0.30, 0.15, 0.10),
        _row(0.03, 0.30, 0.12),
        *[_row(0.004, 0.012, 0.03)] * BACKGROUND,
    ),
    fewest=4,
    most=14,
    first=(TARGET, NEAR, MIDDLE),
    seeds=5,
    seed_types=(NEAR, MIDDLE),
)

TOPIC_SHARE = {TARGET: (0.6, 0.12), NEAR: (0.3, 0.1), MIDDLE: (0.14, 0.06)}
BACKGROUND_SHARE = (0.06, 0.05)
"""Mean and standard deviation of the share of target topic words in pages of a type."""


@dataclass(frozen=True)
class Anchors:
    """How informative anchors are. With probability `described`, a link to a relevant page has an anchor whose mean
    share of topic words is `topical`; all other anchors have the mean `near` or `other`, by the type of the target."""

    described: float
    topical: float
    near: float
    other: float
    topical_deviation: float
    other_deviation: float


INFORMATIVE = Anchors(0.6, 0.55, 0.3, 0.08, 0.2, 0.1)
WEAK = Anchors(0.12, 0.5, 0.14, 0.12, 0.2, 0.12)


def draw(request: Request, folder: Path, advance: Advance) -> None:
    draw_typed(TYPED, lambda types, seed: TopicalAuthor(types, seed, INFORMATIVE).compose, request, folder, advance)


def draw_weak(request: Request, folder: Path, advance: Advance) -> None:
    draw_typed(TYPED, lambda types, seed: TopicalAuthor(types, seed, WEAK).compose, request, folder, advance)


class TopicalAuthor:
    """Writes pages whose share of topic words depends on their type, and anchors that depend on the type of the
    target."""

    def __init__(self, types: NDArray[np.uint8], seed: int, anchors: Anchors) -> None:
        self._types = types
        self._anchors = anchors
        self._author = Author(seed)

    def compose(self, page: int, links: list[int]) -> Content:
        author, kind = self._author, int(self._types[page])
        author.turn_to(page)
        own = page_words(kind, author.between_0_and_1(*TOPIC_SHARE.get(kind, BACKGROUND_SHARE)))
        return write_page(author, own, [partial(self._topic_share, int(self._types[link])) for link in links])

    def _topic_share(self, target: int) -> float:
        author, anchors = self._author, self._anchors
        if target == TARGET and author.chance() < anchors.described:
            return author.between_0_and_1(anchors.topical, anchors.topical_deviation)
        return author.between_0_and_1(anchors.near if target == NEAR else anchors.other, anchors.other_deviation)


def write_page(author: Author, own: Vocabulary, topic_shares: Sequence[Callable[[], float]]) -> Content:
    """A page in its own words, between and around its links. The anchor of each link has a drawn share of words of the
    target topic."""
    title = author.write(own, 5)
    opening, *texts = author.write_parts(own, parted(TEXT_WORDS, len(topic_shares) + 1))
    heading, bold = author.write(own, 6), author.write(own, 8)
    links = [_link_words(author, own, draw(), text) for draw, text in zip(topic_shares, texts, strict=True)]
    return Content(title, heading, opening, links, bold)


def _link_words(author: Author, own: Vocabulary, topic_share: float, text: str) -> LinkWords:
    anchor = author.write(_anchor_words(round(topic_share * 20)), 4)
    left, right = author.write(own, 6), author.write(own, 6)
    return LinkWords(own.joined(text, left), anchor, right)


def page_words(kind: int, share: float) -> Vocabulary:
    return _page_words(kind, round(share * 20))


@cache
def _page_words(kind: int, twentieths: int) -> Vocabulary:
    """Words of the target topic; the rest is half words of the type of the page, half everyday words."""
    rest = 1 - twentieths / 20
    everyday = LANGUAGES["english"]
    if kind == TARGET:
        return vocabulary((1 - rest, TOPICS[TARGET]), (rest, everyday))
    return vocabulary((1 - rest, TOPICS[TARGET]), (rest / 2, TOPICS[kind]), (rest / 2, everyday))


@cache
def _anchor_words(twentieths: int) -> Vocabulary:
    share = twentieths / 20
    return vocabulary((share, TOPICS[TARGET]), (1 - share, LANGUAGES["english"]))
