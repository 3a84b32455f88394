"""A topical web with typical paths: the target of a link depends on the pages before it, not on its anchor.

Portal, department, list, item: only items are relevant. Lists of other departments have the same words as lists of
items, so that only the department before distinguishes them. Articles mention the topic, are linked with the same
anchors as items, and do not link to items.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from spoor.lab.generate.chance import Request
from spoor.lab.generate.pages import Content
from spoor.lab.generate.prose import Author
from spoor.lab.generate.topical import (
    BACKGROUND_SHARE,
    TypedWeb,
    draw_typed,
    page_words,
    write_page,
)
from spoor.progress import Advance

ITEM, LIST, DEPARTMENT, PORTAL, OTHER_LIST, OTHER_DEPARTMENT, ARTICLE = range(7)
WORDS = (0, 1, 2, 3, 1, 4, 5, 6, 7, 8)
"""For each type, the index in TOPICS of the words of its pages. The last three types are background."""
BACKGROUND = len(WORDS) - ARTICLE - 1


def _row(shares: Mapping[int, float]) -> tuple[float, ...]:
    """A row over all types; the remainder is split equally among the background types."""
    rest = (1 - sum(shares.values())) / BACKGROUND
    return *(shares.get(kind, 0.0) for kind in range(ARTICLE + 1)), *[rest] * BACKGROUND


_PAGES = {ITEM: 0.06, LIST: 0.04, DEPARTMENT: 0.02, PORTAL: 0.02, OTHER_LIST: 0.1, OTHER_DEPARTMENT: 0.04, ARTICLE: 0.1}

LAYERED = TypedWeb(
    labels=tuple(f"type={number}" for number in range(len(WORDS))),
    shares=_row(_PAGES),
    matrix=(
        _row({ITEM: 0.2, LIST: 0.05, PORTAL: 0.05, ARTICLE: 0.3}),
        _row({ITEM: 0.6, DEPARTMENT: 0.05, ARTICLE: 0.2}),
        _row({LIST: 0.6, PORTAL: 0.05, OTHER_LIST: 0.15, ARTICLE: 0.1}),
        _row({DEPARTMENT: 0.55, PORTAL: 0.05, OTHER_DEPARTMENT: 0.25, ARTICLE: 0.05}),
        _row({OTHER_LIST: 0.05, OTHER_DEPARTMENT: 0.05, ARTICLE: 0.4}),
        _row({PORTAL: 0.05, OTHER_LIST: 0.6, ARTICLE: 0.1}),
        _row({PORTAL: 0.03, OTHER_LIST: 0.05, ARTICLE: 0.2}),
        *[_row({PORTAL: 0.02, OTHER_LIST: 0.1, OTHER_DEPARTMENT: 0.03, ARTICLE: 0.1})] * BACKGROUND,
    ),
    fewest=4,
    most=14,
    first=(ITEM, LIST, DEPARTMENT, PORTAL),
    seeds=5,
    seed_types=(LIST, DEPARTMENT, PORTAL),
)

TOPIC_SHARE = {ITEM: (0.5, 0.12), ARTICLE: (0.25, 0.1)}
TOPICAL_ANCHOR, OTHER_ANCHOR = (0.4, 0.2), (0.12, 0.12)
"""Mean and standard deviation of the share of topic words, in pages of these types and in anchors of links to them or
to others."""


def draw(request: Request, folder: Path, advance: Advance) -> None:
    draw_typed(LAYERED, lambda types, seed: PathsAuthor(types, seed).compose, request, folder, advance)


class PathsAuthor:
    """Writes pages in the words of their type, with the same kind of anchors for links to items and to articles."""

    def __init__(self, types: NDArray[np.uint8], seed: int) -> None:
        self._types = types
        self._author = Author(seed)

    def compose(self, page: int, links: list[int]) -> Content:
        author, kind = self._author, int(self._types[page])
        author.turn_to(page)
        share = author.between_0_and_1(*TOPIC_SHARE.get(kind, BACKGROUND_SHARE))
        own = page_words(WORDS[kind], share)
        return write_page(author, own, [partial(self._anchor_share, int(self._types[link])) for link in links])

    def _anchor_share(self, target: int) -> float:
        return self._author.between_0_and_1(*(TOPICAL_ANCHOR if target in TOPIC_SHARE else OTHER_ANCHOR))
