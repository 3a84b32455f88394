"""The web of engineering courses (generator W4): five classes of pages, a fifth of them with their terms in Hindi."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from spoor.webs.generate.content import Content, Context
from spoor.webs.generate.prose import LANGUAGE, Author, vocabulary
from spoor.webs.generate.request import Advance, Request
from spoor.webs.generate.typed_web import TypedWeb, draw_typed
from spoor.webs.generate.words import COURSE_TERMS, COURSE_WORDS, LANGUAGES

CLASSES = tuple(COURSE_TERMS)
CSE, COMP = CLASSES.index("CSE"), CLASSES.index("COMP")
MIXED = 0.2
"""Share of the pages that mix English and Hindi; what they say of their subject is in Hindi."""

NO_TERM, ONE_TERM, STRAY_TERM = 0.4, 0.45, 0.15
"""Chances that the context of a link names the class of its target not at all, once (twice otherwise), and that
it says "computer" for no reason."""

TYPED = TypedWeb(
    labels=tuple(f"class={name}" for name in CLASSES),
    shares=(0.15, 0.12, 0.13, 0.15, 0.45),
    matrix=(
        (0.25, 0.35, 0.10, 0.10, 0.20),
        (0.20, 0.25, 0.30, 0.05, 0.20),
        (0.25, 0.25, 0.20, 0.05, 0.25),
        (0.05, 0.05, 0.05, 0.45, 0.40),
        (0.02, 0.03, 0.05, 0.10, 0.80),
    ),
    fewest=4,
    most=12,
    first=(CSE,),
    seeds=3,
    seed_types=(CSE,),
)

PAGE_WORDS = {
    (name, hindi): vocabulary((0.5, COURSE_WORDS[name][hindi]), (0.5, LANGUAGES["english"]))
    for name in CLASSES
    for hindi in (False, True)
}


def draw(request: Request, folder: Path, advance: Advance) -> None:
    draw_typed(TYPED, lambda types, seed: CoursesAuthor(types, seed).compose, request, folder, advance)


class CoursesAuthor:
    """Writes pages in the words of their class and contexts that name the class of the target, or do not."""

    def __init__(self, types: NDArray[np.uint8], seed: int) -> None:
        self._types = types
        self._author = Author(seed)

    def compose(self, page: int, links: list[int]) -> tuple[Content, list[Context]]:
        author, name = self._author, CLASSES[self._types[page]]
        author.turn_to(page)
        hindi = author.chance() < MIXED
        own, term = PAGE_WORDS[name, hindi], COURSE_TERMS[name][hindi]
        title = f"{term} {author.write(own, 3)}"
        text = f"{author.write(own, 50)} {term} {author.write(own, 50)}"
        content = Content(title, text, {"h1": f"{term} {author.write(own, 2)}"})
        return content, [self._context(int(self._types[link]), hindi) for link in links]

    def _context(self, target: int, hindi: bool) -> Context:
        """The first mention is the anchor, the second follows it."""
        author = self._author
        anchor, left, right = (author.write(LANGUAGE["english"], 3) for _ in range(3))
        draw = author.chance()
        if draw >= NO_TERM:
            anchor = f"{anchor} {COURSE_TERMS[CLASSES[target]][hindi]}"
        if draw >= NO_TERM + ONE_TERM:
            right = f"{COURSE_TERMS[CLASSES[target]][hindi]} {right}"
        if author.chance() < STRAY_TERM:
            left = f"{left} {COURSE_TERMS[CLASSES[COMP]][hindi]}"
        return Context(anchor, left, right, "")
