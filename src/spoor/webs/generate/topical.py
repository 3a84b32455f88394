"""The web for topical crawling (generator W3): nine types of pages, from the wanted topic to far from it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from spoor.webs.generate.content import Content, Context
from spoor.webs.generate.prose import Author, Vocabulary, vocabulary
from spoor.webs.generate.request import Advance, Request
from spoor.webs.generate.typed_web import TypedWeb, draw_typed
from spoor.webs.generate.words import LANGUAGES, TOPICS

TARGET, NEAR, MIDDLE = range(3)
BACKGROUND = len(TOPICS) - 3


def _row(target: float, near: float, middle: float) -> tuple[float, ...]:
    """What is left goes to the background types in equal parts."""
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
"""Mean and deviation of the share of words of the wanted topic in pages of a type."""


@dataclass(frozen=True)
class Anchors:
    """How much anchors tell. A link to a wanted page is `described` with that chance, by an anchor whose share of topic
    words has the mean `topical`; all other anchors have the mean `near` or `other`, by the type of the target."""

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
    """Writes pages whose share of topic words follows from their type, and anchors that follow from the target's."""

    def __init__(self, types: NDArray[np.uint8], seed: int, anchors: Anchors) -> None:
        self._types = types
        self._anchors = anchors
        self._author = Author(seed)

    def compose(self, page: int, links: list[int]) -> tuple[Content, list[Context]]:
        author, kind = self._author, int(self._types[page])
        author.turn_to(page)
        own = page_words(kind, author.between_0_and_1(*TOPIC_SHARE.get(kind, BACKGROUND_SHARE)))
        title = author.write(own, 5)
        content = Content(title, author.write(own, 120), {"h1": author.write(own, 6), "b": author.write(own, 8)})
        return content, [self._context(own, title, int(self._types[link])) for link in links]

    def _context(self, own: Vocabulary, title: str, target: int) -> Context:
        author = self._author
        anchor = author.write(anchor_words(self._topic_share(target)), 4)
        return Context(anchor, author.write(own, 6), author.write(own, 6), title)

    def _topic_share(self, target: int) -> float:
        author, anchors = self._author, self._anchors
        if target == TARGET and author.chance() < anchors.described:
            return author.between_0_and_1(anchors.topical, anchors.topical_deviation)
        return author.between_0_and_1(anchors.near if target == NEAR else anchors.other, anchors.other_deviation)


def page_words(kind: int, share: float) -> Vocabulary:
    return _page_words(kind, round(share * 20))


def anchor_words(share: float) -> Vocabulary:
    return _anchor_words(round(share * 20))


@cache
def _page_words(kind: int, twentieths: int) -> Vocabulary:
    """Words of the wanted topic; of the rest half are of the page's own type, half everyday words."""
    rest = 1 - twentieths / 20
    everyday = LANGUAGES["english"]
    if kind == TARGET:
        return vocabulary((1 - rest, TOPICS[TARGET]), (rest, everyday))
    return vocabulary((1 - rest, TOPICS[TARGET]), (rest / 2, TOPICS[kind]), (rest / 2, everyday))


@cache
def _anchor_words(twentieths: int) -> Vocabulary:
    share = twentieths / 20
    return vocabulary((share, TOPICS[TARGET]), (1 - share, LANGUAGES["english"]))
